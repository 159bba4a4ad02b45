import { Injectable } from '@nestjs/common';
import { refusalOf, type CallBlocker } from '@aps/billing';
import { DomainError, notFound } from '@aps/contracts';
import type { OrgScope } from '@aps/guards';
import { Database, type Tx } from '@aps/platform/database';
import { IdempotencyStore, type Attempt } from '@aps/platform/idempotency';
import { agentDeleted } from '../state/chats.errors';
import { effectOf } from '../state/chat-state.policy';
import { ChatState } from '../state/chat-state.repository';
import { DispatchRepository } from '../turns/dispatch.repository';
import { QueueDepth, type Room } from '../turns/queue-depth';
import { TurnDispatch } from '../turns/turn-dispatch';
import { TurnQuotes } from '../turns/turn-quotes';

const NOT_OVER: readonly string[] = ['queued', 'running', 'waiting'];

/** Lets chats go on without a new message. */
@Injectable()
export class ContinueService {
  constructor(
    private readonly db: Database,
    private readonly chats: ChatState,
    private readonly turns: DispatchRepository,
    private readonly dispatch: TurnDispatch,
    private readonly quotes: TurnQuotes,
    private readonly depth: QueueDepth,
    private readonly idempotency: IdempotencyStore,
  ) {}

  /**
   * Dispatches the next turn of a chat that failed, or that was closed for a reason that has passed; this is what un-archives a chat. The
   * turn asks for its model as the one before it did. When a turn of an earlier `continue` is not over, nothing is done.
   *
   * @param attempt of a request with an idempotency key; one whose first try has dispatched the turn does nothing any more
   * @throws DomainError 404; 409 `agent_deleted`; 422 `not_continuable`; 402 `credits_exhausted`, `budget_exceeded`; 429 `queue_full`
   */
  async continue(scope: OrgScope, agentId: string, chatId: string, attempt?: Attempt): Promise<void> {
    if (attempt?.resourceId) return;
    const blocker = await this.quotes.blockerOf(scope, agentId, chatId);
    const room = await this.depth.enter(scope.orgId);
    try {
      await this.continueInto(room, scope, agentId, chatId, blocker, attempt);
    } finally {
      room.leave();
    }
  }

  /**
   * Dispatches the next turn of a chat that was cut off through no doing of its own, for a domain above that waits for it. Does nothing
   * where one follows already. Whatever room there is: it takes the place of the one that was cut off.
   *
   * @param tx has locked the chat
   */
  async goOn(tx: Tx, scope: OrgScope, agentId: string, chatId: string): Promise<void> {
    const chat = await this.chats.lock(tx, scope, agentId, chatId);
    if (!chat || chat.turn !== null) return;
    const last = await this.turns.newest(tx, chat.id);
    await this.dispatch.resume(tx, scope, chat, { cause: 'continue', messageId: null, last, at: this.db.now() });
  }

  private continueInto(
    room: Room,
    scope: OrgScope,
    agentId: string,
    chatId: string,
    blocker: CallBlocker | null,
    attempt?: Attempt,
  ): Promise<void> {
    const at = this.db.now();
    return this.depth.transaction(scope, room, async (tx) => {
      const chat = await this.chats.lock(tx, scope, agentId, chatId);
      if (!chat) throw notFound('Chat');
      if (chat.agent_deleted) throw agentDeleted();
      const last = await this.turns.newest(tx, chat.id);
      if (last?.cause === 'continue' && NOT_OVER.includes(last.status)) {
        if (attempt) await this.idempotency.attach(tx, attempt, chatId);
        return;
      }
      if (effectOf('continue', chat) === 'refuse') {
        throw new DomainError(
          'not_continuable',
          'Only a failed chat, or one that was closed for a reason that has passed, can be continued.',
          {
            context: { status: chat.status, stop_reason: chat.stop_reason },
          },
        );
      }
      if (blocker) throw refusalOf(blocker);
      await this.depth.confirm(tx, room);
      // An unpriced model is let through for as long as it is this turn: it would be closed for it again.
      const unpricedAllowed = chat.stop_reason === 'model_unpriced' || (last?.cause === 'continue' && last.unpriced_allowed);
      await this.dispatch.resume(tx, scope, chat, { cause: 'continue', messageId: null, last, unpricedAllowed, at });
      if (attempt) await this.idempotency.attach(tx, attempt, chatId);
    });
  }
}
