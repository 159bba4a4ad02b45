import { Test, type TestingModule } from '@nestjs/testing';
import { ENTITIES, MIGRATIONS } from '@aps/entities';
import { loadConfig } from '@aps/platform/config';
import { NO_CALLER } from '@aps/platform/database';
import { createLogger, metrics, NestLogger } from '@aps/platform/observability';
import { CommandRedis } from '@aps/platform/redis';
import { PlatformModule } from '@aps/platform/runtime';
import { createTestDatabase, sql, type TestDatabase } from '@aps/platform/testing';
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

const IN_AN_HOUR = new Date(Date.now() + 3_600_000);
/** A job that has been published, and is not looked at again for an hour. */
async function published(): Promise<string> {
  const id = uuidv7();
  await database.db.query(INSERT, [id, 'turn.run', 1, {}, null, null, IN_AN_HOUR, null]);
  await database.db.execute(sql('UPDATE outbox SET publishes = 1 WHERE id = $1'), [id]);
  return id;
}
const dueForAnHour = (id: string) =>
  database.db.execute(sql(`UPDATE outbox SET available_at = now() - interval '1 hour' WHERE id = $1`), [id]);
const due = async () =>
  (await database.db.query(sql<{ id: string }>('SELECT id FROM outbox WHERE available_at <= now() ORDER BY id'))).map(({ id }) => id);

beforeEach(() => database.db.execute(sql('DELETE FROM outbox')));

describe('jobs that are to be published again', () => {
  it.each([
    ['all of them', () => database.db.execute(DUE_ALL)],
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

  it('have waited since they were due at first', async () => {
    await dueForAnHour(await published());
    expect(await database.db.execute(DUE_ALL)).toBe(1);
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
