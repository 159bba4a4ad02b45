import { NO_CALLER } from '@aps/platform/database';
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { loadConfig } from '@aps/platform/config';
import { metrics } from '@aps/platform/observability';
import { sql, createTestDatabase, SilencedProxy, type TestDatabase } from '@aps/platform/testing';
import type { Pool } from 'pg';
import { batchStatement } from './batch';
import { Database } from './database';
import { createDataSource } from './database.module';
import { isConnectionLoss } from './errors';

const SETTINGS = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout', 'plan_cache_mode'];
const CURRENT = `json_build_object(${SETTINGS.map((name) => `'${name}', current_setting('${name}')`).join(', ')})`;
const IN_FORCE = { statement_timeout: '10s', lock_timeout: '3s', idle_in_transaction_session_timeout: '15s', plan_cache_mode: 'auto' };

const LOOK = batchStatement<{ key: string }>(
  'test_look',
  ({ key }) => key,
  () => `SELECT x.key AS batch_key, ${CURRENT} AS answer FROM jsonb_to_recordset($1::jsonb) AS x(key text)`,
);

describe('sessions of an app', () => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await createTestDatabase({ entities: [] });
  });
  afterAll(() => database?.drop());

  it('have their limits on every connection, and a fixed plan where the same batches are run', async () => {
    const look = () => database.db.query(sql<{ current: unknown }>(`SELECT ${CURRENT} AS current FROM pg_sleep(0.05)`));
    // At once, so that each has a connection of its own.
    const looks = await Promise.all(Array.from({ length: 6 }, look));
    expect(looks).toEqual(looks.map(() => [{ current: IN_FORCE }]));
    expect(await database.db.transaction(NO_CALLER, (tx) => tx.query(sql(`SELECT ${CURRENT} AS current`)))).toEqual([
      { current: IN_FORCE },
    ]);
    expect(await database.db.batched(LOOK, { key: 'a' })).toEqual({ ...IN_FORCE, plan_cache_mode: 'force_generic_plan' });
  });

  it('have none where things take as long as they take', async () => {
    const db = new Database(await createDataSource({ entities: [] }, { unlimited: true }).initialize());
    try {
      const off = { statement_timeout: '0', lock_timeout: '0', idle_in_transaction_session_timeout: '0' };
      expect(await db.query(sql(`SELECT ${CURRENT} AS current`))).toEqual([{ current: { ...IN_FORCE, ...off } }]);
      expect(await db.batched(LOOK, { key: 'a' })).toMatchObject(off);
    } finally {
      await db.close();
    }
  });

  it('may break while somebody has them and asks nothing, and end no process by that', async () => {
    const { master: pool } = database.db.dataSource.driver as unknown as { master: Pool };
    const client = await pool.connect();
    const broken = new Promise<Error>((resolve) => client.once('end', resolve));
    await database.db.query(sql('SELECT pg_terminate_backend($1)'), [(client as unknown as { processID: number }).processID]);
    await broken;
    const isLost = await client.query('SELECT 1').then(() => false, isConnectionLoss);
    client.release();
    expect(isLost).toBe(true);
    expect(await database.db.query(sql('SELECT 1 AS one'))).toEqual([{ one: 1 }]);
  });

  it('may break in the middle of a transaction that asks nothing more, which is then told so', async () => {
    const committed = database.db.transaction(NO_CALLER, async (tx) => {
      const [{ pid }] = await tx.query(sql<{ pid: number }>('SELECT pg_backend_pid() AS pid'));
      await database.db.query(sql('SELECT pg_terminate_backend($1)'), [pid]);
      while (!tx.manager.queryRunner?.isReleased) await sleep(5);
    });
    expect(await committed.then(() => 'committed', isConnectionLoss)).toBe(true);
  });

  it('answer who asks for PostgreSQL while all of the pool are held, and tell how many wait for one', async () => {
    const db = new Database(await createDataSource({ entities: [] }, { url: database.url, poolSize: 1 }).initialize());
    let waits: Promise<unknown> | undefined;
    await db.transaction(NO_CALLER, async () => {
      waits = db.query(sql('SELECT 1'));
      await db.ping();
      const told = await metrics.metrics();
      for (const figure of ['db_connections{state="used"} 1', 'db_connections{state="idle"} 0', 'db_connections_waited_for 1'])
        expect(told).toContain(figure);
    });
    await waits;
    await db.close();
  });

  describe('whose server has become a standby', () => {
    const PID = sql<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    const COUNT = batchStatement<{ key: string }>(
      'test_count',
      ({ key }) => key,
      () => `SELECT x.key AS batch_key, nextval('numbers') AS answer FROM jsonb_to_recordset($1::jsonb) AS x(key text)`,
    );
    const toldLost = (work: Promise<unknown>) => work.then(() => 'written', isConnectionLoss);
    /** For sessions that begin from now on. */
    const alter = (setting: string) =>
      database.db.transaction(NO_CALLER, async (tx) => {
        await tx.execute(sql('SET TRANSACTION READ WRITE'));
        await tx.execute(sql(`ALTER DATABASE "${new URL(database.url).pathname.slice(1)}" ${setting}`));
      });
    const open = async () => new Database(await createDataSource({ entities: [] }, { url: database.url, poolSize: 1 }).initialize());

    it('are lost when a write is refused, in a transaction and in a batch', async () => {
      await database.db.execute(sql('CREATE SEQUENCE numbers'));
      await alter('SET default_transaction_read_only = on');
      const db = await open();
      const write = () => db.transaction(NO_CALLER, (tx) => tx.query(sql(`SELECT nextval('numbers')`)));
      const [before] = await db.query(PID);
      expect(await toldLost(write())).toBe(true);
      expect(await db.query(PID)).not.toEqual([before]);
      expect(await toldLost(db.batched(COUNT, { key: 'a' }))).toBe(true);
      await alter('RESET default_transaction_read_only');
      // Of those that it has now, one can only read yet.
      expect(await toldLost(write())).toBe(true);
      await write();
      expect(await db.batched(COUNT, { key: 'a' })).toBe(2);
      await db.close();
    });

    it('do not begin there', async () => {
      await database.db.execute(sql('CREATE SCHEMA standby'));
      await database.db.execute(sql(`CREATE FUNCTION standby.pg_is_in_recovery() RETURNS boolean RETURN true`));
      await alter('SET search_path = standby, pg_catalog');
      try {
        expect(await toldLost(open())).toBe(true);
      } finally {
        await alter('RESET search_path');
      }
    });
  });

  describe('whose server has gone silent', () => {
    const ONE = sql<{ one: number }>('SELECT 1 AS one');
    let proxy: SilencedProxy;
    let db: Database;
    beforeEach(async () => {
      // Long enough for a statement of a busy machine.
      process.env.DATABASE_STATEMENT_TIMEOUT_MS = '2000';
      loadConfig();
      proxy = await SilencedProxy.to(database.url);
      // Of one connection, so that whoever comes next would get the one that is lost.
      db = new Database(await createDataSource({ entities: [] }, { url: proxy.url, poolSize: 1 }).initialize());
    });
    afterEach(async () => {
      delete process.env.DATABASE_STATEMENT_TIMEOUT_MS;
      loadConfig();
      await db.close();
      await proxy.close();
    });

    it('are given up, in a transaction and outside of one', async () => {
      const inTransaction = db.transaction(NO_CALLER, async (tx) => {
        await tx.query(ONE);
        proxy.silence();
        await tx.query(ONE);
      });
      await expect(inTransaction).rejects.toThrow('Query read timeout');
      expect(await db.query(ONE)).toEqual([{ one: 1 }]);
      proxy.silence();
      await expect(db.query(ONE)).rejects.toThrow('Query read timeout');
      expect(await db.query(ONE)).toEqual([{ one: 1 }]);
    });

    it('are given up when they cannot be rolled back', async () => {
      const refused = db.transaction(NO_CALLER, async (tx) => {
        await tx.query(ONE);
        proxy.silence();
        throw new Error('refused');
      });
      await expect(refused).rejects.toThrow('refused');
      expect(await db.query(ONE)).toEqual([{ one: 1 }]);
    });

    it('are waited for as long as a transaction has let its statements take', async () => {
      const slow = sql<{ one: number }>('SELECT 1 AS one FROM pg_sleep(5)');
      const rows = await db.transaction(NO_CALLER, async (tx) => {
        await tx.execute(sql(`SELECT set_config('statement_timeout', '20s', true)`));
        return tx.query({ ...slow, timeoutMs: 20_000 });
      });
      expect(rows).toEqual([{ one: 1 }]);
    });
  });

  it('ask for nothing in the start-up packet that a pooler would not know', async () => {
    const { hostname, port } = new URL(database.url);
    const packets: string[] = [];
    const proxy = net.createServer((client) => {
      const upstream = net.connect(Number(port), hostname);
      client.once('data', (packet) => packets.push(packet.toString('latin1')));
      client.pipe(upstream).pipe(client);
      for (const socket of [client, upstream]) socket.on('error', () => undefined);
    });
    await new Promise<void>((listening) => proxy.listen(0, '127.0.0.1', listening));
    const url = Object.assign(new URL(database.url), {
      hostname: '127.0.0.1',
      port: String((proxy.address() as net.AddressInfo).port),
    }).href;
    const db = new Database(await createDataSource({ entities: [] }, { url }).initialize());
    await db.batched(LOOK, { key: 'a' });
    await db.close();
    proxy.close();
    // Length and version of the protocol, then pairs of texts.
    const asked = packets.map((packet) =>
      packet
        .slice(8)
        .split('\0')
        .filter((_, i) => i % 2 === 0)
        .filter(Boolean),
    );
    expect(packets).toHaveLength(2);
    // PgBouncer knows these by itself.
    for (const names of asked) expect(['user', 'database', 'application_name', 'client_encoding']).toEqual(expect.arrayContaining(names));
  });
});
