import { setTimeout as sleep } from 'node:timers/promises';
import { BeforeApplicationShutdown, DynamicModule, Inject, Injectable, Logger, Module, OnApplicationBootstrap } from '@nestjs/common';
import { DiscoveryModule, DiscoveryService, MetadataScanner, Reflector } from '@nestjs/core';
import { JOBS, QUEUE_POLICY, type JobEnvelope, type JobName, type QueueName } from '@aps/contracts';
import { Database } from '@aps/platform/database';
import { counter, durationHistogram, gauge } from '@aps/platform/observability';
import { jobIdOf, knowsJob, Outbox, OutboxRelayModule } from '@aps/platform/outbox';
import { CommandRedis, connectRedis, proveNoEviction, redisConfig } from '@aps/platform/redis';
import { failSpan, inSpan, traceparentOf, type Span } from '@aps/platform/tracing';
import { ProcessIdentity } from '@aps/platform/runtime';
import { WaitingError, Worker, type Job, type Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import type { Gauge } from 'prom-client';
import { JOB_HANDLER, NotBegun, proveHandlers, PutOff, type JobContext, type JobHandlerMetadata } from './job-handler';
import { oldestReadySeconds } from './queue-state';
import { concurrencyOf, queuesConfig } from './queues.config';
import { WorkerBroadcasts, WorkerRegistry } from './worker-registry';
import { BURY, COUNT_TRY, DONE, LATER } from './workers.sql';

const OWNED_QUEUES = Symbol('OWNED_QUEUES');

type Handler = JobHandlerMetadata & { owner: string; run: (payload: unknown, context: JobContext) => Promise<void> };
/** Waits double up to this often: with a first wait of one second, to about a minute. */
const MAX_DOUBLINGS = 6;
/** So long consumers may take to close when nothing runs any more, and how often that is looked at. */
const CLOSE_MS = 1_000;
const LOOK_MS = 50;

const finished = counter('jobs_finished_total', 'Jobs that ended, by outcome', ['queue', 'job', 'outcome']);
const seconds = durationHistogram('job_duration_seconds', 'Time a job ran', ['queue', 'job']);

class InvalidPayload extends Error {}
/** Where the last try had failed by an error, that was the end of its job. */
class TriedTooOften extends Error {}

/** A queue's consumer in this process. */
interface Consumer {
  queue: QueueName;
  concurrency: number;
  active: number;
  worker: Worker;
}

/** Consumes the queues of a worker application. */
@Injectable()
export class Workers implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger('Workers');
  private readonly consumers: Consumer[] = [];
  private readonly connections: Redis[] = [];
  private readonly handlers = new Map<string, Handler>();
  private readonly shutdown = new AbortController();

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly scanner: MetadataScanner,
    private readonly reflector: Reflector,
    private readonly db: Database,
    private readonly outbox: Outbox,
    private readonly self: ProcessIdentity,
    private readonly registry: WorkerRegistry,
    @Inject(CommandRedis) private readonly redis: Redis,
    @Inject(OWNED_QUEUES) private readonly owned: QueueName[],
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    const queues = queuesConfig.value.queues ?? this.owned;
    const foreign = queues.filter((q) => !this.owned.includes(q));
    if (foreign.length) throw new Error(`This app does not own the queue ${foreign.join(', ')}; it owns ${this.owned.join(', ')}.`);
    const found = this.findHandlers();
    proveHandlers(found, queues);
    for (const handler of found) this.handlers.set(handler.name, handler);
    await proveNoEviction(this.redis);
    for (const queue of queues) this.consume(queue);
    this.measure(queues);
    this.registry.join({ queues: () => this.queues(), onDraining: (draining) => this.setDraining(draining) });
  }

  private queues(): { name: string; active: number; concurrency: number }[] {
    return this.consumers.map(({ queue, active, concurrency }) => ({ name: queue, active, concurrency }));
  }

  /** What runs goes on either way. */
  private setDraining(draining: boolean): void {
    for (const { worker } of this.consumers) void (draining ? worker.pause(true) : worker.resume());
  }

  private findHandlers(): Handler[] {
    const found: Handler[] = [];
    for (const { instance } of this.discovery.getProviders()) {
      if (!instance || typeof instance !== 'object') continue;
      const proto = Object.getPrototypeOf(instance) as object | null;
      if (!proto) continue;
      for (const method of this.scanner.getAllMethodNames(proto)) {
        const fn = (instance as Record<string, unknown>)[method] as Handler['run'];
        const metadata = this.reflector.get<JobHandlerMetadata | undefined>(JOB_HANDLER, fn);
        if (metadata) found.push({ ...metadata, owner: `${proto.constructor.name}.${method}`, run: fn.bind(instance) as Handler['run'] });
      }
    }
    return found;
  }

  private consume(queue: QueueName): void {
    const policy = QUEUE_POLICY[queue];
    const concurrency = concurrencyOf(queue, policy.concurrency);
    const connection = connectRedis('blocking');
    this.connections.push(connection);
    const take = async (job: Job<JobEnvelope>, token?: string) => {
      consumer.active++;
      await this.run(queue, job, token).finally(() => consumer.active--);
    };
    const worker = new Worker(queue, take, {
      connection,
      prefix: redisConfig.value.prefix,
      concurrency,
      lockDuration: policy.lockMs,
      stalledInterval: policy.stalledMs,
      maxStalledCount: policy.maxStalledCount,
      skipVersionCheck: true,
    });
    worker.on('error', () => undefined); // said once by the connection
    const consumer: Consumer = { queue, concurrency, active: 0, worker };
    this.consumers.push(consumer);
    this.logger.log(`Consuming ${queue}, ${concurrency} at a time`);
  }

  private async run(queue: QueueName, job: Job<JobEnvelope>, token: string | undefined): Promise<void> {
    // It was on its way when the worker began to drain.
    if (this.self.draining) return this.handBack(queue, job, token);
    const handler = this.handlers.get(job.name);
    const id = jobIdOf(job.id ?? '');
    if (!handler || !knowsJob(job.name, job.data.v)) {
      // A newer version of the service put it there; its row stays until a worker of that version takes it.
      finished.inc({ queue, job: job.name, outcome: 'unknown' });
      return;
    }
    const attributes = { 'aps.job.id': id, 'aps.queue': queue, 'aps.request_id': job.data.request_id };
    await inSpan(`job ${job.name}`, { kind: 'consumer', parent: job.data.traceparent, attributes }, (span) =>
      this.handle(queue, job, handler, span, token),
    );
  }

  /** Lets another worker have a job that was not begun here. */
  private async handBack(queue: QueueName, job: Job<JobEnvelope>, token: string | undefined): Promise<never> {
    finished.inc({ queue, job: job.name, outcome: 'handed_back' });
    // Without Redis its lock runs out, and the queue delivers it again.
    await job.moveToWait(token).catch(() => undefined);
    throw new WaitingError();
  }

  private async handle(queue: QueueName, job: Job<JobEnvelope>, handler: Handler, span: Span, token: string | undefined): Promise<void> {
    const id = jobIdOf(job.id ?? '');
    const stop = seconds.startTimer({ queue, job: job.name });
    const context: JobContext = {
      jobId: id,
      requestId: job.data.request_id,
      traceparent: traceparentOf(span),
      signal: this.shutdown.signal,
    };
    let tries: number | undefined;
    try {
      if (!handler.ownsRow) {
        // Before it begins: of one that kills its process nobody is left to say that it has failed.
        tries = (await this.db.query(COUNT_TRY, [id]))[0]?.failures;
        if (tries === undefined) {
          finished.inc({ queue, job: job.name, outcome: 'repeated' });
          return;
        }
        if (tries > QUEUE_POLICY[queue].attempts) throw new TriedTooOften(`The process of the last of ${tries - 1} tries died`);
      }
      const payload = JOBS[job.name as JobName].payload.safeParse(job.data.payload);
      if (!payload.success) throw new InvalidPayload(payload.error.message);
      await handler.run(payload.data, context);
      if (!handler.ownsRow) await this.db.execute(DONE, [id]);
      finished.inc({ queue, job: job.name, outcome: 'done' });
    } catch (error) {
      if (error instanceof NotBegun) return await this.handBack(queue, job, token);
      if (error instanceof PutOff) {
        finished.inc({ queue, job: job.name, outcome: 'put_off' });
        // While the database is away the row becomes due again by itself.
        return void (await this.db.execute(LATER, [id, error.seconds, error.message, Number(!handler.ownsRow)]).catch(() => undefined));
      }
      failSpan(span, (error as Error)?.name ?? 'unknown');
      await this.onError(queue, job, handler, error as Error, tries);
    } finally {
      stop();
    }
  }

  /** Errors end here: the row decides about another try, so the queue itself never has to keep a failed job. */
  private async onError(queue: QueueName, job: Job<JobEnvelope>, handler: Handler, error: Error, tries: number | undefined): Promise<void> {
    const id = jobIdOf(job.id ?? '');
    const attempts = QUEUE_POLICY[queue].attempts;
    const failures = tries ?? (await this.db.query(COUNT_TRY, [id]).catch(() => []))[0]?.failures ?? 0;
    // The end of the process has broken it off, which says nothing about it.
    const cutOff = this.shutdown.signal.aborted;
    const hopeless = error instanceof InvalidPayload || error instanceof TriedTooOften;
    // A payload that does not parse never will. Who owns its row decides by itself when to give up; it is only slowed down here.
    const last = !handler.ownsRow && !cutOff && (hopeless || failures >= attempts);
    finished.inc({ queue, job: job.name, outcome: last ? 'dead' : 'failed' });
    this.logger[last ? 'error' : 'warn']({
      msg: last ? 'Job given up' : 'Job failed, will run again',
      job: job.name,
      job_id: id,
      request_id: job.data.request_id,
      failures,
      error: error.stack ?? String(error),
    });
    try {
      if (last) await this.db.execute(BURY, [id, String(error.message).slice(0, 2_000)]);
      else {
        const wait = QUEUE_POLICY[queue].backoffMs * 2 ** Math.min(failures - 1, MAX_DOUBLINGS) * (0.5 + Math.random() / 2);
        await this.db.execute(LATER, [id, wait / 1000, String(error.message).slice(0, 500), Number(cutOff)]);
      }
    } catch {
      // The database is away; the row becomes due again by itself.
    }
  }

  private measure(queues: readonly QueueName[]): void {
    const mine = this.outbox.allQueues().filter((q) => queues.includes(q.name as QueueName));
    const draw = (figure: (queue: Queue) => Promise<number>) => async (g: Gauge<'queue'>) => {
      // A queue that has never reached Redis would have everybody wait until it does, whoever asks for metrics included.
      if (this.redis.status !== 'ready') return;
      for (const [i, value] of (await Promise.all(mine.map(figure))).entries()) g.set({ queue: mine[i].name }, value);
    };
    const ready = async (q: Queue) => (await q.getWaitingCount()) + (await q.getPrioritizedCount());
    const active = (q: Queue) => q.getActiveCount();
    const oldest = (q: Queue) => oldestReadySeconds(q, this.db.now());
    gauge('queue_ready', 'Jobs that wait for a worker', ['queue'], draw(ready));
    gauge('queue_active', 'Jobs that run', ['queue'], draw(active));
    gauge('queue_oldest_ready_seconds', 'Age of the job that has waited longest', ['queue'], draw(oldest));
    gauge('worker_jobs_running', 'Jobs that this process runs', ['queue'], (g) => {
      for (const { name, active } of this.queues()) g.set({ queue: name }, active);
    });
    gauge('worker_draining', 'Whether this process begins nothing new', [], (g) => g.set(Number(this.self.draining)));
  }

  async beforeApplicationShutdown(): Promise<void> {
    // Handlers learn that the process ends, finish their step and hand the rest back; then the queue's locks are released.
    this.shutdown.abort(new Error('The process is shutting down'));
    const closed = new AbortController();
    const closing = Promise.all(this.consumers.map(({ worker }) => worker.close()));
    // A consumer that lost its connection meanwhile may never say that it is closed; then it is enough that nothing runs any more.
    const pause = (ms: number) => sleep(ms, undefined, { signal: closed.signal }).catch(() => undefined);
    const idle = async () => {
      while (!closed.signal.aborted && this.consumers.some(({ active }) => active > 0)) await pause(LOOK_MS);
      await pause(CLOSE_MS);
    };
    await Promise.race([closing, idle()]);
    // Or the process would last as long as a pause.
    closed.abort();
    await this.registry.leave();
    for (const connection of this.connections) connection.disconnect();
  }
}

/** Makes an application a worker of the given queues: handlers are found among its providers and proved complete at boot. */
@Module({})
export class WorkersModule {
  static forQueues(...queues: QueueName[]): DynamicModule {
    return {
      module: WorkersModule,
      imports: [DiscoveryModule, OutboxRelayModule],
      controllers: [WorkerBroadcasts],
      providers: [Workers, WorkerRegistry, MetadataScanner, { provide: OWNED_QUEUES, useValue: queues }],
      exports: [Workers],
    };
  }
}
