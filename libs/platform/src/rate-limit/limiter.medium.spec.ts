import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { loadConfig } from '@aps/platform/config';
import { connectRedis } from '@aps/platform/redis';
import type { Redis } from 'ioredis';
import { RateLimiter } from './limiter';

describe('RateLimiter on Redis', () => {
  let redis: Redis;
  let limiter: RateLimiter;

  beforeAll(async () => {
    // An answer that comes late would be taken for none, and each limiter then counts by itself.
    const patient = { REDIS_COMMAND_TIMEOUT_MS: '30000' };
    loadConfig({ DATABASE_URL: 'postgres://unused', REDIS_URL: process.env.TEST_REDIS_URL, REDIS_PREFIX: `t-${randomUUID()}`, ...patient });
    redis = connectRedis('commands');
    await new Promise<void>((ready) => redis.once('ready', () => ready()));
    limiter = new RateLimiter(redis);
  });
  afterAll(() => redis.disconnect());

  it('gives out exactly a bucket, whichever replica is asked and however many ask at once', async () => {
    const other = new RateLimiter(redis);
    const bucket = randomUUID();
    // So slow that none comes back while the test runs.
    const rate = { perMinute: 0.001, burst: 50 };
    const answers = await Promise.all(Array.from({ length: 200 }, (_, i) => (i % 2 ? limiter : other).take(bucket, rate)));
    expect(answers.filter((a) => a!.allowed)).toHaveLength(50);
    expect(new Set(answers.filter((a) => a!.allowed).map((a) => a!.remaining)).size).toBe(50);
    const refused = answers.find((a) => !a!.allowed)!;
    expect(refused.remaining).toBe(0);
    expect(refused.retryAfterS).toBeGreaterThan(50_000);
    expect((await limiter.take(randomUUID(), rate))!.allowed).toBe(true);
  });

  it('fills again, and leaves no key behind', async () => {
    const bucket = randomUUID();
    const rate = { perMinute: 60_000, burst: 1 };
    await limiter.take(bucket, rate);
    await sleep(5);
    expect((await limiter.take(bucket, rate))!.allowed).toBe(true);
    const [key] = await redis.keys(`*${bucket}`);
    expect(await redis.pttl(key)).toBeGreaterThan(0);
  });

  it('goes on when Redis has forgotten its scripts, and when it is gone', async () => {
    const bucket = randomUUID();
    const rate = { perMinute: 0.001, burst: 2 };
    await limiter.take(bucket, rate);
    await redis.script('FLUSH');
    expect(await limiter.take(bucket, rate)).toMatchObject({ allowed: true, remaining: 0 });
    expect(await limiter.take(bucket, rate)).toMatchObject({ allowed: false });

    const away = connectRedis('commands', { retryStrategy: () => null });
    away.disconnect();
    expect(await new RateLimiter(away).take(bucket, rate)).toMatchObject({ allowed: true });
  });
});
