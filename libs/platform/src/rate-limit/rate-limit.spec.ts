import { Controller, ExecutionContext, Get, INestApplication, Post } from '@nestjs/common';
import { APP_FILTER, APP_GUARD } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import { loadConfig } from '@aps/platform/config';
import { ErrorFilter } from '@aps/platform/http';
import type { Redis } from 'ioredis';
import request from 'supertest';
import { RateLimiter } from './limiter';
import { callerOf, holdCaller, RateLimit, RateLimitGuard, type CountedRequest } from './rate-limit.guard';

const BASE = { DATABASE_URL: 'postgres://unused', REDIS_URL: 'redis://unused' };
const configure = (env: NodeJS.ProcessEnv = {}) => loadConfig({ ...BASE, ...env });

/** A caller that is no user. */
const MACHINE = 'machine';

/** A Redis that is away, and says how often it was asked. */
class NoRedis {
  asked = 0;
  status = 'ready';
  evalsha(): Promise<never> {
    this.asked++;
    return Promise.reject(new Error('Connection is closed.'));
  }
  asRedis(): Redis {
    return this as unknown as Redis;
  }
}

@Controller()
class TestController {
  @Get('plain')
  plain() {
    return {};
  }
  @RateLimit('login')
  @Post('login')
  login() {
    return {};
  }
  @RateLimit('refresh')
  @Post('refresh')
  refresh() {
    return {};
  }
  @RateLimit('prompt_test')
  @Post('prompt-test')
  promptTest() {
    return {};
  }
}

describe('RateLimitGuard', () => {
  let app: INestApplication;
  let redis: NoRedis;

  beforeEach(async () => {
    // On a busy machine a tenth of a second passes between two requests, and with it comes leave for another.
    jest.spyOn(Date, 'now').mockReturnValue(Date.now());
    configure();
    redis = new NoRedis();
    const limiter = new RateLimiter(redis.asRedis());
    const accessGuard = {
      async canActivate(context: ExecutionContext) {
        const req = context.switchToHttp().getRequest<CountedRequest>();
        const as = req.headers['x-as'] as string | undefined;
        if (as && as !== MACHINE) req.principal = { userId: as.slice(0, 1), credentialId: as };
        await holdCaller(
          limiter,
          req,
          context.switchToHttp().getResponse(),
          as === MACHINE ? { credentialId: as, ownerId: 'o' } : undefined,
        );
        return true;
      },
    };
    const module = await Test.createTestingModule({
      controllers: [TestController],
      providers: [
        { provide: RateLimiter, useValue: limiter },
        RateLimitGuard,
        { provide: APP_GUARD, useValue: accessGuard },
        { provide: APP_GUARD, useExisting: RateLimitGuard },
        { provide: APP_FILTER, useClass: ErrorFilter },
      ],
    }).compile();
    module.useLogger(false);
    app = module.createNestApplication();
    (app.getHttpAdapter().getInstance() as { set(k: string, v: unknown): void }).set('trust proxy', 1);
    await app.init();
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await app.close();
  });

  const post = (path: string, ip = '203.0.113.1', as?: string) => {
    const r = request(app.getHttpServer()).post(path).set('X-Forwarded-For', ip);
    return as ? r.set('X-As', as) : r;
  };

  it('holds an address to its rule, and says where it stands', async () => {
    configure({ RATE_LIMIT_LOGIN: '2' });
    const first = await post('/login').expect(201);
    expect(first.headers).toMatchObject({ 'ratelimit-limit': '2', 'ratelimit-remaining': '1', 'ratelimit-reset': '30' });
    await post('/login').expect(201);
    const refused = await post('/login').expect(429);
    expect(refused.body).toMatchObject({ code: 'rate_limited' });
    expect(refused.headers).toMatchObject({ 'ratelimit-limit': '2', 'ratelimit-remaining': '0', 'retry-after': '30' });
    await post('/login', '203.0.113.2').expect(201);
  });

  it('counts a subscriber’s IPv6 addresses as one', async () => {
    configure({ RATE_LIMIT_LOGIN: '1' });
    await post('/login', '2001:db8:1:2::1').expect(201);
    await post('/login', '2001:db8:1:2:ffff::9').expect(429);
    await post('/login', '2001:db8:1:3::1').expect(201);
    expect(callerOf('::ffff:203.0.113.1')).toBe('203.0.113.1');
    expect(callerOf('fe80::1%eth0')).toBe(callerOf('fe80::2'));
    expect([callerOf(undefined), callerOf('nonsense')]).toEqual(['unknown', 'unknown']);
  });

  it('holds every credential to the general limit, and nobody else', async () => {
    configure({ RATE_LIMIT_TOKEN_BURST: '2' });
    const get = (as?: string) => {
      const r = request(app.getHttpServer()).get('/plain');
      return as ? r.set('X-As', as) : r;
    };
    await get('a').expect(200);
    expect((await get('a').expect(200)).headers).toMatchObject({ 'ratelimit-limit': '600', 'ratelimit-remaining': '0' });
    await get('a').expect(429);
    await get('b').expect(200);
    for (const status of [200, 200, 429]) await get(MACHINE).expect(status);
    for (let i = 0; i < 5; i++) expect((await get().expect(200)).headers).not.toHaveProperty('ratelimit-limit');
  });

  it('counts both limits of a request, and tells the tighter one', async () => {
    configure({ RATE_LIMIT_PROMPT_TEST: '1' });
    expect((await post('/prompt-test', '203.0.113.1', 'a').expect(201)).headers).toMatchObject({
      'ratelimit-limit': '1',
      'ratelimit-remaining': '0',
    });
    await post('/prompt-test', '203.0.113.9', 'a').expect(429);
    await post('/prompt-test', '203.0.113.1', 'b').expect(201);
  });

  it('counts exchanges of sessions by user, whose next session is another credential', async () => {
    configure({ RATE_LIMIT_REFRESH: '2' });
    for (const [as, status] of [
      ['a1', 201],
      ['a2', 201],
      ['a3', 429],
      ['b1', 201],
    ] as const)
      await post('/refresh', '203.0.113.1', as).expect(status);
  });

  it('is not there when a limit is 0 or all are off, and then asks no Redis', async () => {
    for (const env of [
      { RATE_LIMIT_LOGIN: '0', RATE_LIMIT_TOKEN: '0' },
      { RATE_LIMITS: 'off', RATE_LIMIT_LOGIN: '1' },
    ]) {
      configure(env);
      for (let i = 0; i < 15; i++)
        expect((await post('/login', '203.0.113.1', 'a').expect(201)).headers).not.toHaveProperty('ratelimit-limit');
    }
    expect(redis.asked).toBe(0);
    const guard = app.get(RateLimitGuard);
    expect(guard.canActivate({ getType: () => 'http' } as ExecutionContext)).toBe(true);
  });
});

describe('RateLimiter without Redis', () => {
  afterEach(() => jest.useRealTimers());

  it('counts by itself, refills with time, and asks Redis only now and then', async () => {
    configure();
    jest.useFakeTimers({ now: 0 });
    const redis = new NoRedis();
    const limiter = new RateLimiter(redis.asRedis());
    const take = async () => (await limiter.take('x', { perMinute: 60, burst: 2 }))!.allowed;
    expect([await take(), await take(), await take()]).toEqual([true, true, false]);
    expect(redis.asked).toBe(1);
    jest.setSystemTime(1_000);
    expect([await take(), await take()]).toEqual([true, false]);
    jest.setSystemTime(60_000);
    expect([await take(), await take(), await take()]).toEqual([true, true, false]);
    expect(redis.asked).toBe(2);
    redis.status = 'reconnecting';
    jest.setSystemTime(120_000);
    await take();
    expect(redis.asked).toBe(2);
  });
});
