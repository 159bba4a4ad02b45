import { Injectable, Module } from '@nestjs/common';
import type { JobPayload } from '@aps/contracts';
import { JobHandler, type JobContext } from '@aps/platform/queues';
import { Runs } from '@aps/platform/runs';
import { IngestionModule, SourceKind } from '..';

@Injectable()
export class SourceProcessor {
  constructor(
    private readonly runs: Runs,
    private readonly kind: SourceKind,
  ) {}

  @JobHandler('knowledge.index', { ownsRow: true })
  index(payload: JobPayload<'knowledge.index'>, context: JobContext): Promise<void> {
    return this.runs.run(this.kind, payload, context);
  }
}

@Module({ imports: [IngestionModule], providers: [SourceProcessor] })
export class KnowledgeJobsModule {}
