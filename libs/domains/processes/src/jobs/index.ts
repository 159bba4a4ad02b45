import { Controller, Injectable, Module } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import type { Broadcasts, JobPayload } from '@aps/contracts';
import { OnBroadcast } from '@aps/platform/broadcast';
import { JobHandler, type JobContext } from '@aps/platform/queues';
import { RunLeases, Runs } from '@aps/platform/runs';
import { EngineModule } from '../engine/engine.module';
import { ProcessRunKind } from '../engine/process-run.kind';

@Injectable()
export class ProcessRunProcessor {
  constructor(
    private readonly runs: Runs,
    private readonly kind: ProcessRunKind,
  ) {}

  @JobHandler('process.run', { ownsRow: true })
  run(payload: JobPayload<'process.run'>, context: JobContext): Promise<void> {
    return this.runs.run(this.kind, payload, context);
  }
}

/** Hears cancellations as they happen; the heartbeat would find them out a little later. */
@Controller()
export class RunBroadcasts {
  constructor(private readonly leases: RunLeases) {}

  @OnBroadcast('run.stop')
  onStop(@Payload() { run_id }: Broadcasts['run.stop']): void {
    this.leases.stop(run_id);
  }
}

@Module({ imports: [EngineModule], providers: [ProcessRunProcessor], controllers: [RunBroadcasts] })
export class ProcessesJobsModule {}
