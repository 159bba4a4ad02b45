import { Injectable } from '@nestjs/common';
import type { Resolution } from '@aps/entities';
import { storable, type Tx } from '@aps/platform/database';
import { JournalRepository } from './journal.repository';
import { LOCK, RESOLVE, RUN_OF_STEP, WOKEN, type LockedRun } from './process-run.sql';

/** Brings runs what they wait for. Whoever does so holds the run's row: its owner commits nothing without having seen it. */
@Injectable()
export class Wakes {
  constructor(private readonly journal: JournalRepository) {}

  /** Null where there is no such run. */
  async lock(tx: Tx, runId: string): Promise<LockedRun | null> {
    return (await tx.query(LOCK, [runId]))[0] ?? null;
  }

  /** Something has come for a locked run: who owns it is to look, and one that waits goes on. */
  async wake(tx: Tx, run: LockedRun): Promise<void> {
    await tx.execute(WOKEN, [run.id]);
    if (run.status === 'waiting') await this.journal.runs.endWait(tx, run.id, { org_id: run.org_id, run_id: run.id });
  }

  /**
   * What a step has waited for; only the first counts.
   *
   * @returns whether it still waited
   */
  async resolve(tx: Tx, stepId: string, resolution: Resolution): Promise<boolean> {
    const [step] = await tx.query(RUN_OF_STEP, [stepId]);
    const run = step && (await this.lock(tx, step.run_id));
    if (!run) return false;
    const taken = await tx.query(RESOLVE, [stepId, JSON.stringify(storable(resolution))]);
    if (taken.length) await this.wake(tx, run);
    return taken.length > 0;
  }
}
