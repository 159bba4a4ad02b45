import type { JobName, JobPayload } from '@aps/contracts';
import type { Ahead, BatchStatement, Database, Tx } from '@aps/platform/database';
import type { JobContext } from '@aps/platform/queues';
import type { Lease } from './run-leases';
import type { RunRows } from './run-rows';
import { CAP_MARGIN, type Claiming } from './run.sql';

/** A run that this worker owns, as far as every kind has it. */
export interface ClaimedRun {
  id: string;
  org_id: string;
  /** Every write names it; a stale one touches no row. */
  fence: string;
  /** Before this one, in a row, without a finished step. */
  deliveries: number;
  /** It had an owner before, who may have begun its next step. */
  taken_over: boolean;
  /** That owner had gone silent; one that hands a run back, at a shutdown, ends its lease. */
  lease_expired: boolean;
  steps_done: number;
  /** Since when a worker could take it up. */
  ready_at: Date;
}

/**
 * What a claim came to. A kind may refuse for reasons of its own.
 *
 * - `claimed`: this worker owns the run
 * - `gone`: it is over, and its job with it
 * - `busy`: another worker holds a live lease
 * - `early`: it waits for a later time
 * - `suspended`: its organization is
 * - `over_cap`: too many runs of its organization are at work
 * - `parked`: it was over the cap, and gets another job when there is a slot for it
 * - `lost`: it was delivered too often without finishing a step
 */
export type Verdict = 'claimed' | 'gone' | 'busy' | 'early' | 'suspended' | 'over_cap' | 'parked' | 'lost';

/** A run, and what its claim came to. @typeParam R what the kind's own claim reads, and its refusals */
export type ClaimAnswer<R extends ClaimedRun, Refusal extends string = never> = R & { verdict: Verdict | Refusal; retry_at: Date | null };

/** A run whose owner this process is, or will be when the claim has committed. */
export type OwnedRun<R extends ClaimedRun> = R & {
  claimed_at: Date;
  /** Rejects when it is not ours after all. */
  committed: Promise<void>;
};

/**
 * A kind of durable run: what it is, what it does and what ends it. Who runs it, for how long, and what happens when that process dies is
 * the mechanism's ({@link Runs}).
 *
 * @typeParam N the job that delivers it
 * @typeParam R what its claim reads
 * @typeParam Refusal its own reasons not to run
 */
export abstract class RunKind<N extends JobName, R extends ClaimedRun, Refusal extends string = never> {
  protected abstract readonly db: Database;
  abstract readonly rows: RunRows<N>;
  /** The kind's `claimStatement`. */
  protected abstract readonly claim: BatchStatement<Claiming>;

  /** How many runs of an organization may be at work; negative for any number. */
  abstract capOf(orgId: string): Promise<number>;
  /** Closer to the cap than this, claims of an organization go one after another, and the cap is exact. */
  readonly capMargin: number = CAP_MARGIN;

  /** What is asked of the claim. */
  abstract claiming(payload: JobPayload<N>): Pick<Claiming, 'run_id' | 'key'>;
  /** Claims runs, no two of one key. Null for one that there is not. */
  async claimAll(tx: Tx, claimings: Claiming[]): Promise<(ClaimAnswer<R, Refusal> | null)[]> {
    const answers = await tx.batchedAll<Claiming, ClaimAnswer<R, Refusal>>(this.claim, claimings);
    return answers.map((answer) => answer && this.withTimes(answer));
  }
  /** Claims one, told while it is being committed. */
  async claimAhead(claiming: Claiming): Promise<Ahead<ClaimAnswer<R, Refusal>> | null> {
    const ahead = await this.db.batchedAhead<Claiming, ClaimAnswer<R, Refusal>>(this.claim, claiming);
    return ahead && { ...ahead, answer: this.withTimes(ahead.answer) };
  }
  /** Returns when a transaction that is writing the run, if there is one, has ended: a job may be faster than that. */
  abstract awaitWriter(payload: JobPayload<N>): Promise<void>;

  /** Tells that runs of locked rows wait for a slot, and takes them from the queue. */
  abstract park(tx: Tx, runs: ClaimAnswer<R, Refusal>[], at: Date): Promise<void>;
  /** Ends a run that was refused for good: for a reason of the kind's own, or as `lost`. */
  abstract refuse(run: ClaimAnswer<R, Refusal>, why: Refusal | 'lost'): Promise<void>;

  /**
   * Goes on with a run from what its journal says, step by step, until it is over or waits.
   *
   * @returns how that came out, in a word for metrics
   * @throws whatever went wrong, for {@link fail} to decide
   */
  abstract drive(run: OwnedRun<R>, lease: Lease, context: JobContext): Promise<string>;
  /** Ends a run of a suspended organization. */
  abstract suspend(run: OwnedRun<R>): Promise<void>;
  /**
   * Ends a run that something went wrong with.
   *
   * @returns how, in a word for metrics; null for a fault of ours or of the database, which is logged, and after which it is delivered again
   * @throws LeaseEnded when the run is not this owner's any more
   */
  abstract fail(run: OwnedRun<R>, error: unknown, context: JobContext): Promise<string | null>;

  /** What its span says beside the organization and the steps. */
  abstract attributesOf(run: R): Record<string, string>;

  /** Claims answer in JSON, which has no times. */
  protected withTimes(answer: ClaimAnswer<R, Refusal>): ClaimAnswer<R, Refusal> {
    return { ...answer, ready_at: new Date(answer.ready_at), retry_at: answer.retry_at && new Date(answer.retry_at) };
  }
}
