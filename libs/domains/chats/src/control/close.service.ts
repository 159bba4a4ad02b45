import { Injectable } from '@nestjs/common';
import { notFound } from '@aps/contracts';
import type { ChatStatus } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { Audit } from '@aps/platform/audit';
import { Database, type Tx } from '@aps/platform/database';
import { statusChanged, type NewEvent } from '../state/chat.types';
import { ChatLog } from '../state/chat-log';
import { ChatEnds } from '../state/chat-ends';
import { effectOf } from '../state/chat-state.policy';
import { ChatState } from '../state/chat-state.repository';
import { ChildWaits } from '../delegation/child-waits';
import { HitlService } from '../hitl/hitl.service';
import { TodoRepository } from '../tools/todo.repository';
import { ControlRepository, type ControlledChat } from './control.repository';
import { Teardown } from './teardown';

export interface TerminateResult {
  chat_id: string;
  status: ChatStatus;
  terminated: boolean;
  completed_at: Date | null;
  cancelled_hitl_request_ids: string[];
}

/** Closes chats for good. Of what users do, nothing reaches the chats that these have delegated to. */
@Injectable()
export class CloseService {
  constructor(
    private readonly db: Database,
    private readonly control: ControlRepository,
    private readonly chats: ChatState,
    private readonly teardown: Teardown,
    private readonly log: ChatLog,
    private readonly questions: HitlService,
    private readonly children: ChildWaits,
    private readonly ends: ChatEnds,
    private readonly todos: TodoRepository,
    private readonly audit: Audit,
  ) {}

  /**
   * Ends a chat: its turns are over, its questions to humans cancelled, and it takes no turn any more. On one that is over it changes
   * nothing.
   *
   * @throws DomainError 404
   */
  async terminate(scope: OrgScope, agentId: string, chatId: string): Promise<TerminateResult> {
    return this.db.transaction(scope, async (tx) => {
      const chat = await this.control.lock(tx, scope, agentId, chatId);
      if (!chat) throw notFound('Chat');
      if (effectOf('terminate', chat) === 'none')
        return {
          chat_id: chat.id,
          status: chat.status,
          terminated: false,
          completed_at: chat.completed_at,
          cancelled_hitl_request_ids: [],
        };
      const at = this.db.now();
      const cancelled = await this.terminateLocked(tx, chat, at);
      return { chat_id: chat.id, status: 'ARCHIVED', terminated: true, completed_at: at, cancelled_hitl_request_ids: cancelled };
    });
  }

  /**
   * Ends chats and all that they have delegated to, as {@link terminate} ends one, for a domain above that has begun them. What is over
   * or deleted stays so, and what it has delegated to is ended nevertheless.
   */
  async endTrees(tx: Tx, scope: OrgScope, chatIds: string[]): Promise<void> {
    const chats = await this.control.lockTrees(tx, scope, chatIds);
    // Nobody waits any more for what is ended together with who waits for it.
    await this.children.abandonOf(
      tx,
      chats.map((chat) => chat.id),
    );
    const at = this.db.now();
    for (const chat of chats) {
      if (effectOf('terminate', chat) === 'close') await this.terminateLocked(tx, chat, at);
      // One that its user has archived stays as it is, but for what it has asked.
      else await this.log.tell(tx, chat.id, (await this.questions.cancelForChat(tx, chat.id, 'terminated')).events, at);
    }
  }

  /** The same with all chats that do these again: what has begun to before the transaction ends, ends with it. */
  async endWithRetries(tx: Tx, scope: OrgScope, chatIds: string[]): Promise<void> {
    // A chat is done again by later ones alone, so everybody locks them in one order.
    for (let ids = chatIds; ids.length > 0; ids = await this.control.retriesOf(tx, ids)) await this.endTrees(tx, scope, ids);
  }

  /** @returns the questions that are cancelled */
  private async terminateLocked(tx: Tx, chat: ControlledChat, at: Date): Promise<string[]> {
    const { events, cancelled } = await this.endAll(tx, chat, 'terminated', at);
    await this.chats.archive(tx, chat.id, { stopReason: 'terminated', completedAt: at, at });
    await this.log.tell(tx, chat.id, [...events, closed(chat, 'terminated')], at);
    await this.ends.tell(tx, chat, 'cancelled', turnIdOf(chat));
    return cancelled;
  }

  /** Archives a locked chat as its user wants. What it does is stopped; a question to a human stays open, and its answer changes nothing any more. */
  async archive(tx: Tx, chat: ControlledChat, at: Date): Promise<void> {
    const waits = await this.teardown.endTurns(tx, [chat], 'stopped', at);
    await this.chats.clearTurns(tx, [chat.id], at, chat.turn?.status === 'running');
    await this.children.abandonOf(tx, [chat.id]);
    await this.chats.archive(tx, chat.id, { stopReason: 'user_archived', completedAt: null, at });
    await this.log.tell(tx, chat.id, [...(waits.get(chat.id) ?? []), closed(chat, 'user_archived')], at);
    await this.ends.tell(tx, chat, 'archived', turnIdOf(chat));
  }

  /**
   * Deletes a chat: from the commit on nobody finds it, and nothing of it runs.
   *
   * @throws DomainError 404
   */
  async delete(scope: OrgScope, agentId: string, chatId: string): Promise<void> {
    await this.db.transaction(scope, async (tx) => {
      const chat = await this.control.lock(tx, scope, agentId, chatId);
      if (!chat) throw notFound('Chat');
      const at = this.db.now();
      const { cancelled, children } = await this.endAll(tx, chat, 'deleted', at);
      await this.todos.invalidate(tx, chat.id, at);
      await this.chats.remove(tx, chat.id, at, !OVER.includes(chat.status) && (chat.turn !== null || cancelled.length + children > 0));
      await this.ends.tell(tx, chat, 'deleted', turnIdOf(chat));
      await this.audit.record(tx, scope, 'chat.deleted', chat.id, { agent_id: agentId });
    });
  }

  private async endAll(
    tx: Tx,
    chat: ControlledChat,
    reason: 'terminated' | 'deleted',
    at: Date,
  ): Promise<{ events: NewEvent[]; cancelled: string[]; children: number }> {
    const { ids: cancelled, events } = await this.questions.cancelForChat(tx, chat.id, reason);
    const waits = await this.teardown.endTurns(tx, [chat], reason, at);
    await this.chats.clearTurns(tx, [chat.id], at, false);
    const children = await this.children.abandonOf(tx, [chat.id]);
    return { events: [...(waits.get(chat.id) ?? []), ...events], cancelled, children };
  }
}

/** What is left of them changes nothing of what became of them. */
const OVER: ChatStatus[] = ['ERRORED', 'ARCHIVED', 'ABANDONED'];

const turnIdOf = ({ turn }: ControlledChat): string | null => turn?.id ?? null;

const closed = (chat: ControlledChat, stopReason: string): NewEvent => statusChanged(chat.status, 'ARCHIVED', { stop_reason: stopReason });
