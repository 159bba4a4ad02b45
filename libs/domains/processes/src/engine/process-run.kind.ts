import { Injectable, Logger } from '@nestjs/common';
import type { JobPayload } from '@aps/contracts';
import { alreadyCommitted, Database, NO_CALLER, type Ahead, type Tx } from '@aps/platform/database';
import { Maintenance } from '@aps/platform/maintenance';
import { RunKind, RunSweeper, type ClaimAnswer, type Claiming, type Lease, type OwnedRun } from '@aps/platform/runs';
import { Admissions } from './admissions';
import { Cancellation } from './cancellation';
import { stepError } from './journal';
import { JournalRepository, type ClaimedProcessRun } from './journal.repository';
import { RunDriver } from './run-driver';

/** Of an organization, so that a flood of one leaves room for the others. One that waits is not at work. */
const CAP = 32;

type Answer = ClaimAnswer<ClaimedProcessRun>;

/** A run of a process, as a durable run. */
@Injectable()
export class ProcessRunKind extends RunKind<'process.run', ClaimedProcessRun> {
  private readonly logger = new Logger('ProcessRunKind');
  readonly rows = this.journal.runs;

  constructor(
    private readonly db: Database,
    private readonly journal: JournalRepository,
    private readonly driver: RunDriver,
    private readonly cancellation: Cancellation,
    sweeper: RunSweeper,
    maintenance: Maintenance,
    admissions: Admissions,
  ) {
    super();
    sweeper.register(this);
    maintenance.register({ name: 'process_keys', everyS: 5, batch: Infinity, run: () => admissions.sweep() });
  }

  /** Up to half of the cap claims need not wait for one another. */
  override readonly capMargin = CAP / 2;

  capOf = (): Promise<number> => Promise.resolve(CAP);
  claiming = ({ run_id }: JobPayload<'process.run'>): Pick<Claiming, 'run_id' | 'key'> => ({ run_id, key: run_id });
  claimAll = (tx: Tx, claimings: Claiming[]): Promise<(Answer | null)[]> => this.journal.claimAll(tx, claimings);

  async claimAhead(claiming: Claiming): Promise<Ahead<Answer> | null> {
    const answer = await this.journal.claim(this.db, claiming);
    return answer && alreadyCommitted(answer);
  }

  /** Jobs are handed out when their runs are committed. */
  awaitWriter = (): Promise<void> => Promise.resolve();
  park = (tx: Tx, runs: Answer[]): Promise<void> =>
    this.rows.park(
      tx,
      runs.map(({ id }) => id),
    );
  refuse = ({ id, org_id }: Answer): Promise<void> => {
    const error = stepError('worker_lost', 'Its workers were lost three times in a row without a finished step.');
    return this.db.transaction(NO_CALLER, (tx) => this.cancellation.fail(tx, org_id, id, error));
  };
  /** Whoever claims it finds the organization suspended, and leaves it for later. */
  suspend = (run: OwnedRun<ClaimedProcessRun>): Promise<void> => this.rows.handBack(this.db, run);
  attributesOf = ({ id, process_id }: ClaimedProcessRun): Record<string, string> => ({ 'aps.run.id': id, 'aps.process.id': process_id });

  drive(run: OwnedRun<ClaimedProcessRun>, lease: Lease): Promise<string> {
    return this.driver.drive(run, lease);
  }

  /** What steps come to is data of the run; what is thrown here is a fault of ours, and the run is delivered again. */
  fail(run: OwnedRun<ClaimedProcessRun>, error: unknown): Promise<null> {
    this.logger.warn({ msg: 'A run could not go on', run_id: run.id, error: (error as Error)?.message });
    return Promise.resolve(null);
  }
}
