import { Injectable } from '@nestjs/common';
import { AgentsQueries } from '@aps/agents';
import { Entitlements } from '@aps/billing';
import { DomainError, notFound } from '@aps/contracts';
import type { OrgScope } from '@aps/guards';
import { Database, type Tx } from '@aps/platform/database';
import { IdempotencyStore, type Attempt } from '@aps/platform/idempotency';
import { uuidv7 } from 'uuidv7';
import { eventMessage, type NewEvent } from '../state/chat.types';
import { agentDeleted } from '../state/chats.errors';
import { ChatLog } from '../state/chat-log';
import { ChatState } from '../state/chat-state.repository';
import { DispatchRepository, type NewTurn } from '../turns/dispatch.repository';
import { carriedChoices } from '../turns/turn-choices';
import { MessageFiles } from '../sending/message-files';
import { QueueDepth, type Room } from '../turns/queue-depth';
import { principalOf, TurnDispatch } from '../turns/turn-dispatch';
import { RetryQueries, type OpeningMessage } from './retry.queries';

/** Begins chats anew, as chats of their own. */
@Injectable()
export class RetryService {
  constructor(
    private readonly db: Database,
    private readonly rows: RetryQueries,
    private readonly chats: ChatState,
    private readonly turns: DispatchRepository,
    private readonly log: ChatLog,
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
    const begin = async (tx: Tx) => {
      const source = await this.rows.source(tx, scope, agentId, chatId);
      if (!source) throw notFound('Chat');
      if (source.agent_deleted) throw agentDeleted();
      const opening = await this.rows.opening(tx, scope, source.id);
      if (opening.length === 0)
        throw new DomainError(
          'nothing_to_retry',
          'No user has written in this chat before its first answer, so there is nothing to begin with.',
        );
      const created_by = source.created_by && scope.actor.userId;
      const originator = created_by ?? source.originator;
      const live = await this.agents.forNewChat(tx, scope, agentId, { chat_id: turn.chat_id, originator });
      if (!live) throw agentDeleted();
      await this.depth.refuseFull(tx, room);
      const first = opening[0].turn_id;
      const choices = first ? await this.turns.choicesOf(tx, first) : null;
      const authors = opening.map(({ author_id }) => author_id);
      const { environment_id, sandbox_enabled, model_mode_override, enabled_scopes, max_steps, origin_kind, origin_ref_id } = source;
      await this.chats.insert(tx, live, {
        id: turn.chat_id,
        org_id: scope.orgId,
        created_by,
        originator,
        environment_id,
        sandbox_enabled,
        model_mode_override,
        enabled_scopes,
        max_steps,
        source_chat_id: source.id,
        origin_kind,
        origin_ref_id,
        created_at: at,
      });
      const copies = await this.carry(tx, scope, opening, turn, at);
      const begun: NewTurn = {
        id: turn.id,
        seq: 1,
        cause: 'retry',
        messageId: copies.at(-1) ?? null,
        principalId: choices && principalOf(scope, choices, authors),
        choices: choices ? carriedChoices(choices, direct) : null,
        unpricedAllowed: false,
      };
      // Behind the copies, of which there may be many: whoever adds a turn waits from here on until this is over.
      await this.depth.confirm(tx, room);
      await this.dispatch.begin(tx, { id: turn.chat_id, org_id: scope.orgId }, begun, { publishedByCaller: true, at });
      if (attempt) await this.idempotency.attach(tx, attempt, turn.chat_id);
    };
    await this.depth.transaction(scope, room, begin, 'long');
    return this.publish(scope, turn);
  }

  /** Repeats the opening in the new chat, with its files. @returns the ids of the copies */
  private async carry(
    tx: Tx,
    scope: OrgScope,
    opening: OpeningMessage[],
    turn: { id: string; chat_id: string },
    at: Date,
  ): Promise<string[]> {
    const events: NewEvent[] = [];
    const ids: string[] = [];
    for (const { content, attachments, author_id } of opening) {
      const id = uuidv7();
      const message = { id, role: 'user' as const, content };
      const seq = await this.chats.append(tx, turn.chat_id, {
        ...message,
        attachments,
        author_id,
        turn_id: turn.id,
        turn_no: 1,
        created_at: at,
      });
      if (attachments?.length) await this.files.carry(tx, scope, id, attachments);
      events.push({
        type: 'message_created',
        data: { message: eventMessage({ ...message, seq, attachments: attachments ?? [], at }), turn_id: turn.id },
      });
      ids.push(id);
    }
    await this.log.tell(tx, turn.chat_id, events, at);
    return ids;
  }

  /** A repeat of a request whose first try made its chat and got no further. */
  private async dispatchAgain(scope: OrgScope, agentId: string, chatId: string): Promise<string> {
    const at = this.db.now();
    const id = await this.db.transaction(scope, async (tx) => {
      const chat = await this.chats.lock(tx, scope, agentId, chatId);
      if (!chat) throw notFound('Chat');
      const last = await this.turns.newest(tx, chat.id);
      // It runs or has run: nothing is left to dispatch.
      if (chat.status !== 'ERRORED' || last?.status !== 'cancelled') return null;
      if (chat.agent_deleted) throw agentDeleted();
      await this.depth.requireRoom(tx, scope.orgId);
      return this.dispatch.resume(tx, scope, chat, { cause: 'retry', messageId: last.message_id, last, publishedByCaller: true, at });
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
