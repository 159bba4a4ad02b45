import { BillingModule } from '@aps/billing';
import { entitle, entitleAsBefore } from '@aps/billing/testing';
import { LIST_TALLY, ProcessAgentCall, ProcessLlmCall, ProcessRepair, ProcessRun, ProcessStepRow } from '@aps/entities';
import { OrgScope } from '@aps/guards';
import { InferenceModule } from '@aps/inference';
import { anOrg, aTeam, type TestTeam } from '@aps/orgs/testing';
import { FEW } from '@aps/platform/database';
import type { Answer } from '@aps/platform/testing';
import { BASE_MODULES, foldTally, recountTally, sumsOf, testService } from '@aps/testing';
import { In } from 'typeorm';
import { uuidv7 } from 'uuidv7';
import { RunsQueries } from '../reading/runs.queries';
import { aProcess, aRevision, aRun, tell } from '../testing';
import { ProcessesHttpModule } from '.';

const t = testService([...BASE_MODULES, BillingModule, InferenceModule, ProcessesHttpModule]);
let org: TestTeam;
let process: string;
let revision: Answer['body'];
let path: string;
beforeEach(async () => {
  await entitleAsBefore(t);
  org = await aTeam(t);
  process = (await aProcess(t, org)).id as string;
  revision = await aRevision(t, org, process);
  path = `${org.path}/processes/${process}/runs`;
});

const run = (over: Partial<ProcessRun> = {}) => aRun(t, org, revision, over);
const get = (below = '') => t.make('GET', path + below, { as: org.member });
const ids = (page: Answer['body']) => (page.items as { id: string }[]).map(({ id }) => id);
const DONE = { status: 'completed' as const, started_at: new Date('2026-11-20T09:30:00Z'), finished_at: new Date('2026-11-20T09:31:00Z') };
const COSTS = { cost_usd: '0.001200', cost_credits: '0.5000' };
const TOKENS = { input: 10, cached_input: 0, cache_write: 0, output: 5, reasoning: 0 };

/** A row of each ledger of a run. */
const ledgers = async (run_id: string) => {
  const of = { org_id: org.id, run_id, step_id: 'one', path: 'each/0/one', tokens: TOKENS, ...COSTS };
  const messages = { request_messages: [{ role: 'user', content: 'hi' }], response_messages: [{ role: 'assistant', content: 'ho' }] };
  const llm = { ...of, model_requested: null, model_resolved: 'mock', route: 'mock', duration_ms: 9, status: 'succeeded' as const };
  return {
    'llm-calls': await t.insert(ProcessLlmCall, { ...llm, ...messages }),
    'agent-calls': await t.insert(ProcessAgentCall, { ...of, kind: 'turn', turn_no: 1, status: 'failed', messages: ['m'], result: 7 }),
    repairs: await t.insert(ProcessRepair, { ...of, tool_slug: 'crm', attempt: 1, error: 'no', fixable: true, payload_diff: [{ op: 'add', path: '/a', value: 1 }], request: 'q', response: null }), // prettier-ignore
  };
};

describe('runs of a process', () => {
  it('are listed newest first, all or of a status, with a total of each', async () => {
    const first = await run();
    const second = await run({ ...DONE, label: 'Second' });
    const third = await run({ asks_human: true, status: 'waiting', started_at: new Date() });
    expect(await get()).toMatchObject({ total: 3, next_offset: null, items: [{ id: third }, { id: second }, { id: first }] });
    expect(await get('?limit=1&offset=1')).toMatchObject({ total: 3, next_offset: 2, items: [{ id: second, label: 'Second' }] });
    for (const [status, found] of Object.entries({ queued: [first], completed: [second], waiting_human: [third], running: [], failed: [] }))
      expect([status, await get(`?status=${status}`)]).toMatchObject([status, { total: found.length, items: found.map((id) => ({ id, status })) }]); // prettier-ignore
    // What a run is follows from columns that are written; its total moves with it.
    await t.db.manager.update(ProcessRun, third, { asks_human: false });
    await t.db.manager.update(ProcessRun, first, { status: 'failed', finished_at: new Date() });
    expect(await get('?status=running')).toMatchObject({ total: 1, items: [{ id: third }] });
    expect([await get('?status=queued'), await get('?status=failed'), await get('?status=waiting_human')]).toMatchObject([
      ...[{ total: 0 }, { total: 1 }, { total: 0 }],
    ]);
    const other = (await aProcess(t, org)).id as string;
    expect(await t.make('GET', `${org.path}/processes/${other}/runs`, { as: org.member })).toEqual({ items: [], total: 0, next_offset: null }); // prettier-ignore
    expect((await t.call('GET', `${path}?status=waiting`, { as: org.member })).status).toBe(422);
  });

  it('are listed a few at a time, in a page too, where they are large', async () => {
    const all: string[] = [];
    for (let i = 0; i < 9; i++) all.unshift(await run());
    const listed = async (query: string) => {
      const { body, headers } = await t.call('GET', path + query, { as: org.member });
      return [ids(body), body.total, body.next_offset, headers.has('content-length')];
    };
    expect(await listed('?limit=7')).toEqual([all.slice(0, 7), 9, 7, true]);
    await t.db.manager.update(ProcessRun, { id: In(all) }, { output: 'x'.repeat(300_000) });
    expect(await listed('?limit=7')).toEqual([all.slice(0, 7), 9, 7, false]);
    expect(await listed('?limit=7&offset=1')).toEqual([all.slice(1, 8), 9, 8, false]);
    expect(await listed('?limit=7&offset=2')).toEqual([all.slice(2), 9, null, false]);
    expect(await listed('?limit=4&offset=2')).toEqual([all.slice(2, 6), 9, 6, true]);
    expect(await listed('?status=queued')).toEqual([all, 9, null, false]);
  });

  it('have totals that are what counting them anew gives', async () => {
    const id = await run();
    await ledgers(id);
    await run(DONE);
    await t.db.manager.update(ProcessRun, id, { status: 'running', started_at: new Date() });
    const before = await sumsOf(t.db, LIST_TALLY);
    while (await foldTally(t.db, LIST_TALLY));
    expect(await sumsOf(t.db, LIST_TALLY)).toEqual(before);
    await recountTally(t.db, LIST_TALLY);
    expect(await sumsOf(t.db, LIST_TALLY)).toEqual(before);
  });

  it('tell all of themselves, and their steps in the order in which they were begun', async () => {
    const parent = await run(DONE);
    const id = await run({
      ...{ status: 'waiting', started_at: new Date('2026-11-20T09:30:00Z'), wait: { resume_at: '2026-11-20T10:00:00.000Z' } },
      ...{ parent_run_id: parent, root_run_id: parent, label: 'L', budget_credits: '5.000', ...COSTS, restarted_from: parent },
      envelope:
        '{"id":"x","source":{"kind":"restart","ref_id":"r","user_id":null},"received_at":"2026-11-20T09:29:00.000Z","input":{"b":1,"a":2},"attachments":[],"message":null}',
    });
    const step = { org_id: org.id, run_id: id, step_id: 'one', kind: 'llm', attempt: 1, started_at: new Date('2026-11-20T09:30:00Z') };
    await t.insert(ProcessStepRow, { ...step, seq: 2, path: 'a', status: 'waiting', waiting_until: new Date('2026-11-20T10:00:00Z') });
    const error = { code: 'timeout', message: 'Too late', retryable: true };
    await t.insert(ProcessStepRow, { ...step, seq: 1, path: 'z/0/one', parent_path: 'z', status: 'failed', error, input: { x: 1 }, output: 0, note: 'copied' }); // prettier-ignore
    const { steps, ...shown } = await get(`/${id}`);
    expect(shown).toEqual({
      ...{ id, process_id: process, revision_id: revision.id, revision: { id: revision.id, version: 1 }, status: 'running', label: 'L' },
      envelope: { id: 'x', source: { kind: 'restart', ref_id: 'r', user_id: null }, received_at: '2026-11-20T09:29:00.000Z', input: { b: 1, a: 2 }, attachments: [], message: null }, // prettier-ignore
      ...{ output: null, error: null, flag_reason: null, restarted_from: parent, parent_run_id: parent, root_run_id: parent },
      ...{ budget_credits: '5', cost_usd: '0.0012', cost_credits: '0.5', started_at: '2026-11-20T09:30:00.000Z', finished_at: null },
      ...{ waiting_until: '2026-11-20T10:00:00.000Z', created_at: shown.created_at, updated_at: shown.updated_at },
    });
    const none = { child_run_id: null, chat_id: null, hitl_request_id: null, finished_at: null, started_at: '2026-11-20T09:30:00.000Z' };
    const common = { id: expect.any(String) as string, step_id: 'one', kind: 'llm', attempt: 1, ...none };
    expect(steps).toEqual([
      { ...common, path: 'z/0/one', parent_path: 'z', status: 'failed', input: { x: 1 }, output: 0, error, waiting_until: null, note: 'copied' }, // prettier-ignore
      { ...common, path: 'a', parent_path: null, status: 'waiting', input: null, output: null, error: null, waiting_until: '2026-11-20T10:00:00.000Z', note: null }, // prettier-ignore
    ]);
    expect((await get()).items).toContainEqual(shown);
  });

  it('are told with all their steps, of which few are held at a time where they are large', async () => {
    const id = await run();
    const step = {
      output: 'x'.repeat(60_000),
      org_id: org.id,
      run_id: id,
      step_id: 'one',
      kind: 'llm',
      attempt: 1,
      status: 'completed',
      started_at: new Date(),
    } as const;
    const seqs = Array.from({ length: 5 * FEW + 1 }, (_, i) => i + 1);
    for (const seq of [...seqs].reverse()) await t.insert(ProcessStepRow, { ...step, seq, path: `l/${seq}/one` });
    const { steps } = await t.get(RunsQueries).get(OrgScope.system(org.id, 'spec'), process, id);
    expect([steps.items.length, typeof steps.rest]).toEqual([FEW, 'object']);
    expect((await get(`/${id}`)).steps.map(({ path }: { path: string }) => path)).toEqual(seqs.map((seq) => `l/${seq}/one`));
  });

  it('show no dollars where the organization pays in credits', async () => {
    const id = await run(COSTS);
    const rows = await ledgers(id);
    const costs = async () => {
      const bodies = [await get(`/${id}`), ((await get()).items as Answer['body'][])[0]];
      for (const [ledger, call] of Object.entries(rows))
        bodies.push(await get(`/${id}/${ledger}/${call}`), ((await get(`/${id}/${ledger}`)).items as Answer['body'][])[0]);
      return new Set(bodies.map(({ cost_usd, cost_credits }) => `${String(cost_usd)} ${String(cost_credits)}`));
    };
    await entitle(t, { enforces_credits: false });
    expect(await costs()).toEqual(new Set(['0.0012 0.5']));
    await entitle(t, { enforces_credits: true });
    expect(await costs()).toEqual(new Set(['null 0.5']));
  });

  it('are those of their process and organization alone, and gone with it', async () => {
    const id = await run();
    const rows = await ledgers(id);
    const stranger = await anOrg(t);
    const theirs = (await aProcess(t, stranger)).id as string;
    const foreign = await aRun(t, stranger, await aRevision(t, stranger, theirs));
    const other = (await aProcess(t, org)).id as string;
    const below = ['', '/events', ...Object.entries(rows).flatMap(([ledger, call]) => [`/${ledger}`, `/${ledger}/${call}`])];
    const statuses = async (of: string, runId: string) =>
      new Set(await Promise.all(below.map(async (end) => (await t.call('GET', `${org.path}/processes/${of}/runs/${runId}${end}`, { as: org.owner })).status))); // prettier-ignore
    expect(await statuses(process, id)).toEqual(new Set([200]));
    for (const [of, runId] of [
      [other, id],
      [process, foreign],
      [theirs, foreign],
      [process, uuidv7()],
    ])
      // prettier-ignore
      expect([of, await statuses(of, runId)]).toEqual([of, new Set([404])]);
    const second = await run();
    for (const [ledger, call] of Object.entries(rows))
      expect((await t.call('GET', `${path}/${second}/${ledger}/${call}`, { as: org.owner })).status).toBe(404);
    expect((await t.call('GET', `${path}/x`, { as: org.owner })).status).toBe(422);
    await t.make('DELETE', `${org.path}/processes/${process}`, { as: org.owner });
    expect(await statuses(process, id)).toEqual(new Set([404]));
    expect((await t.call('GET', path, { as: org.owner })).status).toBe(404);
  });
});

describe('the ledgers of a run', () => {
  it('list without what is long, oldest first, and tell all of each', async () => {
    const id = await run();
    const rows = await ledgers(id);
    await ledgers(id);
    const common = { step_id: 'one', path: 'each/0/one', tokens: TOKENS, cost_usd: '0.0012', cost_credits: '0.5', created_at: expect.any(String) as string }; // prettier-ignore
    const light = {
      'llm-calls': { model_requested: null, model_resolved: 'mock', route: 'mock', duration_ms: 9, status: 'succeeded' },
      'agent-calls': { kind: 'turn', chat_id: null, turn_id: null, turn_no: 1, status: 'failed' },
      repairs: {
        tool_slug: 'crm',
        attempt: 1,
        error: 'no',
        fixable: true,
        reason: null,
        payload_diff: [{ op: 'add', path: '/a', value: 1 }],
      },
    };
    const long = {
      'llm-calls': { request_messages: [{ role: 'user', content: 'hi' }], response_messages: [{ role: 'assistant', content: 'ho' }], tools: [], error: null }, // prettier-ignore
      'agent-calls': { messages: ['m'], result: 7 },
      repairs: { request: 'q', response: null },
    };
    for (const ledger of ['llm-calls', 'agent-calls', 'repairs'] as const) {
      const page = await get(`/${id}/${ledger}?limit=1`);
      expect(page).toEqual({ items: [{ id: rows[ledger], ...common, ...light[ledger] }], total: 2, next_offset: 1 });
      expect(ids(await get(`/${id}/${ledger}?offset=1`))).toHaveLength(1);
      expect(await get(`/${id}/${ledger}/${rows[ledger]}`)).toEqual({ id: rows[ledger], ...common, ...light[ledger], ...long[ledger] });
    }
  });
});

describe('the events of a run', () => {
  it('are listed oldest first by their numbers', async () => {
    const id = await run();
    expect(await get(`/${id}/events`)).toEqual({ items: [], total: 0, next_offset: null });
    await tell(
      ...([t, org, id] as const),
      { type: 'run_updated', data: { event: 'run_created' } },
      { type: 'step_updated', data: { event: 'step_started', step_id: 'one', path: 'each/0/one', kind: 'llm', attempt: 1 } },
      { type: 'hitl_requested', data: { event: 'human_requested', step_id: 'ok', path: 'ok', kind: 'human', request: { id: 'r' } } },
    );
    const created_at = expect.any(String) as string;
    const events = [
      { id: '1', seq: 1, type: 'run_created', step_id: null, path: null, created_at, metadata: {} },
      { id: '2', seq: 2, type: 'step_started', step_id: 'one', path: 'each/0/one', created_at, metadata: { kind: 'llm', attempt: 1 } },
      {
        id: '3',
        seq: 3,
        type: 'human_requested',
        step_id: 'ok',
        path: 'ok',
        created_at,
        metadata: { kind: 'human', request: { id: 'r' } },
      },
    ];
    expect(await get(`/${id}/events`)).toEqual({ items: events, total: 3, next_offset: null });
    expect(await get(`/${id}/events?limit=1&offset=1`)).toEqual({ items: [events[1]], total: 3, next_offset: 2 });
    expect(await get(`/${id}/events?limit=2&offset=1`)).toEqual({ items: [events[1], events[2]], total: 3, next_offset: null });
    expect(await get(`/${id}/events?limit=2&offset=7`)).toEqual({ items: [], total: 3, next_offset: null });
  });

  it('are all told where nobody asks for pages', async () => {
    const id = await run();
    await tell(t, org, id, ...Array.from({ length: 130 }, (_, n) => ({ type: 'step_updated', data: { event: 'step_started', step_id: 's', path: `${n}` } }))); // prettier-ignore
    const { items, total } = await get(`/${id}/events?offset=5`);
    expect([total, (items as { seq: number }[]).map(({ seq }) => seq)]).toEqual([130, Array.from({ length: 125 }, (_, n) => n + 6)]);
  });
});
