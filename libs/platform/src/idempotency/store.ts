import { Injectable, OnApplicationShutdown } from '@nestjs/common';
import { DomainError } from '@aps/contracts';
import { Database, type Db, type Tx } from '@aps/platform/database';
import { uuidv7 } from 'uuidv7';
import { ABANDON, ATTACH, BEGIN, COMPLETE, FIND, KEEP, PURGE } from './store.sql';

/** A try holds its key for so long, and again as long as its process lives; one that falls silent died, and a repeat takes its place. */
export const LEASE_S = 10;
const BEAT_MS = 3_000;
/** Nobody waits any more for the answer of a handler that takes longer than this, and its key is let go. */
const ATTEMPT_MS = 300_000;
const KEPT_H = 24;

/** One try at a request; who holds it may answer for the key. */
export interface Attempt {
  id: string;
  attemptId: string;
  /** What an earlier try of the same request made and left unfinished. */
  resourceId: string | null;
  /** Whether this one has noted what it makes: a repeat without an answer goes on with that. */
  attached?: true;
}

/** A stored answer. `body` is its JSON text, null when it was empty. */
export interface StoredAnswer {
  status: number;
  body: string | null;
}

export type Begun = { state: 'started'; attempt: Attempt } | { state: 'answered'; answer: StoredAnswer };

/**
 * Answers a request that is repeated under its `Idempotency-Key` as it was answered the first time, for 24 hours.
 *
 * Most handlers get this by `@Idempotent()`. One that must go on where a failed try stopped calls {@link begin} itself, notes what
 * it makes with {@link attach} in the transaction that makes it, and ends with {@link complete} or {@link abandon}.
 */
@Injectable()
export class IdempotencyStore implements OnApplicationShutdown {
  /** Tries of this process, with the time at which they began. */
  private readonly running = new Map<Attempt, number>();
  private beat: NodeJS.Timeout | undefined;

  constructor(private readonly db: Database) {}

  onApplicationShutdown(): void {
    clearInterval(this.beat);
  }

  /**
   * @param owner id of the session or API token; two never share a key
   * @param hash of the request, see `requestHash`
   * @throws DomainError `idempotency_mismatch` when the key came with another request before, `idempotency_in_progress` while the
   *   first one is being handled; a caller who waits as long as that says finds an answer, or that the first one has died
   */
  async begin(owner: string, key: string, hash: Buffer): Promise<Begun> {
    let waitS = 1;
    // A second round only when the row vanished between the two statements (purged, or abandoned by its try).
    for (let round = 0; round < 3; round++) {
      const attemptId = uuidv7();
      const [mine] = await this.db.query(BEGIN, [attemptId, owner, key, hash, LEASE_S, KEPT_H]);
      if (mine) return { state: 'started', attempt: this.track({ id: mine.id, attemptId, resourceId: mine.resource_id }) };
      const [row] = await this.db.query(FIND, [owner, key]);
      if (!row) continue;
      if (!row.request_hash.equals(hash)) {
        const msg = 'This key was used with a different request before.';
        throw new DomainError('idempotency_mismatch', msg, {
          problems: [{ loc: ['header', 'Idempotency-Key'], msg, type: 'semantic.idempotency_mismatch' }],
        });
      }
      waitS = row.wait_s;
      if (row.status_code === null) break;
      return { state: 'answered', answer: { status: row.status_code, body: row.body } };
    }
    throw new DomainError('idempotency_in_progress', 'The first request with this key is still being handled.', { retryAfterS: waitS });
  }

  /**
   * Notes what the try makes, in the same transaction, and gives the try its time anew.
   *
   * @throws DomainError `idempotency_in_progress` when a repeat has taken over; the transaction must then roll back
   */
  async attach(tx: Tx, attempt: Attempt, resourceId: string): Promise<void> {
    if ((await tx.execute(ATTACH, [attempt.id, attempt.attemptId, resourceId, LEASE_S])) === 0) {
      throw new DomainError('idempotency_in_progress', 'Another request with this key is being handled.', { retryAfterS: 1 });
    }
    attempt.attached = true;
  }

  /**
   * Stores the answer for repeats.
   *
   * @param db the transaction of the effect, where answer and effect must not part
   * @returns false when a repeat had taken over and its answer counts
   */
  async complete(attempt: Attempt, answer: StoredAnswer, db: Db = this.db): Promise<boolean> {
    this.running.delete(attempt);
    return (await db.execute(COMPLETE, [attempt.id, attempt.attemptId, answer.status, answer.body])) > 0;
  }

  /** Ends a try without an answer: the next repeat begins at once, with what this one had attached. */
  async abandon(attempt: Attempt): Promise<void> {
    this.running.delete(attempt);
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

  /** Keeps the leases of the tries that take longer than a beat; most are over before, and cost nothing. */
  async keep(): Promise<void> {
    const now = Date.now();
    for (const [attempt, since] of this.running) if (now - since > ATTEMPT_MS) this.running.delete(attempt);
    const slow = [...this.running].filter(([, since]) => now - since >= BEAT_MS / 2).map(([attempt]) => attempt);
    if (slow.length) await this.db.execute(KEEP, [slow.map((a) => a.id), slow.map((a) => a.attemptId), LEASE_S]);
  }

  private track(attempt: Attempt): Attempt {
    this.running.set(attempt, Date.now());
    this.beat ??= setInterval(() => void this.keep().catch(() => undefined), BEAT_MS).unref();
    return attempt;
  }
}
