import { Inject, Injectable } from '@nestjs/common';
import { Database } from '@aps/platform/database';
import { CommandRedis, redisConfig } from '@aps/platform/redis';
import type { Redis } from 'ioredis';

export interface ReadinessReport {
  ready: boolean;
  /** `ok`, or what is wrong. */
  checks: Record<string, string>;
}

/** Whether the process can do its work right now: asked by `/readyz` of the internal port. */
@Injectable()
export class Readiness {
  /** False from the first sign of shutdown on. */
  accepting = true;

  constructor(
    private readonly db: Database,
    @Inject(CommandRedis) private readonly redis: Redis,
  ) {}

  /**
   * @param redisRequired a gateway goes on serving reads and logins without Redis, so it stays ready; a worker does not
   */
  async report(redisRequired: boolean): Promise<ReadinessReport> {
    if (!this.accepting) return { ready: false, checks: { shutdown: 'in progress' } };
    const checks: Record<string, string> = {};
    const check = async (name: string, probe: Promise<unknown>) => {
      checks[name] = await probe.then(
        () => 'ok',
        (error: Error) => error.message || 'unreachable',
      );
    };
    await Promise.all([check('postgresql', this.db.ping()), check('redis', this.writeToRedis())]);
    const ready = checks.postgresql === 'ok' && (checks.redis === 'ok' || !redisRequired);
    return { ready, checks };
  }
  /** A server that was demoted answers pings. Whoever hardly writes would never learn of it, and leave it. What is not there can go in any state that takes writes. */
  private writeToRedis(): Promise<unknown> {
    return this.redis.del(`${redisConfig.value.prefix}:readiness`);
  }
}
