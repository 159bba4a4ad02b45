import { Injectable } from '@nestjs/common';
import type { Resolution } from '@aps/entities';
import type { Tx } from '@aps/platform/database';
import { Admissions } from './admissions';
import { stepError, type RunOutcome } from './journal';
import type { LoadedRun } from './process-run.sql';
import { Wakes } from './wakes';

type Ended = Pick<LoadedRun, 'org_id' | 'process_id' | 'concurrency_key'>;

/** What follows from the end of a run: for the run whose step it is, and for those that wait for its key or its slot. */
@Injectable()
export class RunEnds {
  /** Runs that end with a transaction, which may be thousands. */
  private readonly over = new WeakMap<Tx, Ended[]>();

  constructor(
    private readonly wakes: Wakes,
    private readonly admissions: Admissions,
  ) {}

  /** In the transaction that ends it, which has locked it: a run above it is locked after it. */
  async tell(tx: Tx, run: Ended & Pick<LoadedRun, 'parent_step_id'>, end: RunOutcome | { status: 'cancelled' }): Promise<void> {
    if (run.parent_step_id) await this.wakes.resolve(tx, run.parent_step_id, resolutionOf(end));
    const over = this.over.get(tx) ?? [];
    if (over.length === 0) tx.afterCommit(() => this.admissions.next(over));
    this.over.set(tx, over);
    over.push(run);
  }

  /** After the commit that has ended it. */
  makeRoom(run: Ended): Promise<void> {
    return this.admissions.next([run]);
  }
}

/** What a run has come to, for the step that it is. */
export function resolutionOf(end: RunOutcome | { status: 'cancelled' }): Resolution {
  switch (end.status) {
    case 'completed':
      return { kind: 'run', output: end.output, error: null };
    case 'flagged':
      return { kind: 'run', output: null, error: stepError('child_failed', `The run was flagged: ${end.reason}`) };
    case 'failed':
      return { kind: 'run', output: null, error: stepError('child_failed', end.error.message) };
    case 'cancelled':
      return { kind: 'run', output: null, error: stepError('child_failed', 'The run was cancelled.') };
  }
}
