import { Injectable } from '@nestjs/common';
import type { HeldFor, TraceRow } from '@aps/entities';
import { costOf, Holds, InferenceError, ModelResolver, ReceiptsRepository, type ResolvedModel, type WorkHold } from '@aps/inference';
import { Database, type Tx, NO_CALLER } from '@aps/platform/database';
import { counter } from '@aps/platform/observability';
import { LeaseEnded } from '@aps/platform/runs';
import { Entitlements } from '@aps/billing';
import { factsOf } from '../messages/message-facts.convert';
import { CLASSIFIER_FEATURE, classifierCall } from '../rules/classifier-call';
import { answerOf, type ClassifierAnswer } from '../rules/verdict.policy';
import type { ClassifierStage } from '../rules/rule-set.schema';
import { EvaluationRepository, type ClaimedMessage } from './evaluation.repository';
import type { LoadedMessage } from './evaluation.sql';

const asked = counter('inbox_classifier_answers_total', 'What models that classify messages have answered, by outcome', ['outcome']);

/** Characters; a longer answer is none. */
const MAX_ANSWER = 2_000;

/** What asking has come to. */
export interface Asking {
  /** Null where the model gave none that is one of the labels, or could not be asked. */
  answer: ClassifierAnswer | null;
  told: NonNullable<TraceRow['classifier']>;
  /** Writes what it cost; a transaction's last. */
  charge: (tx: Tx) => Promise<void>;
}

/** A call that was not made, and so not counted. */
export class NotAsked extends Error {
  constructor(
    readonly reason: 'classifier_quota' | 'credits_exhausted',
    readonly until?: HeldFor,
  ) {
    super(`A classifier was not asked: ${reason}`);
  }
}

/** Has a model put a label on a message. */
@Injectable()
export class Classifier {
  constructor(
    private readonly db: Database,
    private readonly repository: EvaluationRepository,
    private readonly entitlements: Entitlements,
    private readonly resolver: ModelResolver,
    private readonly holds: Holds,
    private readonly receipts: ReceiptsRepository,
  ) {}

  /**
   * Asks a model; once more where its answer is none, if there is room for another call.
   *
   * @param then writes what follows from the answer, and charges it
   * @throws NotAsked; what aborts `signal`; what `then` throws
   */
  ask<T>(
    run: ClaimedMessage,
    m: LoadedMessage,
    stage: ClassifierStage,
    signal: AbortSignal,
    then: (asking: Asking) => Promise<T>,
  ): Promise<T> {
    const name = `intake:${m.id}:${m.evaluation_no}:${stage.id}`;
    const work = { orgId: m.org_id, chatId: null, agentId: null, name, feature: CLASSIFIER_FEATURE };
    return this.holds.holding(work, async (hold) => {
      try {
        return await then(await this.answer(m, stage, signal, hold));
      } catch (error) {
        if (error instanceof LeaseEnded && hold.receipts.length) await this.chargeEnded(run, m, hold);
        throw error;
      }
    });
  }

  /** Where people have ended an evaluation, or begun it anew, nobody else pays for what it was answered; one that goes on elsewhere pays for what it is answered there. */
  private chargeEnded(run: ClaimedMessage, m: LoadedMessage, hold: WorkHold): Promise<void> {
    return this.db.transaction(NO_CALLER, async (tx) => {
      if (await this.repository.isOver(tx, run)) await this.charge(tx, m, hold);
    });
  }

  private charge(tx: Tx, { org_id, id: message_id }: LoadedMessage, { receipts }: WorkHold): Promise<void> {
    return this.receipts.insertOnce(tx, receipts, { org_id, message_id });
  }

  private async answer(m: LoadedMessage, stage: ClassifierStage, signal: AbortSignal, hold: WorkHold): Promise<Asking> {
    const { receipts } = hold;
    let model: ResolvedModel | null = null;
    let answer: ClassifierAnswer | null = null;
    let failed = false;
    let calls = 0;
    try {
      const requested = { messageModel: stage.model };
      model = await this.resolver.resolve({ orgId: m.org_id, scope: CLASSIFIER_FEATURE, requested });
      for (let tries = 0; tries < 2 && !answer; tries++) {
        const call = classifierCall(stage, factsOf(m, m));
        // Counted once nothing else keeps it from being made.
        const before = () => this.count(m).then(() => void calls++);
        const result = await hold.ask(model, call, { signal, before });
        answer = answerOf(stage, parsed(result.text));
      }
    } catch (error) {
      // Without room for another call, it is left at what the first was answered.
      if (!(error instanceof NotAsked && receipts.length)) {
        signal.throwIfAborted();
        // One that was asked is paid, whatever its answer.
        if (error instanceof InferenceError && error.code === 'credits_exhausted' && !receipts.length)
          throw new NotAsked('credits_exhausted', { credits: error.credits });
        // The provider is away: the rule says what then.
        if (!(error instanceof InferenceError)) throw error;
        failed = true;
      }
    }
    asked.inc({ outcome: answer ? 'label' : failed ? 'failed' : 'no_label' });
    if (!receipts.length) await hold.release();
    const cost = costOf(receipts);
    return {
      answer,
      told: {
        label: answer?.label ?? null,
        confidence: answer?.confidence ?? null,
        model: model?.resolved_model ?? stage.model ?? '',
        cost_usd: cost.usd_cost,
        cost_credits: cost.credits,
        calls,
      },
      charge: (tx) => this.charge(tx, m, hold),
    };
  }

  /** Counts a call before it is made, also where there is no cap: there may be one later that day. @throws NotAsked where the inbox or the plan has no room for it; then none is counted */
  private async count(m: LoadedMessage): Promise<void> {
    const { intake_classifier_calls_per_day: plan } = await this.entitlements.of(m.org_id);
    const caps = [
      { of: m.inbox_id, limit: m.rate_limit_classifier_calls_per_day },
      { of: '', limit: plan < 0 ? null : plan },
    ];
    await this.db.transaction(NO_CALLER, async (tx) => {
      for (const { of, limit } of caps)
        if (!(await this.repository.countCall(tx, m.org_id, of, limit))) throw new NotAsked('classifier_quota');
    });
  }
}

function parsed(text: string): unknown {
  try {
    return text.length > MAX_ANSWER ? null : JSON.parse(text);
  } catch {
    return null;
  }
}
