import { Injectable, Module } from '@nestjs/common';
import type { JobPayload } from '@aps/contracts';
import { JobHandler, type JobContext } from '@aps/platform/queues';
import { Runs } from '@aps/platform/runs';
import { ReplayKind } from '../replay.kind';
import { ReplayingModule } from '../replays.module';

@Injectable()
export class ReplayProcessor {
  constructor(
    private readonly runs: Runs,
    private readonly replays: ReplayKind,
  ) {}

  @JobHandler('replay.run', { ownsRow: true })
  run(payload: JobPayload<'replay.run'>, context: JobContext): Promise<void> {
    return this.runs.run(this.replays, payload, context);
  }
}

@Module({ imports: [ReplayingModule], providers: [ReplayProcessor] })
export class ReplaysJobsModule {}
