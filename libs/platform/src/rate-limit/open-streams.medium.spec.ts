import { randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { Logger } from '@nestjs/common';
import { loadConfig } from '@aps/platform/config';
import { connectRedis } from '@aps/platform/redis';
import type { Redis } from 'ioredis';
import { OpenStreams } from './open-streams';

class Response extends EventEmitter {
  destroyed = false;
  close(): void {
    this.destroyed = true;
    this.emit('close');
  }
}

describe('OpenStreams', () => {
  const prefix = `t-${randomUUID()}`;
  const configure = (env: NodeJS.ProcessEnv = {}) =>
    loadConfig({
      DATABASE_URL: 'postgres://unused',
      REDIS_URL: process.env.TEST_REDIS_URL,
      REDIS_PREFIX: prefix,
      RATE_LIMIT_SSE_PER_USER: '3',
      ...env,
    });
  let redis: Redis;
  /** Two gateways on one Redis. */
  let here: OpenStreams;
  let there: OpenStreams;

  beforeAll(async () => {
    Logger.overrideLogger(false);
    configure();
    redis = connectRedis('commands');
    await new Promise<void>((ready) => redis.once('ready', () => ready()));
    [here, there] = [new OpenStreams(redis), new OpenStreams(redis)];
  });
  afterEach(() => configure());
  afterAll(() => {
    for (const streams of [here, there]) streams.onApplicationShutdown();
    redis.disconnect();
  });

  const open = async (streams: OpenStreams, user: string): Promise<Response> => {
    const response = new Response();
    await streams.admit(user, response as unknown as ServerResponse);
    return response;
  };
  const key = (user: string) => `${prefix}:streams:${user}`;
  const refused = { code: 'rate_limited', retryAfterS: 5 };

  it('admits exactly so many of a user, across gateways, however many come at once', async () => {
    const user = randomUUID();
    const asked = await Promise.allSettled(Array.from({ length: 20 }, (_, i) => open(i % 2 ? here : there, user)));
    expect(asked.filter((a) => a.status === 'fulfilled')).toHaveLength(3);
    for (const a of asked) if (a.status === 'rejected') expect(a.reason).toMatchObject(refused);
    await expect(open(here, randomUUID())).resolves.toBeDefined();
  });

  it('frees a place when a stream closes, also one whose client was gone before', async () => {
    const user = randomUUID();
    const [first] = await Promise.all([open(here, user), open(here, user), open(there, user)]);
    await expect(open(there, user)).rejects.toMatchObject(refused);
    first.close();
    const gone = new Response();
    gone.destroyed = true;
    await here.admit(user, gone as unknown as ServerResponse);
    await expect(open(there, user)).resolves.toBeDefined();
    await expect(open(there, user)).rejects.toMatchObject(refused);
  });

  it('forgets what a gateway that died had open, and not what one that lives has', async () => {
    const user = randomUUID();
    await Promise.all([open(here, user), open(here, user), open(there, user)]);
    expect(await redis.pttl(key(user))).toBeGreaterThan(0);
    // As if the time of all three had run out, and only one of the gateways kept its own.
    for (const member of await redis.zrange(key(user), 0, -1)) await redis.zadd(key(user), 'XX', 1, member);
    await here.keep();
    await expect(open(there, user)).resolves.toBeDefined();
    await expect(open(there, user)).rejects.toMatchObject(refused);
  });

  it('counts again after Redis has lost its memory', async () => {
    const user = randomUUID();
    const streams = await Promise.all([open(here, user), open(here, user), open(here, user)]);
    await redis.del(key(user));
    await here.keep();
    await expect(open(here, user)).rejects.toMatchObject(refused);
    for (const stream of streams) stream.close();
    await here.keep();
    expect(await redis.exists(key(user))).toBe(0);
  });

  it('admits everybody without Redis, with limits off, and at 0', async () => {
    const away = connectRedis('commands', { retryStrategy: () => null });
    away.disconnect();
    const hanging = { status: 'ready', evalsha: () => Promise.reject(new Error('Command timed out')) } as unknown as Redis;
    for (const broken of [away, hanging]) {
      const streams = new OpenStreams(broken);
      const user = randomUUID();
      for (let i = 0; i < 5; i++) await open(streams, user);
      streams.onApplicationShutdown();
    }
    for (const env of [{ RATE_LIMITS: 'off' }, { RATE_LIMIT_SSE_PER_USER: '0' }]) {
      configure(env);
      const user = randomUUID();
      for (let i = 0; i < 5; i++) await open(here, user);
      expect(await redis.exists(key(user))).toBe(0);
    }
  });
});
