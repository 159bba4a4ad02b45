import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { Inject, Injectable, Logger, OnApplicationShutdown } from '@nestjs/common';
import { DomainError } from '@aps/contracts';
import { CommandRedis, redisConfig, Script } from '@aps/platform/redis';
import type { Redis } from 'ioredis';
import { rateLimitConfig } from './rate-limit.config';

/** A stream that nobody has kept for so long was of a process that is gone. */
const TTL_MS = 30_000;
const BEAT_MS = 10_000;
/** What a refused client is told to wait: streams come and go with its user. */
const RETRY_S = 5;
/** After a failure Redis is left alone for this long. */
const PAUSE_MS = 2_000;

/** What is counted, each for itself: the setting that bounds it, and what it is called. */
const KINDS = {
  streams: { setting: 'sse_per_user', refusal: (limit) => `A user may have ${limit} stream${limit === 1 ? '' : 's'} open at once.` },
  lists: { setting: 'lists_per_user', refusal: (limit) => `A user may read ${limit} long list${limit === 1 ? '' : 's'} at once.` },
  files: { setting: 'files_per_user', refusal: (limit) => `A user may upload or download ${limit} file${limit === 1 ? '' : 's'} at once.` },
} as const satisfies Record<string, { setting: keyof typeof rateLimitConfig.settings; refusal: (limit: number) => string }>;

/** One sorted set per user and kind: a member per stream, scored by the time (of Redis) at which it is forgotten. */
const ADMIT = new Script(`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now))
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[1]) then return 0 end
redis.call('ZADD', KEYS[1], string.format('%.0f', now + ARGV[2]), ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1`);
const KEEP = new Script(`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for i = 2, #ARGV do redis.call('ZADD', KEYS[1], string.format('%.0f', now + ARGV[1]), ARGV[i]) end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return 1`);

/**
 * Bounds the streams that a user has open at the same time, across gateways: of events, of long lists, and of the bytes of files. What a gateway that died had open is forgotten after
 * {@link TTL_MS}. While Redis is away everybody is admitted; once it is back, what is open counts again.
 */
@Injectable()
export class OpenStreams implements OnApplicationShutdown {
  private readonly logger = new Logger('OpenStreams');
  /** By key. */
  private readonly held = new Map<string, Set<string>>();
  private readonly timer = setInterval(() => void this.keep(), BEAT_MS).unref();
  private pausedUntil = 0;

  constructor(@Inject(CommandRedis) private readonly redis: Redis) {}

  /**
   * Counts a stream until its response closes.
   *
   * @throws DomainError 429 `rate_limited` when the user has too many
   */
  async admit(userId: string, response: ServerResponse, kind: keyof typeof KINDS = 'streams'): Promise<void> {
    const { setting, refusal } = KINDS[kind];
    const { enabled, [setting]: limit } = rateLimitConfig.value;
    if (!enabled || limit === 0) return;
    const id = randomUUID();
    const key = `${redisConfig.value.prefix}:${kind}:${userId}`;
    if (!(await this.take(key, id, limit))) throw new DomainError('rate_limited', refusal(limit), { retryAfterS: RETRY_S });
    const ids = this.held.get(key) ?? new Set();
    this.held.set(key, ids.add(id));
    // The client may have gone meanwhile.
    if (response.destroyed) this.free(key, id);
    else response.once('close', () => this.free(key, id));
  }

  private async take(key: string, id: string, limit: number): Promise<boolean> {
    if (!this.reachable) return true;
    try {
      return (await ADMIT.run(this.redis, key, limit, TTL_MS, id)) === 1;
    } catch (error) {
      this.pause(error);
      return true;
    }
  }

  private free(key: string, id: string): void {
    const ids = this.held.get(key);
    ids?.delete(id);
    if (ids?.size === 0) this.held.delete(key);
    // Lost, it is forgotten like that of a process that died.
    if (this.reachable) this.redis.zrem(key, id).catch(() => undefined);
  }

  /** Says that what this process has open still is. */
  async keep(): Promise<void> {
    if (!this.reachable) return;
    try {
      await Promise.all([...this.held].map(([key, ids]) => KEEP.run(this.redis, key, TTL_MS, ...ids)));
    } catch (error) {
      this.pause(error);
    }
  }

  private get reachable(): boolean {
    return Date.now() >= this.pausedUntil && this.redis.status === 'ready';
  }

  private pause(error: unknown): void {
    this.pausedUntil = Date.now() + PAUSE_MS;
    this.logger.warn(`Open streams are not counted: ${(error as Error).message}`);
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }
}
