import { Injectable } from '@nestjs/common';
import { DomainError } from '@aps/contracts';
import type { PromptRun } from '@aps/entities';
import { OrgScope } from '@aps/guards';
import { storable } from '@aps/platform/database';
import { defineTool, ToolCatalog, toolError, toolResult, type ToolContext, type ToolGrants, type ToolResult } from '@aps/tools';
import { z } from 'zod';
import { PromptRunner, type PreparedPrompt, type PromptCaller, type PromptFrame, type PromptRequest } from './prompt-runner';
import { mayRunPrompts, reachesPrompt } from './prompt-grants.policy';
import { PromptsQueries } from './prompts.queries';

const SLUG = 'run_prompt_template';
const HOUR_MS = 3_600_000;

const parameters = z.object({
  template: z.string().min(1).max(64).describe('Slug or id of the template'),
  variables: z.record(z.string(), z.unknown()).default({}).describe('Values of its variables, by name'),
  input_text: z.string().max(1_000_000).optional().describe('What a template with fields reads'),
});
type Request = z.infer<typeof parameters>;

/** Where the output is no more than the data in JSON, it is not said twice. */
const answered = ({ id, output, data }: PromptRun): ToolResult =>
  toolResult({ run_id: id, ...(data && { data }), ...(output !== JSON.stringify(data) && { output }) });

/** The tool by which an agent runs the templates that it is granted, by `prompt:{slug}` or `*`. */
@Injectable()
export class RunPromptTemplateTool {
  constructor(
    catalog: ToolCatalog,
    private readonly templates: PromptsQueries,
    private readonly runner: PromptRunner,
  ) {
    catalog.register(
      defineTool({
        slug: SLUG,
        name: SLUG,
        description: 'Runs a prompt template: gives you its answer, or what it has extracted from `input_text`.',
        scope: 'core',
        openedBy: 'prompt',
        accessLevel: 'read',
        availableTo: mayRunPrompts,
        parameters,
        // The calls of its model have limits of their own.
        limits: { idleMs: HOUR_MS, totalMs: HOUR_MS },
        callOut: (request, context) => this.callOut(request, context),
      }),
    );
  }

  private async callOut({ template, ...request }: Request, context: ToolContext): Promise<ToolResult> {
    const scope = OrgScope.system(context.orgId, `tool ${SLUG}`);
    const before = await this.runner.answerTo(scope, context.idempotencyKey);
    if (before) return answered(before);
    try {
      const { id } = await this.granted(scope, storable(template), context.tools.grants);
      return await this.run(scope, await this.runner.prepare(scope, id, storable<PromptRequest>(request), context.signal), context);
    } catch (error) {
      if (!(error instanceof DomainError) || error.status >= 500) throw error;
      const problems = (error.problems ?? []).map(({ loc, msg }) => `${loc.slice(1).join('.')}: ${msg}`);
      return toolError(problems.join('\n') || error.detail);
    }
  }

  /** @throws DomainError `not_found` for one that is granted not, too: whether it is there is nobody's business who may not use it */
  private async granted(scope: OrgScope, ref: string, grants: ToolGrants): Promise<{ id: string }> {
    const unknown = new DomainError('not_found', `There is no prompt template ${ref} that you may run.`);
    const template = await this.templates.get(scope, ref).catch((error: unknown) => {
      throw error instanceof DomainError && error.code === 'not_found' ? unknown : error;
    });
    if (!reachesPrompt(grants, template.slug)) throw unknown;
    return template;
  }

  private async run(scope: OrgScope, prepared: PreparedPrompt, context: ToolContext): Promise<ToolResult> {
    const { chatId, turnId, agentId, idempotencyKey: callKey, budget, signal } = context;
    let last: PromptFrame | undefined;
    const tell = (frame: PromptFrame) => (last = frame);
    const charge: PromptCaller['charge'] = (tx, cost) => context.charge(tx, cost);
    await this.runner.run(scope, prepared, { source: 'agent', chatId, turnId, agentId, callKey, budget, charge, signal, tell });
    signal.throwIfAborted();
    if (last?.event === 'done') return answered(last.data);
    return toolError(last?.event === 'error' ? `${last.data.code}: ${last.data.message}` : 'It did not run.');
  }
}
