import { Injectable } from '@nestjs/common';
import { Entitlements } from '@aps/billing';
import { chatTopic, DomainError, notFound, refuseField } from '@aps/contracts';
import type { FileReference } from '@aps/files';
import type { OrgScope } from '@aps/guards';
import { ModelCatalog } from '@aps/inference';
import { alreadyCommitted, Database, type Ahead, type Tx } from '@aps/platform/database';
import { IdempotencyStore, type Attempt } from '@aps/platform/idempotency';
import { RealtimePublisher } from '@aps/platform/realtime';
import { uuidv7 } from 'uuidv7';
import { numbered, type ModelMode, type NewEvent } from './chat.types';
import { effectOfMessage } from './chats.policy';
import { ChatsQueries } from './chats.queries';
import { ChatsRepository, type NewMessage, type SendRow } from './chats.repository';
import { MessageFiles } from './message-files';
import { QueueDepth } from './queue-depth';
import { TurnDispatch } from './turns/turn-dispatch';
import { TurnWaits } from './turns/turn-waits';
import { TurnRepository } from './turns/turn.repository';

export interface MessageInput {
  content: string;
  attachment_ids?: string[];
  model?: string | null;
  model_mode_override?: ModelMode | null;
  reasoning_effort?: string | null;
}

export interface SendResult {
  message_id: string;
  chat_id: string;
  turn_id: string | null;
  /** A worker will run the turn. */
  dispatched: boolean;
  /** It waits behind a turn that runs. */
  queued: boolean;
  reason: string | null;
}

/**
 * Takes user messages. A message that was answered with 202 is stored, and its turn runs whatever crashes; one that was answered with
 * 503 `dispatch_failed` is stored, and nothing runs until somebody asks for it.
 */
@Injectable()
export class SendService {
  constructor(
    private readonly db: Database,
    private readonly chats: ChatsRepository,
    private readonly queries: ChatsQueries,
    private readonly messageFiles: MessageFiles,
    private readonly turns: TurnRepository,
    private readonly waits: TurnWaits,
    private readonly dispatch: TurnDispatch,
    private readonly entitlements: Entitlements,
    private readonly catalog: ModelCatalog,
    private readonly depth: QueueDepth,
    private readonly realtime: RealtimePublisher,
    private readonly idempotency: IdempotencyStore,
  ) {}

  /**
   * @param attempt of a request with an idempotency key; one whose first try was answered 503 goes on with the message of that try
   * @throws DomainError 403/422 for a model that may not be chosen; 404; 422 `unknown_reference` for a file; 429 `queue_full`; 503 `dispatch_failed` with `{message_id}`
   */
  async send(scope: OrgScope, agentId: string, chatId: string, input: MessageInput, attempt?: Attempt): Promise<SendResult> {
    if (attempt?.resourceId) return this.dispatchAgain(scope, agentId, chatId, attempt.resourceId);
    const files = await this.filesOf(scope, agentId, chatId, input.attachment_ids);
    await this.checkChoices(scope, input);
    await this.depth.requireRoom(scope.orgId);

    const at = new Date();
    const messageId = uuidv7();
    const message = { id: messageId, seq: 0, role: 'user', content: input.content, attachments: files, tool_calls: [], model: null, created_at: at.toISOString(), usage: null };
    const turnId = uuidv7();
    const m: NewMessage = {
      messageId,
      turnId,
      content: input.content,
      model: input.model ?? null,
      mode: input.model_mode_override ?? null,
      effort: input.reasoning_effort ?? null,
      attachments: files.length ? files : null,
      at,
      event: { message, turn_id: turnId },
    };
    const sent = attempt || files.length ? await this.sendWith(scope, agentId, chatId, m, attempt) : await this.chats.sendAhead(this.db, scope, agentId, chatId, m);
    if (!sent) throw notFound('Chat');
    const row = sent.answer;
    if (row.dispatch === null) return this.sendToWaiting(scope, agentId, chatId, m, attempt);

    message.seq = row.message_seq;
    // The job is on its way while the message is being committed: a worker that is faster waits for that (see TurnClaims).
    const [result] = await Promise.all([
      row.dispatch ? this.publish(scope, chatId, turnId, messageId, sent.committed) : { message_id: messageId, chat_id: chatId, turn_id: turnId, dispatched: false, queued: true, reason: 'turn_running' },
      sent.committed.then(() => this.realtime.publish(chatTopic(chatId), numbered([{ type: 'message_created', data: m.event }], row.event_seq, at))),
    ]);
    return result;
  }

  /** With what is written together with the message: its files, and that it is the one of this try. */
  private async sendWith(scope: OrgScope, agentId: string, chatId: string, m: NewMessage, attempt?: Attempt): Promise<Ahead<SendRow> | null> {
    const row = await this.db.transaction(async (tx) => {
      const sent = await this.chats.send(tx, scope, agentId, chatId, m);
      // It is stored another way, or there is no such chat.
      if (!sent || sent.dispatch === null) return sent;
      if (m.attachments) await this.messageFiles.attach(tx, scope, m.messageId, m.attachments);
      if (attempt) await this.idempotency.attach(tx, attempt, m.messageId);
      return sent;
    });
    return row && alreadyCommitted(row);
  }

  /** @throws DomainError 404 for the chat before 422 for a file */
  private async filesOf(scope: OrgScope, agentId: string, chatId: string, ids: string[] = []): Promise<FileReference[]> {
    if (ids.length === 0) return [];
    await this.queries.get(scope, agentId, chatId);
    return this.messageFiles.references(scope, ids);
  }

  private async checkChoices(scope: OrgScope, input: MessageInput): Promise<void> {
    if (!input.model && !input.model_mode_override && !input.reasoning_effort) return;
    const { direct_model_choice: direct } = await this.entitlements.of(scope.orgId);
    if ((input.model || input.reasoning_effort) && !direct) await this.entitlements.require(scope.orgId, 'direct_model_choice');
    if (input.model_mode_override && direct) {
      throw refuseField('plan_mismatch', ['model_mode_override'], 'This organization chooses models directly; modes do not apply.');
    }
    if (input.model) await this.catalog.assertKnownChatModel(this.db, scope.orgId, input.model, 'chat');
  }

  /** The chat is closed, has failed, or waits for something: decided step by step under its lock. */
  private async sendToWaiting(scope: OrgScope, agentId: string, chatId: string, m: NewMessage, attempt?: Attempt): Promise<SendResult> {
    const outcome = await this.db.transaction(async (tx) => {
      const chat = await this.chats.lock(tx, scope, agentId, chatId);
      if (!chat) throw notFound('Chat');
      const effect = effectOfMessage(chat);
      if (attempt) await this.idempotency.attach(tx, attempt, m.messageId);
      if (m.attachments) await this.messageFiles.attach(tx, scope, m.messageId, m.attachments);
      if (effect === 'keep') {
        m.event.turn_id = null;
        (m.event.message as { seq: number }).seq = await this.chats.insertUndispatched(tx, scope, chat, m);
        await this.append(tx, chatId, [{ type: 'message_created', data: m.event }], m.at);
        return { keep: true as const, reason: chat.status === 'ABANDONED' ? 'chat_abandoned' : 'chat_archived' };
      }
      if (chat.status === 'ERRORED') {
        await this.turns.revive(tx, chatId, m.at);
        await this.append(tx, chatId, [{ type: 'status_changed', data: { from: 'ERRORED', to: 'ACTIVE', stop_reason: null, pause: null } }], m.at);
      } else if (effect === 'revive' && chat.current_turn_id) {
        const wait = await this.turns.waitOf(tx, chat.current_turn_id);
        const over = wait && (await this.waits.interrupt(tx, wait));
        if (over) await this.turns.endCalls(tx, chat.current_turn_id, over.calls, m.at);
        await this.turns.endTurn(tx, { id: chat.current_turn_id, chat_id: chatId, org_id: scope.orgId }, { turnStatus: 'stopped', chatStatus: 'ACTIVE', chatError: null, stopReason: null, at: m.at, dispatchNext: true });
        await this.append(tx, chatId, [...(over?.events ?? []), { type: 'status_changed', data: { from: chat.status, to: 'ACTIVE', stop_reason: null, pause: null } }], m.at);
      }
      const sent = await this.chats.send(tx, scope, agentId, chatId, m);
      if (!sent || sent.dispatch === null) throw new Error(`Chat ${chatId} takes no message in status ${chat.status}`);
      (m.event.message as { seq: number }).seq = sent.message_seq;
      tx.afterCommit(() => this.realtime.publish(chatTopic(chatId), numbered([{ type: 'message_created', data: m.event }], sent.event_seq, m.at)));
      return { keep: false as const, dispatch: sent.dispatch };
    });
    if (outcome.keep) return { message_id: m.messageId, chat_id: chatId, turn_id: null, dispatched: false, queued: false, reason: outcome.reason };
    if (!outcome.dispatch) return { message_id: m.messageId, chat_id: chatId, turn_id: m.turnId, dispatched: false, queued: true, reason: 'turn_running' };
    return this.publish(scope, chatId, m.turnId, m.messageId);
  }

  private async append(tx: Tx, chatId: string, events: NewEvent[], at: Date): Promise<void> {
    const before = await this.turns.appendEvents(tx, chatId, events, at);
    tx.afterCommit(() => this.realtime.publish(chatTopic(chatId), numbered(events, before, at)));
  }

  private async publish(scope: OrgScope, chatId: string, turnId: string, messageId: string, stored?: Promise<void>): Promise<SendResult> {
    if (await this.dispatch.publish(scope, { id: turnId, chat_id: chatId }, stored)) return { message_id: messageId, chat_id: chatId, turn_id: turnId, dispatched: true, queued: false, reason: null };
    throw new DomainError('dispatch_failed', 'The message is stored, but no worker can be reached. Continue the chat, or repeat the request.', { context: { message_id: messageId }, retryAfterS: 2 });
  }

  /** A repeat of a request whose first try stored its message and got no further. */
  private async dispatchAgain(scope: OrgScope, agentId: string, chatId: string, messageId: string): Promise<SendResult> {
    const at = new Date();
    const turn = await this.db.transaction(async (tx) => {
      const chat = await this.chats.lock(tx, scope, agentId, chatId);
      if (!chat) throw notFound('Chat');
      const last = await this.turns.ofMessage(tx, messageId);
      // It runs, has run, or a later turn has answered it: nothing is left to dispatch.
      if (!last || last.status !== 'cancelled' || chat.status !== 'ERRORED' || chat.current_turn_id) return { id: last?.id ?? null, fresh: false };
      const id = await this.dispatch.resume(tx, chat, { cause: 'message', messageId, last, at });
      return { id, fresh: true };
    });
    if (turn.fresh && turn.id) return this.publish(scope, chatId, turn.id, messageId);
    return { message_id: messageId, chat_id: chatId, turn_id: turn.id, dispatched: turn.id !== null, queued: false, reason: null };
  }
}
