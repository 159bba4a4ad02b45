import { Injectable } from '@nestjs/common';
import { Entitlements } from '@aps/billing';
import { connectionId } from '@aps/contracts';
import { DECISION_KINDS, type Decision } from '@aps/entities';
import { storable, type Tx } from '@aps/platform/database';
import { hashOf } from '@aps/platform/definitions';
import { counter } from '@aps/platform/observability';
import { defineTool, parseArguments, ToolCatalog, toolError, toolResult, type ToolContext, type ToolEvent } from '@aps/tools';
import { z } from 'zod';
import { DecisionsRepository } from './decisions.repository';
import { Escalations, type Escalated } from './escalations';

const recorded = counter('decisions_recorded_total', 'Decisions that agents have recorded, by kind', ['kind']);

/** The longest rule that can be cited; decisions are grouped by it. */
const MAX_BASIS = 500;

/** Text as PostgreSQL takes it, in columns and in JSON, without blanks around it. */
const text = () => z.string().overwrite((given) => storable(given).trim());

const parameters = z.object({
  kind: z.enum(DECISION_KINDS).describe('act: you do it. no_act: you leave it. escalate: a human has to decide'),
  summary: text().min(1).max(1_000).describe('What you decided, in a sentence'),
  basis: text()
    .min(1)
    .max(MAX_BASIS)
    .describe('The rule that you rest on, cited word for word and always the same way, so that equal cases are found together'),
  rationale: text().max(5_000).optional().describe('Why the rule leads here'),
  tool_slug: text().min(1).max(200).optional().describe('The tool that it is about, as you would call it'),
  arguments: z.record(z.string(), z.unknown()).optional().describe('The arguments of that call'),
  arguments_digest: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .optional()
    .describe('Instead of them: SHA-256 over their canonical JSON, hex, if you know it'),
  deviation: z.boolean().default(false).describe('You depart from what the rule says'),
  determination: z.boolean().default(false).describe('No rule says it; you had to determine it yourself'),
  confidence: z.number().min(0).max(1).optional().describe('How sure you are, from 0 to 1'),
});
type NewDecision = z.infer<typeof parameters>;

/** Ends the answer to a call that was valid and recorded nothing, as one that is handed up with wrong arguments: replays know it by that. */
export const NOTHING_RECORDED = 'Nothing was recorded.';
const NOBODY_ASKED =
  'It is recorded for review, and nobody is asked now: do not make the call that it is about and do not wait for an answer. Go on without it, or tell the user what has to be decided.';

/** What the chat's readers are told. */
function recordedEvent({ id, kind, summary, basis, tool_slug, deviation, determination, turn_id, tool_call_id }: Decision): ToolEvent {
  const data = { decision_id: id, kind, summary, basis, tool_slug, deviation, determination, turn_id, tool_call_id };
  return { type: 'decision_recorded', data };
}

/** The tool by which an agent records what it decides. Offered where the decision log is on. */
@Injectable()
export class RecordDecisionTool {
  constructor(
    catalog: ToolCatalog,
    private readonly decisions: DecisionsRepository,
    private readonly entitlements: Entitlements,
    escalations: Escalations,
  ) {
    catalog.register(
      defineTool({
        slug: 'record_decision',
        name: 'record_decision',
        description:
          'Records a decision for humans to review: what you do, leave or hand up, and on which rule. Record it before you act. Some tools only run after a decision of this turn that names them.',
        scope: 'core',
        accessLevel: 'write',
        availableTo: (agent) => agent.decision_log,
        waitsFor: 'human',
        waitsWhen: ({ kind }) => kind === 'escalate',
        parameters,
        run: async (tx, decision, context) => {
          const call = decision.kind === 'escalate' ? callOf(decision, context) : undefined;
          if (typeof call === 'string') return toolError(`${call} ${NOTHING_RECORDED}`);
          const row = await this.record(tx, context, decision);
          const asked = row.kind === 'escalate' ? await escalations.ask(tx, context, { prompt: promptOf(row), call }) : null;
          if (asked) return { kind: 'wait', ref: asked.ref, events: [recordedEvent(row), ...asked.events] };
          const told = { decision_id: row.id, status: 'recorded', ...(row.kind === 'escalate' && { note: NOBODY_ASKED }) };
          return toolResult(told, [recordedEvent(row)]);
        },
      }),
    );
  }

  /** In the transaction of the call, which records it once. */
  private async record(tx: Tx, context: ToolContext, { arguments: args, ...d }: NewDecision): Promise<Decision> {
    const tool = d.tool_slug === undefined ? undefined : context.tools.named(d.tool_slug);
    const { decision, created } = await this.decisions.record(tx, context, {
      ...d,
      // Models know a tool by its name; humans, and the gate, by its slug.
      tool_slug: tool?.slug ?? d.tool_slug ?? null,
      connection_id: tool?.connectionId ? connectionId(tool.connectionId) : null,
      arguments_digest: args ? hashOf(args) : (d.arguments_digest ?? null),
      rationale: d.rationale || null,
      confidence: d.confidence === undefined ? null : String(d.confidence),
      keep_days: (await this.entitlements.of(context.orgId, tx)).decision_retention_days,
    });
    if (created) tx.afterCommit(() => recorded.inc({ kind: decision.kind }));
    return decision;
  }
}

/** The call that a decision hands up, as it would run; a sentence for the model when it could not, undefined when there is none to run. */
function callOf({ tool_slug: named, arguments: args }: NewDecision, { tools }: ToolContext): Escalated['call'] | string {
  const tool = named && args ? tools.named(named) : undefined;
  // One that waits cannot run in the place of this call.
  if (!tool || !args || tool.waitsFor) return undefined;
  const parsed = parseArguments(tool, JSON.stringify(args));
  return parsed.ok ? { tool_slug: tool.slug, arguments: args, access_level: tool.accessLevel } : parsed.message;
}

/** What a call decides, by its arguments as the model wrote them; null where the tool does not take them. */
export function decidedBy(text: string): NewDecision | null {
  try {
    return parameters.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}

/**
 * What a call hands up, or may, by its arguments as the model wrote them, which need not be valid; null for one that plainly has another kind.
 */
export function handedUpBy(text: string): { tool_slug?: unknown; arguments?: unknown } | null {
  let raw: Record<string, unknown> | null;
  try {
    raw = JSON.parse(text) as Record<string, unknown> | null;
  } catch {
    return {};
  }
  return raw?.kind === 'act' || raw?.kind === 'no_act' ? null : (raw ?? {});
}

/** What the human reads who is asked. */
const promptOf = ({ summary, basis, rationale }: Decision): string =>
  [summary, `Rule: ${basis}`, ...(rationale ? [rationale] : [])].join('\n\n');
