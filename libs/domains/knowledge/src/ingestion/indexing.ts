import { Injectable } from '@nestjs/common';
import type { SourceStage } from '@aps/entities';
import { ExtractionError } from '@aps/files';
import { Database, NO_CALLER } from '@aps/platform/database';
import { LeaseEnded, type Lease, type OwnedRun } from '@aps/platform/runs';
import { SourcesRepository, type ClaimedSource, type Indexed } from '../sources.repository';
import type { LoadedSource } from '../sources.sql';
import { IndexingFailed, StageFault } from './indexing-failed';
import { hashOf, SourceFetcher } from './source-fetcher';
import { SourceReader } from './source-reader';

const MAX_TITLE = 500;

/** Makes of a source what is found: gets it, reads it, divides it, and puts that in the place of what was found before. */
@Injectable()
export class Indexing {
  constructor(
    private readonly db: Database,
    private readonly sources: SourcesRepository,
    private readonly fetcher: SourceFetcher,
    private readonly reader: SourceReader,
  ) {}

  /** @throws IndexingFailed, LeaseEnded */
  async index(run: OwnedRun<ClaimedSource>, lease: Lease): Promise<void> {
    lease.requireNext();
    await run.committed;
    const source = await this.sources.load(this.db, run.id);
    if (!source) throw new LeaseEnded('lost');
    await this.db.transaction(NO_CALLER, (tx) => this.sources.tell(tx, run.org_id, [run.id]));
    const indexed =
      source.written === null
        ? await this.read(run.org_id, source, lease.signal)
        : await this.divide(run.org_id, source.written, lease.signal);
    lease.requireNext();
    await this.sources.finish(run, source.kb_id, indexed);
  }

  /** What was written here is a text already. */
  private async divide(orgId: string, written: string, signal: AbortSignal): Promise<Indexed> {
    const chunks = await at('chunk', this.reader.chunk(orgId, written, signal));
    return { own_title: null, media_type: 'text/markdown', size_bytes: Buffer.byteLength(written), hash: null, extracted: null, chunks };
  }

  private async read(orgId: string, source: LoadedSource, signal: AbortSignal): Promise<Indexed> {
    const fetched = await at('fetch', this.fetcher.get(source, signal));
    const { extracted, chunks } = await at('extract', this.reader.read(orgId, fetched, signal));
    const own_title = extracted.title?.trim().slice(0, MAX_TITLE) || null;
    return {
      own_title,
      media_type: extracted.media_type,
      size_bytes: fetched.bytes.length,
      hash: hashOf(fetched.bytes),
      extracted: extracted.text,
      chunks,
    };
  }
}

/** Says at which stage it was, of whatever goes wrong but the end of a lease. */
const at = <T>(stage: SourceStage, work: Promise<T>): Promise<T> =>
  work.catch((error: unknown) => {
    if (error instanceof ExtractionError) throw new IndexingFailed(error.code, stage, `${error.message}.`);
    throw error instanceof IndexingFailed || error instanceof LeaseEnded ? error : new StageFault(stage, error);
  });
