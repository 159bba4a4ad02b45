import { Injectable } from '@nestjs/common';
import { Entitlements } from '@aps/billing';
import type { HitlRequest } from '@aps/entities';
import { OrgScope } from '@aps/guards';
import { defineTool, ToolCatalog, toolError, type ToolOutcome } from '@aps/tools';
import { z } from 'zod';
import { schemaFault } from './form-schema';
import { HitlRepository } from './hitl.repository';
import { askerOf, HitlService } from './hitl.service';

const MAX_PROMPT_CHARS = 10_000;
const MAX_OPTIONS = 20;

const optionsSchema = z
  .array(
    z.union([
      z.string().min(1).max(200),
      z.object({
        id: z
          .string()
          .regex(/^[a-zA-Z0-9_.-]{1,64}$/, 'use letters, digits, _, . and -')
          .optional()
          .describe('Made when it is left out'),
        label: z.string().min(1).max(200),
      }),
    ]),
  )
  .min(1)
  .max(MAX_OPTIONS);

const parameters = z.object({
  kind: z
    .enum(['question', 'approval', 'form'])
    .describe('question: an answer in words, or one of the options; approval: yes or no; form: values by a schema'),
  prompt: z
    .string()
    .trim()
    .min(1)
    .max(MAX_PROMPT_CHARS)
    .describe('What the human reads. Say all that is needed to answer: they may not have read the chat.'),
  options: optionsSchema.optional().describe('Of a question: what can be chosen'),
  schema: z.record(z.string(), z.unknown()).optional().describe('Of a form: JSON Schema of type object with a property for each field'),
  assignee: z
    .string()
    .trim()
    .min(1)
    .max(254)
    .optional()
    .describe('Who has to answer, by email address or user id; only if it must be this person'),
});
type Question = z.infer<typeof parameters>;

/** Lets agents ask humans. */
@Injectable()
export class AskHumanTool {
  constructor(
    catalog: ToolCatalog,
    private readonly hitl: HitlService,
    private readonly requests: HitlRepository,
    private readonly entitlements: Entitlements,
  ) {
    catalog.register(
      defineTool({
        slug: 'ask_human',
        name: 'ask_human',
        description:
          'Asks a human and waits for the answer, which may take days. Ask only what you cannot find out or decide yourself. Several questions in one step are asked together.',
        scope: 'core',
        accessLevel: 'read',
        waitsFor: 'human',
        parameters,
        run: async (tx, question, context): Promise<ToolOutcome> => {
          const fault = faultOf(question);
          if (fault) return toolError(fault);
          const routing = await this.route(tx, context.orgId, question.assignee);
          if ('fault' in routing) return toolError(routing.fault);
          const { kind, prompt, options, schema } = question;
          const asked = { ...askerOf(context), kind, prompt, options: options && withIds(options), schema, ...routing };
          const { id, event } = await this.hitl.request(tx, OrgScope.system(context.orgId, 'tool ask_human'), asked);
          return { kind: 'wait', ref: id, events: [event] };
        },
      }),
    );
  }

  private async route(
    tx: Parameters<HitlRepository['memberBy']>[0],
    orgId: string,
    assignee: string | undefined,
  ): Promise<Pick<HitlRequest, 'assignee_user_id' | 'notice'> | { fault: string }> {
    if (assignee === undefined) return { assignee_user_id: null, notice: null };
    if (!(await this.entitlements.has(orgId, 'hitl_routing', tx))) {
      return {
        assignee_user_id: null,
        notice:
          'The assignee was ignored, because the plan of this organization does not include hitl_routing: everybody who sees the chat could answer.',
      };
    }
    const userId = await this.requests.memberBy(tx, orgId, assignee);
    if (!userId)
      return {
        fault: `assignee: nobody in this organization has this address or id. Nothing was asked; ask again with another assignee, or without one.`,
      };
    return { assignee_user_id: userId, notice: null };
  }
}

/** What is wrong with a question as a whole; null when nothing is. */
function faultOf({ kind, options, schema }: Question): string | null {
  if (options && kind !== 'question') return 'options: only a question has options. Nothing was asked.';
  if (schema && kind !== 'form') return 'schema: only a form has a schema. Nothing was asked.';
  if (kind === 'form') {
    const fault = schema ? schemaFault(schema) : 'schema: a form needs one';
    if (fault) return `${fault}. Nothing was asked.`;
  }
  const ids = options?.flatMap((option) => (typeof option === 'string' || !option.id ? [] : [option.id])) ?? [];
  if (new Set(ids).size < ids.length) return 'options: ids should not repeat. Nothing was asked.';
  return null;
}

/** Options without an id get the number of their place, or the next that is free. */
function withIds(options: z.infer<typeof optionsSchema>): { id: string; label: string }[] {
  const taken = new Set(options.flatMap((option) => (typeof option === 'string' || !option.id ? [] : [option.id])));
  return options.map((option, i) => {
    const { id, label } = typeof option === 'string' ? { id: undefined, label: option } : option;
    if (id) return { id, label };
    let n = i + 1;
    while (taken.has(String(n))) n += 1;
    taken.add(String(n));
    return { id: String(n), label };
  });
}
