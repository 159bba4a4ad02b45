import { Injectable } from '@nestjs/common';
import { DomainError } from '@aps/contracts';
import { OrgScope } from '@aps/guards';
import type { PromptRun, StepError } from '@aps/entities';
import { Database } from '@aps/platform/database';
import { Cutoff } from '@aps/platform/signals';
import { PromptRunner, type PromptRequest } from '@aps/prompts';
import type { PromptStep } from '../../definition';
import { stepError, type CallOutcome, type JournalRow } from '../journal';
import { JournalRepository } from '../journal.repository';
import { refOf } from '../../revisions/references';
import { MEANT, type LoadedRun } from '../process-run.sql';
import { RunBudgets } from '../run-budgets';
import { completed, failed, failedWith, type CallResult } from './call-result';
import { Ledgers } from './ledgers';

/** Runs prompt templates for steps. What they cost they charge by themselves. */
@Injectable()
export class PromptCalls {
  constructor(
    private readonly db: Database,
    private readonly runner: PromptRunner,
    private readonly journal: JournalRepository,
    private readonly ledgers: Ledgers,
    private readonly budgets: RunBudgets,
  ) {}

  async run(run: LoadedRun, row: JournalRow, step: PromptStep, signal: AbortSignal): Promise<CallResult> {
    const scope = OrgScope.system(run.org_id, 'process');
    const callKey = `${run.id}/${row.path}/${row.attempt}`;
    const before = await this.runner.answerTo(scope, callKey);
    if (before) return { outcome: outcomeOf(before) };
    const cut = new Cutoff(signal, step.timeout_s * 1_000);
    let end: (Pick<PromptRun, 'error'> & Partial<PromptRun>) | null = null;
    try {
      const [{ id: template }] = await this.db.query(MEANT, [run.revision_id, refOf('template', step.template)]);
      if (!template) return { outcome: failed('tool_error', `There is no prompt template ${step.template}.`) };
      const prepared = await this.runner.prepare(scope, template, requestOf(step, row), cut.signal);
      await this.runner.run(scope, prepared, {
        source: 'process',
        callKey,
        runId: run.id,
        budget: this.budgets.of(run),
        charge: async (tx, { usd_cost, credits }, asked) => {
          await this.ledgers.prompt(tx, run, row, {
            requested: step.model_mode,
            prepared,
            asked,
            error: asked.error && problemOf(asked.error),
          });
          await this.journal.charge(tx, run.id, { usd_cost, credits });
        },
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
      return { outcome: refusalOf(error) };
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
    preferred_mode: step.model_mode,
  };
}

/** What steps fail with is a closed list: the codes that templates have of their own, as steps of models say the same. All others are those of inference. */
const CODES: Record<string, string> = {
  extraction_invalid: 'output_schema',
  output_too_long: 'output_schema',
  model_interrupted: 'provider_unavailable',
  model_refused: 'provider_rejected',
  internal_error: 'internal',
};

const problemOf = ({ code, message, retryable }: NonNullable<PromptRun['error']>): StepError =>
  stepError(CODES[code] ?? code, message, retryable);

const MODEL_CODES = new Set(['model_unknown', 'model_not_allowed', 'model_not_callable', 'model_not_priced']);

/** What has kept a template from being run. */
function refusalOf({ code, detail }: DomainError): CallOutcome {
  if (code === 'credits_exhausted') return failed(code, detail);
  if (MODEL_CODES.has(code)) return failed('model_unavailable', detail);
  if (code === 'not_found') return failed('tool_error', detail);
  // To read an address once more does no harm.
  if (code === 'input_url_failed') return failed('tool_error', detail, true);
  return failed('tool_rejected', detail);
}

function outcomeOf(end: Pick<PromptRun, 'error'> & Partial<PromptRun>): CallOutcome {
  return end.error ? failedWith(problemOf(end.error)) : completed(end.data ?? end.output ?? null);
}
