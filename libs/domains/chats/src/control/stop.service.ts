import { Injectable } from '@nestjs/common';
import { notFound } from '@aps/contracts';
import type { ChatStatus } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { Database, type Tx } from '@aps/platform/database';
import { statusChanged, type Pause } from '../state/chat.types';
import { ChatLog } from '../state/chat-log';
import { ChatEnds } from '../state/chat-ends';
import { effectOf } from '../state/chat-state.policy';
import { ChatState } from '../state/chat-state.repository';
import { ChildWaits } from '../delegation/child-waits';
import { ControlRepository, type ControlledChat } from './control.repository';
import { Teardown } from './teardown';

export interface StopResult {
  chat_id: string;
  status: ChatStatus;
  stopped: boolean;
  stop_requested_at: Date | null;
  cleared_pause: Pause['kind'] | null;
  cascaded_chat_ids: string[];
}

/** Stops chats. They stay usable. */
@Injectable()
export class StopService {
  constructor(
    private readonly db: Database,
    private readonly control: ControlRepository,
    private readonly chats: ChatState,
    private readonly teardown: Teardown,
    private readonly log: ChatLog,
    private readonly children: ChildWaits,
    private readonly ends: ChatEnds,
  ) {}

  /**
   * Stops what a chat is doing: the running turn, one that is dispatched but not begun, a timer, waiting for child chats or for a slot.
   * Waiting for a human goes on. On a chat that does nothing it changes nothing.
   *
   * @param how `cascade`: the same for every chat that it has delegated to, directly or not; `reason`: for the record
   * @throws DomainError 404
   */
  async stop(
    scope: OrgScope,
    agentId: string,
    chatId: string,
    how: { cascade?: boolean; reason?: string | null } = {},
  ): Promise<StopResult> {
    return this.db.transaction(scope, async (tx) => {
      const alone = how.cascade ? null : await this.control.lock(tx, scope, agentId, chatId);
      const tree = how.cascade ? await this.control.lockTree(tx, scope, agentId, chatId) : alone && [alone];
      const chat = tree?.at(-1);
      if (!tree || !chat) throw notFound('Chat');
      // Nobody waits any more for what is stopped together with who waits for it.
      if (how.cascade)
        await this.children.abandonOf(
          tx,
          tree.map((c) => c.id),
        );
      const stopped = await this.stopLocked(tx, tree, how.reason ?? null);
      if (stopped.has(chat.id)) await this.ends.tell(tx, chat, 'stopped', chat.turn?.id ?? null);
      const requestedAt = stopped.get(chat.id);
      return {
        chat_id: chat.id,
        status: requestedAt ? 'ACTIVE' : chat.status,
        stopped: requestedAt !== undefined,
        stop_requested_at: requestedAt ?? chat.stop_requested_at,
        cleared_pause: requestedAt ? (chat.pause?.kind ?? null) : null,
        cascaded_chat_ids: tree.flatMap((c) => (c !== chat && stopped.has(c.id) ? [c.id] : [])),
      };
    });
  }

  /** Stops those of these locked chats that do something. @returns when each of them was asked to */
  private async stopLocked(tx: Tx, chats: ControlledChat[], reason: string | null): Promise<Map<string, Date>> {
    const busy = chats.filter((c) => effectOf('stop', c) !== 'none');
    if (busy.length === 0) return new Map();
    const at = this.db.now();
    const waits = await this.teardown.endTurns(tx, busy, 'stopped', at);
    const requested = await this.chats.clearTurns(
      tx,
      busy.map((c) => c.id),
      at,
      true,
    );
    const why = { stop_reason: 'stopped', ...(reason !== null && { reason }) };
    const events = busy.map((c) => ({ chat_id: c.id, events: [...(waits.get(c.id) ?? []), statusChanged(c.status, 'ACTIVE', why)] }));
    await this.log.tellEach(tx, events, at);
    return requested as Map<string, Date>;
  }
}
