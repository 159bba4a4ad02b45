import { once } from 'node:events';
import net from 'node:net';
import { Logger } from '@nestjs/common';
import { loadConfig } from '@aps/platform/config';
import { connectRedis, proveNoEviction } from '.';

/** Proves a Redis that answers so when it is asked about its memory. */
async function asked(answer: string): Promise<void> {
  const server = net.createServer((socket) =>
    // Once it is asked how it is by the client itself, without naming a section.
    socket.on('data', (data) => {
      for (const command of data.toString().match(/\*\d+\r\n(?:\$\d+\r\n[^\r]*\r\n)+/g) ?? [])
        socket.write(/\r\ninfo\r\n/i.test(command) ? (/memory/.test(command) ? answer : bulk('loading:0')) : '+OK\r\n');
    }),
  );
  await once(server.listen(0, '127.0.0.1'), 'listening');
  loadConfig({ ...process.env, REDIS_URL: `redis://127.0.0.1:${(server.address() as net.AddressInfo).port}` });
  const redis = connectRedis('commands');
  try {
    await proveNoEviction(redis);
  } finally {
    redis.disconnect();
    server.close();
  }
}
const bulk = (text: string) => `$${text.length}\r\n${text}\r\n`;

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
    loadConfig({ ...process.env, REDIS_URL: 'redis://127.0.0.1:1' });
    const redis = connectRedis('commands');
    await proveNoEviction(redis);
    redis.disconnect();
  });

  it('is believed where it knows no bound, as the one in JavaScript', async () => {
    await asked(bulk('# Memory\r\nused_memory:1\r\n'));
  });
});
