import { Controller, Injectable, Logger } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import type { Broadcasts } from '@aps/contracts';
import { OnBroadcast } from '@aps/platform/broadcast';
import { Database } from '@aps/platform/database';
import { ProcessIdentity, runtimeConfig } from '@aps/platform/runtime';
import { BEAT, LEAVE } from './worker-registry.sql';

const BEAT_MS = 5_000;
/** Tells a worker that its process is about to end for good: `docker/drain.js` sends it. */
const DRAIN_SIGNAL = 'SIGUSR2';

/** What the registry tells of a worker, and tells it. */
export interface RegisteredWorker {
  queues(): { name: string; active: number; concurrency: number }[];
  onDraining(draining: boolean): void;
}

/**
 * Keeps the row of this worker, by which operators see it, and reads there whether it may begin anything new. While the database is
 * away it goes on as it last read; Redis has no say in it.
 */
@Injectable()
export class WorkerRegistry {
  private readonly logger = new Logger('WorkerRegistry');
  private worker?: RegisteredWorker;
  private timer?: NodeJS.Timeout;
  private startedAt: Date | null = null;
  /** One after the other, so that what was read last is what holds. */
  private beats: Promise<void> = Promise.resolve();
  /** This process was told to end: nobody makes it begin anything any more. */
  private ending = false;
  private failing = false;
  private readonly onSignal = (): void => {
    this.ending = true;
    this.apply(true);
    void this.beat();
  };

  constructor(
    private readonly db: Database,
    private readonly self: ProcessIdentity,
  ) {}

  join(worker: RegisteredWorker): void {
    this.worker = worker;
    process.on(DRAIN_SIGNAL, this.onSignal);
    void this.keepBeating();
  }

  /** Once nothing runs here any more. */
  async leave(): Promise<void> {
    clearTimeout(this.timer);
    process.off(DRAIN_SIGNAL, this.onSignal);
    this.worker = undefined;
    await this.beats;
    // Without the database the row is removed when it has been silent for long enough.
    await this.db.execute(LEAVE, [this.self.id]).catch(() => undefined);
  }

  /** Tells how this worker is, and hears what it may do. */
  beat(): Promise<void> {
    return (this.beats = this.beats.then(() => this.tellAndHear()));
  }

  private async keepBeating(): Promise<void> {
    await this.beat();
    if (this.worker) this.timer = setTimeout(() => void this.keepBeating(), BEAT_MS).unref();
  }

  private async tellAndHear(): Promise<void> {
    if (!this.worker) return;
    const { id, app, draining } = this.self;
    const queues = JSON.stringify(this.worker.queues());
    try {
      const [row] = await this.db.query(BEAT, [id, app, runtimeConfig.value.version, this.startedAt, draining, queues, this.ending]);
      this.startedAt = row.started_at;
      this.failing = false;
      this.apply(row.draining || this.ending);
    } catch (error) {
      if (!this.failing) this.logger.warn(`The worker's row was not written: ${(error as Error).message}`);
      this.failing = true;
    }
  }

  private apply(draining: boolean): void {
    if (draining === this.self.draining) return;
    this.self.draining = draining;
    this.logger.log(draining ? 'Draining: nothing new is begun' : 'Resumed');
    this.worker?.onDraining(draining);
  }
}

/** Hears at once what the next heartbeat would find out. */
@Controller()
export class WorkerBroadcasts {
  constructor(
    private readonly registry: WorkerRegistry,
    private readonly self: ProcessIdentity,
  ) {}

  @OnBroadcast('worker.changed')
  onChange(@Payload() { worker_id }: Broadcasts['worker.changed']): void {
    if (worker_id === this.self.id) void this.registry.beat();
  }
}
