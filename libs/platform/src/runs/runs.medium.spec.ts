/**
 * It adds a job and a kind of run to those of the product.
 *
 * @alone
 */
import { Injectable, Module } from '@nestjs/common';
import { Test, type TestingModule } from '@nestjs/testing';
import { ENTITIES, MIGRATIONS } from '@aps/entities';
import { IdempotencyModule } from '@aps/platform/idempotency';
import { MaintenanceModule } from '@aps/platform/maintenance';
import { createLogger, metrics, NestLogger } from '@aps/platform/observability';
import { Outbox } from '@aps/platform/outbox';
import { JobHandler, WorkersModule } from '@aps/platform/queues';
import { PlatformModule, ProcessIdentity } from '@aps/platform/runtime';
import { createTestDatabase, eventually, ownersAreBelieved, sql, type TestDatabase } from '@aps/platform/testing';
import type { Client } from 'pg';
import { LeaseEnded, RunLeases, RunOwner, Runs, RunsModule, RunSweeper } from '.';
import { COUNTING_TABLES, CountKind } from './testing/counting';

@Injectable()
class Titles {
  @JobHandler('chat.title')
  async run(): Promise<void> {}
}

@Module({ imports: [RunsModule], providers: [CountKind, Titles] })
class CountModule {}

interface Row {
  status: string;
  steps_done: number;
  deliveries: number;
  parked: boolean;
  lease_owner: string | null;
}

describe('a second kind of run', () => {
  let database: TestDatabase;
  let app: TestingModule;
  let kind: CountKind;
  let org: string;

  beforeAll(async () => {
    const schema = { entities: ENTITIES, migrations: MIGRATIONS };
    database = await createTestDatabase(schema);
    for (const table of COUNTING_TABLES) await database.db.execute(sql(table));
    app = await Test.createTestingModule({
      imports: [
        PlatformModule.forRoot('test', schema),
        IdempotencyModule,
        MaintenanceModule,
        CountModule,
        WorkersModule.forQueues('titles'),
      ],
    })
      .setLogger(new NestLogger(createLogger('test')))
      .compile();
    await app.init();
    kind = app.get(CountKind, { strict: false });
  });
  afterAll(async () => {
    await app?.close();
    await database?.drop();
  });
  beforeEach(() => {
    org = crypto.randomUUID();
    kind.cap = -1;
    kind.before = () => Promise.resolve();
    kind.fail = () => Promise.resolve(null);
  });
  afterEach(() => jest.restoreAllMocks());

  const rowOf = async (id: string): Promise<Row> => (await database.db.query(sql<Row>('SELECT * FROM counts WHERE id = $1'), [id]))[0];
  const ended = (id: string) =>
    eventually(
      () => rowOf(id),
      (row) => !['queued', 'running', 'waiting'].includes(row.status),
    );
  const said = async (id: string): Promise<number[]> =>
    (await database.db.query(sql<{ number: number }>('SELECT number FROM counted WHERE run_id = $1 ORDER BY at'), [id])).map(
      (r) => r.number,
    );
  const left = () => database.db.query(sql('SELECT id FROM outbox'));
  /** The job of a run goes with what ends it; those of runs before it may still be on their way. */
  const nothingLeft = () => eventually(left, (rows) => rows.length === 0);

  it('is counted from when it registers, so that the first that goes wrong is a growth', async () => {
    const names = ['runs_given_up_total', 'lease_expired_total', 'runs_reaped_total'];
    const told = await Promise.all(names.map((name) => metrics.getSingleMetric(name)!.get()));
    expect(told.map(({ values }) => values)).toEqual(names.map(() => [{ labels: { kind: 'count' }, value: 0 }]));
  });

  it('does each of its steps once, and leaves nothing behind', async () => {
    const runs = await Promise.all(Array.from({ length: 40 }, (_, i) => kind.start(org, 1 + (i % 5))));
    for (const [i, id] of runs.entries()) {
      expect(await ended(id)).toMatchObject({ status: 'done', steps_done: 1 + (i % 5), lease_owner: null });
      expect(await said(id)).toEqual(Array.from({ length: 1 + (i % 5) }, (_, n) => n + 1));
    }
    await nothingLeft();
  });

  it('waits without a slot, and goes on when its time has come', async () => {
    kind.cap = 1;
    const [sleeper, other] = [await kind.start(org, 3, 1), await kind.start(org, 1)];
    expect(await ended(other)).toMatchObject({ status: 'done' });
    expect(await ended(sleeper)).toMatchObject({ status: 'done' });
    expect(await said(sleeper)).toEqual([1, 2, 3]);
  });

  it('goes on at once where its wait ends while the delivery that has begun it is still under way', async () => {
    const publishes: number[] = [];
    kind.before = async ({ id }) => {
      const [job] = await database.db.query(sql<{ publishes: number }>('SELECT publishes FROM outbox WHERE id = $1'), [id]);
      publishes.push(job.publishes);
    };
    const beginWait = kind.rows.beginWait.bind(kind.rows);
    jest.spyOn(kind.rows, 'beginWait').mockImplementationOnce(async (db, id) => {
      await beginWait(db, id, { resume_at: null });
      await database.db.transaction({}, (tx) => kind.rows.endWait(tx, id, { org_id: org, run_id: id } as never));
    });
    expect(await ended(await kind.start(org, 2, 1))).toMatchObject({ status: 'done', steps_done: 2 });
    // The relay would have published it a few seconds later.
    expect(publishes).toEqual([0, 0]);
  });

  it('is never at work more often than its cap, and parks the others until a slot is free', async () => {
    kind.cap = 2;
    const counts: number[] = [];
    kind.before = async () => {
      const [{ n }] = await database.db.query(
        sql<{ n: number }>(`SELECT count(*)::int AS n FROM counts WHERE org_id = $1 AND status = 'running'`),
        [org],
      );
      counts.push(n);
    };
    const runs = await Promise.all(Array.from({ length: 8 }, () => kind.start(org, 4)));
    while ((await Promise.all(runs.map(rowOf))).some(({ status }) => status !== 'done'))
      await app.get(RunSweeper, { strict: false }).sweep(kind);
    expect(Math.max(...counts)).toBe(2);
    for (const id of runs) expect(await said(id)).toEqual([1, 2, 3, 4]);
  });

  it('takes a slot that becomes free while it is being parked, when nobody sees it yet', async () => {
    kind.cap = 1;
    jest.spyOn(app.get(RunSweeper, { strict: false }), 'sweep').mockResolvedValue(0);
    let letGo!: () => void;
    const held = new Promise<void>((resolve) => (letGo = resolve));
    kind.before = () => held;
    const first = await kind.start(org, 1);
    await eventually(
      () => rowOf(first),
      ({ status }) => status === 'running',
    );
    const park = kind.park.bind(kind);
    const parking = jest.spyOn(kind, 'park').mockImplementationOnce(async (tx, runs) => {
      letGo();
      expect(await ended(first)).toMatchObject({ status: 'done' });
      await park(tx, runs);
    });
    expect(await ended(await kind.start(org, 1))).toMatchObject({ status: 'done' });
    expect(parking).toHaveBeenCalledTimes(1);
  });

  it('is not taken up by a delivery that was left over while it is parked, and so without a job', async () => {
    kind.cap = 1;
    const nobodyFills = [jest.spyOn(kind.rows, 'fillSlot').mockResolvedValue(), jest.spyOn(kind.rows, 'fillFree').mockResolvedValue(0)];
    let letGo!: () => void;
    const held = new Promise<void>((resolve) => (letGo = resolve));
    kind.before = () => held;
    const first = await kind.start(org, 1);
    await eventually(
      () => rowOf(first),
      ({ status }) => status === 'running',
    );
    const second = await kind.start(org, 3, 1);
    await eventually(
      () => rowOf(second),
      ({ parked }) => parked,
    );
    letGo();
    await ended(first);
    await kind.deliver({ org_id: org, run_id: second } as never, { jobId: second, signal: new AbortController().signal });
    expect(await rowOf(second)).toMatchObject({ status: 'queued', parked: true });
    for (const filling of nobodyFills) filling.mockRestore();
    await app.get(RunSweeper, { strict: false }).sweep(kind);
    expect(await ended(second)).toMatchObject({ status: 'done' });
    expect(await said(second)).toEqual([1, 2, 3]);
  });

  it('keeps the job by which it is begun anew while a delivery that was left over finds that it is over', async () => {
    const id = await kind.start(org, 1);
    await ended(id);
    const claimAhead = kind.claimAhead.bind(kind);
    jest.spyOn(kind, 'claimAhead').mockImplementationOnce(async (claiming) => {
      const answer = await claimAhead(claiming);
      jest.spyOn(app.get(Outbox, { strict: false }), 'publish').mockResolvedValue();
      await database.db.execute(sql(`UPDATE counts SET status = 'queued', wanted = 2 WHERE id = $1`), [id]);
      await database.db.transaction({}, (tx) => kind.rows.dispatch(tx, id, { org_id: org, run_id: id } as never));
      return answer;
    });
    await kind.deliver({ org_id: org, run_id: id } as never, { jobId: id, signal: new AbortController().signal });
    expect(await left()).toEqual([{ id }]);
    jest.restoreAllMocks();
    await database.db.execute(sql('UPDATE outbox SET available_at = now()'));
    expect(await ended(id)).toMatchObject({ status: 'done' });
    expect(await said(id)).toEqual([1, 2]);
  });

  it('has a job again as soon as it needs one, where that is missing', async () => {
    let fails = true;
    kind.before = async ({ id }, number) => {
      await database.db.execute(sql('DELETE FROM outbox WHERE id = $1'), [id]);
      if (number !== 2 || !fails) return;
      fails = false;
      throw new Error('this try failed');
    };
    const id = await kind.start(org, 4, 3);
    expect(await ended(id)).toMatchObject({ status: 'done' });
    expect(await said(id)).toEqual([1, 2, 3, 4]);

    // Whose worker has died before it could say so.
    let isDead = false;
    kind.before = async (run, number) => {
      if (number === 1 || isDead) return;
      await database.db.execute(sql('DELETE FROM outbox WHERE id = $1'), [run.id]);
      await database.db.execute(sql(`UPDATE counts SET lease_expires_at = now() - interval '2 seconds' WHERE id = $1`), [run.id]);
      isDead = true;
      throw new LeaseEnded('lost');
    };
    const another = await kind.start(org, 2);
    await eventually(
      () => Promise.resolve(isDead),
      (died) => died,
    );
    await app.get(RunSweeper, { strict: false }).sweep(kind);
    expect(await ended(another)).toMatchObject({ status: 'done' });
    expect(await said(another)).toEqual([1, 2]);
  });

  it('goes on from its last finished step wherever its worker dies', async () => {
    // Said before any of them begins: runs of 4, 5, 6 and 7 steps die before their first, second, third and fourth.
    const died = new Set<string>();
    kind.before = async (run, number) => {
      if (number !== run.wanted - 3 || died.has(run.id)) return;
      died.add(run.id);
      await database.db.execute(sql(`UPDATE counts SET lease_expires_at = now() - interval '2 seconds' WHERE id = $1`), [run.id]);
      throw new LeaseEnded('lost');
    };
    const runs = await Promise.all([4, 5, 6, 7].map((wanted) => kind.start(org, wanted)));
    await eventually(
      () => Promise.resolve(died.size),
      (n) => n === runs.length,
    );
    await app.get(RunSweeper, { strict: false }).sweep(kind);
    for (const [i, id] of runs.entries()) {
      await ended(id);
      expect(await said(id)).toEqual(Array.from({ length: 4 + i }, (_, n) => n + 1));
    }
  });

  it('whose worker is gone goes on at once', async () => {
    await ownersAreBelieved(database.db);
    const owner = new RunOwner({ id: 'another worker', app: app.get(ProcessIdentity, { strict: false }).app } as ProcessIdentity);
    await owner.named();
    const mine = app.get(RunOwner, { strict: false });
    const [name, dead] = [mine.name, 'another worker'];
    let letGo: (() => void) | undefined;
    const hangs = new Promise<void>((begun) => {
      kind.before = (_, number) =>
        number === 2 && !letGo
          ? new Promise((resolve) => {
              letGo = resolve;
              begun();
            })
          : Promise.resolve();
    });
    mine.name = dead;
    const id = await kind.start(org, 3);
    await hangs;
    mine.name = name;
    owner.beforeApplicationShutdown();
    await (owner as unknown as { session: { client: Client } }).session.client.end();
    expect(await ended(id)).toMatchObject({ status: 'done' });
    // It wakes up, and may write nothing any more.
    letGo!();
    await eventually(
      () => Promise.resolve((app.get(RunLeases, { strict: false }) as unknown as { held: Map<string, unknown> }).held.size),
      (n) => n === 0,
    );
    expect(await said(id)).toEqual([1, 2, 3]);
  });

  it('does nothing that others may do by now, where its process has stood still', async () => {
    const [leases, { db }] = [app.get(RunLeases, { strict: false }), database];
    const heldSince = (ms: number) => {
      const run = { id: crypto.randomUUID(), fence: '1', claimed_at: new Date(db.now().getTime() - ms), committed: Promise.resolve() };
      return leases.hold(kind.rows, run, new AbortController().signal);
    };
    const [fresh, stale] = [heldSince(1_000), heldSince(16_000)];
    expect(() => fresh.requireHeld()).not.toThrow();
    expect(() => stale.requireHeld()).toThrow(LeaseEnded);
    expect(stale.signal.aborted).toBe(true);
    for (const lease of [fresh, stale]) lease.release();
  });

  it('is given up after three deliveries without a finished step', async () => {
    kind.before = () => Promise.reject(new Error('a fault of ours'));
    const id = await kind.start(org, 1);
    const lost = await eventually(
      async () => {
        await database.db.execute(sql('UPDATE outbox SET available_at = now() WHERE id = $1'), [id]);
        return rowOf(id);
      },
      (row) => row.status === 'lost',
    );
    expect(lost).toMatchObject({ deliveries: 3, steps_done: 0 });
    await nothingLeft();
  });

  it('is left to who has taken it, where its owner is about to end it for a fault', async () => {
    const outcomes = async (outcome: string) =>
      (await metrics.getSingleMetric('run_duration_seconds')!.get()).values.find(
        ({ labels, metricName }: { labels: Record<string, unknown>; metricName?: string }) =>
          metricName?.endsWith('_count') && labels.kind === 'count' && labels.outcome === outcome,
      )?.value ?? 0;
    const both = () => Promise.all([outcomes('lost'), outcomes('error')]);
    const [lost, errors] = await both();
    kind.before = () => Promise.reject(new Error('a fault of ours'));
    kind.fail = async (run) => {
      await database.db.execute(sql('UPDATE counts SET fence = fence + 1 WHERE id = $1'), [run.id]);
      await kind.rows.step(database.db, run, () => Promise.resolve(), { status: 'failed', at: database.db.now() });
      return 'failed';
    };
    const id = await kind.start(org, 1);
    await eventually(both, ([lostNow, errorsNow]) => lostNow + errorsNow > lost + errors);
    expect(await both()).toEqual([lost + 1, errors]);
    expect(await rowOf(id)).toMatchObject({ status: 'running', steps_done: 0 });
    await kind.rows.end(database.db, id, { status: 'stopped', error: null, at: database.db.now() });
  });

  it('is given up as soon as the database is back, where it was away when a step broke off', async () => {
    const release = jest.spyOn(kind.rows, 'release');
    for (const why of ['terminated', 'refused']) release.mockRejectedValueOnce(new Error(`Connection ${why}`));
    kind.before = (_, number) => {
      kind.before = () => Promise.resolve();
      return Promise.reject(new Error(`Connection terminated before ${number}`));
    };
    const id = await kind.start(org, 2);
    await eventually(
      async () => {
        await database.db.execute(sql('UPDATE outbox SET available_at = now() WHERE id = $1'), [id]);
        return rowOf(id);
      },
      ({ status }) => status === 'done',
    );
    expect(await said(id)).toEqual([1, 2]);
    expect(release).toHaveBeenCalledTimes(3);
  });

  it('waits while its organization is held', async () => {
    await database.db.execute(sql('INSERT INTO held_orgs VALUES ($1)'), [org]);
    const id = await kind.start(org, 1);
    await eventually(
      () =>
        database.db.query(
          sql<{ later: boolean }>(`SELECT available_at > now() + interval '6 seconds' AS later FROM outbox WHERE id = $1`),
          [id],
        ),
      ([row]) => row.later,
    );
    expect(await rowOf(id)).toMatchObject({ status: 'queued', deliveries: 0 });
    await database.db.execute(sql('DELETE FROM held_orgs'));
    await database.db.execute(sql('UPDATE outbox SET available_at = now() WHERE id = $1'), [id]);
    expect(await ended(id)).toMatchObject({ status: 'done' });
  });

  it('is taken up no more once its organization is gone', async () => {
    await database.db.execute(sql('INSERT INTO held_orgs VALUES ($1, true)'), [org]);
    const id = await kind.start(org, 1);
    await eventually(
      () => database.db.query(sql('SELECT FROM outbox WHERE id = $1'), [id]),
      (jobs) => jobs.length === 0,
    );
    expect(await rowOf(id)).toMatchObject({ status: 'queued', deliveries: 0 });
    await database.db.execute(sql('DELETE FROM held_orgs'));
    await database.db.execute(sql('DELETE FROM counts WHERE id = $1'), [id]);
  });

  it('has waited since a worker could take it up, and not while it was behind another', async () => {
    const waited = async () => Number(/^run_queue_delay_seconds_sum\{kind="count"\} (\S+)/m.exec(await metrics.metrics())?.[1] ?? NaN);
    const before = await waited();
    const held = jest.spyOn(app.get(Runs, { strict: false }), 'run').mockResolvedValue();
    const id = await kind.start(org, 1);
    await eventually(
      () => Promise.resolve(held.mock.calls.length),
      (calls) => calls > 0,
    );
    held.mockRestore();
    await database.db.execute(sql(`UPDATE counts SET dispatched_at = now() - interval '1 hour' WHERE id = $1`), [id]);
    await database.db.execute(sql('UPDATE outbox SET available_at = now() WHERE id = $1'), [id]);
    await ended(id);
    const tookS = (await waited()) - before;
    expect([tookS > 0, tookS < 600]).toEqual([true, true]);
  });

  it('tells how many of them wait, for what and for how long, whatever Redis says', async () => {
    const told = async () => {
      const text = await metrics.metrics();
      const figure = (name: string) => Number(new RegExp(`^${name}\\{kind="count"\\} (\\S+)`, 'm').exec(text)?.[1] ?? NaN);
      return {
        ...{
          ready: figure('runs_ready'),
          oldest: figure('runs_oldest_ready_seconds'),
          stuck: figure('runs_stuck'),
          active: figure('runs_active'),
        },
        ...{ parked: figure('runs_parked'), waiting: figure('runs_waiting'), givenUp: figure('runs_given_up_total') },
      };
    };
    expect((await told()).givenUp).toBe(1);
    // Nothing dispatches what is parked.
    kind.cap = 0;
    jest.spyOn(app.get(Runs, { strict: false }), 'run').mockResolvedValue();
    const change = (id: string, set: string) => database.db.execute(sql(`UPDATE counts SET ${set} WHERE id = $1`), [id]);
    const [ready, handedBack, due, later, forSomebody, active, parked, behind, held, heldAtWork, failing, newer] = await Promise.all(
      Array.from({ length: 12 }, (_, i) => kind.start(i === 8 || i === 9 ? crypto.randomUUID() : org, 1)),
    );
    // More workers would do nothing for them.
    await change(failing, `dispatched_at = now() - interval '1 hour'`);
    await change(newer, `dispatched_at = now() - interval '1 hour'`);
    await database.db.execute(sql(`UPDATE outbox SET created_at = now() - interval '1 hour', failures = 3 WHERE id = $1`), [failing]);
    await database.db.execute(sql(`UPDATE outbox SET created_at = now() - interval '1 hour', version = 99 WHERE id = $1`), [newer]);
    // What it waited behind, for an hour, has been over for 40 seconds.
    await change(ready, `dispatched_at = now() - interval '1 hour'`);
    await database.db.execute(sql(`UPDATE outbox SET created_at = now() - interval '40 seconds' WHERE id = $1`), [ready]);
    await change(
      handedBack,
      `status = 'running', lease_expires_at = now() - interval '20 seconds', dispatched_at = now() - interval '1 hour'`,
    );
    await change(due, `status = 'waiting', wait = jsonb_build_object('resume_at', now() - interval '5 seconds')`);
    await change(later, `status = 'waiting', wait = jsonb_build_object('resume_at', now() + interval '1 hour')`);
    await kind.rows.beginWait(database.db, forSomebody, { resume_at: null });
    await change(active, `status = 'running', lease_owner = 'a worker', lease_expires_at = now() + interval '1 minute'`);
    await kind.rows.park(database.db, [parked]);
    // It will be dispatched when what is before it is over.
    await database.db.execute(sql('DELETE FROM outbox WHERE id = $1'), [behind]);
    await change(heldAtWork, `status = 'running', lease_expires_at = now() - interval '50 seconds'`);
    await database.db.execute(sql('INSERT INTO held_orgs SELECT org_id FROM counts WHERE id = ANY($1)'), [[held, heldAtWork]]);
    const state = await eventually(told, ({ ready: n }) => n === 3);
    expect(state).toMatchObject({ ready: 3, stuck: 2, active: 1, parked: 1, waiting: 3 });
    expect(Math.floor(state.oldest / 20)).toBe(2);
    await database.db.execute(sql('DELETE FROM held_orgs'));
    await database.db.execute(sql('DELETE FROM outbox'));
    await database.db.execute(sql(`DELETE FROM counts WHERE status <> 'done'`));
  });

  it('is claimed by one of those who ask at the same moment', async () => {
    jest.spyOn(app.get(Runs, { strict: false }), 'run').mockResolvedValue();
    const id = await kind.start(org, 1);
    const payload = { org_id: org, run_id: id } as never;
    const claims = await Promise.all(Array.from({ length: 8 }, () => app.get(Runs, { strict: false }).claim(kind, payload)));
    expect(claims.filter(Boolean)).toHaveLength(1);
    expect(await rowOf(id)).toMatchObject({ status: 'running', deliveries: 1 });
  });
});
