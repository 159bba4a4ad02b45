import { Injectable, Logger } from '@nestjs/common';
import type { JobPayload } from '@aps/contracts';
import { alreadyCommitted, Database, type Ahead, type Tx } from '@aps/platform/database';
import {
  LeaseEnded,
  MAX_DELIVERIES,
  RunKind,
  RunSweeper,
  type ClaimAnswer,
  type Claiming,
  type Lease,
  type OwnedRun,
} from '@aps/platform/runs';
import { SyncFailed, Syncing } from './syncing';
import { SyncsRepository, type ClaimedSync } from './syncs.repository';

/** Of an organization: each asks a server, over and over. */
const CAP = 2;

type Answer = ClaimAnswer<ClaimedSync>;

/** A synchronisation, as a durable run. */
@Injectable()
export class SyncKind extends RunKind<'knowledge.sync', ClaimedSync> {
  private readonly logger = new Logger('SyncKind');
  readonly rows = this.syncs.runs;

  constructor(
    private readonly db: Database,
    private readonly syncs: SyncsRepository,
    private readonly syncing: Syncing,
    sweeper: RunSweeper,
  ) {
    super();
    sweeper.register(this);
  }

  capOf = (): Promise<number> => Promise.resolve(CAP);
  claiming = ({ sync_id }: JobPayload<'knowledge.sync'>): Pick<Claiming, 'run_id' | 'key'> => ({ run_id: sync_id, key: sync_id });
  claimAll = (tx: Tx, claimings: Claiming[]): Promise<(Answer | null)[]> => this.syncs.claimAll(tx, claimings);

  async claimAhead(claiming: Claiming): Promise<Ahead<Answer> | null> {
    const answer = await this.syncs.claim(this.db, claiming);
    return answer && alreadyCommitted(answer);
  }

  /** Jobs are handed out when their rows are committed. */
  awaitWriter = (): Promise<void> => Promise.resolve();
  park = (tx: Tx, runs: Answer[]): Promise<void> =>
    this.rows.park(
      tx,
      runs.map(({ id }) => id),
    );
  refuse = (run: Answer): Promise<void> =>
    this.syncs.giveUp(run, { code: 'worker_lost', message: 'Its workers were lost three times in a row.' });
  /** Whoever claims it finds the organization suspended, and leaves it for later. */
  suspend = (run: OwnedRun<ClaimedSync>): Promise<void> => this.rows.handBack(this.db, run);
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
    return 'failed';
  }
}
