import { Injectable } from '@nestjs/common';
import { checkable } from '@aps/connections';
import { Database, isConnectionLoss } from '@aps/platform/database';
import { EgressError } from '@aps/platform/egress';
import { Cutoff } from '@aps/platform/signals';
import { NotSent, TookTooLong } from '@aps/tools';
import { validate } from '@aps/platform/json-schema';
import { type ToolStep } from '../../definition';
import { PINNED_CONNECTION } from '../../revisions/staleness.sql';
import { isRepeatable, StepTools, type StepTool, type StepToolResult } from '../../tools/step-tools';
import { stepError, UNKNOWN, type CallOutcome, type JournalRow } from '../journal';
import type { HeldRun } from '../process-run.sql';
import { completed, failed, type CallHold, type CallResult } from './call-result';
import { PayloadRepairs } from './payload-repairs';

/** Calls tools for steps: under a key that stays the same for every try, and never twice what may not be. */
@Injectable()
export class ToolCalls {
  constructor(
    private readonly db: Database,
    private readonly tools: StepTools,
    private readonly repairs: PayloadRepairs,
  ) {}

  async call(run: HeldRun, row: JournalRow, step: ToolStep, hold: CallHold): Promise<CallResult> {
    const tool = await this.tools.find(run.org_id, step.tool);
    if (!tool) return { outcome: failed('tool_error', `There is no tool ${step.tool}.`) };
    if (await this.isAnothers(run, tool))
      return { outcome: failed('tool_error', `${step.tool} is another connection’s since the deploy.`) };
    const max = step.repair?.max_attempts ?? 0;
    let { args, left } = await this.repairs.before(run, row, max);
    for (; ; left--) {
      const came = await this.once(run, row, step, tool, args, hold);
      if ('status' in came) return { outcome: came };
      const refused = { args, error: came.rejected, attempt: max - left + 1 };
      const mended = came.mendable && left > 0 ? await this.repairs.propose(run, row, tool, refused, hold.signal) : null;
      if (!mended) return { outcome: failed('tool_rejected', came.rejected) };
      args = mended;
    }
  }

  /** Whether its connection has only the name of the one that the process was deployed with: what is sent was meant for that one's server. */
  private async isAnothers(run: HeldRun, { slug, connectionId }: StepTool): Promise<boolean> {
    if (connectionId === null) return false;
    const [pinned] = await this.db.query(PINNED_CONNECTION, [run.org_id, run.revision_id, slug]);
    return pinned !== undefined && pinned.connection_id !== connectionId;
  }

  /** One call. @returns what came of it, or why it was refused before it had any effect */
  private async once(
    run: HeldRun,
    row: JournalRow,
    step: ToolStep,
    tool: StepTool,
    args: Record<string, unknown>,
    { signal, requireHeld }: CallHold,
  ): Promise<CallOutcome | { rejected: string; mendable: boolean }> {
    const problems = validate(checkable(tool.inputSchema), args);
    if (problems.length)
      return { rejected: problems.map(({ path, message }) => `${path || 'arguments'}: ${message}`).join('; '), mendable: true };
    const repeatable = isRepeatable(tool, args);
    // So its row says, and so whoever finds it takes it. The next try begins with what the tool is by now.
    if (!repeatable && row.noted !== 'sent')
      return failed('tool_error', `${step.tool} may not be called twice, and could be when the step was begun.`, true);
    // All that was asked before may have taken long.
    requireHeld();
    const timeoutMs = step.timeout_s * 1_000;
    const cut = new Cutoff(signal, timeoutMs);
    try {
      const result = await Promise.race([
        tool.call(args, {
          orgId: run.org_id,
          runId: run.id,
          envelope: JSON.parse(run.envelope) as Record<string, unknown>,
          idempotencyKey: `${run.id}/${row.path}`,
          timeoutMs,
          signal: cut.signal,
        }),
        // One that does not listen to the signal is not waited for.
        new Promise<never>((_, reject) => cut.signal.addEventListener('abort', () => reject(cut.signal.reason as Error), { once: true })),
      ]);
      return outcomeOf(result, repeatable);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof NotSent) return failed('tool_error', error.message, true);
      // It has answered, and would answer that again.
      if (error instanceof EgressError && error.reason === 'too_large') return failed('tool_error', error.message);
      if (isConnectionLoss(error) && repeatable) throw error;
      const isTimeout = error instanceof TookTooLong || (error instanceof EgressError && error.reason === 'timeout');
      const why = cut.isLate
        ? stepError('timeout', `The tool took longer than ${step.timeout_s} s.`, true)
        : stepError(isTimeout ? 'timeout' : 'tool_error', messageOf(error), true);
      return repeatable
        ? { status: 'failed', error: why, note: UNKNOWN }
        : { status: 'outcome_unknown', error: { ...why, retryable: false } };
    } finally {
      cut.release();
    }
  }
}

function outcomeOf(result: StepToolResult, repeatable: boolean): CallOutcome | { rejected: string; mendable: boolean } {
  if ('output' in result) return completed(result.output);
  return 'failed' in result ? failed('tool_error', result.failed, repeatable) : result;
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : 'The tool failed.');
