import { Injectable } from '@nestjs/common';
import { Database } from '@aps/platform/database';
import { PlainKind, RunSweeper, WORKERS_LOST, type ClaimAnswer, type Lease, type OwnedRun } from '@aps/platform/runs';
import { SyncFailed, Syncing } from './syncing';
import { SyncsRepository, type ClaimedSync } from './syncs.repository';
import { CLAIM } from './syncs.sql';

/** Of an organization: each asks a server, over and over. */
const CAP = 2;

/** A synchronisation, as a durable run. */
@Injectable()
export class SyncKind extends PlainKind<'knowledge.sync', ClaimedSync> {
  constructor(
    db: Database,
    private readonly syncs: SyncsRepository,
    private readonly syncing: Syncing,
    sweeper: RunSweeper,
  ) {
    super(db, syncs.runs, CLAIM, CAP, sweeper);
  }

  refuse = (run: ClaimAnswer<ClaimedSync>): Promise<void> => this.syncs.giveUp(run, { code: 'worker_lost', message: `${WORKERS_LOST}.` });
  attributesOf = ({ id }: ClaimedSync): Record<string, string> => ({ 'aps.sync.id': id });

  async drive(run: OwnedRun<ClaimedSync>, lease: Lease): Promise<string> {
    await this.syncing.sync(run, lease);
    return 'done';
  }

  /** What a server does is for the next hour; a fault of ours is tried up to three times. */
  async fail(run: OwnedRun<ClaimedSync>, error: unknown): Promise<string | null> {
    const known = error instanceof SyncFailed ? error : null;
    if (!known && !this.isGivenUp(run, error)) return null;
    const { code, message } = known ?? { code: 'internal', message: 'It could not be synchronised by a fault of ours.' };
    await this.syncs.fail(run, { code, message });
    // Nobody is called for the server of an organization that does not answer.
    return known ? 'unsuccessful' : 'failed';
  }
}
