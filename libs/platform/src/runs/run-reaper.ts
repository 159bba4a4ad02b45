import { BeforeApplicationShutdown, Injectable, Logger, OnApplicationBootstrap } from '@nestjs/common';
import { Database, databaseConfig, NO_CALLER } from '@aps/platform/database';
import { ProcessIdentity, repeatedly } from '@aps/platform/runtime';
import { reaped } from './run-counters';
import { GONE, REMOVE, TAKE_PLACE } from './run-owner.sql';
import { RunSweeper } from './run-sweeper';

const LOOK_MS = 500;

/**
 * Looks for owners that have died, and gives their runs to other workers at once. Every worker of the same app does, as others do not know
 * all kinds of their runs; one of them gets the dead owner's lock. Owners that stand still, or whose machine has vanished, keep theirs: their leases tell.
 */
@Injectable()
export class RunReaper implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger('RunReaper');
  private stop: (() => Promise<void>) | undefined;

  constructor(
    private readonly db: Database,
    private readonly sweeper: RunSweeper,
    private readonly self: ProcessIdentity,
  ) {}

  onApplicationBootstrap(): void {
    if (!databaseConfig.value.directUrl) return;
    // While the database is away nobody is known to be dead.
    this.stop = repeatedly(LOOK_MS, () => this.reap());
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.stop?.();
  }

  /** Gives away the runs of all owners that are gone. */
  async reap(): Promise<void> {
    for (const { n, owner } of await this.db.query(GONE, [this.self.app])) {
      await this.db.transaction(NO_CALLER, async (tx) => {
        const [{ gone }] = await tx.query(TAKE_PLACE, [n]);
        // Another worker is at it, or all may be about to come back.
        if (!gone || (await tx.execute(REMOVE, [n])) === 0) return;
        for (const rows of this.sweeper.kinds) {
          const runs = await rows.reap(tx, owner);
          tx.afterCommit(() => reaped.inc({ kind: rows.kind }, runs));
        }
        tx.afterCommit(() => this.logger.warn(`The worker ${owner} has died; its runs go on elsewhere`));
      });
    }
  }
}
