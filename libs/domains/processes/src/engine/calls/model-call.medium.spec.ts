import { script, type TestOrg } from '@aps/chats/testing';
import { entitle, withCredits, withRateCard } from '@aps/billing/testing';
import { InferenceSettings } from '@aps/inference';
import { ModelCalls } from '@aps/inference/testing';
import { NO_CALLER } from '@aps/platform/database';
import { sql } from '@aps/platform/testing';
import { eventually } from '@aps/testing';
import { RunControl } from '../../runs/run-control.service';
import { StepTools } from '../../tools/step-tools';
import { runningService } from '../../testing/running';
import { aTool } from '../../testing/tools';
import { RunDriver } from '../run-driver';
import type { CallResult } from './call-result';
import { Ledgers } from './ledgers';
import { LlmCalls } from './llm-calls';

const t = runningService();
let org: TestOrg;
beforeAll(() => t.addUnpricedModel('small'));
beforeEach(async () => {
  org = await t.org();
});

/** What was called, but for the titles of chats: nobody waits for those. */
const RECEIPTS = sql<{ feature: string; model_key: string }>(
  `SELECT feature, model_key FROM inference_receipts WHERE org_id = $1 AND feature <> 'title' ORDER BY id`,
);
const receipts = () => t.db.query(RECEIPTS, [org.id]);

describe('side work of steps', () => {
  const SUM = { type: 'object', properties: { sum: { type: 'integer' } }, required: ['sum'] };
  const FEATURES = sql('UPDATE platform_ai_settings SET feature_models = $1');
  const featureModels = async (models: object) => {
    await t.db.execute(sql('INSERT INTO platform_ai_settings (id) VALUES (1) ON CONFLICT DO NOTHING'));
    await t.db.execute(FEATURES, [models]);
    t.get(InferenceSettings).drop(null);
  };
  afterEach(() => featureModels({}));

  it('is done by the model that the platform names for it', async () => {
    await featureModels({ distill: 'small', payload_repair: 'small' });
    t.get(StepTools).register(aTool('spec.dates', { call: () => Promise.resolve({ rejected: 'There is no such day.', mendable: true }) }));
    const process = await t.deployed(org, [
      { id: 'a', kind: 'agent', agent: org.agentId, task: script({ text: 'sum: 5' }), output_schema: SUM, distill: true },
      { id: 'b', kind: 'tool', tool: 'spec.dates', arguments: {}, repair: { max_attempts: 1 } },
    ]);
    await t.ended(await t.begin(org, process));
    expect(await receipts()).toEqual([
      { feature: 'turn', model_key: 'mock' },
      { feature: 'distill', model_key: 'small' },
      { feature: 'payload_repair', model_key: 'small' },
    ]);
  });
});

it('an answer is paid also where the run is over before the model is asked once more', async () => {
  const schema = { type: 'object', required: ['sum'] };
  const process = await t.deployed(org, [
    { id: 'a', kind: 'llm', prompt: script({ text: 'no' }, { text: 'one two three', chunk_delay_ms: 5_000 }), output_schema: schema },
  ]);
  const ask = jest.spyOn(t.get(ModelCalls), 'streamChat');
  const id = await t.begin(org, process);
  await eventually(
    () => Promise.resolve(ask.mock.calls.length),
    (asked) => asked === 2,
  );
  ask.mockRestore();
  await t.get(RunControl).cancel(t.scope(org), process.id, id);
  await eventually(receipts, (paid) => paid.length > 0);
  const [line] = await t.db.query(sql('SELECT status, error FROM process_llm_calls WHERE run_id = $1'), [id]);
  expect(line).toMatchObject({ status: 'failed', error: { code: 'worker_lost' } });
});

it('a call that cannot be charged at once is tried again, and keeps neither the others nor why the run has ended', async () => {
  const schema = { type: 'object', required: ['sum'] };
  const asking = (id: string) => ({
    id: `b${id}`,
    steps: [{ id, kind: 'llm', prompt: script({ text: 'no' }, { text: 'one two three', chunk_delay_ms: 5_000 }), output_schema: schema }],
  });
  const process = await t.deployed(org, [{ id: 'both', kind: 'parallel', branches: ['one', 'two'].map(asking) }]);
  const ask = jest.spyOn(t.get(ModelCalls), 'streamChat');
  const drive = jest.spyOn(t.get(RunDriver), 'drive');
  const charge = jest.spyOn(t.get(Ledgers), 'llm').mockRejectedValueOnce(new Error('away'));
  const id = await t.begin(org, process);
  await eventually(
    () => Promise.resolve(ask.mock.calls.length),
    (asked) => asked === 4,
  );
  await t.get(RunControl).cancel(t.scope(org), process.id, id);
  await eventually(receipts, (paid) => paid.length === 2);
  expect(await t.db.query(sql('SELECT status FROM process_llm_calls WHERE run_id = $1'), [id])).toHaveLength(2);
  await expect(drive.mock.results[0].value).rejects.toMatchObject({ reason: 'stopped' });
  expect(charge).toHaveBeenCalledTimes(3);
  for (const spy of [ask, drive, charge]) spy.mockRestore();
});

it.each([
  ['llm', 'process_llm_calls'],
  ['distill', 'process_agent_calls'],
] as const)('a call of %s stands in its ledger once, though nobody has heard that it was written', async (kind, ledger) => {
  const results: Promise<CallResult>[] = [];
  const calls = t.get(LlmCalls);
  const make = calls[kind === 'llm' ? 'answer' : 'distill'].bind(calls) as typeof calls.answer;
  const spy = jest.spyOn(calls, kind === 'llm' ? 'answer' : 'distill').mockImplementation((...args: unknown[]) => {
    results.push(make(...(args as Parameters<typeof make>)));
    return results[0];
  });
  const step = {
    output_schema: { type: 'object' },
    ...(kind === 'llm' ? { prompt: script({ text: '{}' }) } : { agent: org.agentId, task: script({ text: 'so' }), distill: true }),
  };
  const id = await t.begin(org, await t.deployed(org, [{ id: 'a', kind: kind === 'llm' ? 'llm' : 'agent', ...step }]));
  const { cost_usd } = await t.ended(id);
  const lines = () => t.db.query(sql(`SELECT id FROM ${ledger} WHERE run_id = $1`), [id]);
  const before = await lines();
  await t.db.transaction(NO_CALLER, (await results[0]).charge!);
  expect([await lines(), (await t.run(id)).cost_usd]).toEqual([before, cost_usd]);
  spy.mockRestore();
});

it('a model that refuses to answer fails its step as a provider that does', async () => {
  const process = await t.deployed(org, [{ id: 'a', kind: 'llm', prompt: script({ text: 'no', finish: 'refusal' }) }]);
  const error = { code: 'provider_rejected', message: 'The model did not answer this.', retryable: false };
  expect(await t.ended(await t.begin(org, process))).toMatchObject({ status: 'failed', error });
});

describe('a model without a price, where credits are paid', () => {
  beforeAll(async () => {
    await withRateCard(t);
    await entitle(t, { enforces_credits: true });
  });
  afterAll(() => entitle(t, { enforces_credits: false }));

  it('is not asked by a step', async () => {
    await withCredits(t, org.id, { granted: '100' });
    const process = await t.deployed(org, [{ id: 'a', kind: 'llm', prompt: 'hello', model: 'small' }]);
    const error = {
      code: 'model_unavailable',
      message: 'The model small has no price, so its cost in credits is not known.',
      retryable: false,
    };
    expect(await t.ended(await t.begin(org, process))).toMatchObject({ status: 'failed', error });
    expect(await receipts()).toEqual([]);
  });
});
