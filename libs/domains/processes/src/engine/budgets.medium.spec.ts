import { anAgent } from '@aps/agents/testing';
import { withRateCard } from '@aps/billing/testing';
import { script, type TestOrg } from '@aps/chats/testing';
import { sql } from '@aps/platform/testing';
import { PromptsService } from '@aps/prompts';
import { eventually } from '@aps/testing';
import { RunReviews } from '../reviews/run-reviews.service';
import { runningService } from '../testing/running';

const t = runningService();
let org: TestOrg;
beforeAll(() => withRateCard(t));
beforeEach(async () => {
  org = await t.org();
});

/** An answer that costs 1.1 credits. */
const DEAR = { usage: { input: 9_000, output: 1_000 } };
const CALLED = sql<{ feature: string; credits: number; run_id: string | null }>(
  `SELECT feature, credits::float8 AS credits, run_id FROM inference_receipts WHERE org_id = $1 AND feature <> 'title' ORDER BY id`,
);
const called = () => t.db.query(CALLED, [org.id]);
const template = async (name: string, more: object) =>
  (await t.get(PromptsService).create(t.scope(org), { name, description: null, ...more } as Parameters<PromptsService['create']>[1])).slug;
const note = { name: 'todo_write', arguments: { todos: [] } };
const SUM = { type: 'object', properties: { sum: { type: 'integer' } }, required: ['sum'] };

describe('a run with a budget', () => {
  const exceeded = async (steps: unknown[]) => {
    const process = await t.deployed(org, steps);
    const id = await t.begin(org, process, {}, { budget_credits: '1' });
    const run = await t.ended(id);
    expect(run).toMatchObject({ status: 'failed', error: { code: 'budget_exceeded', message: 'The budget of this run is used up.' } });
    expect(await t.get(RunReviews).replayCheck(t.scope(org), process.id, id)).toMatchObject({ deterministic: true });
    return run;
  };
  const dear = { id: 'dear', kind: 'llm', prompt: script({ text: 'dear', ...DEAR }) };

  it('asks no model once it is used up, whatever the step', async () => {
    const plain = await template('Plain', { text: 'Say hello' });
    for (const next of [
      { id: 'next', kind: 'llm', prompt: 'hello' },
      { id: 'next', kind: 'prompt', template: plain, input: {} },
      { id: 'next', kind: 'agent', agent: org.agentId, task: 'hello' },
    ]) {
      const { steps } = await exceeded([dear, next]);
      expect(steps.map(({ status }) => status)).toEqual(['completed', 'failed']);
    }
    expect((await called()).map(({ feature }) => feature)).toEqual(['process', 'process', 'process']);
  });

  it('asks none a second time within a step that has used it up', async () => {
    const misfit = script({ text: 'no JSON', ...DEAR }, { text: '{"sum": 1}' });
    const structured = await template('Structured', { text: null, fields: [{ name: 'sum', type: 'integer', required: true }] });
    const agent = script({ text: 'one', tool_calls: [note], ...DEAR }, { text: 'two' });
    const { id: ofModel } = await exceeded([{ id: 'a', kind: 'llm', prompt: misfit, output_schema: SUM }]);
    const { id: ofPrompt } = await exceeded([{ id: 'a', kind: 'prompt', template: structured, input: { text: misfit } }]);
    const { cost_credits } = await exceeded([{ id: 'a', kind: 'agent', agent: org.agentId, task: agent }]);
    expect(Number(cost_credits)).toBe(1.1);
    expect(await called()).toEqual([
      { feature: 'process', credits: 1.1, run_id: ofModel },
      { feature: 'prompt_default', credits: 1.1, run_id: ofPrompt },
      { feature: 'turn', credits: 1.1, run_id: null },
    ]);
  });

  it('counts the prompts that its agents run, and runs none once it is used up', async () => {
    const slug = await template('Dear', { text: script({ text: 'dear', ...DEAR }) });
    const path = `/api/orgs/${org.id}`;
    const { id: agent } = await anAgent(t, { ...org, path }, { allowed_tools: [`prompt:${slug}`] });
    const asks = { tool_calls: [{ name: 'run_prompt_template', arguments: { template: slug } }] };
    for (const first of [asks, { ...asks, ...DEAR }]) {
      const run = await exceeded([{ id: 'a', kind: 'agent', agent, task: script({ text: 'one', ...first }, { text: 'two' }) }]);
      expect(Number(run.cost_credits)).toBeGreaterThan(1);
    }
    expect((await called()).map(({ feature }) => feature)).toEqual(['turn', 'prompt_default', 'turn']);
  });

  it('counts what its agents have others do, and those ask as well', async () => {
    const path = `/api/orgs/${org.id}`;
    const { id: leaf } = await anAgent(t, { ...org, path }, { slug: 'leaf' });
    const { id: agent } = await anAgent(t, { ...org, path }, { child_agent_ids: [leaf] });
    const delegating = (task: string, more: object = {}) =>
      script({ text: 'one', tool_calls: [{ name: 'delegate_to_agent', arguments: { agent: 'leaf', task } }], ...more }, { text: 'two' });
    const { id, process_id, cost_credits } = await exceeded([
      { id: 'a', kind: 'agent', agent, task: delegating(script({ text: 'dear', ...DEAR })) },
    ]);
    expect(Number(cost_credits)).toBeGreaterThan(1.1);
    const { body } = await t.call('GET', `/api/orgs/${org.id}/processes/${process_id}/runs/${id}/agent-calls`, { as: org.owner });
    expect(body.items.map(({ status, cost_credits: credits }: Record<string, string>) => [status, Number(credits) > 1])).toEqual([
      ['failed', false],
      ['succeeded', true],
    ]);
    expect(new Set(body.items.map(({ chat_id }: { chat_id: string }) => chat_id)).size).toBe(2);
    await exceeded([{ id: 'a', kind: 'agent', agent, task: delegating('hello', DEAR) }]);
    expect((await called()).map(({ credits }) => credits > 1)).toEqual([false, true, true]);
  });

  it('counts the runs that are its steps, and those ask as well', async () => {
    const child = await t.deployed(org, [dear]);
    const sub = { id: 'sub', kind: 'process', process: child.id, input: {} };
    const { steps } = await exceeded([sub, { id: 'next', kind: 'llm', prompt: 'hello' }]);
    expect(steps.map(({ status }) => status)).toEqual(['completed', 'failed']);
    const parent = await t.deployed(org, [dear, sub]);
    const run = await t.ended(await t.begin(org, parent, {}, { budget_credits: '1' }));
    const message = 'The budget of a run that this one is within is used up.';
    expect(run).toMatchObject({ status: 'failed', error: { code: 'child_failed', message } });
    expect((await called()).map(({ feature }) => feature)).toEqual(['process', 'process']);
  });

  it('counts what an agent beside it has cost so far', async () => {
    const half = (text: string) => script({ text, usage: { input: 3_000, output: 1_000 } });
    const agent = script({ text: 'one', tool_calls: [note], ...DEAR }, { text: 'two three four', chunk_delay_ms: 20_000 });
    const steps = [
      { id: 'go', kind: 'wait', event: 'go' },
      { id: 'b', kind: 'llm', prompt: half('b') },
      { id: 'c', kind: 'llm', prompt: half('c') },
    ];
    const branches = [
      { id: 'agent', steps: [{ id: 'a', kind: 'agent', agent: org.agentId, task: agent }] },
      { id: 'model', steps },
    ];
    const process = await t.deployed(org, [{ id: 'both', kind: 'parallel', branches }]);
    const id = await t.begin(org, process, {}, { budget_credits: '1.5' });
    await eventually(called, (calls) => calls.length === 1);
    await t.signal(org, process, id, 'go');
    const run = await t.ended(id);
    expect(run).toMatchObject({ status: 'failed', error: { code: 'budget_exceeded' } });
    expect(run.steps.map(({ step_id, status }) => `${step_id} ${status}`)).toEqual(
      expect.arrayContaining(['b completed', 'c failed', 'a cancelled']),
    );
    expect(Number(run.cost_credits)).toBe(1.6);
  });
});
