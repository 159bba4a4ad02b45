import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { statement, type Db } from '@aps/platform/database';
import { canonicalEmail } from '@aps/platform/email';

/** So many attempts at a password fail in {@link WINDOW}; each further one has to wait twice as long as the one before it. */
export const FREE_ATTEMPTS = 5;
const WINDOW = `interval '15 minutes'`;
const MAX_WAIT_S = 900;

/** An attempt as it stands before its password is looked at. */
export interface LoginAttempt {
  /** It comes too early. */
  refused: boolean;
  /** Attempts that have not succeeded, with this one; 0 for a refused one, which does not count. */
  failures: number;
  /** Until another attempt is looked at. */
  waitS: number;
}

const STALE = `greatest(a.since, a.blocked_until) <= now() - ${WINDOW}`;

// An attempt counts before its password is compared, and is taken back by success: of many at once no more are compared than of many in a row.
const BEGIN = statement<{ failures: number; wait_s: number }>(`
  INSERT INTO login_attempts AS a (account, failures, since, blocked_until) VALUES ($1, 1, now(), '-infinity')
  ON CONFLICT (account) DO UPDATE SET
    failures = CASE WHEN ${STALE} THEN 1 ELSE a.failures + 1 END,
    since = CASE WHEN ${STALE} OR a.failures >= ${FREE_ATTEMPTS} THEN now() ELSE a.since END,
    blocked_until = CASE WHEN ${STALE} OR a.failures + 1 < ${FREE_ATTEMPTS} THEN '-infinity'
      ELSE clock_timestamp() + make_interval(secs => least(${MAX_WAIT_S}, power(2, least(a.failures, 20) + 1 - ${FREE_ATTEMPTS}))) END
  WHERE a.blocked_until <= clock_timestamp()
  RETURNING failures, greatest(0, CASE WHEN isfinite(blocked_until) THEN ceil(extract(epoch FROM blocked_until - clock_timestamp())) ELSE 0 END)::int AS wait_s`);
const WAIT = statement<{ wait_s: number }>(
  `SELECT greatest(1, ceil(extract(epoch FROM blocked_until - clock_timestamp())))::int AS wait_s FROM login_attempts WHERE account = $1 AND isfinite(blocked_until)`,
);
// What it has made others wait for, it has not: the next may come at once.
const TAKE_BACK = statement(
  `UPDATE login_attempts SET failures = failures - 1, blocked_until = '-infinity' WHERE account = $1 AND failures > 0`,
);
const CLEAR = statement('DELETE FROM login_attempts WHERE account = ANY($1::bytea[])');

/** Removes some that count for nothing any more. Values: how many. */
export const PURGE_LOGIN_ATTEMPTS = statement(
  `DELETE FROM login_attempts WHERE account IN (SELECT a.account FROM login_attempts a WHERE ${STALE} LIMIT $1)`,
);

/** Counts attempts to log in by address, whether anybody has it or not. The address itself is not kept. */
@Injectable()
export class LoginAttemptsRepository {
  /** @param from counts what comes from this address of a client by itself */
  async begin(db: Db, email: string, from = ''): Promise<LoginAttempt> {
    const account = accountOf(email, from);
    const [begun] = await db.query(BEGIN, [account]);
    if (begun) return { refused: false, failures: begun.failures, waitS: Math.max(1, begun.wait_s) };
    const [{ wait_s } = { wait_s: 1 }] = await db.query(WAIT, [account]);
    return { refused: true, failures: 0, waitS: wait_s };
  }

  /** Hands on what comparing the password of an attempt has answered. Where it fails, as too many wait for theirs, nothing was tried. */
  async compared(db: Db, attempt: LoginAttempt | null, email: string, from: string, comparing: Promise<boolean>): Promise<boolean> {
    try {
      return await comparing;
    } catch (error) {
      if (attempt) await db.execute(TAKE_BACK, [accountOf(email, from)]);
      throw error;
    }
  }

  async clear(db: Db, email: string, from = ''): Promise<void> {
    await db.execute(CLEAR, [[accountOf(email), accountOf(email, from)]]);
  }
}

const accountOf = (email: string, from = ''): Buffer =>
  createHash('sha256')
    .update(`${canonicalEmail(email) ?? email}\n${from}`)
    .digest();
