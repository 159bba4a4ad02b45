import { once } from 'node:events';
import net from 'node:net';
import { Logger } from '@nestjs/common';
import { loadConfig } from '@aps/platform/config';
import type { Database } from '@aps/platform/database';
import { Readiness } from '@aps/platform/runtime';
import { testEnvironment } from '@aps/platform/testing';
import type { Redis } from 'ioredis';
import { connectRedis, proveNoEviction } from '.';

const bulk = (text: string) => `$${text.length}\r\n${text}\r\n`;

/** A Redis that answers as it is told, or that all is well. It is asked how it is by the client itself, without naming a section. */
async function standIn(answer: (command: string, connection: number) => string | undefined): Promise<net.Server> {
  let connections = 0;
  const server = net.createServer((socket) => {
    const connection = ++connections;
    socket.on('error', () => undefined);
    socket.on('data', (data) => {
      for (const command of data.toString().match(/\*\d+\r\n(?:\$\d+\r\n[^\r]*\r\n)+/g) ?? [])
        socket.write(answer(command, connection) ?? (/\r\ninfo\r\n/i.test(command) ? bulk('loading:0') : '+OK\r\n'));
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  loadConfig({ ...testEnvironment('postgres://nobody'), REDIS_URL: `redis://127.0.0.1:${(server.address() as net.AddressInfo).port}` });
  return server;
}

/** Proves a Redis that answers so when it is asked about its memory. */
async function asked(answer: string): Promise<void> {
  const server = await standIn((command) => (/memory/.test(command) ? answer : undefined));
  const redis = connectRedis('commands');
  try {
    await proveNoEviction(redis);
  } finally {
    redis.disconnect();
    server.close();
  }
}

describe('a Redis for workers', () => {
  const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation();
  beforeEach(() => warn.mockClear());
  afterAll(() => warn.mockRestore());

  it('must keep every job', async () => {
    await asked(bulk('# Memory\r\nused_memory:1\r\nmaxmemory_policy:noeviction\r\n'));
    await expect(asked(bulk('# Memory\r\nmaxmemory:1000\r\nmaxmemory_policy:allkeys-lru\r\n'))).rejects.toThrow(
      /is allkeys-lru, and must be noeviction/,
    );
    expect(warn).not.toHaveBeenCalled();
  });

  it('is believed when it may not say, with a warning', async () => {
    await asked("-NOPERM this user has no permissions to run the 'info' command\r\n");
    expect(warn).toHaveBeenCalledWith(expect.stringContaining('must be noeviction: NOPERM'));
  });

  it('is believed when it is away', async () => {
    loadConfig({ ...testEnvironment('postgres://nobody'), REDIS_URL: 'redis://127.0.0.1:1' });
    const redis = connectRedis('commands');
    await proveNoEviction(redis);
    redis.disconnect();
  });

  it('is believed where it knows no bound, as the one in JavaScript', async () => {
    await asked(bulk('# Memory\r\nused_memory:1\r\n'));
  });
});

describe('a Redis that answers no more', () => {
  const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation();
  beforeAll(() => jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate', 'Date', 'performance'] }));
  afterAll(() => {
    jest.useRealTimers();
    warn.mockRestore();
  });

  /** Errors of the connection are expected here. */
  const told = (redis: Redis, event: string) => new Promise((resolve) => redis.once(event, resolve));

  it.each(['commands', 'blocking'] as const)('is left, though nobody says that it is gone: %s', async (kind) => {
    const server = await standIn((command, connection) => (/\r\nset\r\n/i.test(command) && connection === 1 ? '' : undefined));
    const redis = connectRedis(kind);
    await told(redis, 'ready');
    const [left, again] = [told(redis, 'close'), told(redis, 'ready')];
    const answer = redis.set('key', 'value').catch((error: Error) => error.message);
    // As long as the specs of all have a command wait.
    jest.advanceTimersByTime(30_000);
    await left;
    jest.advanceTimersByTime(5_000);
    await again;
    // Who may wait is answered by the next.
    expect(await answer).toMatch(kind === 'blocking' ? 'OK' : /timed out|max retries/);
    expect(await redis.set('key', 'value')).toBe('OK');
    // Its silence is not the fault of the next.
    const gone = jest.fn();
    redis.on('close', gone);
    jest.advanceTimersByTime(60_000);
    expect(await redis.set('key', 'value')).toBe('OK');
    expect(gone).not.toHaveBeenCalled();
    redis.disconnect();
    server.close();
  });

  it('has the next one pay for nothing where it was seen to go', async () => {
    const sockets: net.Socket[] = [];
    const server = await standIn((command, connection) => (/\r\nset\r\n/i.test(command) && connection === 1 ? '' : undefined));
    server.on('connection', (socket: net.Socket) => sockets.push(socket));
    const redis = connectRedis('commands');
    await told(redis, 'ready');
    const [left, again] = [told(redis, 'close'), told(redis, 'ready')];
    const answer = redis.set('key', 'value').catch((error: Error) => error.message);
    sockets[0].destroy();
    await left;
    jest.advanceTimersByTime(5_000);
    await again;
    await answer;
    const gone = jest.fn();
    redis.on('close', gone);
    jest.advanceTimersByTime(30_000);
    expect(await redis.set('key', 'value')).toBe('OK');
    expect(gone).not.toHaveBeenCalled();
    redis.disconnect();
    server.close();
  });
});

describe('a Redis that was demoted', () => {
  const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation();
  afterAll(() => warn.mockRestore());
  const refusal = "READONLY You can't write against a read only replica.";
  /** Whoever connects first is connected to the old master. */
  const failedOver = (text = refusal) =>
    standIn((command, connection) => (/\r\n(set|del)\r\n/i.test(command) && connection === 1 ? `-${text}\r\n` : undefined));

  it.each([refusal, `ERR Error running script: @user_script: 1: -${refusal}`])('is left by who may wait: %s', async (text) => {
    const server = await failedOver(text);
    const first = connectRedis('blocking');
    // As the queue makes its connections.
    const redis = first.duplicate();
    first.disconnect();
    await expect(redis.set('key', 'value')).resolves.toBe('OK');
    redis.disconnect();
    server.close();
  });

  it('is left by requests, which do not wait for the next', async () => {
    const server = await failedOver();
    const redis = connectRedis('commands');
    await once(redis, 'ready');
    const again = once(redis, 'ready');
    await expect(redis.set('key', 'value')).rejects.toThrow(/writeable/);
    await again;
    await expect(redis.set('key', 'value')).resolves.toBe('OK');
    redis.disconnect();
    server.close();
  });

  it('is left by who only asks whether it is ready', async () => {
    const server = await failedOver();
    const redis = connectRedis('commands');
    const readiness = new Readiness({ ping: () => Promise.resolve() } as Database, redis);
    await once(redis, 'ready');
    const again = once(redis, 'ready');
    expect(await readiness.report(true)).toMatchObject({ ready: false, checks: { redis: expect.stringMatching(/writeable/) } });
    await again;
    expect(await readiness.report(true)).toMatchObject({ ready: true });
    redis.disconnect();
    server.close();
  });
});
