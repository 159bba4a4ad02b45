import { Chance, sql, testEnvironment } from '@aps/platform/testing';
import {
  NodeProcess,
  OwnServer,
  built,
  isInstalled,
  until,
  withDatabase,
  withPlatform,
  type Platform,
  type PlatformOptions,
} from '../../api-gateway-e2e/support';
import { check } from './invariants';
import { begin, finish, running } from './turns';

const OPTIONS: PlatformOptions = { apps: ['api-gateway', 'chat-worker', 'chat-worker:b'], own: ['pgbouncer'] };

const ask = (url: string, text: string) => withDatabase(url, (db) => db.query(sql(text)));

/** Runs the migration tool, or an app that cannot start, to its end. */
async function toTheEnd(name: string, file: string, url: string): Promise<{ code: number | null; said: string }> {
  const child = new NodeProcess(name, file, { ...process.env, ...testEnvironment(url) }).spawn();
  const late = setTimeout(() => void child.kill(), 60_000);
  const { code } = await child.ended;
  clearTimeout(late);
  return { code, said: child.logs() };
}

const migrate = (url: string) => toTheEnd('migrate', built('bundles', 'migrate'), url);

if (!isInstalled('pgbouncer')) {
  // No npm package brings one. CI installs it; elsewhere this line of the report is the notice.
  it('a connection pooler: not tried, for want of a pgbouncer on PATH (on Debian: apt-get install pgbouncer, in /usr/sbin)', () => {
    expect(process.env.CI).toBeUndefined();
  });
} else {
  describe('behind a PgBouncer in transaction mode', () => {
    it('turns are run once and whole, streams bring everything, and a worker may die', async () => {
      await withPlatform(OPTIONS, async (platform) => {
        const atWork = async () => (await running(platform)) > 0 && (await running(platform, 'chat-worker:b')) > 0;
        // While they begin: on a slow machine the first turns are over before the last has begun.
        const [works] = await Promise.all([
          begin(platform, new Chance(Number(process.env.TEST_SEED ?? 1)), 20),
          until('both workers run turns', atWork).then(() => platform.kill('chat-worker:b')),
        ]);
        const streams = await Promise.all(works.slice(0, 5).map(({ chat }) => platform.stream(chat, { query: '?after=0' })));
        await platform.app('chat-worker:b').spawn().ready();
        works.push(...(await begin(platform, new Chance(2), 20)));
        await finish(platform, works);
        for (const stream of streams) {
          const ids = stream.ids();
          expect(ids.length).toBeGreaterThan(3);
          expect(ids).toEqual(ids.map((_, i) => i + 1));
        }
        await check(platform, works);
        expect(platform.logs('chat-worker')).toContain('PostgreSQL is behind a connection pooler');
        expect(unexpected(platform)).toEqual([]);
        await limitsHold(platform);
      });
    });

    /** What the apps said that is more than a warning. */
    const unexpected = (platform: Platform) =>
      OPTIONS.apps!.flatMap((app) =>
        platform
          .logs(app)
          .split('\n')
          .filter((line) => /"level":(50|60),/.test(line)),
      );

    async function limitsHold(platform: Platform): Promise<void> {
      const pooled = platform.pgbouncer!.url;
      const [limits] = await ask(
        pooled,
        `SELECT current_setting('statement_timeout') AS statement, current_setting('lock_timeout') AS lock, current_setting('idle_in_transaction_session_timeout') AS idle, current_setting('plan_cache_mode') AS plans`,
      );
      // Nothing that one app would set for itself has stuck to a session that all share.
      expect(limits).toEqual({ statement: '10s', lock: '3s', idle: '15s', plans: 'auto' });
      await expect(ask(pooled, 'SELECT pg_sleep(60)')).rejects.toThrow('statement timeout');
    }

    it('the migration waits for another and leaves no lock behind; before it, an app says why it does not start', async () => {
      const name = `aps_e2e_pooler_${process.pid}`;
      const server = process.env.TEST_DATABASE_URL!;
      await ask(server, `CREATE DATABASE ${name}`);
      const direct = Object.assign(new URL(server), { pathname: `/${name}` }).href;
      const pgbouncer = await OwnServer.start('pgbouncer', direct);
      try {
        const refused = await toTheEnd('chat-worker', built('bundles', 'chat-worker'), pgbouncer.url);
        expect(refused.code).toBe(1);
        expect(refused.said).toMatch(
          /behind a connection pooler, and its sessions have no idle_in_transaction_session_timeout, no lock_timeout, no statement_timeout\. Run the migration/,
        );

        const both = await Promise.all([migrate(pgbouncer.url), migrate(pgbouncer.url)]);
        expect(both.map(({ code, said }) => [code, /^(migrated|schema is up to date)/m.exec(said)?.[1]]).sort()).toEqual([
          [0, 'migrated'],
          [0, 'schema is up to date'],
        ]);
        expect(
          await ask(
            direct,
            `SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
          ),
        ).toEqual([]);
        expect(
          await ask(
            direct,
            'SELECT setconfig FROM pg_db_role_setting JOIN pg_database ON oid = setdatabase WHERE datname = current_database()',
          ),
        ).toEqual([{ setconfig: ['statement_timeout=10000', 'lock_timeout=3000', 'idle_in_transaction_session_timeout=15000'] }]);
        expect((await migrate(pgbouncer.url)).code).toBe(0);
      } finally {
        await pgbouncer.stop();
        await ask(server, `DROP DATABASE ${name} WITH (FORCE)`);
      }
    });
  });
}
