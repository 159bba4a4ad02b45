import { Controller, Injectable, Module } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import type { Broadcasts, JobPayload } from '@aps/contracts';
import { OnBroadcast } from '@aps/platform/broadcast';
import { JobHandler, type JobContext } from '@aps/platform/queues';
import { RunLeases, Runs } from '@aps/platform/runs';
import { EngineModule } from '../engine/engine.module';
import { Removal } from '../engine/removal';
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

@Injectable()
export class RemovalProcessor {
  constructor(private readonly removal: Removal) {}

  @JobHandler('process.end_runs', { ownsRow: true })
  endRuns({ org_id, process_id }: JobPayload<'process.end_runs'>, context: JobContext): Promise<void> {
    return this.removal.goOn(org_id, process_id, context);
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

@Module({ imports: [EngineModule], providers: [ProcessRunProcessor, RemovalProcessor], controllers: [RunBroadcasts] })
export class ProcessesJobsModule {}
