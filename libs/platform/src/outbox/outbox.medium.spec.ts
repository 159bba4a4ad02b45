import { Test, type TestingModule } from '@nestjs/testing';
import { ENTITIES, MIGRATIONS } from '@aps/entities';
import { loadConfig } from '@aps/platform/config';
import { NO_CALLER } from '@aps/platform/database';
import { createLogger, metrics, NestLogger } from '@aps/platform/observability';
import { CommandRedis, redisConfig } from '@aps/platform/redis';
import { PlatformModule } from '@aps/platform/runtime';
import { createTestDatabase, eventually, sql, type TestDatabase } from '@aps/platform/testing';
import type { Redis } from 'ioredis';
import { uuidv7 } from 'uuidv7';
import { Outbox, OutboxRelay, OutboxRelayModule } from '.';
import { DUE_AGAIN, DUE_ALL, INSERT, OLDEST_DUE } from './outbox.sql';

const schema = { entities: ENTITIES, migrations: MIGRATIONS };
let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase(schema);
});
afterAll(() => database?.drop());

/** A job that has been published, and is looked at again in most of a minute. */
async function published(id = uuidv7()): Promise<string> {
  await database.db.query(INSERT, [id, 'turn.run', 1, {}, null, null, new Date(database.db.now().getTime() + 50_000), null]);
  await database.db.execute(sql('UPDATE outbox SET publishes = 1 WHERE id = $1'), [id]);
  return id;
}
const dueForAnHour = (id: string) =>
  database.db.execute(sql(`UPDATE outbox SET available_at = now() - interval '1 hour' WHERE id = $1`), [id]);
const soon = () => new Date(database.db.now().getTime() + 60_000);
const makeAllDue = (most: number, until = soon()) => database.db.execute(DUE_ALL, [most, until]);
const due = async () =>
  (await database.db.query(sql<{ id: string }>('SELECT id FROM outbox WHERE available_at <= now() ORDER BY id'))).map(({ id }) => id);

beforeEach(() => database.db.execute(sql('DELETE FROM outbox')));

describe('jobs that are to be published again', () => {
  it.each([
    ['all of them', () => makeAllDue(10)],
    ['those that could not be', (ids: string[]) => database.db.execute(DUE_AGAIN, [ids, ids.map(() => new Date(0))])],
  ])('%s are due at once, and who works on some meanwhile is not waited for', async (_, makeDue) => {
    const ids = [await published(), await published(), await published()];
    const [ended, ...others] = ids;
    await database.db.transaction(NO_CALLER, async (tx) => {
      await tx.execute(sql('DELETE FROM outbox WHERE id = $1'), [ended]);
      // It would wait until the time for locks is over.
      expect(await makeDue(ids)).toBe(2);
      expect(await due()).toEqual(others);
    });
    expect(await due()).toEqual(others);
  });

  it('are made so in parts, those that are due next first', async () => {
    const ids = [await published(), await published(), await published()];
    await database.db.execute(sql(`UPDATE outbox SET available_at = available_at - interval '10 seconds' WHERE id <> $1`), [ids[1]]);
    expect(await makeAllDue(2)).toBe(2);
    expect(await due()).toEqual([ids[0], ids[2]]);
    expect([await makeAllDue(2), await makeAllDue(2)]).toEqual([1, 0]);
  });

  it('are not those that were published since, nor those with a time of their own', async () => {
    const until = soon();
    const [again, later] = [await published(), await published()];
    const set = sql('UPDATE outbox SET available_at = $2 WHERE id = $1');
    await database.db.execute(set, [again, new Date(until.getTime() + 1)]);
    await database.db.execute(set, [later, new Date(until.getTime() + 3_600_000)]);
    expect(await makeAllDue(10, until)).toBe(0);
  });

  it('have waited since they were due at first', async () => {
    await dueForAnHour(await published());
    expect(await makeAllDue(10)).toBe(0);
    expect((await database.db.query(OLDEST_DUE))[0].seconds).toBeGreaterThanOrEqual(3_600);
  });
});

const anApplication = async (): Promise<TestingModule> => {
  const app = await Test.createTestingModule({ imports: [PlatformModule.forRoot('test', schema), OutboxRelayModule] })
    .setLogger(new NestLogger(createLogger('test')))
    .compile();
  await app.init();
  return app;
};

describe('before Redis was ever reached', () => {
  let app: TestingModule;
  beforeAll(async () => {
    loadConfig({ ...process.env, REDIS_URL: 'redis://127.0.0.1:1' });
    app = await anApplication();
  });
  afterAll(async () => {
    await app?.close();
    loadConfig();
  });

  it.each([1, 2])('who publishes %i is not kept waiting', async (n) => {
    const jobs = Array.from({ length: n }, () => ({ id: uuidv7(), name: 'turn.run' as const, payload: {} as never }));
    await expect(app.get(Outbox, { strict: false }).publish(jobs)).rejects.toThrow('Redis was not reached');
  });
});

describe('when Redis has lost its memory', () => {
  let app: TestingModule;
  beforeAll(async () => {
    app = await anApplication();
  });
  afterAll(async () => {
    await database.db.execute(sql('DROP FUNCTION stay() CASCADE'));
    await app?.close();
  });

  it('what is due is published, though other jobs could not be made due', async () => {
    const stays = uuidv7();
    await database.db.execute(
      sql(`
    CREATE FUNCTION stay() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'it stays'; END $$;
    CREATE TRIGGER stay BEFORE UPDATE ON outbox FOR EACH ROW WHEN (OLD.id = '${stays}' AND OLD.publishes = 1) EXECUTE FUNCTION stay()`),
    );
    await published(stays);
    const redis = app.get<Redis>(CommandRedis, { strict: false });
    const epoch = `${redisConfig.value.prefix}:epoch`;
    await redis.del(epoch);
    const id = await published();
    await dueForAnHour(id);
    const isPublished = sql<{ n: number }>('SELECT publishes AS n FROM outbox WHERE id = $1');
    await eventually(
      () => database.db.query(isPublished, [id]),
      ([{ n }]) => n === 2,
    );
    // It goes on being tried.
    await eventually(
      () => redis.exists(epoch),
      (n) => n === 0,
    );
  });
});

describe('while Redis is away', () => {
  let app: TestingModule;
  beforeAll(async () => {
    app = await anApplication();
    await app.get(Outbox, { strict: false }).queueOf('turn.run').waitUntilReady();
    app.get<Redis>(CommandRedis, { strict: false }).disconnect();
  });
  afterAll(() => app?.close());

  it('it is told how long jobs have waited, however often their publication is tried', async () => {
    const id = await published();
    await dueForAnHour(id);
    await expect(app.get(OutboxRelay, { strict: false }).publishDue()).rejects.toThrow();
    expect(await due()).toEqual([id]);
    const { values } = await metrics.getSingleMetric('outbox_oldest_seconds')!.get();
    expect(values).toEqual([expect.objectContaining({ value: expect.any(Number) })]);
    expect(values[0].value).toBeGreaterThanOrEqual(3_600);
  });
});
