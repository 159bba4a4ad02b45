import { Injectable } from '@nestjs/common';
import { HitlRequest, type ChatStatus, type HitlStatus } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { OrgTable, statement, type Columns, type Db, type Tx } from '@aps/platform/database';
import { canonicalEmail } from '@aps/platform/email';

/** A pending request that is due, with its chat. */
export interface DueRequest {
  id: string;
  org_id: string;
  chat_id: string | null;
  run_id: string | null;
}

/** The chat of a request, locked. */
export interface LockedChat {
  id: string;
  status: ChatStatus;
  current_turn_id: string | null;
}

const BY_ID = statement<HitlRequest>('SELECT * FROM hitl_requests WHERE id = $1');
const PENDING_AMONG = statement<{ id: string }>(`SELECT id FROM hitl_requests WHERE id = ANY($1) AND status = 'pending' ORDER BY id`);
const PENDING_OF_TURN = statement<{ id: string }>(
  `SELECT id FROM hitl_requests WHERE chat_id = $1 AND turn_id = $2 AND status = 'pending' ORDER BY id`,
);
const PENDING_OF_CHAT = statement<{ id: string }>(`SELECT id FROM hitl_requests WHERE chat_id = $1 AND status = 'pending' ORDER BY id`);
const ANSWER = statement(
  `UPDATE hitl_requests SET status = 'answered', answer = $2, answered_by = $3, answered_at = $4, updated_at = $4 WHERE id = $1 AND status = 'pending'`,
);
const NOTE_RESUMED = statement(`UPDATE hitl_requests SET resumed = $2 WHERE id = $1`);
const CLOSE = statement<HitlRequest>(
  `UPDATE hitl_requests SET status = $2, updated_at = $3 WHERE id = ANY($1) AND status = 'pending' RETURNING *`,
);
const HIDE = statement(`UPDATE hitl_requests SET private_to = NULL WHERE run_id = ANY($1) AND private_to IS NOT NULL`);
const DUE = statement<DueRequest>(
  `SELECT id, org_id, chat_id, run_id FROM hitl_requests WHERE status = 'pending' AND expires_at <= now() AND id <> ALL($2::uuid[]) ORDER BY expires_at LIMIT $1`,
);
const LOCK_CHAT = statement<LockedChat>(
  'SELECT id, status, current_turn_id FROM chats WHERE id = $1 AND deleted_at IS NULL FOR NO KEY UPDATE',
);
const MEMBER_BY = statement<{ user_id: string }>(
  `SELECT m.user_id FROM memberships m JOIN users u ON u.id = m.user_id
       WHERE m.org_id = $1 AND u.deactivated_at IS NULL AND (m.user_id::text = lower($2) OR u.email_canonical = $3) LIMIT 1`,
);

/** The table of questions to humans. Whoever changes a request of a chat holds the chat's row lock. */
@Injectable()
export class HitlRepository {
  private readonly rows = new OrgTable(HitlRequest);

  insert(tx: Tx, scope: OrgScope, request: Columns<HitlRequest>): Promise<HitlRequest> {
    return this.rows.insert(tx, scope, request);
  }

  async byId(db: Db, id: string): Promise<HitlRequest | null> {
    return (await db.query(BY_ID, [id]))[0] ?? null;
  }

  /** Of these, those that nobody has answered, in the order in which they were asked. */
  async pendingAmong(db: Db, ids: string[]): Promise<string[]> {
    return (await db.query(PENDING_AMONG, [ids])).map((r) => r.id);
  }

  async pendingOfTurn(db: Db, chatId: string, turnId: string): Promise<string[]> {
    return (await db.query(PENDING_OF_TURN, [chatId, turnId])).map((r) => r.id);
  }

  async pendingOfChat(db: Db, chatId: string): Promise<string[]> {
    return (await db.query(PENDING_OF_CHAT, [chatId])).map((r) => r.id);
  }

  /** @returns false when it is not pending any more */
  async answer(tx: Tx, id: string, by: { userId: string | null; answer: Record<string, unknown>; at: Date }): Promise<boolean> {
    const n = await tx.execute(ANSWER, [id, JSON.stringify(by.answer), by.userId, by.at]);
    return n > 0;
  }

  /** What its answer came to, for who repeats it. */
  async noteResumed(tx: Tx, id: string, resumed: boolean): Promise<void> {
    await tx.execute(NOTE_RESUMED, [id, resumed]);
  }

  /** Ends requests without an answer. @returns those that were pending */
  async close(tx: Tx, ids: string[], status: Exclude<HitlStatus, 'pending' | 'answered'>, at: Date): Promise<HitlRequest[]> {
    if (ids.length === 0) return [];
    const rows = await tx.query(CLOSE, [ids, status, at]);
    return rows.sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  /** Nobody reads any more what these runs have asked. */
  async hide(tx: Tx, runIds: string[]): Promise<void> {
    await tx.execute(HIDE, [runIds]);
  }

  /** Requests that have waited too long, oldest first, without the given ones. */
  due(db: Db, limit: number, but: string[]): Promise<DueRequest[]> {
    return db.query(DUE, [limit, but]);
  }

  /** Locks a chat for the rest of the transaction. Null when it is deleted. */
  async lockChat(tx: Tx, chatId: string): Promise<LockedChat | null> {
    return (await tx.query(LOCK_CHAT, [chatId]))[0] ?? null;
  }

  /** A member who can sign in, by user id or address; null when there is none. */
  async memberBy(db: Db, orgId: string, who: string): Promise<string | null> {
    const [row] = await db.query(MEMBER_BY, [orgId, who, canonicalEmail(who)]);
    return row?.user_id ?? null;
  }
}
