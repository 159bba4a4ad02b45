import { Injectable } from '@nestjs/common';
import { AgentsQueries } from '@aps/agents';
import { Entitlements } from '@aps/billing';
import { DomainError, notFound } from '@aps/contracts';
import type { OrgScope } from '@aps/guards';
import { Database } from '@aps/platform/database';
import { IdempotencyStore, type Attempt } from '@aps/platform/idempotency';
import { Outbox } from '@aps/platform/outbox';
import { uuidv7 } from 'uuidv7';
import { agentDeleted } from '../chats.errors';
import { carriedChoices } from '../chats.policy';
import { ChatsRepository } from '../chats.repository';
import { MessageFiles } from '../message-files';
import { QueueDepth, type Room } from '../queue-depth';
import { TurnDispatch } from '../turns/turn-dispatch';
import { runOf } from '../turns/turn.repository';
import { RetryRepository } from './retry.repository';

/** Begins chats anew, as chats of their own. */
@Injectable()
export class RetryService {
  constructor(
    private readonly db: Database,
    private readonly rows: RetryRepository,
    private readonly chats: ChatsRepository,
    private readonly outbox: Outbox,
    private readonly files: MessageFiles,
    private readonly dispatch: TurnDispatch,
    private readonly agents: AgentsQueries,
    private readonly entitlements: Entitlements,
    private readonly depth: QueueDepth,
    private readonly idempotency: IdempotencyStore,
  ) {}

  /**
   * Opens a chat that begins like another one, on the agent's live revision, and dispatches it as one turn. It carries what users wrote
   * before the first answer with its files, what began the chat, and its environment, sandbox, mode and switched-on scopes. It belongs
   * to the caller, or to nobody where no human began the source. The source is left as it is.
   *
   * @param attempt of a request with an idempotency key; one whose first try was answered 503 goes on with the chat of that try
   * @returns the new chat's id
   * @throws DomainError 404; 409 `agent_deleted`; 422 `nothing_to_retry`; 429 `queue_full`; 503 `dispatch_failed` with `{chat_id}`
   */
  async retry(scope: OrgScope, agentId: string, chatId: string, attempt?: Attempt): Promise<string> {
    if (attempt?.resourceId) return this.dispatchAgain(scope, agentId, attempt.resourceId);
    const room = await this.depth.enter(scope.orgId);
    try {
      return await this.retryInto(room, scope, agentId, chatId, attempt);
    } finally {
      room.leave();
    }
  }

  private async retryInto(room: Room, scope: OrgScope, agentId: string, chatId: string, attempt?: Attempt): Promise<string> {
    const { direct_model_choice: direct } = await this.entitlements.of(scope.orgId);
    const at = this.db.now();
    const turn = { id: uuidv7(), chat_id: uuidv7() };
    await this.depth.transaction(scope, room, async (tx) => {
      const source = await this.rows.source(tx, scope, agentId, chatId);
      if (!source) throw notFound('Chat');
      if (source.agent_deleted) throw agentDeleted();
      const opening = await this.rows.opening(tx, scope, source.id);
      if (opening.length === 0)
        throw new DomainError(
          'nothing_to_retry',
          'No user has written in this chat before its first answer, so there is nothing to begin with.',
        );
      const live = await this.agents.forNewChat(tx, scope, agentId);
      if (!live) throw agentDeleted();
      await this.depth.confirm(tx, room);
      const choices = await this.rows.choicesOf(tx, opening[0].turn_id);
      const chat = { ...source, ...live, new_id: turn.chat_id, created_by: source.created_by && scope.actor.userId };
      const copies = await this.rows.insert(tx, scope, chat, opening, {
        id: turn.id,
        choices: choices && carriedChoices(choices, direct),
        at,
      });
      for (const [i, { attachments }] of opening.entries())
        if (attachments?.length) await this.files.carry(tx, scope, copies[i], attachments);
      await this.outbox.enqueue(tx, 'turn.run', runOf({ ...turn, org_id: scope.orgId }), { id: turn.id, publishedByCaller: true });
      if (attempt) await this.idempotency.attach(tx, attempt, turn.chat_id);
    });
    return this.publish(scope, turn);
  }

  /** A repeat of a request whose first try made its chat and got no further. */
  private async dispatchAgain(scope: OrgScope, agentId: string, chatId: string): Promise<string> {
    const at = this.db.now();
    const id = await this.db.transaction(scope, async (tx) => {
      const chat = await this.chats.lock(tx, scope, agentId, chatId);
      if (!chat) throw notFound('Chat');
      const last = await this.chats.newestTurn(tx, chat.id);
      // It runs or has run: nothing is left to dispatch.
      if (chat.status !== 'ERRORED' || last?.status !== 'cancelled') return null;
      if (chat.agent_deleted) throw agentDeleted();
      await this.depth.requireRoom(tx, scope.orgId);
      return this.dispatch.resume(tx, chat, { cause: 'retry', messageId: last.message_id, last, publishedByCaller: true, at });
    });
    return id ? this.publish(scope, { id, chat_id: chatId }) : chatId;
  }

  private async publish(scope: OrgScope, turn: { id: string; chat_id: string }): Promise<string> {
    if (await this.dispatch.publish(scope, turn)) return turn.chat_id;
    throw new DomainError('dispatch_failed', 'The new chat is stored, but no worker can be reached. Continue it, or repeat the request.', {
      context: { chat_id: turn.chat_id },
      retryAfterS: 2,
    });
  }
}
