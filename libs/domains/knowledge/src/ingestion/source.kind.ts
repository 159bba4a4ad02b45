import { Injectable } from '@nestjs/common';
import { Database } from '@aps/platform/database';
import { PlainKind, RunSweeper, WORKERS_LOST, type ClaimAnswer, type Lease, type OwnedRun } from '@aps/platform/runs';
import { SourcesRepository, type ClaimedSource } from '../sources.repository';
import { CLAIM } from '../sources.sql';
import { Indexing } from './indexing';
import { IndexingFailed, StageFault } from './indexing-failed';

/** Of an organization, so that a flood of one leaves room for the others. */
const CAP = 4;

/** The indexing of a source, as a durable run. */
@Injectable()
export class SourceKind extends PlainKind<'knowledge.index', ClaimedSource> {
  constructor(
    db: Database,
    private readonly sources: SourcesRepository,
    private readonly indexing: Indexing,
    sweeper: RunSweeper,
  ) {
    super(db, sources.runs, CLAIM, CAP, sweeper);
  }

  refuse = (run: ClaimAnswer<ClaimedSource>): Promise<void> =>
    this.sources.giveUp(run, {
      code: 'worker_lost',
      // What reads a file is what may kill its worker.
      stage: run.kind === 'url' ? 'fetch' : 'extract',
      message: `${WORKERS_LOST}.`,
    });
  attributesOf = ({ id, kind }: ClaimedSource): Record<string, string> => ({ 'aps.source.id': id, 'aps.source.kind': kind });

  async drive(run: OwnedRun<ClaimedSource>, lease: Lease): Promise<string> {
    await this.indexing.index(run, lease);
    return 'done';
  }

  /** What is wrong with a source is no better the next time; all else is, up to three times. */
  async fail(run: OwnedRun<ClaimedSource>, error: unknown): Promise<string | null> {
    const known = error instanceof IndexingFailed ? error : null;
    if (!known && !this.isGivenUp(run, error)) return null;
    const stage = error instanceof IndexingFailed || error instanceof StageFault ? error.stage : 'store';
    const { code, message } = known ?? { code: 'internal', message: 'It could not be indexed by a fault of ours.' };
    const source = await this.sources.load(this.db, run.id);
    if (!source) return 'lost';
    await this.sources.fail(run, source.kb_id, { code, stage, message });
    // What is wrong with a source is its organization's matter, and nobody is called for it.
    return known ? 'unsuccessful' : 'failed';
  }
}
