import { Injectable } from '@nestjs/common';
import { AgentsQueries } from '@aps/agents';
import { Entitlements } from '@aps/billing';
import { chatTopic, DomainError, notFound, refuseField } from '@aps/contracts';
import type { OrgScope } from '@aps/guards';
import { Broadcaster } from '@aps/platform/broadcast';
import { Database } from '@aps/platform/database';
import { RealtimePublisher } from '@aps/platform/realtime';
import { uuidv7 } from 'uuidv7';
import { numbered, type ChatRow, type ChatStatus, type ModelMode, type NewEvent, type Pause } from './chat.types';
import { isContinuable } from './chats.policy';
import { ChatsRepository } from './chats.repository';
import { TurnEndings } from './turns/turn-endings';
import { TurnRepository } from './turns/turn.repository';

export interface NewChat {
  title?: string | null;
  environment_id?: string | null;
  sandbox_enabled?: boolean | null;
  model_mode_override?: ModelMode | null;
}

export interface StopResult {
  chat_id: string;
  status: ChatStatus;
  stopped: boolean;
  stop_requested_at: Date | null;
  cleared_pause: Pause['kind'] | null;
  cascaded_chat_ids: string[];
}

/** Commands on chats, except sending (see SendService). */
@Injectable()
export class ChatsService {
  constructor(
    private readonly db: Database,
    private readonly chats: ChatsRepository,
    private readonly turns: TurnRepository,
    private readonly endings: TurnEndings,
    private readonly agents: AgentsQueries,
    private readonly entitlements: Entitlements,
    private readonly realtime: RealtimePublisher,
    private readonly broadcaster: Broadcaster,
  ) {}

  /**
   * Opens a chat on the agent's live revision, which it keeps.
   *
   * @throws DomainError 404 for an unknown agent; 422 for a mode where the organization chooses models itself
   */
  async create(scope: OrgScope, agentId: string, input: NewChat): Promise<ChatRow> {
    const [live, entitlements] = await Promise.all([this.agents.forNewChat(this.db, scope, agentId), this.entitlements.of(scope.orgId)]);
    if (!live) throw notFound('Agent');
    if (input.model_mode_override && entitlements.direct_model_choice) {
      throw refuseField('plan_mismatch', ['model_mode_override'], 'This organization chooses models directly; modes do not apply.');
    }
    // Environments come with their own domain; until then no id can be one of this organization's.
    if (input.environment_id) throw refuseField('unknown_reference', ['environment_id'], 'There is no such environment.');
    const now = new Date();
    const chat: ChatRow = {
      id: uuidv7(),
      org_id: scope.orgId,
      agent_id: live.agent_id,
      agent_revision_id: live.revision_id,
      rollout_id: live.rollout_id,
      arm_label: live.arm_label,
      title: input.title ?? null,
      status: 'ACTIVE',
      pause: null,
      stop_reason: null,
      error: null,
      stop_requested_at: null,
      completed_at: null,
      archived_at: null,
      shared: false,
      created_by: scope.actor.userId,
      environment_id: null,
      sandbox_enabled: input.sandbox_enabled ?? null,
      model_mode_override: input.model_mode_override ?? null,
      parent_chat_id: null,
      root_chat_id: null,
      source_chat_id: null,
      origin_kind: 'user',
      origin_ref_id: null,
      cost_usd: '0',
      cost_credits: '0',
      event_seq: 0,
      message_count: 0,
      last_message_at: null,
      created_at: now,
      updated_at: now,
    };
    await this.chats.insert(this.db, scope, chat);
    return { ...chat, root_chat_id: chat.id };
  }

  /**
   * Stops what a chat is doing: the running turn, one that is dispatched but not begun, a timer. The chat stays usable. On a chat that
   * does nothing it changes nothing.
   */
  async stop(scope: OrgScope, agentId: string, chatId: string): Promise<StopResult> {
    const at = new Date();
    return this.db.transaction(async (tx) => {
      const chat = await this.chats.lock(tx, scope, agentId, chatId);
      if (!chat) throw notFound('Chat');
      const unchanged: StopResult = { chat_id: chatId, status: chat.status, stopped: false, stop_requested_at: chat.stop_requested_at, cleared_pause: null, cascaded_chat_ids: [] };
      if (!chat.current_turn_id || chat.pause?.kind === 'human') return unchanged;
      const turn = { id: chat.current_turn_id, chat_id: chat.id, org_id: chat.org_id };
      const jobs = await this.turns.endTurn(tx, turn, { turnStatus: chat.status === 'RUNNING' ? 'stopped' : 'skipped', chatStatus: 'ACTIVE', chatError: null, stopReason: null, at, dispatchNext: false });
      // The database's time, like a turn's dispatch: gateways' clocks differ.
      const [{ stop_requested_at }] = await tx.query<{ stop_requested_at: Date }>('UPDATE chats SET stop_requested_at = clock_timestamp() WHERE id = $1 RETURNING stop_requested_at', [chat.id]);
      const events: NewEvent[] = chat.status !== 'ACTIVE' || chat.pause ? [{ type: 'status_changed', data: { from: chat.status, to: 'ACTIVE', stop_reason: 'stopped', pause: null } }] : [];
      const before = events.length ? await this.turns.appendEvents(tx, chat.id, events, at) : 0;
      tx.afterCommit(async () => {
        this.broadcaster.send('chat.stop', { org_id: chat.org_id, chat_id: chat.id, at: at.toISOString() });
        if (events.length) this.realtime.publish(chatTopic(chat.id), numbered(events, before, at));
        await this.endings.publishTurns(jobs);
      });
      return { ...unchanged, status: 'ACTIVE', stopped: true, stop_requested_at, cleared_pause: chat.pause?.kind ?? null };
    });
  }

  /**
   * Dispatches the next turn of a chat that failed, without a new message.
   *
   * @throws DomainError 404; 422 `not_continuable`
   */
  async continue(scope: OrgScope, agentId: string, chatId: string): Promise<void> {
    const at = new Date();
    await this.db.transaction(async (tx) => {
      const chat = await this.chats.lock(tx, scope, agentId, chatId);
      if (!chat) throw notFound('Chat');
      if (chat.current_turn_id && (await this.turns.causeOf(tx, chat.current_turn_id)) === 'continue') return;
      if (!isContinuable(chat)) {
        throw new DomainError('not_continuable', 'Only a failed chat, or one that was closed for a reason that has passed, can be continued.', {
          context: { status: chat.status, stop_reason: chat.stop_reason },
        });
      }
      const turn = { id: uuidv7(), chat_id: chat.id, org_id: chat.org_id };
      await this.chats.insertTurn(tx, chat, { id: turn.id, cause: 'continue', messageId: null, at });
      await this.turns.dispatch(tx, turn);
      await tx.execute(`UPDATE chats SET status = 'ACTIVE', error = NULL, stop_reason = NULL, archived_at = NULL WHERE id = $1`, [chat.id]);
      const events: NewEvent[] = [{ type: 'status_changed', data: { from: chat.status, to: 'ACTIVE', stop_reason: null, pause: null } }];
      const before = await this.turns.appendEvents(tx, chat.id, events, at);
      tx.afterCommit(async () => {
        this.realtime.publish(chatTopic(chat.id), numbered(events, before, at));
        await this.endings.publishTurns([turn]);
      });
    });
  }
}
