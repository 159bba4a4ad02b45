import { Injectable } from '@nestjs/common';
import { DomainError } from '@aps/contracts';
import { EnvelopeCrypto } from '@aps/platform/crypto';
import { Database, statement, type Db, type Tx } from '@aps/platform/database';
import { uuidv7 } from 'uuidv7';

/** The time that a try has; one that is silent for longer died with its process, and a repeat takes its place. */
export const ATTEMPT_S = 60;
const KEPT_H = 24;

/** One try at a request; who holds it may answer for the key. */
export interface Attempt {
  id: string;
  attemptId: string;
  /** What an earlier try of the same request made and left unfinished. */
  resourceId: string | null;
}

/** A stored answer. `body` is its JSON text, null when it was empty. */
export interface StoredAnswer {
  status: number;
  body: string | null;
}

export type Begun = { state: 'started'; attempt: Attempt } | { state: 'answered'; answer: StoredAnswer };

interface Row {
  id: string;
  attempt_id: string;
  request_hash: Buffer;
  resource_id: string | null;
  status_code: number | null;
  body: string | null;
  encrypted: boolean;
}

// One statement decides who handles the request. A row that has expired is anybody's; one whose try has died goes to a repeat of
// the same request, with what that try had made.
const BEGIN = statement(`
  INSERT INTO idempotency_keys AS k (id, owner_id, key, request_hash, attempt_id, locked_until, expires_at)
  VALUES ($1, $2, $3, $4, $1, now() + make_interval(secs => $5), now() + make_interval(hours => $6))
  ON CONFLICT (owner_id, key) DO UPDATE SET
    id = CASE WHEN k.expires_at <= now() THEN excluded.id ELSE k.id END,
    resource_id = CASE WHEN k.expires_at <= now() THEN NULL ELSE k.resource_id END,
    created_at = CASE WHEN k.expires_at <= now() THEN now() ELSE k.created_at END,
    request_hash = excluded.request_hash, attempt_id = excluded.attempt_id, locked_until = excluded.locked_until,
    expires_at = excluded.expires_at, status_code = NULL, body = NULL, encrypted = false, answered_at = NULL
  WHERE k.expires_at <= now() OR (k.status_code IS NULL AND k.locked_until <= now() AND k.request_hash = excluded.request_hash)
  RETURNING id, resource_id`);
const FIND = statement(`
  SELECT id, attempt_id, request_hash, resource_id, status_code, body, encrypted FROM idempotency_keys WHERE owner_id = $1 AND key = $2`);
const ATTACH = statement(`
  UPDATE idempotency_keys SET resource_id = $3, locked_until = now() + make_interval(secs => $4)
  WHERE id = $1 AND attempt_id = $2 AND status_code IS NULL`);
const COMPLETE = statement(`
  UPDATE idempotency_keys SET status_code = $3, body = $4, encrypted = $5, answered_at = now()
  WHERE id = $1 AND attempt_id = $2 AND status_code IS NULL`);
// What made something keeps its row, so that a repeat finds it; what made nothing leaves no trace.
const ABANDON = statement(`
  WITH kept AS (
    UPDATE idempotency_keys SET locked_until = now() WHERE id = $1 AND attempt_id = $2 AND status_code IS NULL AND resource_id IS NOT NULL)
  DELETE FROM idempotency_keys WHERE id = $1 AND attempt_id = $2 AND status_code IS NULL AND resource_id IS NULL`);
const PURGE = statement(`
  DELETE FROM idempotency_keys WHERE id IN (
    SELECT id FROM idempotency_keys WHERE expires_at <= now() ORDER BY expires_at LIMIT $1 FOR UPDATE SKIP LOCKED)`);

/**
 * Answers a request that is repeated under its `Idempotency-Key` as it was answered the first time, for 24 hours.
 *
 * Most handlers get this by `@Idempotent()`. One that must go on where a failed try stopped calls {@link begin} itself, notes what
 * it makes with {@link attach} in the transaction that makes it, and ends with {@link complete} or {@link abandon}.
 */
@Injectable()
export class IdempotencyStore {
  constructor(
    private readonly db: Database,
    private readonly crypto: EnvelopeCrypto,
  ) {}

  /**
   * @param owner id of the session or API token; two never share a key
   * @param hash of the request, see `requestHash`
   * @throws DomainError `idempotency_mismatch` when the key came with another request before, `idempotency_in_progress` while the
   *   first one is being handled
   */
  async begin(owner: string, key: string, hash: Buffer): Promise<Begun> {
    // A second round only when the row vanished between the two statements (purged, or abandoned by its try).
    for (let round = 0; round < 3; round++) {
      const attemptId = uuidv7();
      const [mine] = await this.db.query<{ id: string; resource_id: string | null }>(BEGIN, [attemptId, owner, key, hash, ATTEMPT_S, KEPT_H]);
      if (mine) return { state: 'started', attempt: { id: mine.id, attemptId, resourceId: mine.resource_id } };
      const [row] = await this.db.query<Row>(FIND, [owner, key]);
      if (!row) continue;
      if (!row.request_hash.equals(hash)) {
        const msg = 'This key was used with a different request before.';
        throw new DomainError('idempotency_mismatch', msg, { problems: [{ loc: ['header', 'Idempotency-Key'], msg, type: 'semantic.idempotency_mismatch' }] });
      }
      if (row.status_code === null) break;
      return { state: 'answered', answer: { status: row.status_code, body: await this.bodyOf(row) } };
    }
    throw new DomainError('idempotency_in_progress', 'The first request with this key is still being handled.', { retryAfterS: 1 });
  }

  /**
   * Notes what the try makes, in the same transaction, and gives the try its time anew.
   *
   * @throws DomainError `idempotency_in_progress` when a repeat has taken over; the transaction must then roll back
   */
  async attach(tx: Tx, attempt: Attempt, resourceId: string): Promise<void> {
    if ((await tx.execute(ATTACH, [attempt.id, attempt.attemptId, resourceId, ATTEMPT_S])) === 0) {
      throw new DomainError('idempotency_in_progress', 'Another request with this key is being handled.', { retryAfterS: 1 });
    }
  }

  /**
   * Stores the answer for repeats.
   *
   * @param options.secret the answer holds a secret: only its ciphertext is stored
   * @param options.db the transaction of the effect, where answer and effect must not part
   * @returns false when a repeat had taken over and its answer counts
   */
  async complete(attempt: Attempt, answer: StoredAnswer, { secret = false, db = this.db }: { secret?: boolean; db?: Db } = {}): Promise<boolean> {
    const encrypted = secret && answer.body !== null;
    const body = encrypted ? await this.crypto.encrypt(db, placeOf(attempt.id), answer.body!) : answer.body;
    return (await db.execute(COMPLETE, [attempt.id, attempt.attemptId, answer.status, body, encrypted])) > 0;
  }

  /** Ends a try without an answer: the next repeat begins at once, with what this one had attached. */
  async abandon(attempt: Attempt): Promise<void> {
    await this.db.execute(ABANDON, [attempt.id, attempt.attemptId]);
  }

  /**
   * Removes expired keys; called by the maintenance until it returns less than `limit`.
   *
   * @returns how many were removed
   */
  purge(limit = 1_000): Promise<number> {
    return this.db.execute(PURGE, [limit]);
  }

  private async bodyOf(row: Row): Promise<string | null> {
    return row.encrypted && row.body !== null ? this.crypto.decrypt(this.db, placeOf(row.id), row.body) : row.body;
  }
}

// Of the platform and not of an organization: creating one is itself a request that may be repeated.
const placeOf = (id: string) => ({ orgId: null, table: 'idempotency_keys', column: 'body', rowId: id });
