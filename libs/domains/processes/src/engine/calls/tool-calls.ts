import { Injectable } from '@nestjs/common';
import { isConnectionLoss, type Tx } from '@aps/platform/database';
import { EgressError } from '@aps/platform/egress';
import { Cutoff } from '@aps/platform/signals';
import { NotSent } from '@aps/tools';
import { validate, type ToolStep } from '../../definition';
import { isRepeatable, StepTools, type StepTool, type StepToolResult } from '../../tools/step-tools';
import { stepError, type CallOutcome, type JournalRow } from '../journal';
import type { LoadedRun } from '../process-run.sql';
import { completed, failed, type CallResult } from './call-result';
import { PayloadRepairs } from './payload-repairs';

/** Calls tools for steps: under a key that stays the same for every try, and never twice what may not be. */
@Injectable()
export class ToolCalls {
  constructor(
    private readonly tools: StepTools,
    private readonly repairs: PayloadRepairs,
  ) {}

  async call(run: LoadedRun, row: JournalRow, step: ToolStep, signal: AbortSignal): Promise<CallResult> {
    const tool = await this.tools.find(run.org_id, step.tool);
    if (!tool) return { outcome: failed('tool_error', `There is no tool ${step.tool}.`) };
    let { arguments: args } = row.input as { arguments: Record<string, unknown> };
    const charges: ((tx: Tx) => Promise<void>)[] = [];
    const charge = async (tx: Tx) => {
      for (const each of charges) await each(tx);
    };
    for (let repaired = 0; ; repaired++) {
      const came = await this.once(run, row, step, tool, args, signal);
      if ('status' in came) return { outcome: came, ...(charges.length && { charge }) };
      if (!came.mendable || repaired >= (step.repair?.max_attempts ?? 0))
        return { outcome: failed('tool_rejected', came.rejected), ...(charges.length && { charge }) };
      const mended = await this.repairs.propose(run, row, tool, { args, error: came.rejected, attempt: repaired + 1 }, signal);
      charges.push(mended.charge);
      if (!mended.args) return { outcome: failed('tool_rejected', came.rejected), charge };
      args = mended.args;
    }
  }

  /** One call. @returns what came of it, or why it was refused before it had any effect */
  private async once(
    run: LoadedRun,
    row: JournalRow,
    step: ToolStep,
    tool: StepTool,
    args: Record<string, unknown>,
    signal: AbortSignal,
  ): Promise<CallOutcome | { rejected: string; mendable: boolean }> {
    const problems = validate(tool.inputSchema, args);
    if (problems.length)
      return { rejected: problems.map(({ path, message }) => `${path || 'arguments'}: ${message}`).join('; '), mendable: true };
    const timeoutMs = step.timeout_s * 1_000;
    const cut = new Cutoff(signal, timeoutMs);
    const repeatable = isRepeatable(tool, args);
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
      if (isConnectionLoss(error) && repeatable) throw error;
      const why = cut.isLate
        ? stepError('timeout', `The tool took longer than ${step.timeout_s} s.`, true)
        : stepError(error instanceof EgressError && error.reason === 'timeout' ? 'timeout' : 'tool_error', messageOf(error), true);
      return repeatable ? { status: 'failed', error: why } : { status: 'outcome_unknown', error: { ...why, retryable: false } };
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
