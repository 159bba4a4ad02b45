import { Injectable } from '@nestjs/common';
import { Entitlements, requireModelChoice } from '@aps/billing';
import { chatTopic, DomainError, notFound, type ModelMode } from '@aps/contracts';
import type { ChatStatus } from '@aps/entities';
import type { FileReference } from '@aps/files';
import type { OrgScope } from '@aps/guards';
import { ModelCatalog } from '@aps/inference';
import { alreadyCommitted, Database, storable, type Ahead, type Tx } from '@aps/platform/database';
import { IdempotencyStore, type Attempt } from '@aps/platform/idempotency';
import { RealtimePublisher } from '@aps/platform/realtime';
import { ChatLog } from '../state/chat-log';
import { numbered, statusChanged } from '../state/chat.types';
import { agentDeleted } from '../state/chats.errors';
import { effectOf, type FoundChat } from '../state/chat-state.policy';
import { ChatState, type LockedChat } from '../state/chat-state.repository';
import type { BegunTurn, GivenMessage } from './chat-starts';
import { newMessage, SendRepository, type NewMessage, type SendRow } from './send.repository';
import { DispatchRepository } from '../turns/dispatch.repository';
import { MessageFiles } from './message-files';
import { QueueDepth, type Room } from '../turns/queue-depth';
import { ToolResults } from '../turns/tool-results';
import { TurnDispatch } from '../turns/turn-dispatch';
import { TurnQuotes, type TurnQuote } from '../turns/turn-quotes';
import { TurnWaits } from '../turns/turn-waits';
import { TurnRepository } from '../turns/turn.repository';

export interface MessageInput {
  content: string;
  attachment_ids?: string[];
  model?: string | null;
  model_mode_override?: ModelMode | null;
  reasoning_effort?: string | null;
}

/** So many messages a closed chat keeps for a turn that may never come. */
const MAX_KEPT = 100;

/** Why no worker runs a message's turn now. */
export type SendReason = 'turn_running' | 'turn_stopped' | 'chat_archived' | 'chat_abandoned';

export interface SendResult {
  message_id: string;
  chat_id: string;
  turn_id: string | null;
  /** A worker will run the turn. */
  dispatched: boolean;
  /** It waits behind a turn that runs. */
  queued: boolean;
  reason: SendReason | null;
}

/**
 * Takes user messages. A message that was answered with 202 is stored, and its turn runs whatever crashes; one that was answered with
 * 503 `dispatch_failed` is stored, and nothing runs until somebody asks for it.
 */
@Injectable()
export class SendService {
  constructor(
    private readonly db: Database,
    private readonly chats: ChatState,
    private readonly sending: SendRepository,
    private readonly dispatched: DispatchRepository,
    private readonly messageFiles: MessageFiles,
    private readonly turns: TurnRepository,
    private readonly waits: TurnWaits,
    private readonly results: ToolResults,
    private readonly dispatch: TurnDispatch,
    private readonly quotes: TurnQuotes,
    private readonly entitlements: Entitlements,
    private readonly catalog: ModelCatalog,
    private readonly depth: QueueDepth,
    private readonly log: ChatLog,
    private readonly realtime: RealtimePublisher,
    private readonly idempotency: IdempotencyStore,
  ) {}

  /**
   * @param attempt of a request with an idempotency key; one whose first try was answered 503 goes on with the message of that try
   * @throws DomainError 404; 409 `agent_deleted`; 403/422 for a model that may not be chosen; 422 `unknown_reference` for a file; 429 `queue_full`; 503 `dispatch_failed` with `{message_id}`
   */
  async send(scope: OrgScope, agentId: string, chatId: string, input: MessageInput, attempt?: Attempt): Promise<SendResult> {
    if (attempt?.resourceId) return this.dispatchAgain(scope, agentId, chatId, attempt.resourceId);
    const files = await this.check(scope, agentId, chatId, input);
    const room = await this.depth.enter(scope.orgId);
    try {
      // Before anything waits for a lock; whether there is room is nothing to a chat that is closed.
      if (room.full && effectOf('message', await this.find(scope, agentId, chatId)) !== 'keep') throw room.full;
      return await this.sendInto(room, scope, agentId, chatId, input, files, attempt);
    } finally {
      room.leave();
    }
  }

  /**
   * What the turn of a message would cost at first, and whether it would be let through. Nothing is stored, and nothing sent.
   *
   * @throws DomainError as of {@link send}, and 422 `model_not_callable`
   */
  async quote(scope: OrgScope, agentId: string, chatId: string, input: MessageInput): Promise<TurnQuote> {
    const attachments = await this.check(scope, agentId, chatId, input);
    const { content, model = null, model_mode_override = null, reasoning_effort = null } = input;
    return this.quotes.ofMessage(scope, agentId, chatId, { content, attachments, model, model_mode_override, reasoning_effort });
  }

  private async sendInto(
    room: Room,
    scope: OrgScope,
    agentId: string,
    chatId: string,
    input: MessageInput,
    files: FileReference[],
    attempt?: Attempt,
  ): Promise<SendResult> {
    const m = newMessage({ ...input, attachments: files }, this.db.now());
    if (room.scarce) return this.sendLocked(room, scope, agentId, chatId, m, attempt);
    const { messageId, turnId, at } = m;
    const sent =
      attempt || files.length
        ? await this.sendWith(scope, agentId, chatId, m, attempt)
        : await this.sending.sendAhead(this.db, scope, agentId, chatId, m);
    if (!sent) {
      // Or the caller may not send any more, which the statement has seen and cannot say.
      await this.db.transaction(scope, (tx) => tx.confirm());
      throw notFound('Chat');
    }
    const row = sent.answer;
    if (row.agent_deleted) throw agentDeleted();
    if (row.dispatch === null) return this.sendLocked(room, scope, agentId, chatId, m, attempt);

    m.event.message.seq = row.message_seq;
    // The job is on its way while the message is being committed: a worker that is faster waits for that (see Runs).
    const [result] = await Promise.all([
      row.dispatch
        ? this.publish(scope, chatId, turnId, messageId, sent.committed)
        : { message_id: messageId, chat_id: chatId, turn_id: turnId, dispatched: false, queued: true, reason: 'turn_running' as const },
      sent.committed.then(() =>
        this.realtime.publish(chatTopic(chatId), numbered([{ type: 'message_created', data: m.event }], row.event_seq, at)),
      ),
    ]);
    return result;
  }

  /** With what is done together with the message: its files, and that it is the one of this try. */
  private async sendWith(
    scope: OrgScope,
    agentId: string,
    chatId: string,
    m: NewMessage,
    attempt?: Attempt,
  ): Promise<Ahead<SendRow> | null> {
    const row = await this.db.transaction(scope, async (tx) => {
      const sent = await this.sending.send(tx, scope, agentId, chatId, m);
      // It is stored another way, or there is no such chat.
      if (!sent || sent.dispatch === null) return sent;
      if (m.attachments) await this.messageFiles.attach(tx, scope, m.messageId, m.attachments);
      if (attempt) await this.idempotency.attach(tx, attempt, m.messageId);
      return sent;
    });
    return row && alreadyCommitted(row);
  }

  /**
   * What a message chooses and names. The chat comes before that, and a message that does neither is spared the look at it.
   *
   * @returns its files
   * @throws DomainError 404, 409; then 403/422 of choices; then 422 for a file
   */
  private async check(scope: OrgScope, agentId: string, chatId: string, input: MessageInput): Promise<FileReference[]> {
    const { attachment_ids: ids = [], model, model_mode_override, reasoning_effort } = input;
    const chooses = Boolean(model || model_mode_override || reasoning_effort);
    if (!chooses && ids.length === 0) return [];
    await this.find(scope, agentId, chatId);
    if (chooses) await this.checkChoices(scope, input);
    return this.messageFiles.references(scope, ids);
  }

  /** @throws DomainError 404; 409 `agent_deleted` */
  private async find(scope: OrgScope, agentId: string, chatId: string): Promise<FoundChat> {
    const chat = await this.chats.find(this.db, scope, agentId, chatId);
    if (!chat) throw notFound('Chat');
    if (chat.agent_deleted) throw agentDeleted();
    return chat;
  }

  private async checkChoices(scope: OrgScope, { model, model_mode_override, reasoning_effort }: MessageInput): Promise<void> {
    const wish = { names: Boolean(model || reasoning_effort), mode: Boolean(model_mode_override) };
    requireModelChoice(await this.entitlements.of(scope.orgId), wish, 'model_mode_override');
    if (model) await this.catalog.assertKnownChatModel(this.db, scope, model, 'chat');
  }

  /** The chat is closed, has failed, or waits for something, or little room is left: decided step by step under the chat's lock. */
  private async sendLocked(
    room: Room,
    scope: OrgScope,
    agentId: string,
    chatId: string,
    m: NewMessage,
    attempt?: Attempt,
  ): Promise<SendResult> {
    const outcome = await this.depth.transaction(scope, room, async (tx) => {
      const chat = await this.chats.lock(tx, scope, agentId, chatId);
      if (!chat) throw notFound('Chat');
      if (chat.agent_deleted) throw agentDeleted();
      const effect = effectOf('message', chat);
      if (effect === 'keep' && (await this.chats.unreadAtEnd(tx, chat, MAX_KEPT)) >= MAX_KEPT)
        throw new DomainError(
          'queue_full',
          `This chat is closed, and ${MAX_KEPT} messages wait in it already for somebody to continue it.`,
          {
            context: { limit: MAX_KEPT, current: MAX_KEPT },
          },
        );
      if (attempt) await this.idempotency.attach(tx, attempt, m.messageId);
      if (m.attachments) await this.messageFiles.attach(tx, scope, m.messageId, m.attachments);
      if (effect === 'keep') {
        m.event.turn_id = null;
        const author_id = scope.actor.userId;
        m.event.message.seq = await this.chats.append(tx, chatId, {
          id: m.messageId,
          role: 'user',
          content: m.content,
          attachments: m.attachments,
          author_id,
          turn_no: chat.turn_seq + 1,
          created_at: m.at,
        });
        await this.log.tell(tx, chatId, [{ type: 'message_created', data: m.event }], m.at);
        return { keep: true as const, reason: closedReason(chat) };
      }
      await this.depth.confirm(tx, room);
      return { keep: false as const, dispatch: await this.addTo(tx, scope, agentId, chat, m) };
    });
    if (outcome.keep)
      return { message_id: m.messageId, chat_id: chatId, turn_id: null, dispatched: false, queued: false, reason: outcome.reason };
    if (!outcome.dispatch)
      return { message_id: m.messageId, chat_id: chatId, turn_id: m.turnId, dispatched: false, queued: true, reason: 'turn_running' };
    return this.publish(scope, chatId, m.turnId, m.messageId);
  }

  /**
   * Adds a message to a chat for the domains above, within their transaction: what the chat does meets it as it would one that is
   * {@link send sent}. A worker is told after the commit.
   *
   * @param said its files are there already; what is gone of them stays gone
   * @returns what runs now or waits behind the turn that does; or that the chat takes no message, whatever the reason, or the organization no
   *   turn, and nothing was written
   * @throws DomainError 409 `agent_deleted` where that happened at this moment: done again, it is a refusal
   */
  async join(
    tx: Tx,
    scope: OrgScope,
    agentId: string,
    chatId: string,
    said: GivenMessage,
  ): Promise<BegunTurn | { refused: 'chat_closed' | 'queue_full' }> {
    const chat = await this.chats.lock(tx, scope, agentId, chatId);
    if (!chat || chat.agent_deleted || effectOf('message', chat) === 'keep') return { refused: 'chat_closed' };
    if (!(await this.depth.hasRoom(tx, scope.orgId))) return { refused: 'queue_full' };
    const m = newMessage({ ...said, content: storable(said.content) }, this.db.now());
    const dispatch = await this.addTo(tx, scope, agentId, chat, m);
    if (m.attachments) await this.messageFiles.carry(tx, scope, m.messageId, m.attachments);
    if (dispatch) await this.dispatch.handOut(tx, scope, { id: m.turnId, chat_id: chatId });
    return { chat_id: chatId, message_id: m.messageId, turn_id: m.turnId };
  }

  /**
   * Stores a message in a locked chat that takes one. A failure is behind the chat then, and what its turn waited for is over.
   *
   * @returns whether the message's turn is to be published; else it waits behind the one that is there
   */
  private async addTo(tx: Tx, scope: OrgScope, agentId: string, chat: LockedChat, m: NewMessage): Promise<boolean> {
    const effect = effectOf('message', chat);
    if (effect === 'revive') {
      await this.chats.revive(tx, chat.id, m.at);
      await this.log.tell(tx, chat.id, [statusChanged('ERRORED', 'ACTIVE')], m.at);
    } else if (effect === 'interrupt' && chat.turn) {
      const wait = await this.turns.waitOf(tx, chat.turn);
      const over = wait && (await this.waits.interrupt(tx, wait));
      const answered = over ? await this.results.answer(tx, chat.turn, over.calls, m.at) : [];
      await this.turns.endTurn(
        tx,
        { id: chat.turn, chat_id: chat.id, org_id: scope.orgId },
        { turnStatus: 'stopped', chat: 'rest', error: null, stopReason: null, at: m.at, dispatchNext: true },
      );
      await this.log.tell(tx, chat.id, [...answered, ...(over?.events ?? []), statusChanged(chat.status, 'ACTIVE')], m.at);
    }
    const sent = await this.sending.send(tx, scope, agentId, chat.id, m);
    if (sent?.agent_deleted) throw agentDeleted();
    if (!sent || sent.dispatch === null) throw new Error(`Chat ${chat.id} takes no message in status ${chat.status}`);
    m.event.message.seq = sent.message_seq;
    tx.afterCommit(() =>
      this.realtime.publish(chatTopic(chat.id), numbered([{ type: 'message_created', data: m.event }], sent.event_seq, m.at)),
    );
    return sent.dispatch;
  }

  private async publish(scope: OrgScope, chatId: string, turnId: string, messageId: string, stored?: Promise<void>): Promise<SendResult> {
    if (await this.dispatch.publish(scope, { id: turnId, chat_id: chatId }, stored))
      return { message_id: messageId, chat_id: chatId, turn_id: turnId, dispatched: true, queued: false, reason: null };
    throw new DomainError(
      'dispatch_failed',
      'The message is stored, but no worker can be reached. Continue the chat, or repeat the request.',
      { context: { message_id: messageId }, retryAfterS: 2 },
    );
  }

  /**
   * A repeat of a request whose first try stored its message and got no further. A turn that came later may have read the message, or will:
   * then that one answers it, because a second would find nothing new to answer.
   */
  private async dispatchAgain(scope: OrgScope, agentId: string, chatId: string, messageId: string): Promise<SendResult> {
    const at = this.db.now();
    const left = (turn_id: string | null, how: Pick<SendResult, 'dispatched' | 'queued' | 'reason'>): SendResult => ({
      message_id: messageId,
      chat_id: chatId,
      turn_id,
      ...how,
    });
    const outcome = await this.db.transaction(scope, async (tx): Promise<SendResult | { fresh: string }> => {
      const chat = await this.chats.lock(tx, scope, agentId, chatId);
      if (!chat) throw notFound('Chat');
      const turn = await this.dispatched.answering(tx, messageId);
      if (turn && turn.status !== 'skipped') {
        // Who has dispatched it may yet find that no worker can be reached.
        if (!turn.begun) await this.chats.readBy(tx, turn.id, messageId);
        const behind = turn.status === 'queued' && chat.turn !== turn.id;
        return left(turn.id, { dispatched: !behind, queued: behind, reason: behind ? 'turn_running' : null });
      }
      if (chat.agent_deleted) throw agentDeleted();
      if (effectOf('message', chat) === 'keep') return left(null, { dispatched: false, queued: false, reason: closedReason(chat) });
      // Whoever has stopped the chat since did not want it answered; the next turn will read it.
      if (turn) return left(null, { dispatched: false, queued: false, reason: 'turn_stopped' });
      await this.depth.requireRoom(tx, scope.orgId);
      return {
        fresh: await this.dispatch.resume(tx, scope, chat, {
          cause: 'message',
          messageId,
          last: await this.dispatched.ofMessage(tx, messageId),
          publishedByCaller: true,
          at,
        }),
      };
    });
    return 'fresh' in outcome ? this.publish(scope, chatId, outcome.fresh, messageId) : outcome;
  }
}

const closedReason = (chat: { status: ChatStatus }): SendReason => (chat.status === 'ABANDONED' ? 'chat_abandoned' : 'chat_archived');
