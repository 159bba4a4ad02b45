import { Injectable } from '@nestjs/common';
import type { Session } from '@aps/entities';
import { SESSION_IDLE_DAYS } from '@aps/guards';
import { type Db, sliceBounds, statement, type Tx } from '@aps/platform/database';

/** Days after which a session ends, used or not. Ending an unused one earlier is the guard's matter. */
export const SESSION_DAYS = 30;

/** What signs in. */
export interface SessionClient {
  userAgent: string | null;
  ip: string | null;
}

/** A session as its owner sees it in a list. */
export type SessionRow = Pick<Session, 'id' | 'created_at' | 'last_used_at' | 'expires_at' | 'user_agent' | 'ip'>;

const INSERT = statement<{ expires_at: Date }>(`
  INSERT INTO sessions (id, user_id, token_hash, user_agent, ip, expires_at) VALUES ($1, $2, $3, $4, $5, now() + interval '${SESSION_DAYS} days') RETURNING expires_at`);
const LIVE = `user_id = $1 AND revoked_at IS NULL AND expires_at > now() AND last_used_at > now() - interval '${SESSION_IDLE_DAYS} days'`;
const LIST = statement<SessionRow>(`
  SELECT id, created_at, last_used_at, expires_at, user_agent, host(ip) AS ip FROM sessions WHERE ${LIVE} ORDER BY created_at DESC, id DESC LIMIT $2 OFFSET $3`);
// One subscriber's IPv6 addresses change within their /64.
const KNOWS = statement(`
  SELECT 1 FROM sessions WHERE user_id = $1 AND (ip = $2::inet OR (family(ip) = 6 AND set_masklen(ip, 64) >>= $2::inet)) LIMIT 1`);
const COUNT = statement<{ n: number }>(`SELECT count(*)::int AS n FROM sessions WHERE ${LIVE}`);
const END = statement(`UPDATE sessions SET revoked_at = now() WHERE ${LIVE} AND id = $2`);
const END_ALL = statement(
  'UPDATE sessions SET revoked_at = now() WHERE user_id = $1 AND id IS DISTINCT FROM $2::uuid AND revoked_at IS NULL',
);
// Ended ones are kept for a while: they tell from where their user has signed in.
const OLD = `(expires_at < now() - interval '1 day' OR revoked_at < now() - interval '30 days')`;
const SWEEP = statement(`DELETE FROM sessions WHERE user_id = $1 AND ${OLD}`);

const PURGE = statement(`DELETE FROM sessions WHERE id IN (SELECT id FROM sessions WHERE ${OLD} LIMIT $1)`);

@Injectable()
export class SessionsRepository {
  /** @returns when it expires */
  async insert(tx: Tx, session: { id: string; userId: string; tokenHash: Buffer; client: SessionClient }): Promise<Date> {
    const values = [session.id, session.userId, session.tokenHash, session.client.userAgent, session.client.ip];
    return (await tx.query(INSERT, values))[0].expires_at;
  }

  /** Those that live, newest first. */
  async list(db: Db, userId: string, page: { limit?: number; offset?: number }): Promise<{ items: SessionRow[]; total: number }> {
    const items = await db.query(LIST, [userId, ...sliceBounds(page)]);
    const [{ n }] = await db.query(COUNT, [userId]);
    return { items, total: n };
  }

  /** Whether the user has signed in from there in the last weeks. Nobody has no user. */
  async knows(db: Db, userId: string | null, ip: string | null): Promise<boolean> {
    return (await db.query(KNOWS, [userId, ip])).length > 0;
  }

  /** @returns whether it was a live one of the user */
  async end(tx: Tx, userId: string, id: string): Promise<boolean> {
    return (await tx.execute(END, [userId, id])) > 0;
  }

  async endAllOf(tx: Tx, userId: string, exceptId: string | null = null): Promise<void> {
    await tx.execute(END_ALL, [userId, exceptId]);
  }

  /** Removes what has long ended, so that the table does not grow with every sign-in of a user. */
  async sweep(tx: Tx, userId: string): Promise<void> {
    await tx.execute(SWEEP, [userId]);
  }

  /** @returns how many that have long ended were removed */
  purge(db: Db, limit: number): Promise<number> {
    return db.execute(PURGE, [limit]);
  }
}
