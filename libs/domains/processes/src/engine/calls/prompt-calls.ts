import { Injectable } from '@nestjs/common';
import { DomainError } from '@aps/contracts';
import { OrgScope } from '@aps/guards';
import type { PromptRun } from '@aps/entities';
import { Cutoff } from '@aps/platform/signals';
import { PromptRunner, type PromptRequest } from '@aps/prompts';
import type { PromptStep } from '../../definition';
import type { JournalRow } from '../journal';
import { JournalRepository } from '../journal.repository';
import type { LoadedRun } from '../process-run.sql';
import { RunBudgets } from '../run-budgets';
import { completed, failed, type CallResult } from './call-result';

/** Runs prompt templates for steps. What they cost they charge by themselves. */
@Injectable()
export class PromptCalls {
  constructor(
    private readonly runner: PromptRunner,
    private readonly journal: JournalRepository,
    private readonly budgets: RunBudgets,
  ) {}

  async run(run: LoadedRun, row: JournalRow, step: PromptStep, signal: AbortSignal): Promise<CallResult> {
    const scope = OrgScope.system(run.org_id, 'process');
    const callKey = `${run.id}/${row.path}/${row.attempt}`;
    const before = await this.runner.answerTo(scope, callKey);
    if (before) return { outcome: outcomeOf(before) };
    const cut = new Cutoff(signal, step.timeout_s * 1_000);
    let end: PromptRun | { error: { code: string; message: string } } | null = null;
    try {
      const prepared = await this.runner.prepare(scope, step.template, requestOf(step, row), cut.signal);
      await this.runner.run(scope, prepared, {
        source: 'process',
        callKey,
        budget: this.budgets.of(run),
        charge: (tx, { usd_cost, credits }) => this.journal.charge(tx, run.id, { usd_cost, credits }),
        signal: cut.signal,
        tell: (frame) => {
          if (frame.event === 'done') end = frame.data;
          if (frame.event === 'error') end = { error: frame.data };
        },
      });
    } catch (error) {
      signal.throwIfAborted();
      if (cut.isLate) return { outcome: failed('timeout', `The template took longer than ${step.timeout_s} s.`, true) };
      if (!(error instanceof DomainError) || error.status >= 500) throw error;
      return { outcome: failed(error.code, error.detail) };
    } finally {
      cut.release();
    }
    signal.throwIfAborted();
    if (cut.isLate) return { outcome: failed('timeout', `The template took longer than ${step.timeout_s} s.`, true) };
    return { outcome: end ? outcomeOf(end) : failed('internal', 'The template did not run.', true) };
  }
}

/** `text` is what is read, `url` where that stands; all else are variables. */
function requestOf(step: PromptStep, row: JournalRow): PromptRequest {
  const { input } = row.input as { input: unknown };
  const { text, url, ...variables } = (typeof input === 'object' && input !== null ? input : {}) as Record<string, unknown>;
  return {
    variables,
    ...(typeof text === 'string' && { input_text: text }),
    ...(typeof url === 'string' && { input_url: url }),
    model_mode: step.model_mode,
  };
}

/** Codes of what may be better another time. */
const RETRYABLE = new Set(['rate_limited', 'provider_unavailable', 'provider_timeout', 'provider_error', 'worker_lost']);

function outcomeOf(end: Pick<PromptRun, 'error'> & Partial<PromptRun>) {
  if (end.error) return failed(end.error.code, end.error.message, RETRYABLE.has(end.error.code));
  return completed(end.data ?? end.output ?? null);
}
