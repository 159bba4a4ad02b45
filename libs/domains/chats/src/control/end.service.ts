import { Injectable } from '@nestjs/common';
import { OrgScope } from '@aps/guards';
import { Broadcaster } from '@aps/platform/broadcast';
import { NO_CALLER, Database, type Tx } from '@aps/platform/database';
import { statusChanged, type NewEvent } from '../state/chat.types';
import { ChatLog } from '../state/chat-log';
import { ChatEnds } from '../state/chat-ends';
import { ChatState } from '../state/chat-state.repository';
import { ChildWaits } from '../delegation/child-waits';
import { HitlService } from '../hitl/hitl.service';
import { TurnEndings } from '../turns/turn-endings';
import type { TurnBar } from '../turns/turn.repository';
import { ControlRepository, type ControlledChat } from './control.repository';
import { Teardown } from './teardown';

const BATCH = 100;

/**
 * Ends what is done for an agent or a member that is gone, or for who sees a chat no more. Each does nothing where it is over already, so it may run twice. What began
 * before and is dispatched after that finds it out at its claim, which ends it.
 */
@Injectable()
export class EndService {
  constructor(
    private readonly db: Database,
    private readonly control: ControlRepository,
    private readonly chats: ChatState,
    private readonly teardown: Teardown,
    private readonly endings: TurnEndings,
    private readonly log: ChatLog,
    private readonly questions: HitlService,
    private readonly children: ChildWaits,
    private readonly ends: ChatEnds,
    private readonly broadcaster: Broadcaster,
  ) {}

  /** What the chats of a deleted agent do. */
  async ofAgent(orgId: string, agentId: string, signal: AbortSignal): Promise<void> {
    const scope = OrgScope.system(orgId, 'agent deleted');
    let after: string | null = null;
    for (;;) {
      const ids: string[] = await this.control.busyOf(this.db, orgId, agentId, after, BATCH);
      for (const id of ids) {
        signal.throwIfAborted();
        await this.db.transaction(NO_CALLER, async (tx) => {
          const chat = await this.control.lock(tx, scope, agentId, id);
          if (chat) await this.endChat(tx, chat, 'agent_deleted');
        });
      }
      if (ids.length < BATCH) return;
      after = ids[ids.length - 1];
    }
  }

  /**
   * What is done for somebody who has left: all that their private chats do and ask, and in those of others the turns that act for them.
   * Nothing where they are a member again.
   */
  async ofMember(orgId: string, userId: string, signal: AbortSignal): Promise<void> {
    const scope = OrgScope.system(orgId, 'member left');
    let before = '';
    // Until nothing is found: a turn may delegate after it was looked for, and before it is ended.
    for (;;) {
      const ids = await this.control.busyOfLeaver(this.db, orgId, userId, BATCH);
      if (ids.length === 0) return;
      if (ids.join() === before) throw new Error('What is done for somebody who has left does not end');
      before = ids.join();
      for (const id of ids) {
        signal.throwIfAborted();
        await this.db.transaction(NO_CALLER, (tx) => this.endTree(tx, scope, userId, id));
      }
    }
  }

  private async endTree(tx: Tx, scope: OrgScope, userId: string, chatId: string): Promise<void> {
    const chats = await this.control.lockTrees(tx, scope, [chatId]);
    const own = chats.filter((chat) => !chat.shared && chat.created_by === userId);
    // Nobody waits any more for what is ended together with who waits for it.
    await this.children.abandonOf(
      tx,
      own.map((chat) => chat.id),
    );
    // Whose turn is over is not woken by the end of a child, but leaves word of it to the next.
    for (const chat of chats.reverse()) {
      if (own.includes(chat)) await this.endChat(tx, chat, 'member_left');
      else if (chat.turn?.principal_id === userId) await this.endTurn(tx, chat, chat.turn, 'member_left');
    }
  }

  /**
   * The turns of chats that are private from now on which act for others than their creator: they would go on with the connections of who
   * sees nothing of it, and can stop nothing. What waits behind them goes on, or is ended at its claim.
   *
   * @param chats locked, children before their parents
   */
  async ofOthers(tx: Tx, chats: ControlledChat[]): Promise<void> {
    const others = [...chats].reverse().filter(({ turn, created_by }) => turn?.principal_id && turn.principal_id !== created_by);
    const comeToRest = new Set(others.flatMap(({ id, pending_turns }) => (pending_turns === 0 ? [id] : [])));
    const livingOn = new Set(chats.flatMap(({ id }) => (comeToRest.has(id) ? [] : [id])));
    // Of these no parent is to be told: a tree may have a thousand, and is locked meanwhile.
    const together = others.filter(
      ({ id, parent_chat_id, turn }) =>
        comeToRest.has(id) && parent_chat_id !== null && !livingOn.has(parent_chat_id) && turn!.wait?.kind !== 'human',
    );
    await this.endTogether(tx, together, 'unshared');
    // Whose turn is over is not woken by the end of a child.
    for (const chat of others.filter((chat) => !together.includes(chat))) await this.endTurn(tx, chat, chat.turn!, 'unshared');
  }

  /** By a number of statements that does not grow with theirs. Nothing waits behind their turns, and they ask no humans. */
  private async endTogether(tx: Tx, chats: ControlledChat[], why: TurnBar): Promise<void> {
    if (chats.length === 0) return;
    const ids = chats.map(({ id }) => id);
    const at = this.db.now();
    await this.children.endUntold(tx, ids);
    const waits = await this.teardown.endTurns(tx, chats, why, at);
    await this.chats.clearTurns(tx, ids, at, false);
    await this.chats.setStopReason(tx, ids, why);
    const events = chats.map(({ id, status }) => ({
      chat_id: id,
      events: [...(waits.get(id) ?? []), statusChanged(status, 'ACTIVE', { stop_reason: why })],
    }));
    await this.log.tellEach(tx, events, at);
  }

  private async endChat(tx: Tx, chat: ControlledChat, why: TurnBar): Promise<void> {
    const at = this.db.now();
    const { events: cancelled } = await this.questions.cancelForChat(tx, chat.id, why);
    const events: NewEvent[] = [];
    if (chat.turn) {
      const waits = await this.teardown.endTurns(tx, [chat], why, at);
      await this.chats.clearTurns(tx, [chat.id], at, chat.turn.status === 'running');
      await this.chats.setStopReason(tx, [chat.id], why);
      await this.children.abandonOf(tx, [chat.id]);
      events.push(...(waits.get(chat.id) ?? []), statusChanged(chat.status, 'ACTIVE', { stop_reason: why }));
    }
    await this.log.tell(tx, chat.id, [...cancelled, ...events], at);
    if (chat.turn) await this.ends.tell(tx, chat, 'stopped', chat.turn.id);
  }

  /** Those behind it go on. */
  private async endTurn(
    tx: Tx,
    { id: chat_id, org_id, status }: ControlledChat,
    turn: NonNullable<ControlledChat['turn']>,
    why: TurnBar,
  ): Promise<void> {
    const turnStatus = turn.begun ? 'stopped' : 'skipped';
    await this.endings.end(tx, { id: turn.id, chat_id, org_id }, status, { turnStatus, chat: 'rest', stopReason: why });
    const at = this.db.now().toISOString();
    if (turn.status === 'running') tx.afterCommit(() => this.broadcaster.send('chat.stop', { org_id, chat_id, turn_id: turn.id, at }));
  }
}
