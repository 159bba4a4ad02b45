import { Injectable } from '@nestjs/common';
import type { ChatStatus, TurnStatus, TurnWait } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { statement, type Db, type Tx } from '@aps/platform/database';
import type { Pause } from '../state/chat.types';
import { isMember, VISIBLE_CHAT } from '../state/visible-chats.sql';

/** A chat under its row's lock, with the turn that is dispatched and not over. */
export interface ControlledChat {
  id: string;
  org_id: string;
  status: ChatStatus;
  pause: Pause | null;
  title: string | null;
  stop_reason: string | null;
  stop_requested_at: Date | null;
  completed_at: Date | null;
  created_by: string | null;
  shared: boolean;
  parent_chat_id: string | null;
  root_chat_id: string | null;
  /** Turns behind the one that is dispatched. */
  pending_turns: number;
  turn: {
    id: string;
    status: 'queued' | 'running' | 'waiting';
    wait: TurnWait | null;
    principal_id: string | null;
    /** A worker has had it. */
    begun: boolean;
  } | null;
}

/** How often all locks are given up for one that somebody else holds. */
const MAX_ROUNDS = 5;
/** Deeper than any delegation may go. */
const MAX_LEVELS = 64;

const TREE = (root: string): string => `
  WITH RECURSIVE tree AS (
    SELECT c.id, 0 AS level FROM chats c WHERE ${root}
    UNION ALL
    SELECT c.id, tree.level + 1 FROM chats c JOIN tree ON c.parent_chat_id = tree.id WHERE c.org_id = $1 AND tree.level < ${MAX_LEVELS}
  ) SELECT id, max(level) AS level FROM tree GROUP BY id ORDER BY 2`;
const VISIBLE_TREE = statement<{ id: string; level: number }>(TREE(VISIBLE_CHAT));
// Of one that is deleted, too: what it has delegated to may be at work.
const TREES = statement<{ id: string; level: number }>(TREE('c.org_id = $1 AND c.id = ANY($2)'));
const ALONE = statement<{ id: string; level: number }>(`SELECT c.id, 0 AS level FROM chats c WHERE ${VISIBLE_CHAT}`);

const LOCK = (wait: '' | 'SKIP LOCKED') =>
  statement<Omit<ControlledChat, 'turn'> & { current_turn_id: string | null }>(`
  SELECT id, org_id, status, pause, title, stop_reason, stop_requested_at, completed_at, created_by, shared, parent_chat_id, root_chat_id, pending_turns, current_turn_id
  FROM chats WHERE id = ANY($1) AND deleted_at IS NULL ORDER BY id FOR NO KEY UPDATE ${wait}`);
const LOCK_CHATS = LOCK('');
const LOCK_FREE_CHATS = LOCK('SKIP LOCKED');
// A statement of its own: what is joined to a row that had to be waited for would be older than the row.
const TURNS = statement<Omit<NonNullable<ControlledChat['turn']>, 'status'> & { status: TurnStatus }>(
  'SELECT id, status, wait, principal_id, started_at IS NOT NULL AS begun FROM turns WHERE id = ANY($1)',
);

// Behind the trees, which are locked children first. It waits for who holds a chat to do it again.
const LOCK_SOURCES = statement<{ id: string }>('SELECT id FROM chats WHERE id = ANY($1) ORDER BY id FOR UPDATE');
const RETRIES = statement<{ id: string }>('SELECT id FROM chats WHERE source_chat_id = ANY($1)');

const BUSY = statement<{ id: string }>(`
  SELECT c.id FROM chats c
  WHERE c.agent_id = $2 AND c.org_id IS NOT DISTINCT FROM $1 AND c.deleted_at IS NULL AND ($3::uuid IS NULL OR c.id > $3)
    AND (c.current_turn_id IS NOT NULL OR EXISTS (SELECT 1 FROM hitl_requests h WHERE h.chat_id = c.id AND h.status = 'pending'))
  ORDER BY c.id LIMIT $4`);

// Chats that are theirs alone, wherever a turn of those stands; turns that act for them, wherever those are; questions that nobody else sees.
// Of turns, each of the three is an index of few rows. A turn of theirs behind somebody else's is ended at its claim.
const BUSY_OF_LEAVER = statement<{ id: string }>(`
  SELECT b.id FROM (
    SELECT c.id FROM agents a JOIN chats c ON c.agent_id = a.id AND c.private_to = $2 WHERE a.org_id = $1 AND c.current_turn_id IS NOT NULL
    UNION
    SELECT t.chat_id FROM (
      SELECT id, chat_id, principal_id FROM turns WHERE org_id = $1 AND status = 'queued' AND finished_at IS NULL
      UNION ALL SELECT id, chat_id, principal_id FROM turns WHERE org_id = $1 AND status = 'waiting' AND finished_at IS NULL
      UNION ALL SELECT id, chat_id, principal_id FROM turns WHERE org_id = $1 AND lease_owner IS NOT NULL
    ) t JOIN chats c ON c.id = t.chat_id AND c.current_turn_id = t.id WHERE t.principal_id = $2 AND c.deleted_at IS NULL
    UNION
    SELECT h.chat_id FROM hitl_requests h WHERE h.org_id = $1 AND h.status = 'pending' AND h.private_to = $2 AND h.chat_id IS NOT NULL
  ) b WHERE ${isMember({ org: '$1', user: '$2' })} IS NULL ORDER BY b.id LIMIT $3`);

const ORGS_OF = statement<{ org_id: string }>('SELECT org_id FROM memberships WHERE user_id = $1');

const WITH_UNREAD = statement<{ id: string }>(
  `SELECT DISTINCT parent_chat_id AS id FROM child_waits WHERE parent_chat_id = ANY($1) AND status = 'finished' AND waits`,
);
/** Rows of chats as those see them who stop and close them. All of it works on many chats at once. */
@Injectable()
export class ControlRepository {
  /** Locks a chat that the caller may open; null when there is none. */
  async lock(tx: Tx, scope: OrgScope, agentId: string, chatId: string): Promise<ControlledChat | null> {
    const [found] = await tx.query(ALONE, [scope.orgId, scope.actor.userId, agentId, chatId]);
    return found ? ((await this.lockAll(tx, [found.id]))[0] ?? null) : null;
  }

  /**
   * Locks a chat that the caller may open and all that it has delegated to, children before their parents, as everybody locks them who
   * locks more than one. The chat itself is the last of the list; null when there is none.
   */
  async lockTree(tx: Tx, scope: OrgScope, agentId: string, chatId: string): Promise<ControlledChat[] | null> {
    const { locked, root } = await this.lockFound(tx, () => tx.query(VISIBLE_TREE, [scope.orgId, scope.actor.userId, agentId, chatId]));
    return locked.at(-1)?.id === root ? locked : null;
  }

  /** Locks chats and all that they have delegated to, in the same order. Those that are deleted are left out. */
  async lockTrees(tx: Tx, scope: OrgScope, chatIds: string[]): Promise<ControlledChat[]> {
    return (await this.lockFound(tx, () => tx.query(TREES, [scope.orgId, chatIds]))).locked;
  }

  /** Chats that do these again, whose locks the transaction has: until it ends no other one is begun. */
  async retriesOf(tx: Tx, chatIds: string[]): Promise<string[]> {
    await tx.query(LOCK_SOURCES, [chatIds]);
    return (await tx.query(RETRIES, [chatIds])).map(({ id }) => id);
  }

  /**
   * Nobody delegates from a chat that is locked, so what has come meanwhile is locked besides: were the locks given up for it, a chat that
   * just delegates would be ahead each time.
   *
   * @param find chats with their levels, those that are wanted first
   */
  private async lockFound(
    tx: Tx,
    find: () => Promise<{ id: string; level: number }[]>,
  ): Promise<{ locked: ControlledChat[]; root: string | undefined }> {
    const letGo = await tx.savepoint();
    for (let round = 1; round <= MAX_ROUNDS; round++) {
      const locked = new Map<string, ControlledChat>();
      const lock = async (ids: string[], how = LOCK_CHATS) => {
        for (const chat of await this.lockAll(tx, ids, how)) locked.set(chat.id, chat);
      };
      let tree = await find();
      for (let level = Math.max(0, ...tree.map((c) => c.level)); level >= 0; level--) {
        await lock(tree.flatMap((c) => (c.level === level ? [c.id] : [])));
      }
      for (;;) {
        const known = new Set(tree.map((c) => c.id));
        tree = await find();
        const added = tree.flatMap((c) => (known.has(c.id) ? [] : [c.id]));
        if (added.length === 0) {
          const deepestFirst = [...tree].sort((a, b) => b.level - a.level);
          return { locked: deepestFirst.flatMap((c) => locked.get(c.id) ?? []), root: tree[0]?.id };
        }
        // Without waiting: who ends a child holds it, and waits for its parent.
        await lock(added, LOCK_FREE_CHATS);
        if (!added.every((id) => locked.has(id))) break;
      }
      await letGo();
    }
    // Done again as what PostgreSQL calls a failure of serialization.
    throw Object.assign(new Error('Chats are taken while they delegate'), { code: '40001' });
  }

  private async lockAll(tx: Tx, ids: string[], how = LOCK_CHATS): Promise<ControlledChat[]> {
    if (ids.length === 0) return [];
    const chats = await tx.query(how, [ids]);
    const current = chats.flatMap((c) => c.current_turn_id ?? []);
    const turns = current.length ? await tx.query(TURNS, [current]) : [];
    const live = new Map(
      turns.filter((t) => ['queued', 'running', 'waiting'].includes(t.status)).map((t) => [t.id, t as NonNullable<ControlledChat['turn']>]),
    );
    return chats.map(({ current_turn_id: turnId, ...chat }) => ({ ...chat, turn: (turnId && live.get(turnId)) || null }));
  }

  /**
   * Chats of an agent that do something, or ask humans, after a chat in the order of their ids.
   *
   * @param after null for the first
   */
  async busyOf(db: Db, orgId: string, agentId: string, after: string | null, limit: number): Promise<string[]> {
    return (await db.query(BUSY, [orgId, agentId, after, limit])).map((r) => r.id);
  }

  /** Chats in which something is done, or asked, for somebody who is no member any more, or is locked out; none for a member. Older ones first. */
  async busyOfLeaver(db: Db, orgId: string, userId: string, limit: number): Promise<string[]> {
    return (await db.query(BUSY_OF_LEAVER, [orgId, userId, limit])).map((r) => r.id);
  }

  /** Where somebody is a member, also where they are locked out. */
  async orgsOf(db: Db, userId: string): Promise<string[]> {
    return (await db.query(ORGS_OF, [userId])).map((r) => r.org_id);
  }

  /** Of these chats, those whose children have come to something that no turn has read. */
  async withUnread(tx: Tx, chatIds: string[]): Promise<Set<string>> {
    const rows = await tx.query(WITH_UNREAD, [chatIds]);
    return new Set(rows.map((r) => r.id));
  }
}
