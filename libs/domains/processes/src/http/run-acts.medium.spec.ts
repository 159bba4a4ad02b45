import type { TestOrg } from '@aps/chats/testing';
import { HitlRequest } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { FilesHttpModule } from '@aps/files/http';
import { NO_CALLER } from '@aps/platform/database';
import { eventually, fileForm, sql } from '@aps/platform/testing';
import { PromptsService } from '@aps/prompts';
import { uuidv7 } from 'uuidv7';
import { RunReviews } from '../reviews/run-reviews.service';
import { SURROUNDINGS } from '../reviews/run-reviews.sql';
import { Cancellation } from '../engine/cancellation';
import { JournalRepository } from '../engine/journal.repository';
import { runningService, type DeployedProcess } from '../testing/running';

const t = runningService({}, [FilesHttpModule]);
let org: TestOrg;
beforeEach(async () => {
  org = await t.org();
});

const of = ({ id }: DeployedProcess) => `/api/orgs/${org.id}/processes/${id}`;
const post = (path: string, body?: object, as = org.member) => t.call('POST', path, { as, body });
const get = async (path: string, as = org.member) => (await t.call('GET', path, { as })).body;
const deploy = async (process: DeployedProcess, definition: object) => {
  const pushed = await t.make('POST', `${of(process)}/revisions`, { as: org.owner, body: { definition } });
  await t.make('POST', `${of(process)}/revisions/${pushed.id as string}/deploy`, { as: org.owner });
  return pushed;
};
const waits = [{ id: 'go', kind: 'wait', event: 'go' }];
const asks = (assignees: string[] = []) => [{ id: 'ok', kind: 'human', prompt: 'Well?', assignees }];
const SIZED = {
  type: 'object',
  properties: { n: { type: 'integer', minimum: 1 }, at: { type: 'string', format: 'date' } },
  required: ['n'],
};

describe('a run', () => {
  it('is begun by any member, and by the same key once', async () => {
    const process = await t.deployed(org, waits, { input_schema: SIZED });
    const body = { input: { n: 1, at: '2026-02-28' }, label: 'L', idempotency_key: 'k', budget_credits: 2.5 };
    const runs = `${of(process)}/runs`;
    const answers = await Promise.all([post(runs, body), post(runs, body), post(runs, body)]);
    const { body: run } = answers[0];
    expect(answers.map(({ status, body: { id } }) => [status, id])).toEqual(Array(3).fill([201, run.id]));
    expect(answers.filter(({ headers }) => headers.get('idempotency-replayed') === 'true')).toHaveLength(2);
    expect(run).toMatchObject({
      ...{ process_id: process.id, revision: { id: process.revision_id }, status: 'queued', label: 'L', budget_credits: '2.5' },
      envelope: { source: { kind: 'api', ref_id: null, user_id: org.member.id }, input: body.input, attachments: [], message: null },
    });
    const other = await post(runs, { ...body, input: { n: 2 } });
    expect([other.status, other.body]).toMatchObject([422, { code: 'idempotency_mismatch' }]);
    // A key is one process's.
    expect((await post(`${of(await t.deployed(org, waits))}/runs`, body)).body.id).not.toBe(run.id);
  });

  it('is not begun without a deployed revision, nor with what does not fit; all of that is told at once', async () => {
    const draft = await t.make('POST', `/api/orgs/${org.id}/processes`, {
      as: org.owner,
      body: { name: 'P', title: 'P', description: null },
    });
    const none = await post(`/api/orgs/${org.id}/processes/${draft.id as string}/runs`, { input: {} });
    expect([none.status, none.body.code]).toEqual([409, 'not_deployed']);
    const runs = `${of(await t.deployed(org, waits, { input_schema: SIZED }))}/runs`;
    const misfit = await post(runs, { input: { n: 0, at: 'tomorrow' } });
    expect([misfit.status, misfit.body.detail.map(({ loc }: { loc: string[] }) => loc)]).toEqual([
      422,
      [
        ['body', 'input', 'n'],
        ['body', 'input', 'at'],
      ],
    ]);
    const stray = { input: { n: 1 }, attachments: [{ file_id: uuidv7() }] };
    expect(await post(runs, stray)).toMatchObject({ status: 422, body: { code: 'unknown_reference' } });
    for (const wrong of [
      {},
      { input: [] },
      { input: { n: 1 }, label: '' },
      { input: { n: 1 }, budget_credits: 0 },
      { input: { n: 1 }, attachments: [{}] },
    ])
      expect([wrong, (await post(runs, wrong)).status]).toEqual([wrong, 422]);
    expect((await get(runs)).total).toBe(0);
  });

  it('has its files by the names that it was begun with, and by their own', async () => {
    const process = await t.deployed(org, waits);
    const upload = { as: org.member, body: fileForm('word', 'own.txt', 'text/plain') };
    const { file_id } = (await t.call('POST', `/api/orgs/${org.id}/uploads`, upload)).body;
    const start = (filename: string) =>
      post(`${of(process)}/runs`, { input: {}, attachments: [{ file_id, filename }, { file_id }], idempotency_key: 'k' });
    const { body } = await start('given.txt');
    expect(body.envelope.attachments).toMatchObject([
      { file_id, filename: 'given.txt', media_type: 'text/plain' },
      { file_id, filename: 'own.txt' },
    ]);
    expect((await start('given.txt')).body.id).toBe(body.id);
    expect((await start('other.txt')).body.code).toBe('idempotency_mismatch');
  });

  it('is told something by its name, cancelled once, and done again when it is over', async () => {
    const process = await t.deployed(org, waits, { output: '${steps.go.output}' });
    const runs = `${of(process)}/runs`;
    const [told, left] = [await t.begin(org, process), await t.begin(org, process)];
    const signal = await post(`${runs}/${told}/signal`, { name: 'go', payload: [0] });
    expect([signal.status, signal.body]).toEqual([
      202,
      { id: expect.any(String) as string, run_id: told, name: 'go', created_at: expect.any(String) as string },
    ]);
    expect(await t.ended(told)).toMatchObject({ status: 'completed', output: [0] });
    expect(await post(`${runs}/${told}/signal`, { name: 'go' })).toMatchObject({ status: 409, body: { code: 'run_terminal' } });
    expect((await post(`${runs}/${left}/signal`, {})).status).toBe(422);

    expect(await post(`${runs}/${left}/restart`)).toMatchObject({ status: 409, body: { code: 'run_not_terminal' } });
    const cancel = (id: string) => post(`${runs}/${id}/cancel`);
    expect(await cancel(left)).toMatchObject({ status: 200, body: { run_id: left, cancelled: true, status: 'cancelled' } });
    expect(await cancel(left)).toMatchObject({ status: 200, body: { run_id: left, cancelled: false, status: 'cancelled' } });
    expect(await cancel(told)).toMatchObject({ status: 200, body: { run_id: told, cancelled: false, status: 'completed' } });

    const again = await post(`${runs}/${left}/restart`);
    expect([again.status, again.body]).toMatchObject([
      201,
      { restarted_from: left, envelope: { source: { kind: 'restart', ref_id: left } } },
    ]);
    expect((await post(`${runs}/${left}/restart`, { from_step: 'nowhere' })).status).toBe(422);
  });

  it('is done again on what is deployed now, as a whole', async () => {
    const process = await t.deployed(org, [{ id: 'say', kind: 'transform', set: { x: 1 } }], { output: '${vars.x}' });
    const before = await t.begin(org, process);
    expect(await t.ended(before)).toMatchObject({ output: 1, revision_version: 1 });
    const definition = { schema_version: 1, steps: [{ id: 'say', kind: 'transform', set: { x: 2 } }], output: '${vars.x}' };
    const pushed = await deploy(process, definition);
    const restart = (body?: object) => post(`${of(process)}/runs/${before}/restart`, body);
    expect(await restart({ from_step: 'say' })).toMatchObject({ status: 409, body: { code: 'revision_changed' } });
    const { body: again } = await restart();
    expect(await t.ended(again.id as string)).toMatchObject({ output: 2, revision_id: pushed.id });
    // What runs keeps what it was begun with.
    expect(await t.run(before)).toMatchObject({ output: 1, revision_id: process.revision_id });
  });
});

describe('the budget of a run', () => {
  const steps = [{ id: 'say', kind: 'transform', set: { x: 1 } }];

  it.each([
    [undefined, '1', '100'],
    ['50', '1', '50'],
    ['0.5', '0.5', '0.5'],
  ])(
    'is the lower of what its caller and its definition allow, also when it is done again on another (%s)',
    async (asked, before, after) => {
      const process = await t.deployed(org, steps, { limits: { max_credits: '1' } });
      const { body: run } = await post(`${of(process)}/runs`, { input: {}, budget_credits: asked });
      await t.ended(run.id as string);
      await deploy(process, { schema_version: 1, steps, limits: { max_credits: '100' } });
      const { body: again } = await post(`${of(process)}/runs/${run.id}/restart`);
      expect([run.budget_credits, again.budget_credits]).toEqual([before, after]);
    },
  );
});

describe('a deleted process', () => {
  it('takes its live runs with it, and what they have begun; what is over stays as it was', async () => {
    const child = await t.deployed(org, asks());
    const steps = [
      {
        id: 'way',
        kind: 'branch',
        branches: [{ when: 'input.done', steps: [] }],
        else: [{ id: 'sub', kind: 'process', process: child.id }],
      },
    ];
    const process = await t.deployed(org, steps);
    const [over, live] = [await t.begin(org, process, { done: true }), await t.begin(org, process, { done: false })];
    await t.ended(over);
    const { child_run_id } = (await t.waiting(live, 'way/else/sub')).steps.find(({ path }) => path === 'way/else/sub')!;
    const question = (await t.waiting(child_run_id!, 'ok')).steps[0].hitl_request_id!;
    await t.make('DELETE', of(process), { as: org.owner });
    expect([await t.run(over), await t.run(live), await t.run(child_run_id!)]).toMatchObject([
      { status: 'completed' },
      { status: 'cancelled' },
      { status: 'cancelled' },
    ]);
    expect(await get(`/api/orgs/${org.id}/hitl-requests/${question}`)).toMatchObject({ status: 'cancelled' });
    for (const path of ['', '/revisions', '/runs', `/runs/${live}`])
      expect((await t.call('GET', of(process) + path, { as: org.owner })).status).toBe(404);
    expect((await t.call('DELETE', of(process), { as: org.owner })).status).toBe(404);
    const audited = await t.audit({ target_id: process.id });
    expect(audited.map(({ action }) => action)).toEqual(['process.deleted']);
  });

  it('takes with it what its runs have asked, be it answered or not', async () => {
    const process = await t.deployed(org, asks([`user:${org.member.id}`]));
    const runs = [await t.begin(org, process), await t.begin(org, process)];
    const requests: string[] = [];
    for (const id of runs) requests.push((await t.waiting(id, 'ok')).steps[0].hitl_request_id!);
    const path = `/api/orgs/${org.id}/hitl-requests`;
    await post(`${path}/${requests[0]}/answer`, { decision: 'reject' });
    await t.ended(runs[0]);
    expect(await get(path)).toMatchObject({ total: 2 });
    await t.make('DELETE', of(process), { as: org.owner });
    for (const as of [org.owner, org.member]) {
      expect(await get(path, as)).toMatchObject({ total: 0, items: [] });
      for (const id of requests) expect((await t.call('GET', `${path}/${id}`, { as })).status).toBe(404);
    }
  });
});

describe('a process that is deleted with many live runs', () => {
  /** Runs that wait behind the newest one of its key, as if each had been begun. */
  const COPIES = sql(`
    INSERT INTO process_runs SELECT (jsonb_populate_record(r, jsonb_build_object('id', n.id, 'root_run_id', n.id, 'event_seq', 0))).*
    FROM process_runs r, (SELECT gen_random_uuid() AS id FROM generate_series(1, $2)) n WHERE r.id = $1`);
  const RUNS = sql<{ n: number; begun: number; live: number; gaps: number }>(`
    SELECT count(*)::int AS n, count(r.started_at)::int AS begun, (count(*) FILTER (WHERE r.finished_at IS NULL))::int AS live,
      (count(*) FILTER (WHERE r.event_seq <> e.n OR e.last IS DISTINCT FROM r.event_seq))::int AS gaps
    FROM process_runs r CROSS JOIN LATERAL (SELECT count(*) AS n, coalesce(max(seq), 0) AS last FROM events WHERE topic = 'run:' || r.id) e WHERE r.process_id = $1`);
  const JOBS = sql<{ n: number }>(
    `SELECT count(*)::int AS n FROM outbox WHERE payload->>'process_id' = $1 OR payload->>'run_id' IN (SELECT id::text FROM process_runs WHERE process_id = $1)`,
  );

  it('ends them in parts, though one breaks off; none of them begins meanwhile', async () => {
    const process = await t.deployed(org, asks(), { concurrency: { key: 'one', limit: 1, strategy: 'queue' } });
    const [first, second] = [await t.begin(org, process), await t.begin(org, process)];
    const question = (await t.waiting(first, 'ok')).steps[0].hitl_request_id!;
    await t.db.execute(COPIES, [second, 500]);
    const cancellation = t.get(Cancellation);
    const cancelTrees = cancellation.cancelTrees.bind(cancellation);
    const parts = jest.spyOn(cancellation, 'cancelTrees');
    parts.mockImplementationOnce(cancelTrees).mockRejectedValueOnce(new Error('Its process has died.'));
    await t.make('DELETE', of(process), { as: org.owner });
    expect((await t.run(first)).status).toBe('cancelled');
    expect((await t.db.query(RUNS, [process.id]))[0].live).toBeGreaterThan(0);
    expect((await t.call('GET', `/api/orgs/${org.id}/hitl-requests/${question}`, { as: org.owner })).status).toBe(404);
    const [runs] = await eventually(
      () => t.db.query(RUNS, [process.id]),
      ([{ live }]) => live === 0,
    );
    expect(runs).toEqual({ n: 502, begun: 1, live: 0, gaps: 0 });
    expect((await t.events(second)).map(({ data }) => data.event)).toEqual(['run_created', 'run_cancelled']);
    await eventually(
      () => t.db.query(JOBS, [process.id]),
      ([{ n }]) => n === 0,
    );
    parts.mockRestore();
  });
});

describe('what a run does, and why', () => {
  const diagnosis = (process: DeployedProcess, id: string, as = org.member) => get(`${of(process)}/runs/${id}/diagnosis`, as);

  it('tells whoever may answer that they may', async () => {
    const process = await t.deployed(org, asks(['role:ADMIN']));
    const id = await t.begin(org, process);
    const { hitl_request_id } = (await t.waiting(id, 'ok')).steps[0];
    const waits = {
      state: 'waiting_human',
      blocked_by: { kind: 'human', ref: hitl_request_id },
      lease: null,
      queue: null,
      next_action: 'answer',
    };
    expect(await diagnosis(process, id)).toMatchObject({ ...waits, allowed_actions: ['cancel', 'signal'] });
    expect(await diagnosis(process, id, org.owner)).toMatchObject({ ...waits, allowed_actions: ['cancel', 'signal', 'answer'] });
    // However many others it asks besides.
    const question = await t.db.manager.findOneByOrFail(HitlRequest, { id: hitl_request_id as string });
    await t.db.manager.update(HitlRequest, question.id, { assignees: ['role:MEMBER'] });
    for (let i = 0; i < 6; i++) await t.insert(HitlRequest, { ...question, id: uuidv7() });
    expect(await diagnosis(process, id)).toMatchObject({ allowed_actions: ['cancel', 'signal', 'answer'] });
  });

  it.each([
    ['event', { id: 'w', kind: 'wait', event: 'paid' }, 'paid', 'signal'],
    ['timer', { id: 'w', kind: 'wait', until: '2031-01-01T00:00:00Z' }, '2031-01-01T00:00:00.000Z', 'wait'],
  ])('tells of a wait for an %s', async (kind, step, ref, next_action) => {
    const process = await t.deployed(org, [step]);
    const id = await t.begin(org, process);
    await t.waiting(id, 'w');
    expect(await diagnosis(process, id)).toMatchObject({ state: 'running', blocked_by: { kind, ref }, next_action });
  });

  it('tells of another of its key, and of one that is over', async () => {
    const process = await t.deployed(org, waits, { concurrency: { key: 'one', limit: 1, strategy: 'queue' } });
    const [first, second] = [await t.begin(org, process), await t.begin(org, process)];
    await t.waiting(first, 'go');
    expect(await diagnosis(process, second)).toMatchObject({
      state: 'queued',
      blocked_by: { kind: 'concurrency', ref: 'one' },
      next_action: 'wait',
    });
    await t.signal(org, process, first, 'go');
    await t.ended(first);
    expect(await diagnosis(process, first)).toMatchObject({
      ...{ state: 'completed', blocked_by: null, last_step: { path: 'go', status: 'completed', error: null } },
      ...{ next_action: null, allowed_actions: ['restart'] },
    });
  });

  it('tells of an owner that is gone, and of runs that wait for a slot before it', async () => {
    const process = await t.deployed(org, waits);
    const [first, second, third] = [await t.begin(org, process), await t.begin(org, process), await t.begin(org, process)];
    for (const id of [first, second, third]) await t.waiting(id, 'go');
    // As the sweeper leaves one that nobody has taken over yet.
    await t.db.execute(
      sql(`UPDATE process_runs SET status = 'running', wait = NULL, lease_owner = 'gone', lease_expires_at = NULL WHERE id = $1`),
      [first],
    );
    expect(await diagnosis(process, first)).toMatchObject({ blocked_by: { kind: 'lease', ref: 'gone' }, lease: null, next_action: 'wait' });
    const queue = sql(
      `UPDATE process_runs SET status = 'queued', parked = $2, dispatched_at = now() - make_interval(secs => $3) WHERE id = $1`,
    );
    const ahead: number[] = [];
    // Whoever fills slots does not see them.
    const looked = t.db.transaction(NO_CALLER, async (tx) => {
      for (const [i, id] of [first, second, third].entries()) await tx.execute(queue, [id, true, 30 - 10 * i]);
      for (const parked of [true, false]) {
        await tx.execute(queue, [first, parked, 30]);
        ahead.push((await tx.query(SURROUNDINGS, [third]))[0].ahead);
      }
      throw new Error('Undo it');
    });
    await expect(looked).rejects.toThrow('Undo it');
    expect(ahead).toEqual([2, 1]);
  });

  it('is in memory one at a time, whichever organization looks at it', async () => {
    const runs: { process: DeployedProcess; id: string; scope: OrgScope }[] = [];
    for (const other of [org, await t.org()]) {
      const process = await t.deployed(other, [{ id: 'a', kind: 'transform', set: { x: 1 } }]);
      runs.push({ process, id: await t.begin(other, process), scope: t.scope(other) });
    }
    for (const { id } of runs) await t.ended(id);
    const journal = t.get(JournalRepository);
    const read = journal.journal.bind(journal);
    let [now, most] = [0, 0];
    const spy = jest.spyOn(journal, 'journal').mockImplementation(async (db, id) => {
      most = Math.max(most, ++now);
      for (let i = 0; i < 20; i++) await read(db, id);
      return read(db, id).finally(() => (now -= 1));
    });
    const reviews = t.get(RunReviews);
    await Promise.all(
      runs.flatMap(({ process, id, scope }) => [
        reviews.replayCheck(scope, process.id, id),
        reviews.simulate(scope, process.id, process.revision_id, { run_id: id }),
      ]),
    );
    expect([spy.mock.calls.length, most]).toEqual([4, 1]);
    spy.mockRestore();
  });

  it('is not looked at any more for who has gone while others were', async () => {
    const process = await t.deployed(org, [{ id: 'a', kind: 'transform', set: { x: 1 } }]);
    const id = await t.begin(org, process);
    await t.ended(id);
    const journal = t.get(JournalRepository);
    const read = journal.journal.bind(journal);
    let goOn!: () => void;
    const held = new Promise<void>((resolve) => (goOn = resolve));
    const reading = jest.spyOn(journal, 'journal').mockImplementation(async (db, run) => (await held, read(db, run)));
    const asked = jest.spyOn(t.get(RunReviews), 'simulate');
    const path = `${of(process)}/revisions/${process.revision_id}/simulate`;
    const first = post(path, { run_id: id });
    await eventually(
      async () => reading.mock.calls.length,
      (calls) => calls === 1,
    );
    const gone = new AbortController();
    const headers = { authorization: `Bearer ${org.member.token}`, 'content-type': 'application/json' };
    const second = fetch(t.url + path, { method: 'POST', headers, body: JSON.stringify({ run_id: id }), signal: gone.signal });
    await eventually(
      async () => asked.mock.calls.length,
      (calls) => calls === 2,
    );
    gone.abort();
    await expect(second).rejects.toThrow('aborted');
    await eventually(
      async () => asked.mock.calls[1][4]!.aborted,
      (aborted) => aborted,
    );
    goOn();
    expect([(await first).status, (await asked.mock.results[1].value.catch(({ name }: Error) => name)) as string]).toEqual([
      200,
      'AbortError',
    ]);
    expect(reading).toHaveBeenCalledTimes(1);
    jest.restoreAllMocks();
  });

  it('would be the same again, and is tried on another input or on what it was, without an effect', async () => {
    const steps = [{ id: 'say', kind: 'llm', prompt: 'Say ${input.word}' }];
    const process = await t.deployed(org, steps, { output: '${steps.say.output}' });
    const id = await t.begin(org, process, { word: 'hello' });
    const run = await t.ended(id);
    expect(await get(`${of(process)}/runs/${id}/replay-check`)).toMatchObject({ deterministic: true, compared: 1, first_divergence: null });
    const simulate = (body: object) => post(`${of(process)}/revisions/${process.revision_id}/simulate`, body);
    expect(await simulate({ run_id: id })).toMatchObject({
      status: 200,
      body: { status: 'completed', output: run.output, steps: [{ path: 'say', source: 'recorded' }], diverged_at: null },
    });
    expect(await simulate({ input: { word: 'bye' } })).toMatchObject({
      status: 200,
      body: { steps: [{ path: 'say', source: 'stubbed' }] },
    });
    for (const wrong of [{}, { run_id: id, input: {} }]) expect([wrong, (await simulate(wrong)).status]).toEqual([wrong, 422]);
    expect((await simulate({ run_id: uuidv7() })).status).toBe(404);
    expect((await get(`${of(process)}/runs`)).total).toBe(1);
  });

  it('is told what humans have said only where they were asked the same', async () => {
    const ask = (prompt: string) => [{ id: 'ok', kind: 'human', prompt }];
    const process = await t.deployed(org, ask('Pay 3?'), { output: '${steps.ok.output.decision}' });
    const id = await t.begin(org, process);
    const request = (await t.waiting(id, 'ok')).steps[0].hitl_request_id!;
    await post(`/api/orgs/${org.id}/hitl-requests/${request}/answer`, { decision: 'reject' });
    await t.ended(id);
    const definition = { schema_version: 1, steps: ask('Pay 300?'), output: '${steps.ok.output.decision}' };
    const other = await t.make('POST', `${of(process)}/revisions`, { as: org.owner, body: { definition } });
    const simulated = async (revision: string) => {
      const { body } = await post(`${of(process)}/revisions/${revision}/simulate`, { run_id: id });
      return [body.output, body.steps[0].source, body.steps[0].output.answered_by, body.diverged_at];
    };
    expect(await simulated(process.revision_id)).toEqual(['reject', 'recorded', org.member.id, null]);
    expect(await simulated(other.id as string)).toEqual(['approve', 'stubbed', null, 'ok']);
  });

  it('has what humans have said before a run was done again from a later step', async () => {
    const steps = [
      { id: 'ok', kind: 'human', prompt: 'Pay?' },
      { id: 'pay', kind: 'transform', set: { paid: '${steps.ok.output.decision}' } },
    ];
    const process = await t.deployed(org, steps, { output: '${vars.paid}' });
    const id = await t.begin(org, process);
    const request = (await t.waiting(id, 'ok')).steps[0].hitl_request_id!;
    await post(`/api/orgs/${org.id}/hitl-requests/${request}/answer`, { decision: 'reject' });
    await t.ended(id);
    const { body: again } = await post(`${of(process)}/runs/${id}/restart`, { from_step: 'pay' });
    await t.ended(again.id as string);
    const { body } = await post(`${of(process)}/revisions/${process.revision_id}/simulate`, { run_id: again.id });
    expect(body).toMatchObject({ status: 'completed', output: 'reject', diverged_at: null });
    expect(body.steps[0]).toMatchObject({ source: 'recorded', output: { answered_by: org.member.id } });
  });

  it.each([
    ['fail', 'failed', 'failed'],
    ['continue', 'completed', 'skipped'],
  ])('has late what nobody had answered in time, and then %s', async (on_timeout, status, step) => {
    const steps = [{ id: 'ok', kind: 'human', prompt: 'Well?', timeout_s: 1, on_timeout }];
    const process = await t.deployed(org, steps);
    const id = await t.begin(org, process);
    await t.ended(id);
    const { body } = await post(`${of(process)}/revisions/${process.revision_id}/simulate`, { run_id: id });
    expect(body).toMatchObject({ status, steps: [{ status: step, source: 'recorded' }], diverged_at: null });
  });

  it('is simulated with templates that answer by their fields', async () => {
    const template = async (name: string, more: object) =>
      (await t.get(PromptsService).create(t.scope(org), { name, description: null, ...more } as Parameters<PromptsService['create']>[1]))
        .slug;
    const fields = [{ name: 'email', type: 'string', required: true }];
    const steps = [
      { id: 'extract', kind: 'prompt', template: await template('Extract', { text: null, fields }), input: { text: 'x' } },
      { id: 'say', kind: 'prompt', template: await template('Say', { text: 'Say it' }), input: { to: '${steps.extract.output.email}' } },
      { id: 'gone', kind: 'prompt', template: 'gone', input: {} },
    ];
    const process = await t.deployed(org, steps, { output: '${[steps.extract.output, steps.say.output, steps.gone.output]}' });
    const { body } = await post(`${of(process)}/revisions/${process.revision_id}/simulate`, { input: {} });
    expect(body).toMatchObject({ status: 'completed', output: [{ email: '' }, '', null] });
  });
});
