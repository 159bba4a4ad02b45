import { Injectable, Module } from '@nestjs/common';
import { Test, type TestingModule } from '@nestjs/testing';
import { JOBS, QUEUE_POLICY, type JobName, type JobPayload } from '@aps/contracts';
import { ENTITIES, MIGRATIONS } from '@aps/entities';
import { loadConfig } from '@aps/platform/config';
import { createLogger, metrics, NestLogger } from '@aps/platform/observability';
import { Outbox } from '@aps/platform/outbox';
import { CommandRedis } from '@aps/platform/redis';
import { PlatformModule } from '@aps/platform/runtime';
import { createTestDatabase, eventually, sql, type TestDatabase } from '@aps/platform/testing';
import type { Redis } from 'ioredis';
import { uuidv7 } from 'uuidv7';
import { JobHandler, PutOff, WorkersModule, type JobContext } from '.';

const done: string[] = [];
/** What else proving does. */
let whileProving = (_context: JobContext): Promise<void> => Promise.resolve();

@Injectable()
class Handlers {
  @JobHandler('billing.prove')
  prove({ proof_id }: JobPayload<'billing.prove'>, context: JobContext): Promise<void> {
    done.push(proof_id);
    return whileProving(context);
  }

  @JobHandler('billing.apply', { ownsRow: true })
  apply({ event_id }: JobPayload<'billing.apply'>): Promise<void> {
    done.push(event_id);
    return Promise.resolve();
  }

  @JobHandler('billing.cancel')
  cancel(): Promise<void> {
    return Promise.resolve();
  }
}
@Module({ providers: [Handlers] })
class HandlersModule {}

const schema = { entities: ENTITIES, migrations: MIGRATIONS };
let database: TestDatabase;
let app: TestingModule;
let outbox: Outbox;
async function boot(): Promise<TestingModule> {
  const worker = await Test.createTestingModule({
    imports: [PlatformModule.forRoot('test', schema), HandlersModule, WorkersModule.forQueues('billing')],
  })
    .setLogger(new NestLogger(createLogger('test')))
    .compile();
  await worker.init();
  return worker;
}
beforeAll(async () => {
  database = await createTestDatabase(schema);
  app = await boot();
  outbox = app.get(Outbox, { strict: false });
});
afterAll(async () => {
  await app?.close();
  await database?.drop();
});

interface Row {
  job: JobName;
  version: number;
  payload: never;
  publishes: number;
  failures: number;
  last_error: string | null;
  available_at: Date;
}
const rowOf = async (id: string): Promise<Row | undefined> =>
  (await database.db.query(sql<Row>('SELECT * FROM outbox WHERE id = $1'), [id]))[0];
const isBuried = async (id: string) => (await database.db.query(sql('SELECT FROM dead_letters WHERE id = $1'), [id])).length > 0;
const finished = async (job: JobName, outcome: string): Promise<number> => {
  const { values } = await metrics.getSingleMetric('jobs_finished_total')!.get();
  return values.find(({ labels }) => labels.job === job && labels.outcome === outcome)?.value ?? 0;
};
/** A job as a version of the service has written it, which the relay publishes after so long. */
async function written(name: JobName, version: number, payload: object, after = '1 hour', id = uuidv7()): Promise<string> {
  const insert = sql('INSERT INTO outbox (id, job, version, payload, available_at) VALUES ($1, $2, $3, $4, now() + $5::interval)');
  await database.db.execute(insert, [id, name, version, payload, after]);
  return id;
}
/** Has one delivered, and waits until that has ended in a way. */
async function delivered(id: string, outcome: string): Promise<void> {
  const { job, version, payload } = (await rowOf(id))!;
  const before = await finished(job, outcome);
  await outbox.publish([{ id, name: job, version, payload }]);
  await eventually(
    () => finished(job, outcome),
    (n) => n > before,
  );
}

describe.each(['billing.prove', 'billing.apply'] as const)('a job %s', (name) => {
  it('of a newer version waits for a worker of that version', async () => {
    const id = await written(name, JOBS[name].version + 1, { of_tomorrow: uuidv7() });
    await delivered(id, 'unknown');
    expect(await rowOf(id)).toMatchObject({ failures: 0, last_error: null });
    expect(await isBuried(id)).toBe(false);
  });

  it('is published as the version that it was written by, and by who knows that', async () => {
    const publish = jest.spyOn(outbox, 'publish');
    const [id, newer] = [uuidv7(), uuidv7()];
    await written(name, JOBS[name].version + 1, { proof_id: newer, event_id: newer }, '0', newer);
    await written(name, 0, { proof_id: id, event_id: id }, '0', id);
    await eventually(
      () => Promise.resolve(done),
      (ids) => ids.includes(id),
    );
    await eventually(
      () => rowOf(newer),
      (row) => row!.publishes > 0,
    );
    const jobs = publish.mock.calls.flatMap(([published]) => published);
    expect(jobs).toContainEqual(expect.objectContaining({ id, version: 0 }));
    expect(jobs).not.toContainEqual(expect.objectContaining({ id: newer }));
    expect(done).not.toContain(newer);
    publish.mockRestore();
  });
});

describe('a payload that does not parse', () => {
  it('ends its job as a dead letter', async () => {
    const id = await written('billing.prove', 1, {});
    await delivered(id, 'dead');
    await eventually(
      () => isBuried(id),
      (buried) => buried,
    );
    expect(await rowOf(id)).toBeUndefined();
  });

  it('never ends one whose handler owns its row: nothing else brings that on its way', async () => {
    const id = await written('billing.apply', 1, {});
    await delivered(id, 'failed');
    const row = await eventually(
      () => rowOf(id),
      (now) => now!.last_error !== null,
    );
    expect(row!.last_error).toContain('event_id');
    expect(await isBuried(id)).toBe(false);
  });
});

describe('a try', () => {
  const { attempts } = QUEUE_POLICY.billing;
  const proof = () => written('billing.prove', 1, { proof_id: uuidv7() });
  const tried = (id: string, times: number) => database.db.execute(sql('UPDATE outbox SET failures = $2 WHERE id = $1'), [id, times]);
  afterEach(() => (whileProving = () => Promise.resolve()));

  it('counts from its begin, so that a job cannot kill one process after another for ever', async () => {
    const id = await proof();
    // What is left of it when its process dies now.
    let left: Row | undefined;
    whileProving = async () => void (left = await rowOf(id));
    await tried(id, attempts - 1);
    await delivered(id, 'done');
    expect([left?.failures, await rowOf(id)]).toEqual([attempts, undefined]);

    const killer = await proof();
    const { proof_id } = (await rowOf(killer))!.payload as JobPayload<'billing.prove'>;
    await tried(killer, attempts);
    await delivered(killer, 'dead');
    await eventually(
      () => isBuried(killer),
      (buried) => buried,
    );
    expect(done).not.toContain(proof_id);
  });

  it('that ends with an error counts once', async () => {
    whileProving = () => Promise.reject(new Error('the first time'));
    const id = await proof();
    await delivered(id, 'failed');
    const row = await eventually(
      () => rowOf(id),
      (now) => now!.last_error !== null,
    );
    expect(row).toMatchObject({ failures: 1, last_error: 'the first time' });
  });

  it('that has to be put off does not count, and comes again at its time', async () => {
    whileProving = () => Promise.reject(new PutOff(90, 'another has it'));
    const id = await proof();
    await tried(id, attempts - 1);
    await delivered(id, 'put_off');
    const row = await eventually(
      () => rowOf(id),
      (now) => now!.last_error !== null,
    );
    expect(row).toMatchObject({ failures: attempts - 1, last_error: 'another has it' });
    expect(Math.round((row!.available_at.getTime() - Date.now()) / 30_000)).toBe(3);
  });

  it('that the end of the process breaks off does not count', async () => {
    const id = await proof();
    await tried(id, attempts - 1);
    const begun = new Promise<void>((resolve) => {
      whileProving = ({ signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason as Error));
          resolve();
        });
    });
    const { job, version, payload } = (await rowOf(id))!;
    await outbox.publish([{ id, name: job, version, payload }]);
    await begun;
    await app.close();
    expect(await rowOf(id)).toMatchObject({ failures: attempts - 1, last_error: 'The process is shutting down' });
    app = await boot();
    outbox = app.get(Outbox, { strict: false });
  });
});

describe('the figures of queues', () => {
  const NAMES = ['queue_ready', 'queue_active', 'queue_oldest_ready_seconds'];
  const told = async () => (await Promise.all(NAMES.map((name) => metrics.getSingleMetric(name)!.get()))).map(({ values }) => values);

  it('are none while Redis is away: 0 would say that nothing waits', async () => {
    await database.db.execute(sql('DELETE FROM outbox'));
    expect(await told()).toEqual(NAMES.map(() => [expect.objectContaining({ labels: { queue: 'billing' } })]));
    app.get<Redis>(CommandRedis, { strict: false }).disconnect();
    expect(await told()).toEqual(NAMES.map(() => []));
  });

  it('keep nobody waiting in a worker that has never reached Redis', async () => {
    loadConfig({ ...process.env, REDIS_URL: 'redis://127.0.0.1:1' });
    const cut = await boot();
    expect(await told()).toEqual(NAMES.map(() => []));
    await cut.close();
  });
});
