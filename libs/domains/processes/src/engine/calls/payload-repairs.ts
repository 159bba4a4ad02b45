import { Injectable } from '@nestjs/common';
import { Database, NO_CALLER } from '@aps/platform/database';
import { isObject } from '@aps/platform/definitions';
import { applyPatch, Pointer, type Operation } from 'rfc6902';
import { isRepeatable, type StepTool } from '../../tools/step-tools';
import type { JournalRow, RunEvent } from '../journal';
import { JournalRepository } from '../journal.repository';
import type { HeldRun } from '../process-run.sql';
import { Ledgers } from './ledgers';
import { REPAIRED } from './ledgers.sql';
import { ModelQuestions } from './model-call';

const REPAIR_S = 120;
/** So much of arguments, schema and refusal is shown. */
const MAX_SHOWN = 30_000;

const MAX_OPERATIONS = 50;

/** Nothing in it makes more of what is there: a few copies of a whole within itself would take all memory. */
export const PROPOSAL = {
  type: 'object',
  properties: {
    fixable: { type: 'boolean', description: 'Whether other arguments could be taken' },
    reason: { type: 'string', description: 'Why, in one sentence' },
    operations: {
      type: 'array',
      description: 'JSON Patch (RFC 6902) over {"arguments": …}; every path begins with /arguments',
      maxItems: MAX_OPERATIONS,
      items: {
        type: 'object',
        properties: {
          op: { type: 'string', enum: ['add', 'remove', 'replace', 'move'] },
          path: { type: 'string' },
          from: { type: 'string' },
          value: {},
        },
        required: ['op', 'path'],
      },
    },
  },
  required: ['fixable', 'reason', 'operations'],
};

interface Proposal {
  fixable: boolean;
  reason: string;
  operations: Operation[];
}

/** Has a model mend arguments that were refused, so that a comma in a date need not wake anybody. */
@Injectable()
export class PayloadRepairs {
  constructor(
    private readonly db: Database,
    private readonly questions: ModelQuestions,
    private readonly journal: JournalRepository,
    private readonly ledgers: Ledgers,
  ) {}

  /**
   * What a try of a step begins with: its arguments as earlier tries have had them mended, and how often that may be done again. After a call
   * of which nobody knows what became of it, it may not.
   *
   * @param max of a step, its tries together
   */
  async before(run: HeldRun, row: JournalRow, max: number): Promise<{ args: Record<string, unknown>; left: number }> {
    const { arguments: args } = row.input as { arguments: Record<string, unknown> };
    if (max === 0) return { args, left: 0 };
    const [{ repairs, changes, is_ambiguous }] = await this.db.query(REPAIRED, [run.id, row.path, row.attempt]);
    return {
      args: changes.reduce((mended, operations) => patched(mended, operations) ?? mended, args),
      left: is_ambiguous ? 0 : Math.max(0, max - repairs),
    };
  }

  /**
   * Written at once, and so paid and counted whatever becomes of the call that follows.
   *
   * @returns the arguments to try next; null where the model knows none
   * @throws the reason of the signal
   */
  async propose(
    run: HeldRun,
    row: JournalRow,
    tool: StepTool,
    { args, error, attempt }: { args: Record<string, unknown>; error: string; attempt: number },
    signal: AbortSignal,
  ): Promise<Record<string, unknown> | null> {
    const shown = (value: unknown) => JSON.stringify(value).slice(0, MAX_SHOWN);
    const answer = await this.questions.ask(
      run,
      {
        name: `process:${run.id}/${row.path}/${row.attempt}/repair/${attempt}`,
        feature: 'payload_repair',
        system:
          'A tool has refused the arguments of a call. Propose the smallest change by which it would take them, or say that there is none. Invent no facts.',
        prompt: `Tool: ${tool.slug}\nSchema: ${shown(tool.inputSchema)}\nArguments: ${shown(args)}\nRefusal: ${error.slice(0, MAX_SHOWN)}`,
        schema: PROPOSAL,
        timeout_s: REPAIR_S,
      },
      signal,
    );
    const proposal = answer.error ? null : (answer.value as Proposal);
    const changed = proposal?.fixable ? patched(args, proposal.operations) : null;
    // What was begun as a call that may be made again stays one: so its row says, and so whoever finds it takes it.
    const mended = changed && (row.noted === 'sent' || isRepeatable(tool, changed)) ? changed : null;
    const repair = {
      tool_slug: tool.slug,
      attempt,
      error,
      fixable: mended !== null,
      reason: proposal?.reason ?? answer.error?.message ?? null,
      payload_diff: proposal?.operations ?? [],
    };
    const { step_id, path, kind } = row;
    const told: RunEvent = { type: 'repair_attempted', step_id, path, metadata: { kind, attempt, fixable: repair.fixable } };
    await this.db.transaction(NO_CALLER, async (tx) => {
      // The run before the credits, as everybody locks them.
      await this.journal.tellAsOwner(tx, run, [told]);
      await this.ledgers.repair(tx, run, row, repair, answer);
      await answer.charge(tx);
    });
    signal.throwIfAborted();
    return mended;
  }
}

const isBelow = (path: string): boolean => path === '/arguments' || path.startsWith('/arguments/');
const reachesHost = (path: string): boolean => /(^|\/)(__proto__|constructor|prototype)(\/|$)/.test(path);

/** Null where the change would go beyond the arguments, or cannot be made. */
export function patched(args: Record<string, unknown>, operations: Operation[]): Record<string, unknown> | null {
  const document = { arguments: structuredClone(args) };
  if (operations.length === 0 || !operations.every((operation) => hasApplied(document, operation))) return null;
  const { arguments: mended } = document;
  return isObject(mended) ? mended : null;
}

function hasApplied(document: unknown, operation: Operation): boolean {
  const paths = 'from' in operation ? [operation.path, operation.from] : [operation.path];
  if (!paths.every((path) => isBelow(path) && !reachesHost(path) && !isOfList(document, path))) return false;
  try {
    return applyPatch(document, [operation])[0] === null;
  } catch {
    // As where a text is taken for an object.
    return false;
  }
}

/** What a list has beside its items: who sets its `length` makes one of four thousand million. */
function isOfList(document: unknown, path: string): boolean {
  const { parent, key } = Pointer.fromJSON(path).evaluate(document) as { parent: unknown; key: string };
  return Array.isArray(parent) && !/^(\d+|-)$/.test(key);
}
