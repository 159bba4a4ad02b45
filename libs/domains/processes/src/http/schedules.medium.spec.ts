import { Schedule } from '@aps/entities';
import type { TestOrg } from '@aps/chats/testing';
import { times, type Answer } from '@aps/platform/testing';
import { uuidv7 } from 'uuidv7';
import { runningService } from '../testing/running';

const t = runningService();
let org: TestOrg;
let path: string;
let process: string;
beforeEach(async () => {
  org = await t.org();
  path = `/api/orgs/${org.id}/schedules`;
  process = (await t.deployed(org, [{ id: 'a', kind: 'transform', set: { x: 1 } }], { input_schema: SCHEMA })).id;
});

const SCHEMA = { type: 'object', properties: { region: { type: 'string' } }, required: ['region'] };
const body = (over: object = {}) => ({
  ...{
    name: 'Report',
    target_kind: 'process',
    target_id: process,
    cron: '0 6 1 1 *',
    timezone: 'Europe/Berlin',
    payload: { region: 'north' },
  },
  ...over,
});
const post = (over?: object) => t.call('POST', path, { as: org.owner, body: body(over) });
const make = (over?: object) => t.make('POST', path, { as: org.owner, body: body(over) });
const get = (below = '', as = org.member) => t.make('GET', path + below, { as });
const patch = (id: unknown, change: object) => t.call('PATCH', `${path}/${String(id)}`, { as: org.owner, body: change });
const problems = ({ status, body: answer }: Answer) => [
  status,
  answer.code,
  ...(answer.detail as { loc: unknown[] }[]).map(({ loc }) => loc.join('.')),
];
/** As firings leave it. */
const left = (id: unknown, columns: Omit<Partial<Schedule>, 'payload'>) => t.db.manager.update(Schedule, id as string, columns);

describe('a schedule', () => {
  it('is made of a process, with all that is not said', async () => {
    const made = await make({ payload: { region: 'south' } });
    const { id, created_at, updated_at, next_run_at } = made;
    expect(made).toEqual({
      ...body({ payload: { region: 'south' } }),
      ...{ id, created_at, updated_at, next_run_at, enabled: true, overlap: 'skip', catch_up: 'none', last_run: null },
    });
    expect(next_run_at).toMatch(/^\d{4}-01-01T05:00:00(\.000)?Z$/);
    expect(Date.parse(next_run_at as string)).toBeGreaterThan(Date.now());
    expect(await get(`/${String(id)}`)).toEqual(made);
    expect(await t.audit({ target_id: id as string })).toMatchObject([{ action: 'schedule.created', actor_id: org.owner.id }]);
  });

  it('is made of an agent, with the first message of its chats', async () => {
    const of = { target_kind: 'agent', target_id: org.agentId.toUpperCase(), payload: { content: 'Good morning' }, enabled: false };
    const made = await make({ ...of, overlap: 'queue', catch_up: 'one' });
    expect(made).toMatchObject({ ...of, target_id: org.agentId, overlap: 'queue', catch_up: 'one', next_run_at: null });
  });

  it.each<[string, object, string[]]>([
    ['six fields', { cron: '0 0 6 * * *' }, ['body.cron']],
    ['a nickname', { cron: '@daily' }, ['body.cron']],
    ['a day that never comes', { cron: '0 0 30 2 *' }, ['body.cron']],
    ['no cron', { cron: '' }, ['body.cron']],
    ['an endless one', { cron: `0 ${'1,'.repeat(120)}1 * * *` }, ['body.cron']],
    ['neither cron nor zone', { cron: '61 * * * *', timezone: 'Mars/Phobos' }, ['body.cron', 'body.timezone']],
    ['other words', { overlap: 'maybe', catch_up: 'all', target_kind: 'chat', enabled: 'yes' }, ['body.target_kind', 'body.enabled', 'body.overlap', 'body.catch_up']], // prettier-ignore
    ['null', { payload: null, enabled: null, cron: null }, ['body.cron', 'body.payload', 'body.enabled']],
    ['a long name', { name: 'a'.repeat(201) }, ['body.name']],
    ['an input that does not fit', { payload: { region: 1 } }, ['body.payload.region']],
    ['a list', { payload: [] }, ['body.payload']],
  ])('takes not: %s', async (_, over, expected) => {
    expect(problems(await post(over))).toEqual([422, 'validation_error', ...expected]);
    const { id } = await make();
    expect(problems(await patch(id, over))).toEqual([422, 'validation_error', ...expected]);
    expect((await get()).total).toBe(1);
  });

  it.each<[string, unknown, string[]]>([
    ['nothing', {}, ['body.payload.content']],
    ['no text', { content: '' }, ['body.payload.content']],
    ['another type', { content: { a: 1 } }, ['body.payload.content']],
    ['more than a text', { content: 'a', model: 'x' }, ['body.payload.model']],
    ['too much', { content: 'a'.repeat(100_001) }, ['body.payload.content']],
  ])('says to an agent not: %s', async (_, payload, expected) => {
    expect(problems(await post({ target_kind: 'agent', target_id: org.agentId, payload }))).toEqual([422, 'validation_error', ...expected]);
  });

  it('is of what is there in its organization', async () => {
    const other = await t.org();
    const foreign = await t.deployed(other, []);
    const targets = [
      ...[foreign.id, 'prc_01jd3k5m7n9p1r3s5t7v9w1x3z', 'x', org.agentId].map((target_id) => ({ target_kind: 'process', target_id })),
      ...[other.agentId, uuidv7(), 'x', process].map((target_id) => ({ target_kind: 'agent', target_id, payload: { content: 'a' } })),
    ];
    for (const target of targets) {
      expect(problems(await post(target))).toEqual([422, 'unknown_reference', 'body.target_id']);
      expect(problems(await patch((await make()).id, target))).toEqual([422, 'unknown_reference', 'body.target_id']);
    }
  });

  it('may be of a process of which nothing is deployed yet', async () => {
    const { id } = await t.make('POST', `/api/orgs/${org.id}/processes`, { as: org.owner, body: { name: 'New', title: 'New' } });
    expect((await post({ target_id: id, payload: { any: 'thing' } })).status).toBe(201);
  });

  it('is one of five hundred at most', async () => {
    const { id: _, ...columns } = await t.db.manager.findOneByOrFail(Schedule, { id: (await make()).id as string });
    await times(498, () => t.insert(Schedule, { ...columns, id: uuidv7() }));
    const made = await Promise.all([post(), post(), post()]);
    expect(made.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
    expect(made.find(({ status }) => status === 409)!.body).toMatchObject({ code: 'limit_reached', context: { limit: 500 } });
  });
});

describe('a list of schedules', () => {
  it('has the newest first, in pages, by target', async () => {
    const of = { target_kind: 'agent', target_id: org.agentId, payload: { content: 'a' } };
    const ids: unknown[] = [];
    for (const over of [{}, of, {}]) ids.unshift((await make(over)).id);
    const listed = async (query: string) => {
      const { items, total, next_offset } = await get(query);
      return [(items as { id: string }[]).map(({ id }) => ids.indexOf(id)), total, next_offset];
    };
    expect(await listed('')).toEqual([[0, 1, 2], 3, null]);
    expect(await listed('?limit=2')).toEqual([[0, 1], 3, 2]);
    expect(await listed('?limit=2&offset=2')).toEqual([[2], 3, null]);
    expect(await listed('?target_kind=process')).toEqual([[0, 2], 2, null]);
    expect(await listed(`?target_id=${org.agentId}`)).toEqual([[1], 1, null]);
    expect(await listed(`?target_kind=process&target_id=${org.agentId}`)).toEqual([[], 0, null]);
    expect((await t.call('GET', `${path}?target_kind=chat`, { as: org.member })).status).toBe(422);
  });

  it('has a few at a time, in a page too, where they are large', async () => {
    const ids: unknown[] = [];
    for (let i = 0; i < 6; i++) ids.unshift((await make({ payload: { region: 'x'.repeat(200_000) } })).id);
    const { body, headers } = await t.call('GET', `${path}?limit=5`, { as: org.member });
    expect([(body.items as { id: string }[]).map(({ id }) => id), body.total, body.next_offset]).toEqual([ids.slice(0, 5), 6, 5]);
    expect(headers.has('content-length')).toBe(false);
  });
});

describe('a change of a schedule', () => {
  const soon = new Date('2026-01-01T00:00:00.000Z');

  it('has it fire next as if it were new, where it changes when that is', async () => {
    const { id, next_run_at } = await make();
    for (const change of [{ cron: '0 7 1 1 *' }, { timezone: 'UTC' }, { enabled: false }, { enabled: true }]) {
      await left(id, { next_run_at: soon });
      const { body: changed } = await patch(id, change);
      if ('enabled' in change && !change.enabled) expect(changed.next_run_at).toBeNull();
      else expect(Date.parse(changed.next_run_at as string)).toBeGreaterThan(Date.now());
    }
    const { body: changed } = await patch(id, { cron: '0 6 1 1 *', timezone: 'Europe/Berlin' });
    expect(changed.next_run_at).toBe(next_run_at);
    expect(await t.audit({ target_id: id as string, action: 'schedule.updated' })).toHaveLength(5);
  });

  it('leaves when it fires alone where it changes something else, or nothing', async () => {
    const { id } = await make();
    await left(id, { next_run_at: soon });
    const changes = [
      { name: 'Other' },
      { payload: { region: 'east' } },
      { overlap: 'queue' },
      { catch_up: 'one' },
      { enabled: true },
      {},
      { cron: '0 6 1 1 *' },
    ];
    for (const change of changes) expect((await patch(id, change)).body).toMatchObject({ ...change, next_run_at: soon.toISOString() });
    const audited = await t.audit({ target_id: id as string, action: 'schedule.updated' });
    expect(audited.map(({ metadata }) => metadata)).toEqual([
      { fields: ['name'] },
      { fields: ['payload'] },
      { fields: ['overlap'] },
      { fields: ['catch_up'] },
    ]);
  });

  it('that disables it takes back a firing that waits', async () => {
    const { id } = await make();
    await left(id, { waits_since: soon });
    await patch(id, { enabled: false });
    expect(await t.db.manager.findOneBy(Schedule, { id: id as string })).toMatchObject({ waits_since: null, next_run_at: null });
  });

  it('gives it another target together with what that is given', async () => {
    const { id } = await make();
    const target = { target_kind: 'agent', target_id: org.agentId };
    expect(problems(await patch(id, target))).toEqual([422, 'validation_error', 'body.payload.content', 'body.payload.region']);
    expect((await patch(id, { ...target, payload: { content: 'Hello' } })).body).toMatchObject(target);
  });
});

it('a schedule that is deleted is gone, and told so once', async () => {
  const { id } = await make();
  const remove = () => t.call('DELETE', `${path}/${String(id)}`, { as: org.owner });
  expect([(await remove()).status, (await remove()).status]).toEqual([204, 404]);
  expect(await t.audit({ target_id: id as string, action: 'schedule.deleted' })).toHaveLength(1);
  expect((await get()).items).toEqual([]);
});
