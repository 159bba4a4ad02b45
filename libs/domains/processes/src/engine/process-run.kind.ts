import { Injectable } from '@nestjs/common';
import { Database, NO_CALLER } from '@aps/platform/database';
import { Maintenance } from '@aps/platform/maintenance';
import { PlainKind, RunSweeper, WORKERS_LOST, type ClaimAnswer, type Lease, type OwnedRun } from '@aps/platform/runs';
import { Admissions } from './admissions';
import { Cancellation } from './cancellation';
import { stepError } from './journal';
import { JournalRepository, type ClaimedProcessRun } from './journal.repository';
import { CLAIM } from './process-run.sql';
import { RunDriver } from './run-driver';

/** Of an organization, so that a flood of one leaves room for the others. One that waits is not at work. */
const CAP = 32;

type Answer = ClaimAnswer<ClaimedProcessRun>;

/** A run of a process, as a durable run. */
@Injectable()
export class ProcessRunKind extends PlainKind<'process.run', ClaimedProcessRun> {
  constructor(
    db: Database,
    journal: JournalRepository,
    private readonly driver: RunDriver,
    private readonly cancellation: Cancellation,
    sweeper: RunSweeper,
    maintenance: Maintenance,
    admissions: Admissions,
  ) {
    super(db, journal.runs, CLAIM, CAP, sweeper);
    maintenance.register({ name: 'process_keys', everyS: 5, batch: Infinity, run: () => admissions.sweep() });
  }

  /** Up to half of the cap claims need not wait for one another. */
  override readonly capMargin = CAP / 2;
  refuse = ({ id, org_id }: Answer): Promise<void> => {
    const error = stepError('worker_lost', `${WORKERS_LOST} without a finished step.`);
    return this.db.transaction(NO_CALLER, (tx) => this.cancellation.fail(tx, org_id, id, error));
  };
  protected override withTimes(answer: Answer): Answer {
    const { started_at, created_at } = answer;
    return { ...super.withTimes(answer), started_at: started_at && new Date(started_at), created_at: new Date(created_at) };
  }

  attributesOf = ({ id, process_id }: ClaimedProcessRun): Record<string, string> => ({ 'aps.run.id': id, 'aps.process.id': process_id });

  drive(run: OwnedRun<ClaimedProcessRun>, lease: Lease): Promise<string> {
    return this.driver.drive(run, lease);
  }

  /** What steps come to is data of the run; what is thrown here is a fault of ours, and the run is delivered again. */
  fail = (): Promise<null> => Promise.resolve(null);
}
