import { Injectable } from '@nestjs/common';
import { type Db, statement, type Tx } from '@aps/platform/database';

/** Days after which a session ends, used or not. Ending an unused one earlier is the guard's matter. */
export const SESSION_DAYS = 30;

const INSERT = statement(`
  INSERT INTO sessions (id, user_id, token_hash, expires_at) VALUES ($1, $2, $3, now() + interval '${SESSION_DAYS} days') RETURNING expires_at`);
const END = statement('UPDATE sessions SET revoked_at = now() WHERE id = $1 AND revoked_at IS NULL AND expires_at > now()');
const END_ALL = statement('UPDATE sessions SET revoked_at = now() WHERE user_id = $1 AND id IS DISTINCT FROM $2::uuid AND revoked_at IS NULL');
const SWEEP = statement(`DELETE FROM sessions WHERE user_id = $1 AND (expires_at < now() OR revoked_at < now() - interval '1 day')`);

@Injectable()
export class SessionsRepository {
  /** @returns when it expires */
  async insert(tx: Tx, session: { id: string; userId: string; tokenHash: Buffer }): Promise<Date> {
    return (await tx.query<{ expires_at: Date }>(INSERT, [session.id, session.userId, session.tokenHash]))[0].expires_at;
  }

  /** @returns whether it was still alive */
  async end(tx: Tx, id: string): Promise<boolean> {
    return (await tx.execute(END, [id])) > 0;
  }

  async endAllOf(tx: Tx, userId: string, exceptId: string | null = null): Promise<void> {
    await tx.execute(END_ALL, [userId, exceptId]);
  }

  /** Removes what has ended, so that the table does not grow with every sign-in of a user. */
  async sweep(tx: Tx, userId: string): Promise<void> {
    await tx.execute(SWEEP, [userId]);
  }

  /** @returns how many that have long ended were removed */
  purge(db: Db, limit: number): Promise<number> {
    return db.execute(`DELETE FROM sessions WHERE id IN (SELECT id FROM sessions WHERE expires_at < now() - interval '1 day' OR revoked_at < now() - interval '30 days' LIMIT $1)`, [limit]);
  }
}
