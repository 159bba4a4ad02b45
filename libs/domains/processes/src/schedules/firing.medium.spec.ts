import { SLOW, script, type TestOrg } from '@aps/chats/testing';
import { Chat, ProcessRun, Schedule } from '@aps/entities';
import { metrics } from '@aps/platform/observability';
import { eventually, sql } from '@aps/platform/testing';
import { uuidv7 } from 'uuidv7';
import { ScheduleFiring } from './firing';
import { ScheduleFiringModule } from './schedules.module';
import { runningService, type DeployedProcess } from '../testing/running';

const t = runningService({}, [ScheduleFiringModule]);
let org: TestOrg;
let process: DeployedProcess;
beforeEach(async () => {
  org = await t.org();
  process = await t.deployed(org, WAITS);
});

/** Runs of it are over once they are told so. */
const WAITS = [{ id: 'w', kind: 'wait', event: 'go' }];
const ago = (seconds: number) => new Date(t.db.now().getTime() - seconds * 1_000);

/** A schedule that is due. */
const due = (over: Partial<Schedule> = {}) =>
  t.insert(Schedule, {
    ...{ id: uuidv7(), org_id: org.id, name: 'Report', target_kind: 'process', target_id: process.id, cron: '0 6 1 1 *', timezone: 'UTC' },
    ...{ payload: { n: 1 }, next_run_at: ago(1) },
    ...over,
  } as Schedule);
const again = (id: string, over: Omit<Partial<Schedule>, 'payload'> = {}) =>
  t.db.manager.update(Schedule, id, { next_run_at: ago(1), ...over });
/** As several replicas do that come at the same moment; the service fires as well. */
const fire = () => Promise.all([1, 2, 3].map(() => t.get(ScheduleFiring).fireDue(500)));
const now = (id: string) => t.db.manager.findOneByOrFail(Schedule, { id });
const told = (id: string) => t.make('GET', `/api/orgs/${org.id}/schedules/${id}`, { as: org.member });
const runsOf = (id: string) => t.db.manager.find(ProcessRun, { where: { source_ref_id: id }, order: { id: 'ASC' } });
const chatsOf = (id: string) => t.db.manager.find(Chat, { where: { origin_ref_id: id } });
/** Fires, and waits until nothing is due: whoever has fired it, it is done. */
const fired = async (id: string) => {
  await fire();
  return eventually(
    () => now(id),
    (schedule) => !schedule.next_run_at || schedule.next_run_at.getTime() > t.db.now().getTime(),
  );
};
const end = async (run: string) => {
  await t.waiting(run, 'w');
  await t.signal(org, process, run, 'go');
  return t.ended(run);
};
const suspend = (value: string) => t.db.execute(sql(`UPDATE organizations SET suspended_at = ${value} WHERE id = $1`), [org.id]);

describe('a schedule that is due', () => {
  it('begins one run for all that fire it at once, for nobody in particular', async () => {
    const id = await due();
    const { next_run_at, last_run } = await fired(id);
    const [run, ...others] = await runsOf(id);
    expect(others).toEqual([]);
    expect(run).toMatchObject({ source_kind: 'schedule', source_ref_id: id, user_id: null, label: 'Report', process_id: process.id });
    expect(JSON.parse(run.envelope)).toMatchObject({
      source: { kind: 'schedule', ref_id: id, user_id: null },
      input: { n: 1 },
      message: null,
    });
    expect(next_run_at?.toISOString()).toMatch(/-01-01T06:00:00.000Z$/);
    expect(last_run).toMatchObject({ id: run.id });
    await t.waiting(run.id, 'w');
    expect((await told(id)).last_run).toMatchObject({ id: run.id, status: 'running' });
    await end(run.id);
    expect((await told(id)).last_run).toMatchObject({ id: run.id, status: 'completed' });
  });

  it('begins a chat of its agent, which everyone sees', async () => {
    const id = await due({ target_kind: 'agent', target_id: org.agentId, payload: { content: script({ text: 'Good morning' }) } });
    await fired(id);
    const [chat, ...others] = await chatsOf(id);
    expect(others).toEqual([]);
    expect(chat).toMatchObject({ title: 'Report', created_by: null, origin_kind: 'schedule' });
    await t.settled(org, chat.id, 1);
    const { body } = await t.read(org, chat.id, org.member);
    expect(body).toMatchObject({ origin: { kind: 'schedule', ref_id: id }, created_by: null });
    expect(body.messages.map(({ content }: { content: string }) => content).at(-1)).toBe('Good morning');
    expect((await told(id)).last_run).toMatchObject({ id: chat.id, status: 'ACTIVE' });
  });

  it('is one of a thousand that are due at once, each of which fires once', async () => {
    const plain = await t.deployed(org, [{ id: 'a', kind: 'transform', set: { x: 1 } }]);
    const columns = {
      org_id: org.id,
      name: 'Many',
      target_kind: 'process',
      target_id: plain.id,
      cron: '0 6 1 1 *',
      timezone: 'UTC',
      // Each is asked for once, however long all of them take.
      catch_up: 'one',
    } as const;
    const at = ago(1);
    await t.db.manager.insert(
      Schedule,
      Array.from({ length: 1_000 }, () => ({ ...columns, id: uuidv7(), next_run_at: at })),
    );
    const COUNTS = sql<{ refs: number; runs: number; left: number }>(`
      SELECT (SELECT count(DISTINCT source_ref_id)::int FROM process_runs WHERE process_id = $1) AS refs, (SELECT count(*)::int FROM process_runs WHERE process_id = $1) AS runs,
        (SELECT count(*)::int FROM schedules WHERE target_id = $1 AND next_run_at <= now()) AS left`);
    const counts = async () => (await t.db.query(COUNTS, [plain.id]))[0];
    await eventually(
      async () => (await fire(), counts()),
      ({ left }) => left === 0,
    );
    expect(await counts()).toEqual({ refs: 1_000, runs: 1_000, left: 0 });
  });

  it('is fired by another where a worker dies over it', async () => {
    const id = await due();
    const kill = sql(`SELECT pg_terminate_backend(l.pid) FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
      WHERE NOT l.granted AND a.datname = current_database()`);
    await t.db.manager.transaction(async (held) => {
      // The firing has the row of its schedule, and waits for its process.
      await held.query('SELECT 1 FROM processes WHERE id = $1 FOR UPDATE', [process.id]);
      const dying = fire().catch((error: Error) => error);
      await eventually(
        () => t.db.execute(kill),
        (killed) => killed > 0,
      );
      await dying;
    });
    await fired(id);
    expect(await runsOf(id)).toHaveLength(1);
  });

  it('fires while another one cannot', async () => {
    const broken = await due({ payload: { deep: 'x' }, cron: '* * * * *', timezone: 'Nowhere/Now' });
    const late = await due({ cron: '* * * * *', target_id: 'prc_gone', name: 'No process' });
    const id = await due();
    await fired(id);
    expect(await runsOf(id)).toHaveLength(1);
    expect(await runsOf(broken)).toEqual([]);
    expect((await fired(late)).last_run).toMatchObject({ id: null, status: 'refused:not_deployed' });
    await t.db.manager.delete(Schedule, broken);
  });

  it('is counted by what became of it', async () => {
    const counted = async () => {
      const { values } = await metrics.getSingleMetric('schedule_firings_total')!.get();
      return values.find(({ labels }) => labels.target === 'process' && labels.outcome === 'fired')?.value ?? 0;
    };
    const before = await counted();
    await fired(await due());
    expect(await eventually(counted, (n) => n > before)).toBe(before + 1);
  });

  it('tells how long the first of them is due, for as long as it may fire', async () => {
    const oldest = async () => (await metrics.getSingleMetric('schedule_oldest_due_seconds')!.get()).values[0].value;
    const firing = jest.spyOn(t.get(ScheduleFiring), 'fireDue').mockResolvedValue(0);
    const id = await due({ next_run_at: ago(40) });
    await due({ next_run_at: ago(20) });
    expect(Math.floor((await oldest()) / 20)).toBe(2);
    await suspend('now()');
    expect(await oldest()).toBe(0);
    await suspend('NULL');
    firing.mockRestore();
    await fired(id);
    await eventually(oldest, (seconds) => seconds === 0);
  });
});

describe('a firing while the last one is not over', () => {
  const first = async (overlap: Schedule['overlap'], over: Partial<Schedule> = {}) => {
    const id = await due({ overlap, ...over });
    const { last_run } = await fired(id);
    await again(id);
    return { id, last: last_run!.id!, after: await fired(id) };
  };

  it('is left out by `skip`, and says nothing', async () => {
    const { id, last, after } = await first('skip');
    expect(after).toMatchObject({ last_run: { id: last }, waits_since: null });
    expect(await runsOf(id)).toHaveLength(1);
    await end(last);
    await again(id);
    await fired(id);
    expect(await runsOf(id)).toHaveLength(2);
  });

  it('begins when that is over by `queue`, of several one', async () => {
    const { id, last, after } = await first('queue');
    expect(after).toMatchObject({ last_run: { id: last }, waits_since: expect.any(Date) as Date });
    await again(id);
    expect(await fired(id)).toMatchObject({ waits_since: after.waits_since });
    expect(await runsOf(id)).toHaveLength(1);
    await end(last);
    await fire();
    const next = await eventually(
      () => now(id),
      ({ waits_since }) => waits_since === null,
    );
    expect((await runsOf(id)).map((run) => run.id)).toEqual([last, next.last_run!.id]);
    await fire();
    expect(await runsOf(id)).toHaveLength(2);
  });

  it('begins at once by `allow`', async () => {
    const { id } = await first('allow');
    expect(await runsOf(id)).toHaveLength(2);
  });

  it('waits for a chat until nothing of that runs or waits', async () => {
    const { id, last } = await first('queue', { target_kind: 'agent', target_id: org.agentId, payload: { content: SLOW } });
    expect(await chatsOf(id)).toHaveLength(1);
    await t.call('POST', `${org.path}/${last}/stop`, { as: org.owner });
    await eventually(
      async () => (await fire(), chatsOf(id)),
      (chats) => chats.length === 2,
    );
    expect((await now(id)).waits_since).toBeNull();
    await Promise.all((await chatsOf(id)).map((chat) => t.call('POST', `${org.path}/${chat.id}/stop`, { as: org.owner })));
  });
});

describe('firings that were missed', () => {
  const missed = (late_s = 3_600) => ({ cron: '*/5 * * * *', next_run_at: ago(late_s) });

  it('are left out by `none`, one more than a minute late as well', async () => {
    for (const late of [3_600, 61]) {
      const id = await due(missed(late));
      expect((await fired(id)).last_run).toBeNull();
      expect(await runsOf(id)).toEqual([]);
    }
    const id = await due(missed(30));
    await fired(id);
    expect(await runsOf(id)).toHaveLength(1);
  });

  it('are made up for by `one`, together', async () => {
    const id = await due({ ...missed(), catch_up: 'one' });
    await fired(id);
    await fire();
    expect(await runsOf(id)).toHaveLength(1);
  });

  it.each([
    ['none', 0],
    ['one', 1],
  ] as const)('by an organization that was suspended are dealt with by `%s`, once it is not', async (catch_up, runs) => {
    await suspend('now()');
    const id = await due({ ...missed(), catch_up });
    const waiting = await due({ overlap: 'queue', waits_since: ago(10), next_run_at: null });
    await fire();
    expect((await now(id)).next_run_at!.getTime()).toBeLessThan(t.db.now().getTime());
    expect([...(await runsOf(id)), ...(await runsOf(waiting))]).toEqual([]);
    await suspend('NULL');
    await fired(id);
    expect(await runsOf(id)).toHaveLength(runs);
    await eventually(
      () => runsOf(waiting),
      (begun) => begun.length === 1,
    );
  });
});

describe('a firing that nothing can be begun by', () => {
  it('says why, and the next one comes', async () => {
    const strict = await t.deployed(org, WAITS, { input_schema: { type: 'object', required: ['region'] } });
    const full = await t.deployed(org, WAITS, { concurrency: { key: 'all', limit: 1, strategy: 'reject' } });
    const keyed = await t.deployed(org, WAITS, { concurrency: { key: '${input.customer}', limit: 1, strategy: 'queue' } });
    await t.begin(org, full);
    for (const [target, code] of [
      [strict, 'validation_error'],
      [full, 'concurrency_limit'],
      [keyed, 'validation_error'],
    ] as const) {
      const id = await due({ target_id: target.id });
      expect((await fired(id)).last_run).toMatchObject({ id: null, status: `refused:${code}` });
      expect((await told(id)).last_run).toMatchObject({ id: null, status: `refused:${code}` });
      expect(await runsOf(id)).toEqual([]);
    }
  });

  it.each(['process', 'agent'] as const)('is none any more once its %s is deleted', async (kind) => {
    const agent = { target_kind: 'agent', target_id: org.agentId, payload: { content: 'Hello' } } as const;
    const id = await due({ ...(kind === 'agent' && agent), next_run_at: ago(-3_600), waits_since: null });
    const below = kind === 'agent' ? `agents/${org.agentId}` : `processes/${process.id}`;
    await t.make('DELETE', `/api/orgs/${org.id}/${below}`, { as: org.owner });
    expect(await told(id)).toMatchObject({ enabled: false, next_run_at: null, last_run: { id: null, status: 'refused:target_deleted' } });
    const { status, body } = await t.call('PATCH', `/api/orgs/${org.id}/schedules/${id}`, { as: org.owner, body: { enabled: true } });
    expect([status, body.code]).toEqual([422, 'unknown_reference']);
  });
});
