import { SLOW, type TestOrg } from '@aps/chats/testing';
import { HitlService } from '@aps/chats';
import { EgressError } from '@aps/platform/egress';
import { Database } from '@aps/platform/database';
import { RunLeases } from '@aps/platform/runs';
import { sql, standStill } from '@aps/platform/testing';
import { eventually } from '@aps/testing';
import { RunReviews } from '../reviews/run-reviews.service';
import { RunControl } from '../runs/run-control.service';
import { StepTools } from '../tools/step-tools';
import { aTool } from '../testing/tools';
import { runningService } from '../testing/running';
import { Calls } from './calls';
import { Cancellation } from './cancellation';
import { JournalRepository } from './journal.repository';

const t = runningService();
let org: TestOrg;
beforeEach(async () => {
  org = await t.org();
});

/** Whatever a run has been through, today's engine goes the same way by its journal. */
afterEach(async () => {
  const runs = await t.db.query(sql<{ id: string; process_id: string }>('SELECT id, process_id FROM process_runs WHERE org_id = $1'), [
    org.id,
  ]);
  for (const { id, process_id } of runs)
    expect([id, await t.get(RunReviews).replayCheck(t.scope(org), process_id, id)]).toMatchObject([
      id,
      { deterministic: true, first_divergence: null },
    ]);
});

const set = (id: string, values: object) => ({ id, kind: 'transform', set: values });
const statuses = (run: { steps: { path: string; status: string }[] }) => run.steps.map(({ path, status }) => `${path} ${status}`);

describe('a run', () => {
  it('goes from its input to its output, and tells of each step in order, without a gap', async () => {
    const process = await t.deployed(org, [set('a', { x: '${input.n + 1}' }), set('b', { y: '${vars.x * 2}' })], { output: '${vars.y}' });
    const id = await t.begin(org, process, { n: 3 });
    const run = await t.ended(id);
    expect(run).toMatchObject({ status: 'completed', state: 'completed', output: 8, lease_owner: null });
    expect(statuses(run)).toEqual(['a completed', 'b completed']);
    const events = await t.events(id);
    expect(events.map(({ data }) => data.event)).toEqual([
      'run_created',
      'run_started',
      'step_started',
      'step_finished',
      'step_started',
      'step_finished',
      'run_finished',
    ]);
    expect(events.map(({ seq }) => Number(seq))).toEqual([1, 2, 3, 4, 5, 6, 7]);
  });

  it('waits for a time without a worker, and goes on by itself', async () => {
    const process = await t.deployed(org, [{ id: 'w', kind: 'wait', for_s: 1 }, set('a', { x: 1 })], { output: '${vars.x}' });
    const id = await t.begin(org, process);
    expect(await t.waiting(id, 'w')).toMatchObject({ state: 'running', lease_owner: null });
    expect(await t.ended(id)).toMatchObject({ status: 'completed', output: 1 });
  });

  it('takes a signal, whether it comes before the wait or within it, each once', async () => {
    const process = await t.deployed(
      org,
      [
        { id: 'one', kind: 'wait', event: 'paid' },
        { id: 'two', kind: 'wait', event: 'paid' },
      ],
      { output: '${[steps.one.output, steps.two.output]}' },
    );
    const id = await t.begin(org, process);
    await t.waiting(id, 'one');
    await t.signal(org, process, id, 'other');
    await Promise.all([t.signal(org, process, id, 'paid', 1), t.signal(org, process, id, 'paid', 2)]);
    const { output } = await t.ended(id);
    expect((output as number[]).sort()).toEqual([1, 2]);
    await expect(t.signal(org, process, id, 'paid')).rejects.toMatchObject({ code: 'run_terminal' });
  });

  it('asks a human, and goes on with the answer; two at the same instant are one', async () => {
    const process = await t.deployed(org, [{ id: 'ok', kind: 'human', prompt: 'Pay ${input.n}?' }], {
      output: '${steps.ok.output.decision}',
    });
    const id = await t.begin(org, process, { n: 3 });
    const run = await t.waiting(id, 'ok');
    expect(run.state).toBe('waiting_human');
    const requestId = run.steps[0].hitl_request_id!;
    const answer = (decision: 'approve' | 'reject') =>
      t.call('POST', `/api/orgs/${org.id}/hitl-requests/${requestId}/answer`, { as: org.owner, body: { decision } });
    const answers = await Promise.all([answer('approve'), answer('reject')]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    const { body } = answers.find(({ status }) => status === 200)!;
    expect(body).toMatchObject({ run_id: id, chat_id: null, prompt: 'Pay 3?', kind: 'approval', status: 'answered', resumed: true });
    expect(await t.ended(id)).toMatchObject({
      status: 'completed',
      output: (body.answer as { decision: string }).decision,
      state: 'completed',
    });
  });

  it('has an agent work, and takes its last words', async () => {
    const process = await t.deployed(org, [{ id: 'a', kind: 'agent', agent: org.agentId, task: 'Say ${input.word}' }], {
      output: '${steps.a.output}',
    });
    const run = await t.ended(await t.begin(org, process, { word: 'hello' }));
    expect(run).toMatchObject({ status: 'completed', output: expect.stringContaining('hello') as string });
    expect(run.steps[0].chat_id).not.toBeNull();
  });

  it('asks a model, keeps what was said, and is charged', async () => {
    const process = await t.deployed(org, [{ id: 'a', kind: 'llm', prompt: 'Say ${input.word}' }], { output: '${steps.a.output}' });
    const run = await t.ended(await t.begin(org, process, { word: 'hello' }));
    expect(run).toMatchObject({ status: 'completed', output: expect.stringContaining('hello') as string });
  });

  it('runs another process, whose output is the step’s', async () => {
    const child = await t.deployed(org, [set('a', { x: '${input.n * 2}' })], { output: '${vars.x}' });
    const parent = await t.deployed(org, [{ id: 'sub', kind: 'process', process: child.id, input: { n: '${input.n}' } }], {
      output: '${steps.sub.output + 1}',
    });
    expect(await t.ended(await t.begin(org, parent, { n: 5 }))).toMatchObject({ status: 'completed', output: 11 });
  });

  it('has a step fail whose process takes no more runs of its key at present', async () => {
    const concurrency = { key: 'one', limit: 1, strategy: 'reject' };
    const child = await t.deployed(org, [{ id: 'go', kind: 'wait', event: 'go' }], { concurrency });
    const parent = await t.deployed(org, [{ id: 'sub', kind: 'process', process: child.id, input: {} }]);
    await t.begin(org, child);
    const run = await t.ended(await t.begin(org, parent));
    expect(run).toMatchObject({ status: 'failed', error: { code: 'child_failed', message: 'There are 1 runs of this key at work.' } });
    expect(run).toMatchObject({ deliveries: 0 });
  });

  it('is cancelled with its children, their questions and chats; a second time changes nothing', async () => {
    const child = await t.deployed(org, [{ id: 'ok', kind: 'human', prompt: 'Well?' }]);
    const parent = await t.deployed(org, [{ id: 'sub', kind: 'process', process: child.id, input: {} }]);
    const id = await t.begin(org, parent);
    const childId = (await t.waiting(id, 'sub')).steps[0].child_run_id!;
    const question = (await t.waiting(childId, 'ok')).steps[0].hitl_request_id!;
    const cancel = () => t.get(RunControl).cancel(t.scope(org), parent.id, id);
    expect(await cancel()).toEqual({ run_id: id, cancelled: true, status: 'cancelled' });
    expect([await t.run(id), await t.run(childId)]).toMatchObject([
      { status: 'cancelled', steps: [{ status: 'cancelled' }] },
      { status: 'cancelled', steps: [{ status: 'cancelled' }] },
    ]);
    expect((await t.call('GET', `/api/orgs/${org.id}/hitl-requests/${question}`, { as: org.owner })).body).toMatchObject({
      status: 'cancelled',
    });
    expect(await cancel()).toEqual({ run_id: id, cancelled: false, status: 'cancelled' });
    expect(t.get(HitlService)).toBeDefined();
  });

  it.each([
    ['answered', 'by its answer', {}],
    ['expired', 'when nobody has answered for so long', {}],
    ['cancelled', 'when its time is up', { timeout_s: 1, on_timeout: 'continue' }],
    ['cancelled', 'with its run', {}],
  ])('tells which of its questions is over, `%s` %s', async (status, how, more) => {
    const process = await t.deployed(org, [{ id: 'ok', kind: 'human', prompt: 'Well?', ...more }]);
    const id = await t.begin(org, process);
    const [told] = await eventually(
      async () => (await t.events(id)).filter(({ type }) => type === 'hitl_requested'),
      (found) => found.length > 0,
    );
    const { request_id } = told.data as { request_id: string };
    if (how === 'with its run') await t.get(RunControl).cancel(t.scope(org), process.id, id);
    if (status === 'answered')
      await t.make('POST', `/api/orgs/${org.id}/hitl-requests/${request_id}/answer`, { as: org.owner, body: { decision: 'reject' } });
    if (status === 'expired') {
      await t.db.execute(sql(`UPDATE hitl_requests SET expires_at = now() WHERE id = $1`), [request_id]);
      await t.get(HitlService).expire(10);
    }
    await t.ended(id);
    expect((await t.events(id)).filter(({ type }) => type === 'hitl_resolved').map(({ data }) => data)).toEqual([
      {
        ...{ event: 'human_answered', step_id: 'ok', path: 'ok', kind: 'human' },
        ...{ request_id, status, answered_by: status === 'answered' ? org.owner.id : null },
      },
    ]);
  });

  it('waits for a human from the moment when one is asked to the answer, whatever else it does meanwhile', async () => {
    const ends: (() => void)[] = [];
    const call = () => new Promise<{ output: string }>((done) => ends.push(() => done({ output: 'ok' })));
    t.get(StepTools).register(aTool('spec.slow', { call }));
    const slow = (id: string) => ({ id, kind: 'tool', tool: 'spec.slow', arguments: {} });
    const branches = [
      { id: 'a', steps: [{ id: 'ask', kind: 'human', prompt: 'Well?' }, slow('a1')] },
      { id: 'b', steps: [slow('b1'), slow('b2')] },
    ];
    const process = await t.deployed(org, [{ id: 'both', kind: 'parallel', branches }]);
    const id = await t.begin(org, process);
    const calling = (calls: number) =>
      t.untilRun(id, ({ steps }) => ends.length === calls && steps.filter(({ noted }) => noted).length === calls);
    const { state, steps } = await calling(1);
    expect(state).toBe('waiting_human');
    ends[0]();
    // A call that comes to its end, and another that is begun.
    expect((await calling(2)).state).toBe('waiting_human');
    const question = steps.find(({ step_id }) => step_id === 'ask')!.hitl_request_id!;
    await t.call('POST', `/api/orgs/${org.id}/hitl-requests/${question}/answer`, { as: org.owner, body: { decision: 'approve' } });
    expect((await calling(3)).state).toBe('running');
    ends[1]();
    ends[2]();
    expect(await t.ended(id)).toMatchObject({ status: 'completed' });
  });

  it('hears of an answer that comes between two reads of a look', async () => {
    let end = (): void => undefined;
    t.get(StepTools).register(aTool('spec.held', { call: () => new Promise((done) => (end = () => done({ output: 'ok' }))) }));
    const branches = [
      { id: 'a', steps: [{ id: 'ask', kind: 'human', prompt: 'Well?' }] },
      { id: 'b', steps: [{ id: 'held', kind: 'tool', tool: 'spec.held', arguments: {} }] },
      { id: 'c', steps: [{ id: 'go', kind: 'wait', event: 'go' }] },
    ];
    const process = await t.deployed(org, [{ id: 'all', kind: 'parallel', branches }]);
    const id = await t.begin(org, process);
    const { steps } = await t.untilRun(id, (run) => run.state === 'waiting_human' && run.steps.some(({ noted }) => noted));
    const question = steps.find(({ step_id }) => step_id === 'ask')!.hitl_request_id!;
    const journal = t.get(JournalRepository);
    const [read, load] = [journal.journal.bind(journal), journal.load.bind(journal)];
    const looked = new Promise<void>((resolve) => {
      const rows = jest.spyOn(journal, 'journal').mockImplementationOnce(async (...args) => {
        const found = await read(...args);
        resolve();
        return found;
      });
      jest.spyOn(journal, 'load').mockImplementationOnce(async (...args) => {
        await new Promise(setImmediate);
        // Whoever reads the journal at the same time reads it before the answer.
        if (rows.mock.results.length) await rows.mock.results[0].value;
        await t.call('POST', `/api/orgs/${org.id}/hitl-requests/${question}/answer`, { as: org.owner, body: { decision: 'approve' } });
        return load(...args);
      });
    });
    // Something comes, so it looks.
    await t.signal(org, process, id, 'go');
    await looked;
    end();
    expect(await t.ended(id)).toMatchObject({ status: 'completed' });
  });

  it('is queued behind another of its key, and begins when that has ended', async () => {
    const concurrency = { key: '${input.customer}', limit: 1, strategy: 'queue' };
    const process = await t.deployed(org, [{ id: 'go', kind: 'wait', event: 'go' }], { concurrency });
    const [first, second, other] = [
      await t.begin(org, process, { customer: 'a' }),
      await t.begin(org, process, { customer: 'a' }),
      await t.begin(org, process, { customer: 'b' }),
    ];
    await Promise.all([t.waiting(first, 'go'), t.waiting(other, 'go')]);
    expect(await t.run(second)).toMatchObject({ state: 'queued', admitted: false, steps: [] });
    await t.signal(org, process, first, 'go');
    await t.ended(first);
    await t.waiting(second, 'go');
  });

  it('is not done again where its process takes another input by now', async () => {
    const process = await t.deployed(org, [set('a', { x: 1 })]);
    const id = await t.begin(org, process);
    await t.ended(id);
    await t.redeployed(org, process, [set('a', { x: 1 })], { input_schema: { type: 'object', required: ['amount'] } });
    await expect(t.get(RunControl).restart(t.scope(org), process.id, id, {})).rejects.toMatchObject({ code: 'validation_error' });
  });

  it('is done again with what it was begun with, byte for byte, but for who began it', async () => {
    const process = await t.deployed(org, [set('a', { x: '${input.n}' }), set('b', { y: '${vars.x}' })], { output: '${vars.y}' });
    const id = await t.begin(org, process, { z: 1.5, n: 3, a: { c: 1, b: 2 } });
    const run = await t.ended(id);
    const again = await t.get(RunControl).restart(t.scope(org), process.id, id, {});
    const done = await t.ended(again.id);
    const without = (text: string) => text.replace(/"source":\{[^}]*\}/, '');
    expect(without(done.envelope)).toBe(without(run.envelope));
    expect(done).toMatchObject({ output: 3, restarted_from: id, source_kind: 'restart', source_ref_id: id });
    const from = await t.get(RunControl).restart(t.scope(org), process.id, id, { from_step: 'b' });
    expect((await t.ended(from.id)).steps.map(({ step_id, note, status }) => [step_id, note, status])).toEqual([
      ['a', 'copied', 'completed'],
      ['b', null, 'completed'],
    ]);
  });

  it('asks about a call that was cut off and may not be made twice, once, and does as it is told', async () => {
    let calls = 0;
    let answer = (): void => undefined;
    t.get(StepTools).register({
      slug: 'spec.pay',
      accessLevel: 'write',
      idempotent: false,
      inputSchema: { type: 'object' },
      connectionId: null,
      call: () => {
        calls += 1;
        return new Promise((done) => (answer = () => done({ output: 'paid' })));
      },
    });
    const process = await t.deployed(org, [{ id: 'pay', kind: 'tool', tool: 'spec.pay', arguments: {} }], {
      output: '${steps.pay.output}',
    });
    const id = await t.begin(org, process);
    await t.untilRun(id, (run) => run.steps[0]?.noted === 'sent' && calls === 1);
    // Its owner is as good as dead: somebody else goes on.
    standStill(t.get(RunLeases), id);
    await t.db.execute(sql(`UPDATE process_runs SET lease_expires_at = now() - interval '2 seconds' WHERE id = $1`), [id]);
    await t.sweepRuns();
    const run = await t.untilRun(id, ({ state }) => state === 'waiting_human');
    expect([run.steps, calls]).toMatchObject([[{ path: 'pay', status: 'outcome_unknown', error: { code: 'worker_lost' } }], 1]);
    answer();
    const path = `/api/orgs/${org.id}/hitl-requests/${run.steps[0].hitl_request_id}/answer`;
    const body = { option_id: 'done', values: { output: 'looked it up' } };
    expect((await t.call('POST', path, { as: org.owner, body })).status).toBe(200);
    expect(await t.ended(id)).toMatchObject({ status: 'completed', output: 'looked it up' });
    expect(calls).toBe(1);
  });

  it('makes no call twice of a tool that was not there, or could be called twice, when its step was begun', async () => {
    const call = jest.fn(() => new Promise<never>(() => undefined));
    const [now, before] = [aTool('spec.comes', { accessLevel: 'write', call }), aTool('spec.comes', { call })];
    t.get(StepTools).register(now);
    const retry = { max_attempts: 1, initial_s: 0.1, factor: 1, max_s: 1 };
    const process = await t.deployed(org, [{ id: 'call', kind: 'tool', tool: 'spec.comes', arguments: {}, retry }]);
    const find = jest.spyOn(t.get(StepTools), 'find').mockResolvedValueOnce(null);
    const id = await t.begin(org, process);
    await eventually(
      () => Promise.resolve(call.mock.calls.length),
      (calls) => calls === 1,
    );
    standStill(t.get(RunLeases), id);
    await t.db.execute(sql(`UPDATE process_runs SET lease_expires_at = now() - interval '2 seconds' WHERE id = $1`), [id]);
    await t.sweepRuns();
    expect((await t.untilRun(id, ({ state }) => state === 'waiting_human')).steps).toMatchObject([{ status: 'outcome_unknown' }]);
    find.mockResolvedValueOnce(before);
    expect(await t.ended(await t.begin(org, process))).toMatchObject({ status: 'failed', error: { code: 'tool_error', retryable: true } });
    find.mockRestore();
    expect(call).toHaveBeenCalledTimes(1);
  });

  it('goes over a list with so many calls at once, and answers in its order', async () => {
    let [atWork, most] = [0, 0];
    t.get(StepTools).register({
      slug: 'spec.echo',
      accessLevel: 'read',
      idempotent: true,
      inputSchema: { type: 'object' },
      connectionId: null,
      call: async ({ n }) => {
        most = Math.max(most, ++atWork);
        await new Promise((r) => setTimeout(r, 5 * (3 - (Number(n) % 3))));
        atWork -= 1;
        return { output: Number(n) * 10 };
      },
    });
    const each = {
      id: 'each',
      kind: 'loop',
      over: '${input.list}',
      as: 'n',
      concurrency: 4,
      steps: [{ id: 'echo', kind: 'tool', tool: 'spec.echo', arguments: { n: '${vars.n}' } }],
    };
    const process = await t.deployed(org, [each], { output: '${steps.each.output}' });
    const list = Array.from({ length: 30 }, (_, i) => i);
    expect(await t.ended(await t.begin(org, process, { list }))).toMatchObject({ status: 'completed', output: list.map((n) => n * 10) });
    expect(most).toBe(4);
  });

  it('is cancelled with a chat that it has begun while somebody was about to cancel it', async () => {
    const process = await t.deployed(org, [{ id: 'a', kind: 'agent', agent: org.agentId, task: SLOW }]);
    const id = await t.begin(org, process);
    const { steps } = await t.waiting(id, 'a');
    // As if it had not been there yet.
    jest.spyOn(t.get(Cancellation) as unknown as { endChats: () => Promise<Set<string>> }, 'endChats').mockResolvedValueOnce(new Set());
    await t.get(RunControl).cancel(t.scope(org), process.id, id);
    const [chat] = await t.db.query(sql<{ status: string }>('SELECT status FROM chats WHERE id = $1'), [steps[0].chat_id]);
    expect(chat.status).toBe('ARCHIVED');
    expect(await t.db.query(sql('SELECT chat_id, status FROM process_agent_calls WHERE run_id = $1'), [id])).toEqual([
      { chat_id: steps[0].chat_id, status: 'failed' },
    ]);
  });

  it('makes no call in a process that stood still since it wrote that it would', async () => {
    let calls = 0;
    const call = () => Promise.resolve({ output: ++calls });
    t.get(StepTools).register(aTool('spec.late', { accessLevel: 'write', call }));
    const journal = t.get(JournalRepository);
    const commit = journal.commit.bind(journal);
    jest.spyOn(journal, 'commit').mockImplementationOnce(async (...args) => {
      const tell = await commit(...args);
      for (const lease of (t.get(RunLeases) as unknown as { held: Map<string, { kept: number }> }).held.values()) lease.kept -= 20_000;
      return tell;
    });
    const id = await t.begin(org, await t.deployed(org, [{ id: 'call', kind: 'tool', tool: 'spec.late', arguments: {} }]));
    await t.untilRun(id, ({ steps }) => steps.some(({ noted }) => noted === 'sent'));
    await t.db.execute(sql(`UPDATE process_runs SET lease_expires_at = now() - interval '2 seconds' WHERE id = $1`), [id]);
    await t.sweepRuns();
    const { steps } = await t.untilRun(id, ({ state }) => state === 'waiting_human');
    expect([calls, steps[0].status]).toEqual([0, 'outcome_unknown']);
  });

  it('loses nothing, and does nothing twice, where any one of its writes fails, or has gone through and nobody has heard of it', async () => {
    const call = jest.fn((args: unknown) => Promise.resolve({ output: args }));
    t.get(StepTools).register(aTool('spec.order', { accessLevel: 'write', call }));
    const steps = [
      { id: 'order', kind: 'tool', tool: 'spec.order', arguments: {} },
      { id: 'say', kind: 'llm', prompt: 'hello' },
      { id: 'ok', kind: 'human', prompt: 'Well?' },
    ];
    const process = await t.deployed(org, steps);
    const away = () => new Error('Connection terminated unexpectedly');
    const written = new Map<string, number>();
    const unheard = new Set<unknown>();
    const journal = t.get(JournalRepository);
    const database = t.get(Database);
    // Not as a spec before this one has left them.
    const [commit, transaction] = [JournalRepository.prototype.commit.bind(journal), Database.prototype.transaction.bind(database)];
    const writes = jest.spyOn(journal, 'commit').mockImplementation(async (db, run, seen, what) => {
      const { input } = JSON.parse(run.envelope) as { input: { fails?: number; unheard?: number } };
      const no = (written.get(run.id) ?? 0) + 1;
      written.set(run.id, no);
      if (no === input.fails) throw Object.assign(new Error('canceling statement due to lock timeout'), { code: '55P03' });
      const tell = await commit(db, run, seen, what);
      if (no !== input.unheard) return tell;
      if (db === database) throw away();
      unheard.add(db);
      return tell;
    });
    const transactions = jest.spyOn(database, 'transaction').mockImplementation(async (caller, fn) => {
      let mine: unknown;
      const result = await transaction(caller, (tx) => fn((mine = tx) && tx));
      if (unheard.delete(mine)) throw away();
      return result;
    });
    const inputs = [{}, ...[1, 2, 3, 4].flatMap((no) => [{ fails: no }, { unheard: no }])];
    const ids = await Promise.all(inputs.map((input) => t.begin(org, process, input)));
    const ask = async (id: string) => {
      const { steps } = await t.waiting(id, 'ok');
      await t.call('POST', `/api/orgs/${org.id}/hitl-requests/${steps[2].hitl_request_id}/answer`, {
        as: org.owner,
        body: { decision: 'approve' },
      });
      return t.ended(id);
    };
    const runs = await Promise.all(ids.map(ask));
    writes.mockRestore();
    transactions.mockRestore();
    const [untouched, ...others] = await Promise.all(
      runs.map(async ({ id, status, cost_credits, steps }) => ({
        ...{ status, cost_credits, steps: steps.map((step) => [step.path, step.attempt, step.status]) },
        events: (await t.events(id)).map(({ seq, data }) => [Number(seq), data.event, data.path]),
      })),
    );
    expect(untouched.status).toBe('completed');
    for (const [i, other] of others.entries()) expect([inputs[i + 1], other]).toEqual([inputs[i + 1], untouched]);
    const asked = sql<{ receipts: number; questions: number }>(`
      SELECT (SELECT count(*)::int FROM inference_receipts WHERE run_id = ANY ($1)) AS receipts, (SELECT count(*)::int FROM hitl_requests WHERE run_id = ANY ($1)) AS questions`);
    expect([call.mock.calls.length, ...(await t.db.query(asked, [ids]))]).toEqual([9, { receipts: 9, questions: 9 }]);
    // What has gone through is not written again.
    expect(ids.map((id) => written.get(id))).toEqual(inputs.map(({ fails }: { fails?: number }) => (fails ? 5 : 4)));
  });

  it('writes what other calls have come to before a fault of ours ends its turn', async () => {
    const [tools, calls, journal] = [t.get(StepTools), t.get(Calls), t.get(JournalRepository)];
    const gate = () => {
      let open = (): void => undefined;
      return { passed: new Promise<void>((pass) => (open = pass)), open };
    };
    const [first, other, fault] = [gate(), gate(), gate()];
    const made: string[] = [];
    const register = (slug: string, until: Promise<void>, accessLevel: 'read' | 'write' = 'write') =>
      tools.register(aTool(slug, { accessLevel, call: () => (made.push(slug), until.then(() => ({ output: slug }))) }));
    register('spec.first', first.passed);
    register('spec.other', other.passed);
    // It may be made again, unlike the others.
    register('spec.faulty', Promise.resolve(), 'read');
    const make = calls.make.bind(calls);
    const faulty = jest.fn(async () => {
      await fault.passed;
      throw new Error('A fault of ours');
    });
    const makes = jest
      .spyOn(calls, 'make')
      .mockImplementation((...what) => (what[1].step_id === 'faulty' && !faulty.mock.calls.length ? faulty() : make(...what)));
    const branch = (slug: string) => ({ id: `${slug}_branch`, steps: [{ id: slug, kind: 'tool', tool: `spec.${slug}`, arguments: {} }] });
    const process = await t.deployed(org, [{ id: 'all', kind: 'parallel', branches: ['first', 'other', 'faulty'].map(branch) }]);
    const id = await t.begin(org, process);
    await eventually(
      () => Promise.resolve(made.length + faulty.mock.calls.length),
      (begun) => begun === 3,
    );
    // While one outcome is being written, another comes, and the fault with it.
    const commit = JournalRepository.prototype.commit.bind(journal);
    const commits = jest.spyOn(journal, 'commit').mockImplementationOnce(async (...what) => {
      other.open();
      await new Promise(setImmediate);
      fault.open();
      await new Promise(setImmediate);
      return commit(...what);
    });
    first.open();
    expect(await t.ended(id)).toMatchObject({ status: 'completed' });
    expect(made.sort()).toEqual(['spec.faulty', 'spec.first', 'spec.other']);
    makes.mockRestore();
    commits.mockRestore();
  });

  it('tries a call again that may be, and fails with what it came to', async () => {
    let calls = 0;
    t.get(StepTools).register({
      slug: 'spec.flaky',
      accessLevel: 'read',
      idempotent: true,
      inputSchema: { type: 'object' },
      connectionId: null,
      call: () => {
        calls += 1;
        return Promise.resolve(calls % 3 ? { failed: 'The other side answered 503.' } : { output: calls });
      },
    });
    const retry = (max_attempts: number) => ({ max_attempts, initial_s: 0.1, factor: 1, max_s: 1 });
    const step = (attempts: number) => [{ id: 'call', kind: 'tool', tool: 'spec.flaky', arguments: {}, retry: retry(attempts) }];
    const good = await t.ended(await t.begin(org, await t.deployed(org, step(3), { output: '${steps.call.output}' })));
    expect([good.output, good.steps.map(({ attempt, status }) => [attempt, status])]).toEqual([
      3,
      [
        [1, 'failed'],
        [2, 'failed'],
        [3, 'completed'],
      ],
    ]);
    const bad = await t.ended(await t.begin(org, await t.deployed(org, step(2))));
    expect(bad).toMatchObject({ status: 'failed', error: { code: 'tool_error' } });
  });

  it.each([
    ['what takes too much memory', () => Promise.resolve({ output: Array.from({ length: 150_000 }, () => []) })],
    ['what was too much to be read', () => Promise.reject(new EgressError('too_large', 'The answer is too large.'))],
  ])('fails with a call that is answered %s, without another', async (_, call) => {
    const tool = { call: jest.fn(call), accessLevel: 'write' as const };
    t.get(StepTools).register(aTool('spec.much', tool));
    const retry = { max_attempts: 3, initial_s: 0.1, factor: 1, max_s: 1 };
    const step = { id: 'call', kind: 'tool', tool: 'spec.much', arguments: {}, retry };
    const run = await t.ended(await t.begin(org, await t.deployed(org, [step])));
    expect(run).toMatchObject({ status: 'failed', error: { code: 'tool_error' }, steps: [{ status: 'failed', output: null }] });
    expect(tool.call).toHaveBeenCalledTimes(1);
  });

  it('hears of signals and of time while it has a call made', async () => {
    let answer = (): void => undefined;
    t.get(StepTools).register({
      slug: 'spec.long',
      accessLevel: 'read',
      idempotent: true,
      inputSchema: { type: 'object' },
      connectionId: null,
      call: () => new Promise((done) => (answer = () => done({ output: 'at last' }))),
    });
    const both = {
      id: 'both',
      kind: 'parallel',
      branches: [
        { id: 'call', steps: [{ id: 'long', kind: 'tool', tool: 'spec.long', arguments: {} }] },
        { id: 'signal', steps: [{ id: 'event', kind: 'wait', event: 'go' }] },
        { id: 'time', steps: [{ id: 'nap', kind: 'wait', for_s: 1 }] },
      ],
    };
    const process = await t.deployed(org, [both], { output: '${steps.both.output}' });
    const id = await t.begin(org, process);
    await t.untilRun(id, ({ steps }) => steps.some(({ path, status }) => path === 'both/time/nap' && status === 'completed'));
    await t.signal(org, process, id, 'go', 'gone');
    await t.untilRun(id, ({ steps }) => steps.some(({ path, status }) => path === 'both/signal/event' && status === 'completed'));
    answer();
    expect(await t.ended(id)).toMatchObject({ status: 'completed', output: { call: 'at last', signal: 'gone', time: null } });
  });
});
