import net from 'node:net';
import { testEnvironment } from '@aps/platform/testing';
import { built, freePort, NodeProcess, startPlatform } from '../../api-gateway-e2e/support';

const APPS = ['api-gateway', 'chat-worker'] as const;

/** Starts an app that cannot work, and answers how it ended and what it told the person at the terminal. */
async function failing(
  app: (typeof APPS)[number],
  changes: Record<string, string | undefined>,
): Promise<{ code: number | null; said: string[] }> {
  const { DATABASE_URL: _d, REDIS_URL: _r, ...inherited } = process.env;
  const env: NodeJS.ProcessEnv = { ...inherited, ...testEnvironment(process.env.TEST_DATABASE_URL!), ...changes };
  const child = new NodeProcess(app, built('bundles', app), env).spawn();
  const late = setTimeout(() => void child.kill(), 40_000);
  const { code } = await child.ended;
  clearTimeout(late);
  return { code, said: child.errors().trim().split('\n') };
}

describe.each(APPS)('%s that cannot start', (app) => {
  it('names a taken port in one sentence', async () => {
    const taken = net.createServer();
    const port = await freePort();
    await new Promise<void>((resolve) => taken.listen(port, '127.0.0.1', resolve));
    const setting = app === 'api-gateway' ? 'PORT' : 'INTERNAL_PORT';
    const { code, said } = await failing(app, { [setting]: String(port), HOST: '127.0.0.1' });
    taken.close();
    expect(said).toEqual([`${app}: Port ${port} is taken. Choose another with PORT or INTERNAL_PORT.`]);
    expect(code).toBe(1);
  });

  it('says in one sentence what is wrong with DATABASE_URL', async () => {
    const url = new URL(process.env.TEST_DATABASE_URL!);
    const port = await freePort();
    const cases = {
      [Object.assign(new URL(url), { port: String(port) }).href]: new RegExp(`^${app}: Nothing answers at 127.0.0.1:${port}.*DATABASE_URL`),
      [Object.assign(new URL(url), { password: 'wrong' }).href]: /PostgreSQL refuses the connection/,
      [Object.assign(new URL(url), { pathname: '/no_such_database' }).href]: /PostgreSQL refuses the connection.*no_such_database/,
      'not a url': /DATABASE_URL: must be a postgres:\/\/ URL/,
    };
    for (const [DATABASE_URL, expected] of Object.entries(cases)) {
      const { code, said } = await failing(app, { DATABASE_URL });
      expect(said.join('\n')).toMatch(expected);
      // One sentence; the configuration's list has a head.
      expect(said.length).toBeLessThanOrEqual(2);
      expect(said.join()).not.toContain(decodeURIComponent(url.password));
      expect(code).toBe(1);
    }
  });

  it('lists everything that is wrong with its settings at once', async () => {
    const { code, said } = await failing(app, {
      DATABASE_URL: undefined,
      REDIS_URL: 'http://nope',
      MASTER_KEYS: 'nonsense',
      INTERNAL_TOKEN_SECRET: '',
      INTERNAL_PORT: 'seventy',
      SHUTDOWN_GRACE_MS: '-1',
    });
    expect(code).toBe(1);
    for (const name of ['DATABASE_URL', 'REDIS_URL', 'MASTER_KEYS', 'INTERNAL_PORT', 'SHUTDOWN_GRACE_MS'])
      expect(said.filter((line) => line.includes(`- ${name}:`))).toHaveLength(1);
    expect(said[0]).toMatch(new RegExp(`^${app}: The configuration has \\d+ problems:$`));
  });
});

it('apps whose log nobody reads any more end when they are asked to', async () => {
  const platform = await startPlatform({ env: { SHUTDOWN_DELAY_MS: '0' } });
  try {
    for (const app of APPS) {
      platform.app(app).deafen();
      expect([app, await platform.app(app).terminate()]).toEqual([app, { code: 0, signal: null }]);
    }
  } finally {
    await platform.stop();
  }
});

it('apps whose Redis answers nothing any more end when they are asked to', async () => {
  const platform = await startPlatform({ own: ['redis'], env: { REDIS_COMMAND_TIMEOUT_MS: '2000' } });
  try {
    await platform.redis!.freeze();
    for (const app of APPS) expect([app, await platform.app(app).terminate()]).toEqual([app, { code: 0, signal: null }]);
  } finally {
    await platform.redis!.thaw();
    await platform.stop();
  }
});
