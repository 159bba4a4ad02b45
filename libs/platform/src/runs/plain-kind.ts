import { Logger } from '@nestjs/common';
import type { JobName, JobPayload } from '@aps/contracts';
import type { Ahead, BatchStatement, Database, Tx } from '@aps/platform/database';
import { RunKind, type ClaimAnswer, type ClaimedRun, type OwnedRun } from './run-kind';
import type { RunRows } from './run-rows';
import type { RunSweeper } from './run-sweeper';
import { MAX_DELIVERIES, type Claiming } from './run.sql';

/**
 * A kind of run as most are: a run is claimed by itself, every organization has the same cap, jobs are handed out when their runs are
 * committed, and nobody is told which runs wait for a slot. What it does, and what ends it, is left to say.
 */
export abstract class PlainKind<N extends JobName, R extends ClaimedRun> extends RunKind<N, R> {
  private readonly faults = new Logger('Runs');

  /**
   * @param claim the kind's `claimStatement`
   * @param cap how many runs of an organization may be at work
   */
  constructor(
    protected readonly db: Database,
    readonly rows: RunRows<N>,
    protected readonly claim: BatchStatement<Claiming>,
    protected readonly cap: number,
    sweeper: RunSweeper,
  ) {
    super();
    sweeper.register(this);
  }

  capOf(_orgId: string): Promise<number> {
    return Promise.resolve(this.cap);
  }

  claiming(payload: JobPayload<N>): Pick<Claiming, 'run_id' | 'key'> {
    const id = this.rows.idOf(payload);
    return { run_id: id, key: id };
  }

  /** Nothing of a run is begun before its claim is committed. */
  override async claimAhead(claiming: Claiming): Promise<Ahead<ClaimAnswer<R>> | null> {
    const ahead = await super.claimAhead(claiming);
    await ahead?.committed;
    return ahead;
  }

  awaitWriter(): Promise<void> {
    return Promise.resolve();
  }

  park(tx: Tx, runs: ClaimAnswer<R>[]): Promise<void> {
    const ids = runs.map(({ id }) => id);
    return this.rows.park(tx, ids);
  }

  /** Whoever claims it finds the organization suspended, and leaves it for later. */
  suspend(run: OwnedRun<R>): Promise<void> {
    return this.rows.handBack(this.db, run);
  }

  /**
   * Whether a fault of ours has met a run so often that it is not tried again. That is logged here, as is each time before where the run is
   * delivered again.
   */
  protected isGivenUp({ id, deliveries }: OwnedRun<R>, fault: unknown): boolean {
    if (deliveries + 1 < MAX_DELIVERIES) return false;
    this.faults.error({ msg: 'Run given up', kind: this.rows.kind, run_id: id, error: (fault as Error)?.stack ?? String(fault) });
    return true;
  }
}
