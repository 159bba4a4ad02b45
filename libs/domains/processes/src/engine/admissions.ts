import { Injectable } from '@nestjs/common';
import { advisoryLock, Database, NO_CALLER, type Tx } from '@aps/platform/database';
import { JournalRepository } from './journal.repository';
import { ADMIT, KEY_STATE, KEYS_WITH_ROOM, type LoadedRun } from './process-run.sql';

type Keyed = Pick<LoadedRun, 'org_id' | 'process_id' | 'concurrency_key'>;

/** Lets runs begin that had to wait until others of their key have ended, oldest first. */
@Injectable()
export class Admissions {
  constructor(
    private readonly db: Database,
    private readonly journal: JournalRepository,
  ) {}

  /** Whoever counts the runs of a key does so one after another. */
  lock(tx: Tx, processId: string, key: string): Promise<void> {
    return advisoryLock(tx, `process_key:${processId}:${key}`);
  }

  /** There may be room: runs have ended. What fails is left to the sweep. */
  async next(runs: Keyed[]): Promise<void> {
    await Promise.all(runs.map(({ org_id }) => this.journal.runs.fillSlot(this.db, org_id)));
    // A look at a key lets in as many as there is room for.
    const keys = new Map(runs.map(({ process_id, concurrency_key: key }) => [`${process_id}:${key}`, { process_id, key }]));
    for (const { process_id, key } of keys.values()) if (key !== null) await this.admit(process_id, key).catch(() => undefined);
  }

  /** A process that dies between an end and what follows from it leaves that to whoever looks next. @returns how many were let in */
  async sweep(): Promise<number> {
    const keys = await this.db.query(KEYS_WITH_ROOM);
    let admitted = 0;
    for (const { process_id, concurrency_key: key } of keys) if (key !== null) admitted += await this.admit(process_id, key);
    return admitted;
  }

  private admit(processId: string, key: string): Promise<number> {
    return this.db.transaction(NO_CALLER, async (tx) => {
      await this.lock(tx, processId, key);
      for (let admitted = 0; ; admitted++) {
        const [{ at_work, next_id, limit }] = await tx.query(KEY_STATE, [processId, key]);
        if (next_id === null || at_work >= (limit ?? 1)) return admitted;
        const [run] = await tx.query(ADMIT, [next_id]);
        if (run) await this.journal.runs.dispatch(tx, next_id, { org_id: run.org_id, run_id: next_id });
      }
    });
  }
}
