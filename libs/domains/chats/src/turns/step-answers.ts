import { Injectable } from '@nestjs/common';
import type { MessageFinish } from '@aps/contracts';
import { InferenceError, isRefusal, sumOf, tokensOf, type ChatResult, type ResolvedModel, type WorkHold } from '@aps/inference';
import { Database, NO_CALLER } from '@aps/platform/database';
import { counter, durationHistogram } from '@aps/platform/observability';
import { LeaseEnded } from '@aps/platform/runs';
import { ChatLog } from '../state/chat-log';
import type { NewEvent } from '../state/chat.types';
import { refuseLong } from './answer-size';
import { Compaction } from './compaction';
import type { RunningTurn } from './running-turn';
import { TurnCalls } from './turn-calls';
import { TurnRepository } from './turn.repository';

const firstToken = durationHistogram('turn_first_token_seconds', 'Time from when a turn could be taken up to the first text of its answer');
export const cutOffTokens = counter(
  'turn_cut_off_tokens_total',
  'Output tokens, estimated, of model calls that were cut off: their provider may bill them, and no receipt tells of them',
);

/** How far a step has come that is under way. */
export interface PartialAnswer {
  /** What the model has said so far. */
  text: string;
  /** Characters of what has come while it was streamed. */
  size: number;
  /** Of what the model was told beside the chat. */
  contextHash?: string;
  /** What the step holds of the budget, and what its calls have come to. */
  readonly hold: WorkHold;
}

/** Why an answer ended, as its message says it. @param last no step of its turn may follow */
export function finishOf(result: Pick<ChatResult, 'text' | 'toolCalls' | 'finishReason'>, last: boolean): MessageFinish {
  const { finishReason: reason } = result;
  if (result.toolCalls.length > 0) return last ? 'step_limit' : reason === 'length' ? reason : 'tool_calls';
  if (isRefusal(reason)) return reason;
  if (result.text.trim() === '') return 'empty';
  return reason === 'length' ? reason : 'stop';
}

/** Asks the model for the answer of a step, and tells what comes of it to whoever listens. */
@Injectable()
export class StepAnswers {
  constructor(
    private readonly db: Database,
    private readonly turns: TurnRepository,
    private readonly calls: TurnCalls,
    private readonly log: ChatLog,
    private readonly compaction: Compaction,
  ) {}

  /** What says nothing is asked for once more, as the same step. Where that fails, the first answer stands: it has been paid for. */
  async answer(turn: RunningTurn, model: ResolvedModel, messageId: string, partial: PartialAnswer): Promise<ChatResult> {
    const first = await this.askFitting(turn, model, messageId, partial);
    if (finishOf(first, false) !== 'empty') return first;
    turn.lease.signal.throwIfAborted();
    await this.forget(turn, messageId, partial);
    let second: ChatResult;
    try {
      second = await this.askFitting(turn, model, messageId, partial);
    } catch (error) {
      if (error instanceof InferenceError) return first;
      throw error;
    }
    return { ...second, usage: sumOf(first.usage, second.usage), attempts: first.attempts + second.attempts };
  }

  /**
   * A count of ours may be wrong: what a provider finds too long is compacted, and asked anew, twice at most. What has too many bytes is asked
   * anew without the images of earlier messages, which nobody could take out of the chat.
   */
  private async askFitting(turn: RunningTurn, model: ResolvedModel, messageId: string, partial: PartialAnswer): Promise<ChatResult> {
    for (let fitted = 0; ;) {
      try {
        return await this.ask(turn, model, messageId, partial);
      } catch (error) {
        if (!(error instanceof InferenceError)) throw error;
        if (error.code === 'provider_rejected' && error.status === 413 && this.calls.showLess(turn)) continue;
        const isTooLong = error.code === 'context_overflow' && fitted++ < 2;
        if (!isTooLong || !(await this.compaction.fit(turn, model, true))) throw error;
      }
    }
  }

  private async ask(turn: RunningTurn, model: ResolvedModel, messageId: string, partial: PartialAnswer): Promise<ChatResult> {
    const { claim, lease } = turn;
    let spoke = false;
    try {
      const { call, contextHash } = await this.calls.of(turn, model);
      partial.contextHash = contextHash;
      partial.size = 0;
      const result = await partial.hold.ask(model, call, {
        signal: lease.signal,
        onEvent: (event) => {
          // Those come when the answer is whole, and known with its receipt.
          if (event.type === 'tool_call') return;
          refuseLong(model, (partial.size += event.text.length));
          if (event.type !== 'text') return;
          if (!spoke && turn.modelSteps === 0) firstToken.observe(Math.max(0, this.db.now().getTime() - claim.ready_at.getTime()) / 1000);
          spoke = true;
          partial.text += event.text;
          turn.signals.text(messageId, event.text);
        },
        onRestart: () => void this.forget(turn, messageId, partial),
      });
      refuseLong(model, partial.size, result);
      return result;
    } catch (error) {
      if (error instanceof LeaseEnded) cutOffTokens.inc(Math.ceil(tokensOf(partial.text)));
      turn.signals.discardText(messageId);
      throw error;
    } finally {
      await claim.committed;
    }
  }

  /** The answer starts anew: what has been heard of it is void. */
  private async forget(turn: RunningTurn, messageId: string, partial: PartialAnswer): Promise<void> {
    partial.text = '';
    partial.size = 0;
    if (turn.signals.discardText(messageId)) await this.announceRestart(turn, messageId);
  }

  /** Readers who have heard a beginning of the answer forget it. */
  async announceRestart(turn: RunningTurn, messageId: string): Promise<void> {
    const at = this.db.now();
    const events: NewEvent[] = [{ type: 'message_restarted', data: { message_id: messageId, turn_id: turn.claim.id } }];
    try {
      await this.db.transaction(NO_CALLER, async (tx) => {
        if (!(await this.turns.lockOwned(tx, turn.claim.id, turn.claim.fence))) return;
        const told = await this.log.append(tx, turn.claim.chat_id, events, at);
        tx.afterCommit(() => turn.signals.events(told));
      });
    } catch {
      // The event that ends the message has all of it.
    }
  }
}
