import { AgentsService } from '@aps/agents';
import { anAgent } from '@aps/agents/testing';
import { entitle, override, withCredits, withRateCard } from '@aps/billing/testing';
import { HELD, script, type TestOrg } from '@aps/chats/testing';
import { RunLeases } from '@aps/platform/runs';
import { sql } from '@aps/platform/testing';
import { PromptsService } from '@aps/prompts';
import { eventually } from '@aps/testing';
import { RunReviews } from '../reviews/run-reviews.service';
import { RunControl } from '../runs/run-control.service';
import { aProcess, aRevision } from '../testing';
import { runningService } from '../testing/running';
import { Openings } from './openings';

const t = runningService();
let org: TestOrg;
beforeAll(async () => {
  await withRateCard(t);
  await t.addUnpricedModel('unpriced');
});
beforeEach(async () => {
  org = await t.org();
});

const RECEIPTS = sql<{ credits: string; input: number }>(`
  SELECT trim_scale(r.credits)::text AS credits, r.input_tokens AS input FROM inference_receipts r JOIN process_steps s ON s.chat_id = r.chat_id WHERE s.run_id = $1`);
const TURNS = sql<{ id: string; status: string }>(
  'SELECT t.id, t.status FROM turns t JOIN process_steps s ON s.chat_id = t.chat_id WHERE s.run_id = $1 ORDER BY t.seq',
);
const step = (more: object = {}) => ({ id: 'a', kind: 'agent', agent: org.agentId, task: 'hello', ...more });
const begun = async (...steps: unknown[]) => {
  const process = await t.deployed(org, steps, { output: '${steps.a.output}' });
  return { process, id: await t.begin(org, process) };
};
const replay = (process: string, id: string) => t.get(RunReviews).replayCheck(t.scope(org), process, id);

describe('a step of an agent for whose turn there is no room', () => {
  beforeEach(() => override(t, org.id, { max_queue_depth: 0 }));

  /** As one that was tried, and more than once, while there was none. */
  const refused = async (id: string) => {
    const { fence } = await t.waiting(id, 'a');
    return t.untilRun(id, (run) => run.status === 'waiting' && BigInt(run.fence) > BigInt(fence));
  };

  it('waits, without a worker or a failed try, and begins when there is some', async () => {
    const { process, id } = await begun(step());
    const run = await refused(id);
    expect(run).toMatchObject({ state: 'running', lease_owner: null, steps: [{ status: 'waiting', note: 'queue_full', chat_id: null }] });
    const { blocked_by, next_action } = await t.get(RunReviews).diagnose(t.scope(org), process.id, id);
    expect([blocked_by, next_action]).toMatchObject([{ kind: 'cap', ref: null }, 'wait']);
    await override(t, org.id, {});
    const { status, output, steps } = await t.ended(id);
    expect([status, output]).toEqual(['completed', 'You said: hello']);
    expect(steps).toMatchObject([{ attempt: 1, status: 'completed', note: null, chat_id: expect.any(String) as string }]);
    expect((await t.events(id)).map(({ data }) => data.event)).toEqual([
      'run_created',
      'run_started',
      'step_started',
      'step_finished',
      'run_finished',
    ]);
    expect(await replay(process.id, id)).toMatchObject({ deterministic: true, compared: 1 });
  });

  it('has no chat of a try that was rolled back while there was still room', async () => {
    await override(t, org.id, {});
    const openings = t.get(Openings);
    jest.spyOn(openings, 'takeSignals').mockImplementationOnce(async () => {
      await override(t, org.id, { max_queue_depth: 0 });
      throw Object.assign(new Error('deadlock'), { code: '40P01' });
    });
    const { id } = await begun(step());
    expect((await refused(id)).steps).toMatchObject([{ status: 'waiting', note: 'queue_full', chat_id: null }]);
    await override(t, org.id, {});
    expect(await t.ended(id)).toMatchObject({ status: 'completed', output: 'You said: hello' });
  });

  it('fails when its time is up', async () => {
    const { process, id } = await begun(step({ timeout_s: 2 }));
    expect(await t.ended(id)).toMatchObject({ status: 'failed', error: { code: 'timeout' }, steps: [{ status: 'failed', chat_id: null }] });
    expect(await replay(process.id, id)).toMatchObject({ deterministic: true });
  });

  it('fails when its agent is gone meanwhile', async () => {
    const { process, id } = await begun(step());
    await refused(id);
    await t.get(AgentsService).delete(t.scope(org), org.agentId);
    expect(await t.ended(id)).toMatchObject({
      status: 'failed',
      error: { code: 'agent_failed' },
      steps: [{ status: 'failed', note: null }],
    });
    expect(await replay(process.id, id)).toMatchObject({ deterministic: true });
  });

  it('lets steps beside it go on, and is given up with its run', async () => {
    const nap = { id: 'nap', kind: 'wait', for_s: 1 };
    const branches = [
      { id: 'agent', steps: [step({ id: 'b' })] },
      { id: 'other', steps: [nap, { id: 'stop', kind: 'flag', reason: 'enough' }] },
    ];
    const { process, id } = await begun({ id: 'a', kind: 'parallel', branches });
    const run = await t.ended(id);
    expect(run).toMatchObject({ status: 'flagged', flag_reason: 'enough' });
    expect(run.steps.find(({ path }) => path === 'a/agent/b')).toMatchObject({ status: 'cancelled', chat_id: null });
    expect(await replay(process.id, id)).toMatchObject({ deterministic: true });
  });
});

describe('a step whose agent has another slug than when its process was deployed', () => {
  const CHAT_OF = sql<{ agent_id: string }>('SELECT c.agent_id FROM chats c JOIN process_steps s ON s.chat_id = c.id WHERE s.run_id = $1');

  it('is of that agent, and of no other, until it is gone', async () => {
    const path = `/api/orgs/${org.id}`;
    const inOrg = { ...org, path };
    const call = (method: string, below: string, body?: object) => t.make(method, `${path}/${below}`, { as: org.owner, body });
    const meant = await anAgent(t, inOrg, { slug: 'payroll' });
    const process = (await aProcess(t, inOrg)) as { id: string; current_revision_id: string };
    const revision = await aRevision(t, inOrg, process.id, { schema_version: 1, steps: [step({ agent: 'payroll' })] });
    await call('POST', `processes/${process.id}/revisions/${revision.id as string}/deploy`);
    await call('PATCH', `agents/${meant.id as string}`, { slug: 'wages' });
    await anAgent(t, inOrg, { slug: 'payroll' });
    const begin = () => t.begin(org, { id: process.id, revision_id: revision.id as string });
    const id = await begin();
    expect(await t.ended(id)).toMatchObject({ status: 'completed', steps: [{ input: { agent: 'payroll', task: 'hello' } }] });
    expect(await t.db.query(CHAT_OF, [id])).toEqual([{ agent_id: meant.id }]);
    expect(await replay(process.id, id)).toMatchObject({ deterministic: true, compared: 1 });
    await call('DELETE', `agents/${meant.id as string}`);
    const of = await begin();
    expect(await t.ended(of)).toMatchObject({
      status: 'failed',
      error: { code: 'agent_failed', message: 'There is no agent payroll.' },
      steps: [{ chat_id: null }],
    });
  });
});

it('a step whose process or template has gone since its process was deployed is of no other that is called so', async () => {
  const inOrg = { ...org, path: `/api/orgs/${org.id}` };
  const call = (method: string, below: string, body?: object) => t.make(method, `${inOrg.path}/${below}`, { as: org.owner, body });
  const made = async (name: string, ...steps: unknown[]) => {
    const { id } = (await aProcess(t, inOrg, { name })) as { id: string };
    const revision = await aRevision(t, inOrg, id, { schema_version: 1, steps });
    await call('POST', `processes/${id}/revisions/${revision.id as string}/deploy`);
    return { id, revision_id: revision.id as string };
  };
  const refunding = () => made('Refunds', { id: 'a', kind: 'transform', set: { x: 1 } });
  const prompts = t.get(PromptsService);
  const wording = () =>
    prompts.create(t.scope(org), { name: 'Words', description: null, text: 'Hello', fields: null, post_processing_instructions: null });
  const [refunds, words] = [await refunding(), await wording()];
  const ofProcess = await made('Of process', { id: 'a', kind: 'process', process: 'refunds', input: {} });
  const ofTemplate = await made('Of template', { id: 'a', kind: 'prompt', template: 'words', input: {} });
  for (const each of [ofProcess, ofTemplate]) expect(await t.ended(await t.begin(org, each))).toMatchObject({ status: 'completed' });
  await call('DELETE', `processes/${refunds.id}`);
  await prompts.delete(t.scope(org), words.id);
  await refunding();
  await wording();
  expect(await t.ended(await t.begin(org, ofProcess))).toMatchObject({
    error: { code: 'child_failed', message: expect.stringContaining('no process') as string },
  });
  expect(await t.ended(await t.begin(org, ofTemplate))).toMatchObject({ error: { code: 'tool_error' } });
});

describe('a step of an agent', () => {
  const once = { name: 'todo_write', arguments: { todos: [] } };
  const question = { name: 'ask_human', arguments: { kind: 'question', prompt: 'Well?' } };
  const slow = () => script({ tool_calls: [once] }, { text: 'one two three', chunk_delay_ms: 20_000 });
  const turns = (process: string, id: string, call = '') =>
    t.make('GET', `/api/orgs/${org.id}/processes/${process}/runs/${id}/agent-calls${call}`, { as: org.owner });
  /** Its agent has called its model once, and is at the second call. */
  const asked = (id: string) =>
    eventually(
      () => t.db.query(RECEIPTS, [id]),
      (found) => found.length === 1,
    );

  it('is listed with its turn, which is told with what was said in it', async () => {
    const task = script({ text: 'one', tool_calls: [once] }, { text: 'the end' });
    const { process, id } = await begun(step({ task }));
    await t.ended(id);
    const { items } = await turns(process.id, id);
    expect(items).toEqual([expect.not.objectContaining({ messages: expect.anything() as unknown })]);
    const call = await turns(process.id, id, `/${(items as { id: string }[])[0].id}`);
    expect(call).toMatchObject({
      ...{ kind: 'turn', status: 'succeeded', result: 'the end' },
      messages: [
        { role: 'user', content: task },
        { role: 'assistant', content: 'one', tool_calls: [{ name: once.name }] },
        { role: 'tool', tool_name: 'todo_write' },
        { role: 'assistant', content: 'the end', tool_calls: null },
      ],
    });
  });

  it.each([
    ['it has taken too long', (): Promise<unknown> => Promise.resolve(), 'timeout'],
    ['its run is cancelled', (process: string, id: string) => t.get(RunControl).cancel(t.scope(org), process, id), null],
  ])('has cost its run what it has, also when %s', async (_, end, code) => {
    const { process, id } = await begun(step({ task: slow(), ...(code && { timeout_s: 10 }) }));
    const [{ credits, input }] = await asked(id);
    await end(process.id, id);
    const run = await t.ended(id);
    expect(Number(credits)).toBeGreaterThan(0);
    expect([run.error?.code ?? null, Number(run.cost_credits)]).toEqual([code, Number(credits)]);
    expect((await turns(process.id, id)).items).toMatchObject([{ status: 'failed', turn_no: 1, tokens: { input }, cost_credits: credits }]);
  });

  it('costs its run what messages have cut off, too', async () => {
    const asks = (credits: number) =>
      script({ tool_calls: [question], usage: { input: 10_000 * credits, output: 0 } }, { text: 'the end' });
    const { process, id } = await begun(step({ task: asks(1) }));
    const chat = (await t.waiting(id, 'a')).steps[0].chat_id!;
    const asking = () => t.until(org, chat, (c) => c.status === 'PAUSED' && c.pending_hitl_count === 1);
    await asking();
    expect((await t.send(org, chat, asks(2))).status).toBe(202);
    await t.until(org, chat, (c) => c.messages.filter((m: { role: string }) => m.role === 'assistant').length === 2);
    await asking();
    expect((await t.send(org, chat, script({ text: 'never mind', usage: { input: 40_000, output: 0 } }))).status).toBe(202);
    const run = await t.ended(id);
    expect([run.status, run.output, Number(run.cost_credits)]).toEqual(['completed', 'never mind', 7]);
    expect((await turns(process.id, id)).items).toMatchObject([
      { turn_no: 1, status: 'failed', cost_credits: '1', tokens: { input: 10_000 } },
      { turn_no: 2, status: 'failed', cost_credits: '2', tokens: { input: 20_000 } },
      { turn_no: 3, status: 'succeeded', cost_credits: '4', tokens: { input: 40_000 } },
    ]);
  });

  describe('of an organization that pays in credits', () => {
    beforeEach(() => entitle(t, { enforces_credits: true }));
    afterEach(() => entitle(t, { enforces_credits: false }));

    it.each([
      ['credits', 'credits_exhausted', {}, '0', { kind: 'credits' }, 'add_credits'],
      ['a price of its model', 'model_unavailable', { model: 'unpriced' }, '100', { kind: 'route' }, 'fix_route'],
    ])('fails as any other for want of %s, and its handlers hear of it', async (_, code, agent, granted, by, next) => {
      org = await t.org(agent);
      await withCredits(t, org.id, { granted });
      const handled = { on_error: [{ match: code, then: 'flag', steps: [] }] };
      const { process, id } = await begun(step());
      expect(await t.ended(id)).toMatchObject({ status: 'failed', error: { code } });
      expect(await t.get(RunReviews).diagnose(t.scope(org), process.id, id)).toMatchObject({ blocked_by: by, next_action: next });
      const flagged = await t.begin(org, await t.deployed(org, [step()], handled));
      expect(await t.ended(flagged)).toMatchObject({ status: 'flagged' });
    });
  });

  it('goes on after its organization was suspended, and costs its run what was cut off, too', async () => {
    const usage = { input: 10_000, output: 0 };
    const task = script({ tool_calls: [once], usage }, { text: 'the end', chunk_delay_ms: HELD, usage });
    const { process, id } = await begun(step({ task }));
    await asked(id);
    const leases = t.get(RunLeases) as unknown as { held: Map<string, object>; end(lease: object, reason: string): void };
    const [{ id: turn }] = await t.db.query(TURNS, [id]);
    // As its heartbeat finds.
    leases.end(leases.held.get(turn)!, 'org_suspended');
    t.letGo(task);
    const run = await t.ended(id);
    expect(run).toMatchObject({ status: 'completed', output: 'the end', cost_credits: '2.000000' });
    expect((await t.db.query(TURNS, [id])).map(({ status }) => status)).toEqual(['stopped', 'done']);
    expect((await turns(process.id, id)).items).toMatchObject([
      { turn_no: 1, status: 'failed', cost_credits: '1' },
      { turn_no: 2, status: 'succeeded', cost_credits: '1' },
    ]);
  });

  it("asks no model once its run's budget is used up by what messages have cut off", async () => {
    const process = await t.deployed(org, [step({ task: script({ tool_calls: [question], usage: { input: 10_000, output: 0 } }) })]);
    const id = await t.begin(org, process, {}, { budget_credits: '1' });
    const chat = (await t.waiting(id, 'a')).steps[0].chat_id!;
    await t.until(org, chat, (c) => c.status === 'PAUSED');
    await t.send(org, chat, 'never mind');
    expect(await t.ended(id)).toMatchObject({ status: 'failed', error: { code: 'budget_exceeded' } });
  });

  const note = { name: 'todo_write', arguments: { todos: [{ title: 'more', status: 'pending' }] } };
  const busy = () => script(...[1, 2, 3, 4].map((n) => ({ text: `step ${n}`, tool_calls: [note] })), { text: 'the end' });
  const modelSteps = sql<{ model_steps: number }>('SELECT model_steps FROM turns WHERE chat_id = $1');

  it.each([
    ['its own', { max_steps: 2 }, {}, 'step 2', 2],
    ['what its agent has', { max_steps: 4 }, { max_steps: 3 }, 'step 3', 3],
    ['what its agent has, where it says nothing', {}, { max_steps: 1 }, 'step 1', 1],
    ['no more than it takes', { max_steps: 5 }, {}, 'the end', 5],
  ])('has so many model calls: %s; its output are the last words then', async (_, more, agent, output, calls) => {
    org = await t.org(agent);
    const { process, id } = await begun(step({ task: busy(), ...more }));
    const run = await t.ended(id);
    expect(run).toMatchObject({ status: 'completed', output });
    expect(await t.db.query(modelSteps, [run.steps[0].chat_id])).toEqual([{ model_steps: calls }]);
    expect(await replay(process.id, id)).toMatchObject({ deterministic: true });
  });
});
