import { Injectable, Logger } from '@nestjs/common';
import { Database } from '@aps/platform/database';
import { LeaseEnded, MAX_DELIVERIES, PlainKind, RunSweeper, type ClaimAnswer, type Lease, type OwnedRun } from '@aps/platform/runs';
import { SyncFailed, Syncing } from './syncing';
import { SyncsRepository, type ClaimedSync } from './syncs.repository';
import { CLAIM } from './syncs.sql';

/** Of an organization: each asks a server, over and over. */
const CAP = 2;

/** A synchronisation, as a durable run. */
@Injectable()
export class SyncKind extends PlainKind<'knowledge.sync', ClaimedSync> {
  private readonly logger = new Logger('SyncKind');

  constructor(
    db: Database,
    private readonly syncs: SyncsRepository,
    private readonly syncing: Syncing,
    sweeper: RunSweeper,
  ) {
    super(db, syncs.runs, CLAIM, CAP, sweeper);
  }

  refuse = (run: ClaimAnswer<ClaimedSync>): Promise<void> =>
    this.syncs.giveUp(run, { code: 'worker_lost', message: 'Its workers were lost three times in a row.' });
  attributesOf = ({ id }: ClaimedSync): Record<string, string> => ({ 'aps.sync.id': id });

  async drive(run: OwnedRun<ClaimedSync>, lease: Lease): Promise<string> {
    await this.syncing.sync(run, lease);
    return 'done';
  }

  /** What a server does is for the next hour; a fault of ours is tried up to three times. */
  async fail(run: OwnedRun<ClaimedSync>, error: unknown): Promise<string | null> {
    const known = error instanceof SyncFailed ? error : null;
    if (!known) {
      this.logger.warn({ msg: 'A collection could not be synchronised', sync_id: run.id, error: (error as Error)?.message });
      if (run.deliveries + 1 < MAX_DELIVERIES) return null;
    }
    const { code, message } = known ?? { code: 'internal', message: 'It could not be synchronised by a fault of ours.' };
    try {
      await this.syncs.fail(run, { code, message });
    } catch (failure) {
      if (failure instanceof LeaseEnded) return failure.reason;
      throw failure;
    }
    // As of sources: a server that does not answer is nobody's here.
    return known ? 'unsuccessful' : 'failed';
  }
}
