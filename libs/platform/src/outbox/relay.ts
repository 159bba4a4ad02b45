import { randomUUID } from 'node:crypto';
import { BeforeApplicationShutdown, Inject, Injectable, Logger, OnApplicationBootstrap } from '@nestjs/common';
import { Database } from '@aps/platform/database';
import { gauge } from '@aps/platform/observability';
import { CommandRedis, redisConfig } from '@aps/platform/redis';
import type { Redis } from 'ioredis';
import { jobsOf, Outbox, type OutboxJob } from './outbox';
import { DUE_AGAIN, DUE_ALL, OLDEST_DUE, TAKE } from './outbox.sql';

const TICK_MS = 1_000;
/** Redis adds a batch in one go, and lets everybody else wait meanwhile. A Redis that is slow at it must still be done before the command times out. */
const BATCH = 100;
/** Who publishes a job by himself shall not come behind all that is due: where so many wait already, the next batch waits. */
const ENOUGH = 500;
const PAUSE_MS = 250;
/** So many rows become due by one statement: of more it would not be done in its time, and nothing would be. */
const DUE_BATCH = 10_000;
/** A published job whose row is still there is published again after this long; the queue drops it when it still has it. */
const REPUBLISH_S = 60;

/**
 * Publishes what the writers could not: rows of crashed processes, rows with a time, and everything again when Redis has lost its
 * memory. Runs in every worker process; rows are claimed with SKIP LOCKED, so any number of relays share the work.
 */
@Injectable()
export class OutboxRelay implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger('OutboxRelay');
  private timer?: NodeJS.Timeout;
  private running?: Promise<void>;
  private stopped = false;
  private failing = false;

  constructor(
    private readonly db: Database,
    private readonly outbox: Outbox,
    @Inject(CommandRedis) private readonly redis: Redis,
  ) {
    // What waits past its time, whatever hinders the relay: the first figure to look at when work does not move.
    gauge('outbox_oldest_seconds', 'Age of the oldest outbox row that should have been published', [], async (g) => {
      g.set((await this.db.query(OLDEST_DUE))[0].seconds);
    });
  }

  onApplicationBootstrap(): void {
    this.schedule(0);
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    await this.running;
  }

  private schedule(ms: number): void {
    if (this.stopped) return;
    this.timer = setTimeout(() => {
      this.running = this.tick().then((pauseMs) => this.schedule(pauseMs));
    }, ms);
    this.timer.unref();
  }

  /** @returns ms until the next */
  private async tick(): Promise<number> {
    try {
      await this.noticeLostRedis();
      const jobs = await this.publishDue();
      this.failing = false;
      if (jobs.length < BATCH) return TICK_MS;
      return (await this.outbox.waiting(jobs)) > ENOUGH ? PAUSE_MS : 0;
    } catch (error) {
      if (!this.failing) this.logger.warn(`The relay waits: ${(error as Error).message}`);
      this.failing = true;
      return TICK_MS;
    }
  }

  /** @returns what was published */
  async publishDue(): Promise<OutboxJob[]> {
    const rows = await this.db.query(TAKE, [BATCH, REPUBLISH_S]);
    const jobs = jobsOf(rows);
    try {
      if (jobs.length) await this.outbox.publish(jobs);
    } catch (error) {
      await this.db.execute(DUE_AGAIN, [rows.map(({ id }) => id), rows.map(({ due_at }) => due_at)]);
      throw error;
    }
    return jobs;
  }

  /**
   * A key in Redis tells whether it is still the Redis that the jobs were given to. When the key is gone (flush, restart without
   * persistence, failover to an empty replica), every row becomes due at once instead of after {@link REPUBLISH_S}.
   */
  private async noticeLostRedis(): Promise<void> {
    const epoch = `${redisConfig.value.prefix}:epoch`;
    const created = await this.redis.set(epoch, randomUUID(), 'NX');
    if (created !== 'OK') return;
    let due = 0;
    try {
      const until = new Date(this.db.now().getTime() + REPUBLISH_S * 1_000);
      for (let n = DUE_BATCH; n === DUE_BATCH && !this.stopped; due += n) n = await this.db.execute(DUE_ALL, [DUE_BATCH, until]);
    } catch (error) {
      // Nobody would notice any more. What is due already is published meanwhile.
      await this.redis.del(epoch);
      this.logger.warn(`Redis has lost its memory, and not all jobs could be made due: ${(error as Error).message}`);
    }
    if (due > 0) this.logger.warn(`Redis has lost its memory; publishing ${due} job${due === 1 ? '' : 's'} again`);
  }
}
