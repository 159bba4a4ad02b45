import { setImmediate } from 'node:timers/promises';
import type { JobName, JobPayload, RunKindName } from '@aps/contracts';
import { NO_CALLER, type Db, type Tx } from '@aps/platform/database';
import { nextGeneration, type Outbox } from '@aps/platform/outbox';
import { LeaseEnded } from './run-leases';
import type { RunState, RunStatements } from './run.sql';

/** The rows of a kind of run, as far as every kind has them, with the jobs that deliver them. */
export class RunRows<N extends JobName = JobName> {
  /** Slots that have become free and are not filled yet, by organization. */
  private readonly freed = new Map<string, number>();

  constructor(
    private readonly sql: RunStatements<N>,
    private readonly outbox: Outbox,
  ) {}

  get kind(): RunKindName {
    return this.sql.kind;
  }

  /** The run that a job delivers. */
  idOf(payload: JobPayload<N>): string {
    return this.sql.idOf(payload);
  }

  /**
   * Does a step of a run: what `fn` writes, and that it is done, are there together or not at all.
   *
   * @param ends the run is over with it, as this
   * @throws LeaseEnded when the run is not this owner's any more
   */
  async step(
    db: Db,
    run: { id: string; fence: string },
    fn: (tx: Tx) => Promise<void>,
    ends?: { status: string; at: Date },
  ): Promise<void> {
    await db.transaction(NO_CALLER, async (tx) => {
      if ((await tx.query(this.sql.LOCK_OWNED, [run.id, run.fence])).length === 0) throw new LeaseEnded('lost');
      await fn(tx);
      await tx.execute(this.sql.STEP_DONE, [run.id]);
      if (ends) await this.end(tx, run.id, { ...ends, error: null });
    });
  }

  /** Keeps the leases of these runs, under the name that their owner has now. @returns the ones that are still this worker's, and whether their organization is suspended */
  async heartbeat(db: Db, owner: string, runs: { id: string; fence: string }[]): Promise<Map<string, { suspended: boolean }>> {
    const rows = await db.query(this.sql.HEARTBEAT, [runs.map((r) => r.id), runs.map((r) => r.fence), owner]);
    return new Map(rows.map((r) => [r.id, r]));
  }

  /** Gives up a run that something went wrong with: the next delivery finds no lease, and counts. */
  async release(db: Db, run: { id: string; fence: string }): Promise<void> {
    await db.execute(this.sql.RELEASE, [run.id, run.fence]);
  }

  /** Has another worker go on with a run at once. The delivery does not count, because nothing went wrong. */
  async handBack(db: Db, run: { id: string; fence: string }): Promise<void> {
    await this.outbox.handOutRows(db, await db.query(this.sql.HAND_BACK, [run.id, run.fence]));
  }

  /** Has other workers go on with the runs of an owner that is gone, but for those that have lost one before; published after the commit. @returns how many */
  async reap(tx: Tx, owner: string): Promise<number> {
    const jobs = await tx.query(this.sql.REAP, [owner]);
    await this.outbox.handOutRows(tx, jobs);
    return jobs.length;
  }

  /** Writes the job of a run, for one that is to be gone on with; published after the commit. @param generation of one that is run anew, whose earlier delivery may still be under way */
  async dispatch(tx: Tx, id: string, payload: JobPayload<N>, generation?: number): Promise<void> {
    await this.outbox.enqueue(tx, this.sql.job, payload, { id, generation });
  }

  /** Takes runs that are over the cap out of the queue. One that had begun and lost its worker is not at work any more. */
  async park(tx: Db, ids: string[]): Promise<void> {
    await tx.execute(this.sql.PARK, [ids]);
  }

  /** Dispatches the organization's oldest runs that are over the cap, if any. @param slots so many at most; null for all @returns how many */
  async dispatchParked(db: Db, orgId: string, slots: number | null = 1): Promise<number> {
    const runs = await db.query(this.sql.DISPATCH_PARKED, [orgId, slots, nextGeneration()]);
    await this.outbox.handOut(
      db,
      runs.map((run) => ({ ...run, name: this.sql.job })),
    );
    return runs.length;
  }

  /** Fills a slot that has become free, those of the same moment together. What fails is left to the sweeper. */
  async fillSlot(db: Db, orgId: string): Promise<void> {
    const slots = (this.freed.get(orgId) ?? 0) + 1;
    this.freed.set(orgId, slots);
    if (slots > 1) return;
    await setImmediate();
    const all = this.freed.get(orgId);
    this.freed.delete(orgId);
    await this.dispatchParked(db, orgId, all).catch(() => undefined);
  }

  /**
   * Fills the slots that are free. A run that ends fills its own; whose runs end while others are being parked, whom nobody sees yet, leaves
   * them free.
   *
   * @param cap negative for any number
   * @returns how many
   */
  async fillFree(db: Db, orgId: string, cap: number): Promise<number> {
    if (cap < 0) return this.dispatchParked(db, orgId, null);
    const free = cap - (await db.query(this.sql.RUNNING, [orgId]))[0].running;
    return free > 0 ? this.dispatchParked(db, orgId, free) : 0;
  }

  /** Notes what a run will wait for, once all that it does before has been done. */
  async noteWait(tx: Db, id: string, wait: object): Promise<void> {
    await tx.execute(this.sql.NOTE_WAIT, [id, JSON.stringify(wait)]);
  }

  /** Lets a run wait without a slot. Its lease ends; its job becomes due at the wait's end, or is gone until somebody ends the wait. */
  async beginWait(tx: Db, id: string, wait: { resume_at: string | null }): Promise<void> {
    const values = [id, JSON.stringify(wait)];
    if (wait.resume_at) await tx.execute(this.sql.BEGIN_WAIT_UNTIL, [...values, wait.resume_at]);
    else await tx.execute(this.sql.BEGIN_WAIT, values);
  }

  /** Dispatches a run whose wait is over, like one that has just been made. */
  async endWait(tx: Tx, id: string, payload: JobPayload<N>): Promise<void> {
    await tx.execute(this.sql.END_WAIT, [id]);
    await this.dispatch(tx, id, payload, nextGeneration());
  }

  /** Ends a run, whoever owns it, and removes its job. */
  async end(tx: Db, id: string, how: { status: string; error: object | null; at: Date }): Promise<void> {
    await tx.execute(this.sql.END, [id, how.status, how.error && JSON.stringify(how.error), how.at]);
    await this.outbox.cancel(tx, id);
  }

  /**
   * Has workers go on with runs whose lease is over, which the queue may still believe to be under way, and with those whose wait is
   * over while their job means to look much later.
   *
   * @returns how many
   */
  async wakeUnowned(db: Db): Promise<number> {
    const jobs = await db.query(this.sql.TAKE_UNOWNED);
    await this.outbox.handOutRows(db, jobs);
    return jobs.length + (await db.execute(this.sql.WAKE_WAITING));
  }

  /** Organizations with runs that are over the cap. */
  async parkedOrgs(db: Db): Promise<string[]> {
    return (await db.query(this.sql.PARKED_ORGS)).map((r) => r.org_id);
  }

  /** How many runs wait, and for what, and how many are at work. */
  async state(db: Db): Promise<RunState> {
    return (await db.query(this.sql.STATE))[0];
  }
}
