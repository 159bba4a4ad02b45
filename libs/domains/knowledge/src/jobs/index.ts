import { Injectable, Module } from '@nestjs/common';
import type { JobPayload } from '@aps/contracts';
import { JobHandler, type JobContext } from '@aps/platform/queues';
import { Runs } from '@aps/platform/runs';
import { SourceKind } from '../ingestion/source.kind';
import { IngestionModule } from '../knowledge.module';
import { SyncKind } from '../syncs/sync.kind';

@Injectable()
export class KnowledgeProcessor {
  constructor(
    private readonly runs: Runs,
    private readonly sources: SourceKind,
    private readonly syncs: SyncKind,
  ) {}

  @JobHandler('knowledge.index', { ownsRow: true })
  index(payload: JobPayload<'knowledge.index'>, context: JobContext): Promise<void> {
    return this.runs.run(this.sources, payload, context);
  }

  @JobHandler('knowledge.sync', { ownsRow: true })
  sync(payload: JobPayload<'knowledge.sync'>, context: JobContext): Promise<void> {
    return this.runs.run(this.syncs, payload, context);
  }
}

@Module({ imports: [IngestionModule], providers: [KnowledgeProcessor] })
export class KnowledgeJobsModule {}
