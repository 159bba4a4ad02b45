import { Injectable } from '@nestjs/common';
import { Database, type Db, type Tx } from '@aps/platform/database';
import { counter } from '@aps/platform/observability';
import { uuidv7 } from 'uuidv7';
import { ChatLog } from '../state/chat-log';
import { eventMessage, type NewEvent } from '../state/chat.types';
import { ChatEnds, type ChatEnd, type EndListener } from '../state/chat-ends';
import { isLiftable } from '../state/chat-state.policy';
import { ChatState } from '../state/chat-state.repository';
import { DispatchRepository } from '../turns/dispatch.repository';
import { TurnWaits, type AbandonReason, type WaitOutcome, type WaitSource } from '../turns/turn-waits';
import { childResult, type ChildResult } from './child-result';
import { DelegationRepository, type LockedParent, type OpenWait, type UnreadResult } from './delegation.repository';

const ended = counter('delegations_ended_total', 'Child chats whose parents were told of their end', ['status', 'told']);

/** A chat that takes no turn again: nobody will read there what a child came to. */
const isClosed = ({ status, stop_reason, deleted_at }: LockedParent): boolean =>
  deleted_at !== null || status === 'ABANDONED' || (status === 'ARCHIVED' && !isLiftable(stop_reason));

/**
 * What parents wait for and are told of their children. A child's end, its result and the waking of its parent are one transaction.
 *
 * Locks are taken from the child upward: the child's rows, then the parent's, then the row of the wait.
 */
@Injectable()
export class ChildWaits implements WaitSource, EndListener {
  readonly kind = 'children';
  readonly origins = ['agent'] as const;

  constructor(
    private readonly db: Database,
    private readonly rows: DelegationRepository,
    private readonly waits: TurnWaits,
    private readonly chats: ChatState,
    private readonly turns: DispatchRepository,
    private readonly log: ChatLog,
    ends: ChatEnds,
  ) {
    waits.register(this);
    ends.register(this);
  }

  /**
   * Tells a chat's parent that it has come to rest. Nothing is to be told of chats that have no parent, go on, or were told of before.
   */
  async onChatEnded(tx: Tx, chat: { id: string }, end: ChatEnd): Promise<void> {
    const at = this.db.now();
    // Its parent is of the same organization, and knows.
    const how = end === 'suspended' ? 'stopped' : end;
    await this.notifyOfUnread(tx, chat.id, at);
    // Its own children have nobody any more; the sweeper sees to them.
    if (how !== 'done' && how !== 'stopped') await this.rows.markOrphans(tx, chat.id, at);
    const wait = await this.rows.openOf(tx, chat.id);
    if (wait) await this.notifyParent(tx, chat.id, wait, how, at);
  }

  /**
   * Locks the parent that waits for a chat.
   */
  async hold(tx: Tx, chat: { id: string }): Promise<void> {
    const wait = await this.rows.openOf(tx, chat.id);
    if (wait) await this.rows.lockParent(tx, wait.parent_chat_id);
  }

  /**
   * Nobody wants to know any more what the children of these chats come to; they run on. For chats that are closed, or stopped together
   * with their descendants. To be called before the children are stopped.
   *
   * @param chatIds locked by this transaction
   * @returns how many of their children were at work
   */
  abandonOf(tx: Tx, chatIds: string[]): Promise<number> {
    return this.rows.abandon(tx, { parentChatIds: chatIds }, this.db.now());
  }

  /** Nobody is told what these chats come to: who would be is over together with them. To be called before they are ended. */
  async endUntold(tx: Tx, chatIds: string[]): Promise<void> {
    await this.rows.abandon(tx, { childChatIds: chatIds }, this.db.now());
  }

  open(db: Db, refs: string[]): Promise<string[]> {
    return this.rows.open(db, refs);
  }

  async outcome(tx: Tx, ref: string): Promise<WaitOutcome> {
    const result = await this.rows.takeResult(tx, ref);
    if (!result)
      return {
        kind: 'result',
        content: JSON.stringify({
          status: 'timeout',
          child_chat_id: ref,
          message: 'The child chat runs on. You will be told what it came to.',
        }),
      };
    return { kind: 'result', content: JSON.stringify(result), isError: result.status !== 'done' };
  }

  async abandon(tx: Tx, refs: string[], reason: AbandonReason): Promise<NewEvent[]> {
    const at = this.db.now();
    const unread = await this.rows.takeUnread(tx, { childChatIds: refs });
    if (reason === 'message') await this.rows.waitNoMore(tx, refs);
    else await this.rows.abandon(tx, { childChatIds: refs }, at);
    if (reason === 'terminated' || reason === 'deleted' || reason === 'agent_deleted') return [];
    return this.noteAll(tx, unread, at);
  }

  /** A turn that ended without having read what its children had come to leaves that to the next one. */
  private async notifyOfUnread(tx: Tx, chatId: string, at: Date): Promise<void> {
    const events = await this.noteAll(tx, await this.rows.takeUnread(tx, { parentChatId: chatId }), at);
    await this.log.tell(tx, chatId, events, at);
  }

  private async notifyParent(tx: Tx, chatId: string, wait: OpenWait, how: ChatEnd, at: Date): Promise<void> {
    const parent = await this.rows.lockParent(tx, wait.parent_chat_id);
    if (isClosed(parent)) return void (await this.rows.abandon(tx, { childChatIds: [chatId] }, at));
    const child = await this.rows.outcomeOf(tx, chatId);
    const result = childResult(how, child);
    // Read under the parent's lock: it may have ended its wait since.
    const awaited = (await this.rows.isAwaited(tx, wait.id)) && (await this.rows.isTurnOpen(tx, wait.parent_turn_id));
    if (!(await this.rows.finish(tx, wait.id, result, awaited, at))) return;
    ended.inc({ status: how, told: awaited ? 'result' : 'note' });
    const events: NewEvent[] = [
      {
        type: 'delegation_finished',
        data: {
          child_chat_id: chatId,
          agent_id: child.agent_id,
          agent: child.agent,
          status: how,
          tool_call_id: wait.tool_call_id,
          turn_id: wait.parent_turn_id,
          waited: awaited,
        },
      },
    ];
    if (!awaited) events.push(await this.note(tx, wait.parent_chat_id, result, at));
    if (awaited) events.push(...((await this.waits.wake(tx, wait.parent_turn_id, at)) ?? []));
    await this.log.tell(tx, wait.parent_chat_id, events, at);
  }

  private async noteAll(tx: Tx, unread: UnreadResult[], at: Date): Promise<NewEvent[]> {
    const events: NewEvent[] = [];
    for (const { parent_chat_id, result } of unread) events.push(await this.note(tx, parent_chat_id, result, at));
    return events;
  }

  /** Leaves what a child came to in its parent's transcript, where the next turn reads it. */
  private async note(tx: Tx, parentChatId: string, result: ChildResult, at: Date): Promise<NewEvent> {
    const message = { id: uuidv7(), role: 'system' as const, content: JSON.stringify(result), at };
    const { turn_id, turn_no } = await this.turns.nextReader(tx, parentChatId);
    const seq = await this.chats.append(tx, parentChatId, { ...message, turn_id, turn_no, created_at: at });
    return { type: 'message_created', data: { message: eventMessage({ ...message, seq }), turn_id } };
  }
}
