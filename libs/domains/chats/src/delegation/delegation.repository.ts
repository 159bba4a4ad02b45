import { Injectable } from '@nestjs/common';
import type { Chat, ChatStatus } from '@aps/entities';
import { statement, type Db, type Tx } from '@aps/platform/database';
import type { ChatError } from '../state/chat.types';
import type { ChildResult } from './child-result';

/** A child that its parent has not been told of. */
export interface OpenWait {
  id: string;
  org_id: string;
  parent_chat_id: string;
  parent_turn_id: string;
  tool_call_id: string;
}

/** What a child came to while its parent's turn waited, and that turn has not read. */
export interface UnreadResult {
  id: string;
  parent_chat_id: string;
  result: ChildResult;
}

/** A chat that has delegated. */
export type LockedParent = Pick<Chat, 'status' | 'stop_reason' | 'deleted_at'>;

/** What there is to tell of a child. */
export interface ChildOutcome {
  id: string;
  agent_id: string;
  agent: string;
  said: string | null;
  error: ChatError | null;
  stop_reason: string | null;
}

/** A chat between one that delegates and its root. */
export type ChainChat = Pick<
  Chat,
  | 'id'
  | 'org_id'
  | 'agent_id'
  | 'agent_revision_id'
  | 'root_chat_id'
  | 'depth'
  | 'shared'
  | 'created_by'
  | 'originator'
  | 'sandbox_enabled'
  | 'enabled_scopes'
>;

/** A child whose parent has failed or is closed. */
export interface Orphan {
  org_id: string;
  status: ChatStatus;
  deleted_at: Date | null;
  current_turn_id: string | null;
  parent_chat_id: string;
}

const CHAIN = statement<ChainChat>(`
  WITH RECURSIVE up AS (
    SELECT c.*, 0 AS hops FROM chats c WHERE c.id = $1
    UNION ALL
    SELECT c.*, up.hops + 1 FROM chats c JOIN up ON c.id = up.parent_chat_id
  )
  SELECT id, org_id, agent_id, agent_revision_id, root_chat_id, depth, shared, created_by, originator, sandbox_enabled, enabled_scopes FROM up ORDER BY hops`);

const COUNT_BELOW = statement<{ children_at_work: number; descendants: number }>(`
  SELECT (SELECT count(*)::int FROM chats c WHERE c.parent_chat_id = $1 AND c.current_turn_id IS NOT NULL) AS children_at_work,
         (SELECT count(*)::int FROM chats c WHERE c.root_chat_id = $2 AND c.parent_chat_id IS NOT NULL) AS descendants`);

const OPEN_OF_CHILD = statement<OpenWait>(`
  SELECT w.id, w.org_id, w.parent_chat_id, w.parent_turn_id, w.tool_call_id
  FROM child_waits w JOIN chats c ON c.id = w.child_chat_id
  WHERE w.child_chat_id = $1 AND w.status = 'open' AND c.current_turn_id IS NULL`);

/** One text for waits that are named by their children, and one for those named by their parents. */
const named = <Row>(text: (condition: string) => string) => ({
  ofChildren: statement<Row>(text('child_chat_id = ANY($1)')),
  ofParents: statement<Row>(text('parent_chat_id = ANY($1)')),
});
const TAKE_UNREAD = named<UnreadResult>(
  (condition) =>
    `UPDATE child_waits SET waits = false WHERE ${condition} AND status = 'finished' AND waits RETURNING id, parent_chat_id, result`,
);
const ABANDON = named(
  (condition) => `UPDATE child_waits SET status = 'abandoned', waits = false, finished_at = $2 WHERE ${condition} AND status = 'open'`,
);
const FINISH = statement(
  `UPDATE child_waits SET status = 'finished', waits = $3, result = $2, finished_at = $4 WHERE id = $1 AND status = 'open'`,
);
const LOCK_PARENT = statement<LockedParent>('SELECT status, stop_reason, deleted_at FROM chats WHERE id = $1 FOR NO KEY UPDATE');
const IS_AWAITED = statement('SELECT 1 FROM child_waits WHERE id = $1 AND waits');
const IS_TURN_OPEN = statement(`SELECT 1 FROM turns WHERE id = $1 AND status IN ('queued', 'running', 'waiting')`);
const OUTCOME_OF = statement<ChildOutcome>(`SELECT c.id, c.agent_id, a.slug AS agent, c.error, c.stop_reason,
         (SELECT m.content FROM messages m WHERE m.chat_id = c.id AND m.role = 'assistant' AND m.content <> '' ORDER BY m.turn_no DESC, m.seq DESC LIMIT 1) AS said
       FROM chats c JOIN agents a ON a.id = c.agent_id WHERE c.id = $1`);
const OPEN = statement<{ child_chat_id: string }>(
  `SELECT child_chat_id FROM child_waits WHERE child_chat_id = ANY($1) AND status = 'open' AND waits AND (deadline_at IS NULL OR deadline_at > clock_timestamp())`,
);
const TAKE_RESULT = statement<{ result: ChildResult | null }>(
  `UPDATE child_waits SET waits = false, deadline_at = NULL WHERE child_chat_id = $1 RETURNING result`,
);
const WAIT_NO_MORE = statement(
  `UPDATE child_waits SET waits = false, deadline_at = NULL WHERE child_chat_id = ANY($1) AND status = 'open'`,
);
const MARK_ORPHANS = statement('UPDATE child_waits SET orphaned_at = $2 WHERE parent_chat_id = $1 AND orphaned_at IS NULL');
const ORPHANS = statement<{ id: string }>(
  `SELECT c.id FROM child_waits w JOIN chats c ON c.id = w.child_chat_id WHERE w.orphaned_at IS NOT NULL AND c.status <> 'RUNNING' AND c.id <> ALL($2::uuid[]) ORDER BY w.orphaned_at LIMIT $1`,
);
const LOCK_ORPHAN = statement<Orphan>(
  `SELECT org_id, status, deleted_at, current_turn_id, parent_chat_id FROM chats WHERE id = $1 AND status <> 'RUNNING' FOR NO KEY UPDATE SKIP LOCKED`,
);
const SETTLE_ORPHAN = statement('UPDATE child_waits SET orphaned_at = NULL WHERE child_chat_id = $1');
/** A turn whose other children may still end waits on, and is not looked at: so many of them would keep the rest from being found. */
const OVERDUE_TURNS = statement<{ id: string; chat_id: string }>(`
  SELECT t.id, t.chat_id FROM child_waits w JOIN turns t ON t.id = w.parent_turn_id
  WHERE w.status = 'open' AND w.waits AND w.deadline_at <= now() AND t.status = 'waiting' AND t.id <> ALL($2::uuid[]) AND NOT EXISTS (
    SELECT 1 FROM child_waits o WHERE o.parent_chat_id = w.parent_chat_id AND o.parent_turn_id = w.parent_turn_id
      AND o.status = 'open' AND o.waits AND (o.deadline_at IS NULL OR o.deadline_at > now()))
  GROUP BY t.id ORDER BY min(w.deadline_at) LIMIT $1`);

/*
 * The rows of `child_waits` are changed under the lock of the parent chat alone, and whoever holds the child's lock, too, has taken that
 * one first. So the end of a child and what its parent does about it come one after the other, and never wait for each other.
 */

/** The table of child waits, and what delegation looks at of chats. */
@Injectable()
export class DelegationRepository {
  /** What a chat's end is to be told to; null when nobody waits for it or it goes on. */
  async openOf(tx: Tx, childChatId: string): Promise<OpenWait | null> {
    return (await tx.query(OPEN_OF_CHILD, [childChatId]))[0] ?? null;
  }

  /** Locks the parent of a child whose own row is locked already, for the rest of the transaction. */
  async lockParent(tx: Tx, chatId: string): Promise<LockedParent> {
    const [parent] = await tx.query(LOCK_PARENT, [chatId]);
    return parent;
  }

  /** Whether the turn that began the child still waits for it. */
  async isAwaited(tx: Tx, waitId: string): Promise<boolean> {
    return (await tx.query(IS_AWAITED, [waitId])).length > 0;
  }

  /** Whether a turn, whose chat this transaction has locked, is not over. */
  async isTurnOpen(tx: Tx, turnId: string): Promise<boolean> {
    return (await tx.query(IS_TURN_OPEN, [turnId])).length > 0;
  }

  async outcomeOf(tx: Tx, childChatId: string): Promise<ChildOutcome> {
    const [row] = await tx.query(OUTCOME_OF, [childChatId]);
    return row;
  }

  /** Writes down what a child came to. @returns false when that has been done, or nobody wants to know any more */
  async finish(tx: Tx, waitId: string, result: ChildResult, waits: boolean, at: Date): Promise<boolean> {
    return (await tx.execute(FINISH, [waitId, JSON.stringify(result), waits, at])) > 0;
  }

  /** Of these children, those that their parents' turns still wait for. */
  async open(db: Db, childChatIds: string[]): Promise<string[]> {
    const rows = await db.query(OPEN, [childChatIds]);
    return rows.map((r) => r.child_chat_id);
  }

  /**
   * Ends the waiting for a child. What is still open stays so, and is told when it ends.
   *
   * @returns what the child came to; null while it is open
   */
  async takeResult(tx: Tx, childChatId: string): Promise<ChildResult | null> {
    const [row] = await tx.query(TAKE_RESULT, [childChatId]);
    return row?.result ?? null;
  }

  /** Ends the waiting for children that have ended. @returns what they came to, and nobody has read */
  async takeUnread(tx: Tx, where: { childChatIds: string[] } | { parentChatId: string }): Promise<UnreadResult[]> {
    const rows = await ('parentChatId' in where
      ? tx.query(TAKE_UNREAD.ofParents, [[where.parentChatId]])
      : tx.query(TAKE_UNREAD.ofChildren, [where.childChatIds]));
    return rows.sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  /** From now on these children are not waited for; what they come to is told later. */
  async waitNoMore(tx: Tx, childChatIds: string[]): Promise<void> {
    await tx.execute(WAIT_NO_MORE, [childChatIds]);
  }

  /** What these children come to will be told to nobody. @returns how many were at work */
  abandon(tx: Tx, where: { childChatIds: string[] } | { parentChatIds: string[] }, at: Date): Promise<number> {
    return 'parentChatIds' in where
      ? tx.execute(ABANDON.ofParents, [where.parentChatIds, at])
      : tx.execute(ABANDON.ofChildren, [where.childChatIds, at]);
  }

  /** The chat and those above it, its root last. */
  chainOf(tx: Tx, chatId: string): Promise<ChainChat[]> {
    return tx.query(CHAIN, [chatId]);
  }

  /** What has come of a chat, and of its root. */
  async countBelow(tx: Tx, chat: ChainChat): Promise<{ childrenAtWork: number; descendants: number }> {
    const [{ children_at_work: childrenAtWork, descendants }] = await tx.query(COUNT_BELOW, [chat.id, chat.root_chat_id ?? chat.id]);
    return { childrenAtWork, descendants };
  }

  /** Notes that the children of a locked chat, which has failed or is closed, are to be abandoned. */
  async markOrphans(tx: Tx, parentChatId: string, at: Date): Promise<void> {
    await tx.execute(MARK_ORPHANS, [parentChatId, at]);
  }

  /** Children that are to be abandoned, those that run and the given ones left out. */
  orphans(db: Db, limit: number, but: string[]): Promise<{ id: string }[]> {
    return db.query(ORPHANS, [limit, but]);
  }

  /** Locks a child that is to be abandoned; null when it runs, or somebody else has it locked. */
  async lockOrphan(tx: Tx, chatId: string): Promise<Orphan | null> {
    const [row] = await tx.query(LOCK_ORPHAN, [chatId]);
    return row ?? null;
  }

  /** Nothing is left to be done about it. To be called under the lock of the parent. */
  async settleOrphan(tx: Tx, chatId: string): Promise<void> {
    await tx.execute(SETTLE_ORPHAN, [chatId]);
  }

  /** Waiting turns whose children have passed their deadlines, or ended, without the given ones. */
  overdueTurns(db: Db, limit: number, but: string[]): Promise<{ id: string; chat_id: string }[]> {
    return db.query(OVERDUE_TURNS, [limit, but]);
  }
}
