import { Injectable } from '@nestjs/common';
import { Session } from '@aps/entities';
import { SESSION_IDLE_DAYS } from '@aps/guards';
import { Broadcaster } from '@aps/platform/broadcast';
import { hashToken, newSessionToken } from '@aps/platform/crypto';
import { Listing, now, statement, Table, type Tx } from '@aps/platform/database';

/** Days after which a session ends, used or not. Ending an unused one earlier is the guard's matter. */
const SESSION_DAYS = 30;
/** So many of a user live at a time: who signs in once more ends the one that was not used for longest. */
export const MAX_SESSIONS = 1_000;

/** What signs in. */
export interface SessionClient {
  userAgent: string | null;
  ip: string | null;
}

/** How a session began. One that goes on from another has what that one had. */
export type Beginning = Pick<Session, 'provider'> & Partial<Pick<Session, 'expires_at'>>;
export const BY_PASSWORD: Beginning = { provider: null };

/** A session as its owner gets it, once. */
export interface IssuedSession {
  token: string;
  expires_at: Date;
}

const LIVE = `revoked_at IS NULL AND expires_at > now() AND last_used_at > now() - interval '${SESSION_IDLE_DAYS} days'`;
/** Newest first. */
export const LIVE_SESSIONS = new Listing<Session, Pick<Session, 'user_id'>>({
  key: 'id',
  select: '*',
  from: 'sessions',
  always: LIVE,
  where: { user_id: 'user_id = $' },
  order: 'created_at DESC, id DESC',
});
/** Finds something where a user has signed in from an address in the last weeks. One subscriber's IPv6 addresses change within their /64. */
export const KNOWN_FROM = statement(`
  SELECT 1 FROM sessions WHERE user_id = $1 AND (ip = $2::inet OR (family(ip) = 6 AND set_masklen(ip, 64) >>= $2::inet)) LIMIT 1`);
const END = statement<Pick<Session, 'provider' | 'expires_at'>>(
  `UPDATE sessions SET revoked_at = now() WHERE user_id = $1 AND ${LIVE} AND id = $2 RETURNING provider, expires_at`,
);
const END_ALL = statement(
  'UPDATE sessions SET revoked_at = now() WHERE user_id = $1 AND id IS DISTINCT FROM $2::uuid AND revoked_at IS NULL',
);
const END_SURPLUS = statement(`
  UPDATE sessions SET revoked_at = now() WHERE id IN (
    SELECT id FROM sessions WHERE user_id = $1 AND ${LIVE} ORDER BY last_used_at DESC, id DESC OFFSET ${MAX_SESSIONS})`);
// Ended ones are kept for a while: they tell from where their user has signed in.
const OLD = `(expires_at < now() - interval '1 day' OR revoked_at < now() - interval '30 days')`;
// Of ended ones the newest of each place tells it, as KNOWN_FROM asks for it.
const SWEEP = statement(`
  DELETE FROM sessions WHERE user_id = $1 AND (${OLD} OR id IN (
    SELECT id FROM (
      SELECT id, ${LIVE} AS lives, row_number() OVER (
        PARTITION BY CASE family(ip) WHEN 6 THEN network(set_masklen(ip, 64))::inet ELSE ip END ORDER BY created_at DESC, id DESC) AS nth
      FROM sessions WHERE user_id = $1 AND ${OLD} IS NOT TRUE) s
    WHERE nth > 1 AND NOT lives))`);
/** Removes some that have long ended. Values: how many. */
export const PURGE_SESSIONS = statement(`DELETE FROM sessions WHERE id IN (SELECT id FROM sessions WHERE ${OLD} LIMIT $1)`);

@Injectable()
export class SessionsRepository {
  private readonly sessions = new Table(Session);

  constructor(private readonly broadcaster: Broadcaster) {}

  /**
   * Under the lock of the user's row, or beside its insert. Whatever signs in again and again leaves no more behind than lives, and whence it came:
   * each sign-in reads it all, and so does each list of members with this user.
   */
  async issue(
    tx: Tx,
    userId: string,
    { userAgent, ip }: SessionClient,
    { provider, expires_at: until }: Beginning,
  ): Promise<IssuedSession> {
    await tx.execute(SWEEP, [userId]);
    const token = newSessionToken();
    const { expires_at } = await this.sessions.insert(tx, {
      user_id: userId,
      token_hash: hashToken(token),
      user_agent: userAgent,
      ip,
      provider,
      expires_at: until ?? (() => `${now()} + interval '${SESSION_DAYS} days'`),
    });
    await tx.execute(END_SURPLUS, [userId]);
    return { token, expires_at };
  }

  /** @returns how it began; null where it was no live one of the user */
  async end(tx: Tx, userId: string, id: string): Promise<Required<Beginning> | null> {
    this.tell(tx, userId);
    return (await tx.query(END, [userId, id]))[0] ?? null;
  }

  async endAllOf(tx: Tx, userId: string, exceptId: string | null = null): Promise<void> {
    this.tell(tx, userId);
    await tx.execute(END_ALL, [userId, exceptId]);
  }

  private tell(tx: Tx, user_id: string): void {
    tx.afterCommit(() => this.broadcaster.sent('access.changed', { user_id, org_id: null }));
  }
}
