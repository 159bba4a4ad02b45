import { Inject, Injectable, Logger } from '@nestjs/common';
import { CommandRedis, redisConfig, Script } from '@aps/platform/redis';
import type { Redis } from 'ioredis';
import { rateLimitConfig } from './rate-limit.config';

export interface Rate {
  /** Tokens that come back in a minute. 0 = no limit. */
  perMinute: number;
  /** Tokens that a full bucket holds. Default: `perMinute`. */
  burst?: number;
}

export interface RateDecision {
  allowed: boolean;
  /** Requests a minute. */
  limit: number;
  /** Requests that could follow at once. */
  remaining: number;
  /** Seconds until the bucket is full again. */
  resetS: number;
  /** Seconds until the next request has a chance; 0 when this one was allowed. */
  retryAfterS: number;
}

/**
 * A token bucket: one key that holds its level and when that was so. It goes by the clock of Redis, because the replicas' clocks
 * differ. Answers whether a token was taken, and the level left in millitokens. (`%.0f` and not `%d`: a Lua on 32 bits cuts the
 * milliseconds off.)
 */
const TAKE = new Script(`
local perMs, capacity = tonumber(ARGV[1]), tonumber(ARGV[2])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local level = capacity
local state = redis.call('GET', KEYS[1])
if state then
  local at = string.find(state, ':', 1, true)
  local elapsed = now - tonumber(string.sub(state, at + 1))
  if elapsed < 0 then elapsed = 0 end
  level = math.min(capacity, tonumber(string.sub(state, 1, at - 1)) + elapsed * perMs)
end
local taken = 0
if level >= 1 then
  level = level - 1
  taken = 1
end
redis.call('SET', KEYS[1], string.format('%.6f:%.0f', level, now), 'PX', math.ceil((capacity - level) / perMs) + 1000)
return {taken, math.floor(level * 1000)}`);

/** After a failure Redis is left alone for this long: a hanging one must not cost every request its time-out. */
const PAUSE_MS = 2_000;
const MAX_LOCAL = 50_000;

/**
 * Counts requests against limits, across replicas. While Redis is away each process counts for itself: nobody is locked out of
 * logins and reads, and a flood is still met.
 */
@Injectable()
export class RateLimiter {
  private readonly logger = new Logger('RateLimiter');
  private readonly local = new Map<string, { level: number; at: number }>();
  private pausedUntil = 0;

  constructor(@Inject(CommandRedis) private readonly redis: Redis) {}

  /** False when RATE_LIMITS is off. */
  get enabled(): boolean {
    return rateLimitConfig.value.enabled;
  }

  /**
   * Takes one token.
   *
   * @param bucket whom and what is counted, e.g. `login:203.0.113.9`
   * @returns undefined when there is no limit
   */
  async take(bucket: string, rate: Rate): Promise<RateDecision | undefined> {
    if (!this.enabled || rate.perMinute === 0) return undefined;
    const perMs = rate.perMinute / 60_000;
    const capacity = rate.burst ?? rate.perMinute;
    const now = Date.now();
    if (now >= this.pausedUntil && this.redis.status === 'ready') {
      try {
        const [taken, level] = (await TAKE.run(this.redis, `${redisConfig.value.prefix}:rate:${bucket}`, perMs, capacity)) as [
          number,
          number,
        ];
        return decision(taken === 1, level / 1000, perMs, capacity, rate.perMinute);
      } catch (error) {
        this.pausedUntil = Date.now() + PAUSE_MS;
        this.logger.warn(`Counting requests in this process alone: ${(error as Error).message}`);
      }
    }
    return this.takeLocally(bucket, perMs, capacity, rate.perMinute, now);
  }

  private takeLocally(bucket: string, perMs: number, capacity: number, perMinute: number, now: number): RateDecision {
    const state = this.local.get(bucket);
    let level = state ? Math.min(capacity, state.level + Math.max(0, now - state.at) * perMs) : capacity;
    const allowed = level >= 1;
    if (allowed) level--;
    // Re-inserted, so that the oldest come first and are dropped first.
    this.local.delete(bucket);
    this.local.set(bucket, { level, at: now });
    if (this.local.size > MAX_LOCAL) this.local.delete(this.local.keys().next().value!);
    return decision(allowed, level, perMs, capacity, perMinute);
  }
}

function decision(allowed: boolean, level: number, perMs: number, capacity: number, limit: number): RateDecision {
  return {
    allowed,
    limit,
    remaining: Math.floor(level),
    resetS: Math.ceil((capacity - level) / perMs / 1000),
    retryAfterS: allowed ? 0 : Math.max(1, Math.ceil((1 - level) / perMs / 1000)),
  };
}
