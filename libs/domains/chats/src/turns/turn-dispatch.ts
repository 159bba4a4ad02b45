import { Injectable, Logger } from '@nestjs/common';
import { Entitlements } from '@aps/billing';
import type { OrgScope } from '@aps/guards';
import { NO_CALLER, Database, type Tx } from '@aps/platform/database';
import { Outbox, type OutboxJob } from '@aps/platform/outbox';
import { uuidv7 } from 'uuidv7';
import { ChatLog } from '../state/chat-log';
import { statusChanged, type ChatError } from '../state/chat.types';
import { ChatEnds } from '../state/chat-ends';
import { ChatState, type LockedChat } from '../state/chat-state.repository';
import { QueueDepth } from './queue-depth';
import { DispatchRepository, type NewTurn, type TurnCause, type TurnToResume } from './dispatch.repository';
import { carriedChoices } from './turn-choices';
import { runOf, TurnRepository } from './turn.repository';

const DISPATCH_FAILED: ChatError = { code: 'dispatch_failed', message: 'The turn could not be handed to a worker.', retryable: true };

/** Hands turns to workers in the request that made them, so that a caller learns at once when no worker can be reached. */
@Injectable()
export class TurnDispatch {
  private readonly logger = new Logger('TurnDispatch');

  constructor(
    private readonly db: Database,
    private readonly chats: ChatState,
    private readonly rows: DispatchRepository,
    private readonly turns: TurnRepository,
    private readonly outbox: Outbox,
    private readonly depth: QueueDepth,
    private readonly log: ChatLog,
    private readonly ends: ChatEnds,
    private readonly entitlements: Entitlements,
  ) {}

  /**
   * Puts a turn on the queue; when that fails, takes it back, so that a 503 is the truth.
   *
   * @param stored where the turn is still being committed
   * @returns false when the turn is over and nothing runs; true when it runs, or may
   */
  async publish(scope: OrgScope, turn: { id: string; chat_id: string }, stored?: Promise<void>): Promise<boolean> {
    try {
      await this.outbox.publish([this.jobOf(scope, turn)]);
      return true;
    } catch (error) {
      this.logger.warn({ msg: 'Dispatch failed', turn_id: turn.id, request_id: scope.requestId, error: (error as Error).message });
    }
    await stored;
    try {
      return !(await this.takeBack({ ...turn, org_id: scope.orgId }));
    } catch {
      // Not confirmed: the row may still be there, and the relay will run it.
      return true;
    }
  }

  /** Publishes a turn whose job a statement of this transaction has written, after the commit. What fails is left to the relay. */
  handOut(tx: Tx, scope: OrgScope, turn: { id: string; chat_id: string }): Promise<void> {
    return this.outbox.handOut(tx, [this.jobOf(scope, turn)]);
  }

  private jobOf(scope: OrgScope, turn: { id: string; chat_id: string }): OutboxJob<'turn.run'> {
    return {
      id: turn.id,
      name: 'turn.run',
      payload: runOf({ ...turn, org_id: scope.orgId }),
      requestId: scope.requestId,
      traceparent: scope.traceparent,
      priority: this.depth.priorityOf(scope.orgId),
    };
  }

  /** @returns false when the turn has got to a worker after all, others wait behind it, or it answers what others have repeated */
  private async takeBack(turn: { id: string; org_id: string; chat_id: string }): Promise<boolean> {
    return this.db.transaction(NO_CALLER, async (tx) => {
      const from = await this.rows.lockQueued(tx, turn.id);
      if (!from) return false;
      // Somebody was told that it runs. A look of its own: what stood beside a row that had to be waited for would be older than the row.
      if (await this.rows.isReliedOn(tx, turn.id)) return false;
      const at = this.db.now();
      await this.turns.endTurn(tx, turn, {
        turnStatus: 'cancelled',
        chat: 'fail',
        error: DISPATCH_FAILED,
        stopReason: null,
        at,
        dispatchNext: false,
      });
      await this.log.tell(tx, turn.chat_id, [statusChanged(from, 'ERRORED', { error: DISPATCH_FAILED })], at);
      await this.ends.tell(tx, { id: turn.chat_id }, 'cancelled', turn.id);
      return true;
    });
  }

  /** Writes a turn with its job, on a locked chat that runs none. @param how with `publishedByCaller` {@link publish} follows the commit */
  async begin(tx: Tx, chat: { id: string; org_id: string }, turn: NewTurn, how: { publishedByCaller?: boolean; at: Date }): Promise<void> {
    const { id } = turn;
    await this.rows.insert(tx, chat, turn);
    await this.chats.beginTurn(tx, chat.id, id, how.at);
    const { publishedByCaller } = how;
    await this.outbox.enqueue(tx, 'turn.run', runOf({ id, org_id: chat.org_id, chat_id: chat.id }), { id, publishedByCaller });
  }

  /**
   * Writes a turn that goes on where another one ended, on a locked chat that runs none, with its job. The chat is live again.
   *
   * @param how `last` chooses the model of the new turn as it did its own, as far as the plan still allows; with `publishedByCaller` {@link publish} follows the commit
   * @returns the new turn's id
   */
  async resume(
    tx: Tx,
    scope: OrgScope,
    chat: LockedChat,
    how: {
      cause: TurnCause;
      messageId: string | null;
      last: TurnToResume | null;
      unpricedAllowed?: boolean;
      publishedByCaller?: boolean;
      at: Date;
    },
  ): Promise<string> {
    const id = uuidv7();
    const { cause, messageId, last, unpricedAllowed = false, publishedByCaller, at } = how;
    const { direct_model_choice: direct } = await this.entitlements.of(scope.orgId);
    const turn = {
      id,
      seq: chat.turn_seq + 1,
      cause,
      messageId,
      principalId: principalOf(scope, last, await this.chats.unreadAuthors(tx, chat)),
      choices: last && carriedChoices(last, direct),
      unpricedAllowed,
    };
    await this.begin(tx, chat, turn, { publishedByCaller, at });
    // From now on nobody takes the turn back.
    if (messageId) await this.chats.readBy(tx, id, messageId);
    await this.chats.revive(tx, chat.id, at);
    await this.log.tell(tx, chat.id, [statusChanged(chat.status, 'ACTIVE')], at);
    return id;
  }
}

/**
 * On whose behalf a turn goes on where another ended: on that of who says so, if that was so before. What somebody else has written is not
 * done with the connections of whoever has it done.
 *
 * @param authors of what it is the first to read, or reads anew; null where no human has written it
 */
export function principalOf(
  { actor }: OrgScope,
  last: Pick<TurnToResume, 'principal_id'> | null,
  authors: readonly (string | null)[],
): string | null {
  const wasSo = !last || last.principal_id === actor.userId;
  return wasSo && authors.every((author) => author === null || author === actor.userId) ? actor.userId : null;
}
