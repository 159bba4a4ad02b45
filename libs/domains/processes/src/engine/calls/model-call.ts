import { Injectable } from '@nestjs/common';
import type { StepError } from '@aps/entities';
import {
  costOf,
  Holds,
  InferenceError,
  isRefusal,
  ModelResolver,
  ReceiptsRepository,
  repairOf,
  sumOf,
  type ChatMessage,
  type InferenceFeature,
  type ModelCall,
  type ResolvedModel,
  type Usage,
} from '@aps/inference';
import type { Tx } from '@aps/platform/database';
import { uuidv7 } from 'uuidv7';
import { Cutoff } from '@aps/platform/signals';
import type { Schema } from '@aps/platform/json-schema';
import { JournalRepository } from '../journal.repository';
import { stepError } from '../journal';
import { parsed } from '../output.policy';
import type { LoadedRun } from '../process-run.sql';
import { RunBudgets } from '../run-budgets';

/** Characters; a longer answer is none. */
const MAX_ANSWER = 1_000_000;
/** So much of an answer that is no good is shown to the model again. */
const MAX_SHOWN = 20_000;

/** What a model is asked for a step. */
export interface ModelQuestion {
  /** Names it: whoever asks it again after its worker was lost does not hold twice. */
  name: string;
  /** On the receipt. Side work of steps may have a model of its own. */
  feature: 'process' | Extract<InferenceFeature, 'distill' | 'payload_repair'>;
  model?: string | null;
  mode?: string | null;
  system?: string;
  prompt: string;
  /** The answer is an object of this form; null: text. */
  schema: Schema | null;
  timeout_s: number;
}

/** What came of asking, for the ledger that it stands in. */
export interface ModelAnswer {
  /** Of its line, which is written once, whether or not the commit of an earlier try was heard of. */
  id: string;
  value: unknown;
  error: StepError | null;
  requested: string | null;
  resolved: ResolvedModel | null;
  usage: Usage | null;
  cost_usd: string | null;
  cost_credits: string;
  duration_ms: number;
  request: unknown;
  response: unknown;
  /** Writes what it has cost, with the run; a transaction's last. */
  charge: (tx: Tx) => Promise<void>;
}

/** Asks models on behalf of runs: once more where an object was wanted and something else came. */
@Injectable()
export class ModelQuestions {
  constructor(
    private readonly resolver: ModelResolver,
    private readonly holds: Holds,
    private readonly receipts: ReceiptsRepository,
    private readonly journal: JournalRepository,
    private readonly budgets: RunBudgets,
  ) {}

  /** @throws the reason of the signal where nothing was answered yet, and what is a fault of ours */
  async ask(run: LoadedRun, question: ModelQuestion, signal: AbortSignal): Promise<ModelAnswer> {
    const { name, feature } = question;
    const work = { orgId: run.org_id, chatId: null, agentId: null, name, feature, budget: this.budgets.of(run) };
    return this.holds.holding(work, async (hold) => {
      const started = performance.now();
      const cut = new Cutoff(signal, question.timeout_s * 1_000);
      const messages: ChatMessage[] = [{ role: 'user', content: question.prompt }];
      const said: string[] = [];
      let resolved: ResolvedModel | null = null;
      let usage: Usage | null = null;
      let value: unknown = null;
      let error: StepError | null = null;
      try {
        resolved = await this.resolver.resolve({
          orgId: run.org_id,
          scope: 'process',
          ...(feature !== 'process' && { feature }),
          requested: { messageModel: question.model ?? null, chatMode: question.mode ?? null },
        });
        for (let tries = 1; ; tries++) {
          const call: ModelCall = {
            feature,
            ...(question.system !== undefined && { system: question.system }),
            messages,
            ...(question.schema && { responseFormat: { name: 'output', schema: question.schema } }),
          };
          let length = 0;
          const result = await hold.ask(resolved, call, {
            signal: cut.signal,
            onEvent: (event) => {
              if (event.type === 'text' && (length += event.text.length) > MAX_ANSWER) throw new TooLong();
            },
            onRestart: () => (length = 0),
          });
          usage = usage ? sumOf(usage, result.usage) : result.usage;
          said.push(result.text);
          if (isRefusal(result.finishReason)) throw new InferenceError('provider_rejected', 'The model did not answer this.');
          const read = question.schema ? parsed(question.schema, result.text) : { value: result.text };
          if ('value' in read) {
            value = read.value;
            break;
          }
          if (tries === 2) {
            error = stepError('output_schema', read.problem);
            break;
          }
          messages.push(
            { role: 'assistant', text: result.text.slice(0, MAX_SHOWN) || '…' },
            { role: 'user', content: repairOf(read.problem) },
          );
        }
      } catch (cause) {
        // What was answered before it was cut off is paid.
        if (!hold.receipts.length) signal.throwIfAborted();
        if (signal.aborted) error = stepError('worker_lost', 'The call was cut off while the model was asked once more.');
        else error = cut.isLate ? stepError('timeout', `The model took longer than ${question.timeout_s} s.`, true) : problemOf(cause);
      } finally {
        cut.release();
      }
      const duration_ms = Math.round(performance.now() - started);
      const { receipts } = hold;
      if (!receipts.length) await hold.release();
      const cost = costOf(receipts);
      const owner = { org_id: run.org_id, run_id: run.id };
      return {
        id: uuidv7(),
        value,
        error,
        requested: question.model ?? question.mode ?? null,
        resolved,
        usage,
        cost_usd: cost.usd_cost,
        cost_credits: cost.credits,
        duration_ms,
        request: [...(question.system === undefined ? [] : [{ role: 'system', content: question.system }]), ...messages],
        response: said.map((text) => ({ role: 'assistant', content: text })),
        charge: (tx) => this.receipts.insertOnce(tx, receipts, owner, () => this.journal.charge(tx, run.id, cost)),
      };
    });
  }
}

class TooLong extends Error {}

function problemOf(cause: unknown): StepError {
  if (cause instanceof TooLong) return stepError('output_schema', `The answer has more than ${MAX_ANSWER} characters.`);
  if (cause instanceof InferenceError) return stepError(cause.code, cause.message, cause.retryable);
  throw cause;
}
