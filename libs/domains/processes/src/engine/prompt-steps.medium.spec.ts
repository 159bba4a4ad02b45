import { entitle, withRateCard } from '@aps/billing/testing';
import { script, type TestOrg } from '@aps/chats/testing';
import { PromptsService } from '@aps/prompts';
import { runningService } from '../testing/running';

const t = runningService();
let org: TestOrg;
beforeAll(() => withRateCard(t));
beforeEach(async () => {
  org = await t.org();
});

const template = async (name: string, more: Record<string, unknown>) =>
  (await t.get(PromptsService).create(t.scope(org), { name, description: null, ...more } as Parameters<PromptsService['create']>[1])).slug;
const fields = [{ name: 'sum', type: 'integer', required: true }];

describe('a step of a prompt template', () => {
  const calls = (process: string, id: string, call = '') =>
    t.make('GET', `/api/orgs/${org.id}/processes/${process}/runs/${id}/llm-calls${call}`, { as: org.owner });

  it('has its mode where that is chosen, and goes on by its model where models are', async () => {
    const plain = await template('Moded', { text: 'Greet {{who}}' });
    const process = await t.deployed(org, [{ id: 'a', kind: 'prompt', template: plain, model_mode: 'high_effort', input: { who: 'Ann' } }]);
    for (const direct_model_choice of [false, true]) {
      await entitle(t, { direct_model_choice });
      expect(await t.ended(await t.begin(org, process))).toMatchObject({ status: 'completed' });
    }
  });

  it('stands among the model calls of its run, with what it has cost', async () => {
    const plain = await template('Plain', { text: 'Greet {{who}}' });
    const structured = await template('Structured', { text: 'Find the sum.', fields });
    const misfit = script({ text: 'no' }, { text: 'no' });
    const process = await t.deployed(org, [
      { id: 'plain', kind: 'prompt', template: plain, input: { who: 'Ann' } },
      { id: 'structured', kind: 'prompt', template: structured, input: { text: misfit } },
    ]);
    const id = await t.begin(org, process);
    const run = await t.ended(id);
    expect(run).toMatchObject({ status: 'failed', error: { code: 'output_schema' } });
    const { items } = await calls(process.id, id);
    const of = {
      model_resolved: 'mock',
      route: 'mock',
      duration_ms: expect.any(Number) as number,
      tokens: { input: expect.any(Number) as number },
    };
    expect(items).toMatchObject([
      { ...of, step_id: 'plain', path: 'plain', model_requested: null, status: 'succeeded' },
      { ...of, step_id: 'structured', model_requested: null, status: 'failed' },
    ]);
    const sum = (items as { cost_credits: string }[]).reduce((all, { cost_credits }) => all + Number(cost_credits), 0);
    expect(sum).toBeGreaterThan(0);
    expect(Number(run.cost_credits)).toBeCloseTo(sum, 6);
    const details = await Promise.all((items as { id: string }[]).map((call) => calls(process.id, id, `/${call.id}`)));
    expect(details).toMatchObject([
      {
        request_messages: [{ role: 'user', content: 'Greet Ann' }],
        response_messages: [{ role: 'assistant', content: 'You said: Greet Ann' }],
        error: null,
      },
      {
        request_messages: [
          { role: 'system', content: 'Find the sum.' },
          { role: 'user', content: misfit },
        ],
        response_messages: [],
        error: { code: 'output_schema' },
      },
    ]);
  });

  it('is tried again when its provider has no time, as any model call', async () => {
    const busy = script({ text: 'hello', error: { status: 429, retry_after_s: 0.05, times: 3 } });
    const plain = await template('Plain', { text: busy });
    const retry = { max_attempts: 2, initial_s: 0.1, factor: 1, max_s: 1 };
    const process = await t.deployed(org, [{ id: 'a', kind: 'prompt', template: plain, input: {}, retry }], {
      output: '${steps.a.output}',
    });
    const run = await t.ended(await t.begin(org, process));
    expect(run).toMatchObject({
      status: 'completed',
      output: 'hello',
      steps: [
        { attempt: 1, status: 'failed', error: { code: 'provider_rate_limited', retryable: true } },
        { attempt: 2, status: 'completed' },
      ],
    });
  });

  it('fails with codes that steps have', async () => {
    const plain = await template('Plain', { text: 'Greet {{who}}' });
    const structured = await template('Structured', { text: null, fields });
    const url = 'http://127.0.0.1:1/';
    const codeOf = async (more: object) => {
      const retry = { max_attempts: 1 };
      const { error, steps } = await t.ended(await t.begin(org, await t.deployed(org, [{ id: 'a', kind: 'prompt', retry, ...more }])));
      expect(steps.at(-1)!.error).toEqual(error);
      return error!.code;
    };
    expect([
      await codeOf({ template: 'gone', input: {} }),
      await codeOf({ template: plain, input: {} }),
      await codeOf({ template: structured, input: {} }),
      await codeOf({ template: structured, input: { url } }),
      await codeOf({ template: structured, input: { text: script({ text: 'no' }, { text: 'no' }) } }),
      await codeOf({ template: structured, input: { text: script({ error: { status: 400 } }) } }),
      await codeOf({ template: structured, input: { text: script({ text: 'no', finish: 'refusal' }) } }),
    ]).toEqual([
      'tool_error',
      'tool_rejected',
      'tool_rejected',
      'tool_rejected',
      'output_schema',
      'provider_rejected',
      'provider_rejected',
    ]);
  });
});
