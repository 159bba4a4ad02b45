import { Injectable } from '@nestjs/common';
import { statement, type Db, type Tx } from '@aps/platform/database';

const INSERT = statement(
  `INSERT INTO password_resets (id, user_id, token_hash, expires_at) VALUES ($1, $2, $3, now() + interval '1 hour')`,
);
const COUNT_RECENT = statement(
  `SELECT count(*)::int AS n FROM password_resets WHERE user_id = $1 AND created_at > now() - interval '1 hour'`,
);
const OWNER = statement('SELECT user_id FROM password_resets WHERE token_hash = $1 AND used_at IS NULL AND expires_at > now()');
const TAKE = statement('UPDATE password_resets SET used_at = now() WHERE token_hash = $1 AND used_at IS NULL AND expires_at > now()');
const VOID = statement('UPDATE password_resets SET used_at = now() WHERE user_id = $1 AND used_at IS NULL');
const SWEEP = statement(`DELETE FROM password_resets WHERE user_id = $1 AND expires_at < now() - interval '1 day'`);

@Injectable()
export class PasswordResetsRepository {
  async insert(tx: Tx, reset: { id: string; userId: string; tokenHash: Buffer }): Promise<void> {
    await tx.execute(SWEEP, [reset.userId]);
    await tx.execute(INSERT, [reset.id, reset.userId, reset.tokenHash]);
  }

  async countOfLastHour(tx: Tx, userId: string): Promise<number> {
    return (await tx.query<{ n: number }>(COUNT_RECENT, [userId]))[0].n;
  }

  /** @returns whose token it is, or null when it is not good */
  async ownerOf(db: Db, tokenHash: Buffer): Promise<string | null> {
    return (await db.query<{ user_id: string }>(OWNER, [tokenHash]))[0]?.user_id ?? null;
  }

  /** Uses a token up. Of several that try at once, one succeeds. */
  async take(tx: Tx, tokenHash: Buffer): Promise<boolean> {
    return (await tx.execute(TAKE, [tokenHash])) > 0;
  }

  async voidAllOf(tx: Tx, userId: string): Promise<void> {
    await tx.execute(VOID, [userId]);
  }

  /** @returns how many that have long ended were removed */
  purge(db: Db, limit: number): Promise<number> {
    return db.execute(
      `DELETE FROM password_resets WHERE id IN (SELECT id FROM password_resets WHERE expires_at < now() - interval '1 day' LIMIT $1)`,
      [limit],
    );
  }
}
