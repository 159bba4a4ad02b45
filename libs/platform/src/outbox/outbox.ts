import { setTimeout as sleep } from 'node:timers/promises';
import { InjectQueue } from '@nestjs/bullmq';
import { Inject, Injectable, Logger } from '@nestjs/common';
import { JOBS, QUEUES, type JobEnvelope, type JobName, type JobPayload, type QueueName } from '@aps/contracts';
import { Database, whenCommitted, type Db, type Tx } from '@aps/platform/database';
import { CommandRedis } from '@aps/platform/redis';
import type { JobsOptions, Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { uuidv7 } from 'uuidv7';
import { AGE, CANCEL, INSERT, POSTPONE, type JobRow } from './outbox.sql';

/** A job as the outbox keeps it. Its id is the id of the row, of the queue's job, and usually of the row that it works on. */
export interface OutboxJob<N extends JobName = JobName> {
  id: string;
  name: N;
  payload: JobPayload<N>;
  /** Of its payload; where nothing is said, that of today. */
  version?: number;
  requestId?: string;
  traceparent?: string;
  /** Of its delivery; 0 where nothing is said. */
  generation?: number;
  /** Jobs without come first, then the lower numbers; at most 2,097,152. The relay publishes without. */
  priority?: number;
}

export interface EnqueueOptions {
  /** Default: a new UUIDv7. */
  id?: string;
  /** Not before this time. Such a job is published by the relay alone. */
  notBefore?: Date;
  requestId?: string;
  traceparent?: string;
  /** The caller publishes it after the commit, and wants to know whether that worked. */
  publishedByCaller?: boolean;
  /** Of one whose earlier delivery may still be under way: it is delivered nevertheless. Higher than the one before. */
  generation?: number;
}

/** How long a caller waits for a first connection. */
const REACH_MS = 2_000;
/** Finished and failed jobs leave Redis at once: PostgreSQL keeps what matters, and a kept id would block a second delivery. */
const JOB_OPTIONS: JobsOptions = { removeOnComplete: true, removeOnFail: true };

/**
 * The only way to hand out work: {@link enqueue} writes a row in the caller's transaction, and the job is published once that has
 * committed. The row stays until the work is done, so whatever Redis loses is published again.
 */
@Injectable()
export class Outbox {
  private readonly logger = new Logger('Outbox');
  private readonly queues = new Map<QueueName, Queue>();

  constructor(
    @InjectQueue(QUEUES[0]) turns: Queue,
    @InjectQueue(QUEUES[1]) titles: Queue,
    @InjectQueue(QUEUES[2]) maintenance: Queue,
    @InjectQueue(QUEUES[3]) billing: Queue,
    @InjectQueue(QUEUES[4]) inboxMessages: Queue,
    @InjectQueue(QUEUES[5]) processRuns: Queue,
    @InjectQueue(QUEUES[6]) knowledge: Queue,
    @InjectQueue(QUEUES[7]) environments: Queue,
    @InjectQueue(QUEUES[8]) replays: Queue,
    private readonly db: Database,
    @Inject(CommandRedis) private readonly redis: Redis,
  ) {
    for (const queue of [turns, titles, maintenance, billing, inboxMessages, processRuns, knowledge, environments, replays]) {
      // BullMQ reports connection errors on every queue; the Redis module has already said it once.
      queue.on('error', () => undefined);
      this.queues.set(queue.name as QueueName, queue);
    }
  }

  /**
   * Adds a job to the open transaction and publishes it after the commit. One that is there already is due anew.
   *
   * @returns the job's id
   */
  async enqueue<N extends JobName>(tx: Tx, name: N, payload: JobPayload<N>, options: EnqueueOptions = {}): Promise<string> {
    const job: OutboxJob<N> = { id: options.id ?? uuidv7(), name, payload, requestId: options.requestId, traceparent: options.traceparent };
    const [{ generation }] = await tx.query(INSERT, [
      job.id,
      name,
      JOBS[name].version,
      JSON.stringify(payload),
      job.requestId ?? null,
      job.traceparent ?? null,
      options.notBefore ?? null,
      options.generation ?? null,
    ]);
    if (!options.notBefore && !options.publishedByCaller) await this.handOut(tx, [{ ...job, generation }]);
    return job.id;
  }

  /**
   * Publishes jobs whose rows a statement has written: those of a transaction after its commit. What fails is left to the relay.
   *
   * @param db in which they were written
   */
  async handOut(db: Db, jobs: OutboxJob[]): Promise<void> {
    if (jobs.length === 0) return;
    const publish = () =>
      this.publish(jobs).catch((error: Error) => {
        const { id, name } = jobs[0];
        this.logger.warn(`Left ${jobs.length} job${jobs.length === 1 ? '' : 's'} (${name} ${id}) to the relay: ${error.message}`);
      });
    await whenCommitted(db, publish);
  }

  /** The same for rows as a statement returns them. Jobs that this version of the service does not know are left to one that does. */
  handOutRows(db: Db, rows: JobRow[]): Promise<void> {
    return this.handOut(db, jobsOf(rows));
  }

  /** Puts jobs whose rows are committed onto their queues. Publishing a job that is there already changes nothing. */
  async publish(jobs: OutboxJob[]): Promise<void> {
    if (jobs.length === 1) {
      const [job] = jobs;
      const queue = this.queueOf(job.name);
      await this.requireReached(queue);
      await queue.add(job.name, envelope(job), this.optionsOf(job));
      return;
    }
    const byQueue = new Map<QueueName, OutboxJob[]>();
    for (const job of jobs) {
      const queue = JOBS[job.name].queue;
      byQueue.set(queue, [...(byQueue.get(queue) ?? []), job]);
    }
    for (const [name, batch] of byQueue) {
      const queue = this.queues.get(name)!;
      await this.requireReached(queue);
      await queue.addBulk(batch.map((job) => ({ name: job.name, data: envelope(job), opts: this.optionsOf(job) })));
    }
  }

  /** A connection that was there fails at once while it is away; for the first one a queue would wait for ever. */
  private async requireReached(queue: Queue): Promise<void> {
    if (this.redis.status === 'ready') return;
    const patience = new AbortController();
    const late = sleep(REACH_MS, undefined, { signal: patience.signal }).then(() => {
      throw new Error('Redis was not reached');
    });
    await Promise.race([queue.waitUntilReady(), late]).finally(() => patience.abort());
  }

  /** How many jobs wait in the fullest of the queues that carry these. */
  async waiting(jobs: OutboxJob[]): Promise<number> {
    const queues = new Set(jobs.map(({ name }) => this.queueOf(name)));
    return Math.max(...(await Promise.all(Array.from(queues, (queue) => queue.getWaitingCount()))));
  }

  /** Puts a job off; the relay publishes it then. */
  async postpone(db: Db, id: string, until: Date): Promise<void> {
    await db.execute(POSTPONE, [id, until]);
  }

  /** How long ago a job was handed out, seconds; null where it is gone. */
  async ageOf(db: Db, id: string): Promise<number | null> {
    return (await db.query(AGE, [id]))[0]?.seconds ?? null;
  }

  /**
   * Removes a job that is not to run: it was taken back, or its effect is there.
   *
   * @returns whether the row was still there
   */
  async cancel(db: Db, id: string): Promise<boolean> {
    return (await db.execute(CANCEL, [id])) > 0;
  }

  /** The queue that carries a job. */
  queueOf(name: JobName): Queue {
    const queue = this.queues.get(JOBS[name].queue);
    if (!queue) throw new Error(`No queue for job ${name}`);
    return queue;
  }

  allQueues(): Queue[] {
    return [...this.queues.values()];
  }

  /** The time of a job is what tells its age to all workers, whichever process has published it. */
  private optionsOf(job: OutboxJob): JobsOptions {
    return { ...JOB_OPTIONS, jobId: deliveryId(job), timestamp: this.db.now().getTime(), ...(job.priority && { priority: job.priority }) };
  }
}

/** Whether this version of the service knows what to do with such a payload; a newer one may have left it. */
export const knowsJob = (name: string, version: number): boolean => name in JOBS && version <= JOBS[name as JobName].version;

/** Rows as jobs, without those that this version of the service does not know. */
export const jobsOf = (rows: JobRow[]): OutboxJob[] =>
  rows
    .filter((row) => knowsJob(row.job, row.version))
    .map((row) => ({
      id: row.id,
      name: row.job as JobName,
      version: row.version,
      payload: row.payload as JobPayload<JobName>,
      requestId: row.request_id ?? undefined,
      traceparent: row.traceparent ?? undefined,
      generation: row.generation,
    }));

/** Under which the queue knows a delivery. */
const deliveryId = ({ id, generation }: OutboxJob): string => (generation ? `${id}.${generation}` : id);
/** The job that a delivery is of. */
export const jobIdOf = (deliveryId: string): string => deliveryId.split('.', 1)[0];

function envelope(job: OutboxJob): JobEnvelope {
  return {
    v: job.version ?? JOBS[job.name].version,
    payload: job.payload,
    ...(job.requestId && { request_id: job.requestId }),
    ...(job.traceparent && { traceparent: job.traceparent }),
  };
}
