import { Injectable } from '@nestjs/common';
import type { JobName } from '@aps/contracts';
import { Database } from '@aps/platform/database';
import { Maintenance } from '@aps/platform/maintenance';
import { givenUp, reaped, redelivered } from './run-counters';
import type { ClaimedRun, RunKind } from './run-kind';
import type { RunRows } from './run-rows';

/**
 * Finds what nobody told anybody: runs that nobody owns any more, and runs over the cap whose slots became free by a lease that ended, a
 * cap that grew, or a worker that died. Runs in every worker; what it does is safe to do twice.
 */
@Injectable()
export class RunSweeper {
  /** The rows of every kind. */
  readonly kinds: RunRows[] = [];

  constructor(
    private readonly maintenance: Maintenance,
    private readonly db: Database,
  ) {}

  /** Sweeps this kind from now on. */
  register<N extends JobName, R extends ClaimedRun, F extends string>(kind: RunKind<N, R, F>): void {
    this.kinds.push(kind.rows);
    for (const counted of [givenUp, redelivered, reaped]) counted.inc({ kind: kind.rows.kind }, 0);
    // Every sweep takes all there is.
    this.maintenance.register({ name: `runs_${kind.rows.kind}`, everyS: 5, batch: Infinity, run: () => this.sweep(kind) });
  }

  /** @returns how many runs it set going */
  async sweep<N extends JobName, R extends ClaimedRun, F extends string>(kind: RunKind<N, R, F>): Promise<number> {
    const { rows } = kind;
    let woken = await rows.wakeUnowned(this.db);
    for (const orgId of await rows.parkedOrgs(this.db)) woken += await rows.fillFree(this.db, orgId, await kind.capOf(orgId));
    return woken;
  }
}
