import { entitle } from '@aps/billing/testing';
import { Agent, AgentRevision, Chat, InferenceReceipt, OrgAiSettings, PromptRun } from '@aps/entities';
import { costOf } from '@aps/inference';
import { aTeam, type TestTeam } from '@aps/orgs/testing';
import { Database, NO_CALLER } from '@aps/platform/database';
import { Maintenance } from '@aps/platform/maintenance';
import { sql, type Answer, type Bearer } from '@aps/platform/testing';
import { eventually } from '@aps/testing';
import { uuidv7 } from 'uuidv7';
import { letGo } from '../../../../tools/mock-model/server';
import { PromptRunner } from './prompt-runner';
import { promptsService, type Frame } from './testing/prompts';

const t = promptsService();
let org: TestTeam;
beforeEach(async () => {
  await entitle(t, { direct_model_choice: true, enforces_credits: false });
  org = await aTeam(t);
});

const TOTAL = { name: 'total', type: 'number', required: true };
const script = (...steps: object[]) => `\`\`\`mock\n${JSON.stringify({ steps })}\n\`\`\``;

/** @returns its path */
async function aTemplate(body: object): Promise<string> {
  const { id } = await t.make('POST', `${org.path}/prompt-templates`, { as: org.owner, body: { name: 'A', model: 'mock', ...body } });
  return `${org.path}/prompt-templates/${id}`;
}
const test = (path: string, body: object = {}, until?: (frame: Frame) => boolean) => t.frames(path, org.owner.token, body, until);
const refusal = async (path: string, body: object) => {
  const answer = await t.call('POST', `${path}/test`, { as: org.owner, body });
  return [answer.status, answer.body.code];
};
const runs = (path: string, query = '') => t.make('GET', `${path}/runs${query}`, { as: org.owner });
const names = (frames: Frame[]) => frames.map(([event]) => event);

describe('a plain prompt', () => {
  it('streams its answer, and keeps and meters the run', async () => {
    const path = await aTemplate({ text: 'Greet {{who}} twice.' });
    const frames = await test(path, { variables: { who: 'Ada' } });
    const output = 'You said: Greet Ada twice.';
    expect(names(frames)).toEqual([...Array(frames.length - 1).fill('token'), 'done']);
    expect(
      frames
        .slice(0, -1)
        .map(([, { text }]) => text)
        .join(''),
    ).toBe(output);
    const [, done] = frames.at(-1)!;
    const usage = { input: 4, cached_input: 0, cache_write: 0, output: 7, reasoning: 0 };
    const cost = { cost_usd: '0.000018', cost_credits: '0' };
    expect(done).toEqual({
      run_id: expect.any(String),
      output,
      data: null,
      usage,
      model: 'mock',
      duration_ms: expect.any(Number),
      ...cost,
    });
    const { current_revision, id: template_id } = await t.make('GET', path, { as: org.owner });
    const times = { created_at: expect.any(String), updated_at: expect.any(String), duration_ms: done.duration_ms };
    const what = {
      template_id,
      revision_id: current_revision.id,
      source: 'test',
      status: 'succeeded',
      model: 'mock',
      created_by: org.owner.id,
    };
    expect(await runs(path)).toEqual([
      { id: done.run_id, ...what, input_preview: 'Greet Ada twice.', output, data: null, usage, ...cost, error: null, ...times },
    ]);
    expect(await t.db.manager.findBy(InferenceReceipt, { org_id: org.id })).toMatchObject([
      {
        feature: 'prompt_default',
        model_key: 'mock',
        input_tokens: 4,
        output_tokens: 7,
        usd_cost: '0.000018',
        chat_id: null,
        turn_id: null,
      },
    ]);
  });

  it('ends with an error when the provider fails, and says no more', async () => {
    const path = await aTemplate({ text: script({ error: { status: 400, message: 'No.' } }) });
    const frames = await test(path);
    expect(names(frames)).toEqual(['error']);
    expect(await runs(path)).toMatchObject([{ status: 'failed', output: null, usage: null, error: frames[0][1] }]);
  });

  it('ends with an error when the answer breaks off after its first words', async () => {
    const path = await aTemplate({ text: script({ text: 'one two three four', error: 'disconnect' }) });
    const frames = await test(path);
    expect([...new Set(names(frames))]).toEqual(['token', 'error']);
    expect(frames.at(-1)![1]).toMatchObject({ code: 'model_interrupted' });
  });

  it('reads no answer of any length', async () => {
    const frames = await test(await aTemplate({ text: '{{a}}' }), { variables: { a: 'xxxxxxxxx '.repeat(101_000) } });
    expect(frames.at(-1)).toMatchObject(['error', { code: 'output_too_long' }]);
  });

  it('is cut when the client goes, with its call', async () => {
    const path = await aTemplate({ text: script({ text: 'one two three', chunk_delay_ms: 20_000 }) });
    await test(path, {}, ([event]) => event === 'token');
    const [run] = await eventually(
      () => runs(path),
      ([{ status }]) => status !== 'running',
    );
    expect(run).toMatchObject({ status: 'cancelled', error: { code: 'cancelled' } });
  });

  it('is no prompt without a text, and asks for its variables', async () => {
    expect(await refusal(await aTemplate({}), {})).toEqual([422, 'template_empty']);
    const path = await aTemplate({ name: 'B', text: '{{a}} {{b}}' });
    expect(await refusal(path, { variables: { b: 1 } })).toEqual([422, 'missing_variables']);
    expect(await runs(path)).toEqual([]);
  });
});

describe('a structured prompt', () => {
  const INVOICE = 'total: 12.50\ncurrency: EUR';

  it('extracts what its fields say, and makes something of it', async () => {
    const fields = [TOTAL, { name: 'currency', type: 'enum', enum_values: ['USD', 'EUR'], required: true }];
    const path = await aTemplate({ text: 'Read it, {{who}}.', fields, post_processing_instructions: 'Sum up for {{who}}.' });
    const frames = await test(path, { input_text: INVOICE, variables: { who: 'Ada' } });
    const data = { total: 12.5, currency: 'EUR' };
    expect(frames.slice(0, -1)).toEqual([
      ['extracting', { fields: ['total', 'currency'] }],
      ['result', { data }],
      ['post_processing', {}],
    ]);
    expect(frames.at(-1)).toMatchObject(['done', { data, output: `You said: ${JSON.stringify(data)}` }]);
    expect(await runs(path)).toMatchObject([{ status: 'succeeded', input_preview: INVOICE, data }]);
    expect(await t.db.manager.countBy(InferenceReceipt, { org_id: org.id })).toBe(2);
  });

  it('answers with its data where it has no instructions', async () => {
    const path = await aTemplate({ fields: [TOTAL] });
    const frames = await test(path, { input_text: INVOICE });
    expect(frames[2]).toEqual(['post_processing', { skipped: true }]);
    expect(frames[3]).toMatchObject(['done', { output: '{"total":12.5}' }]);
  });

  it.each(['prose', '<html>', '{"total": 1', '{"total":"x"}', ''])('asks once more after %j', async (wrong) => {
    const path = await aTemplate({ fields: [TOTAL] });
    const answers = [{ text: wrong }, { text: '{"total":2}' }];
    // Who has said nothing is asked the same again.
    const frames = await test(path, { input_text: wrong ? script(...answers) : script(answers) });
    expect(names(frames)).toEqual(['extracting', 'result', 'post_processing', 'done']);
    expect(frames.at(-1)![1]).toMatchObject({ data: { total: 2 } });
  });

  it('fails after the second answer that does not fit, and is charged for both', async () => {
    const path = await aTemplate({ fields: [TOTAL] });
    const usage = { input: 10, output: 5 };
    const frames = await test(path, { input_text: script({ text: 'no', usage }, { text: 'no', usage }, { text: '{"total":2}' }) });
    expect(frames.slice(1)).toEqual([['error', { code: 'extraction_invalid', message: expect.any(String) }]]);
    expect(await runs(path)).toMatchObject([
      { status: 'failed', data: null, usage: { input: 20, output: 10 }, error: { code: 'extraction_invalid' } },
    ]);
    const each = { input_tokens: 10, output_tokens: 5 };
    expect(await t.db.manager.findBy(InferenceReceipt, { org_id: org.id })).toMatchObject([each, each]);
  });

  it.each(['extracting', 'result', 'post_processing', 'done'])(
    'whose client goes at %s ends, and what was answered is charged',
    async (event) => {
      const path = await aTemplate({ fields: [TOTAL], post_processing_instructions: 'Sum up.' });
      const slow = event === 'extracting' ? { delay_ms: 20_000 } : {};
      await test(path, { input_text: script({ text: '{"total":2}', ...slow }) }, ([name]) => name === event);
      const [run, ...others] = await eventually(
        () => runs(path),
        ([{ status }]) => status !== 'running',
      );
      // Of the frames behind the extraction each may be the last that the client wanted, and the run may have been quicker.
      const ends = { extracting: ['cancelled'], done: ['succeeded'] }[event] ?? ['cancelled', 'succeeded'];
      expect([ends, others]).toEqual([expect.arrayContaining([run.status]), []]);
      const receipts = await t.db.manager.findBy(InferenceReceipt, { org_id: org.id });
      expect([receipts.length > 0, costOf(receipts).usd_cost]).toEqual([event !== 'extracting', run.cost_usd]);
    },
  );

  it('needs something to read', async () => {
    const path = await aTemplate({ fields: [TOTAL] });
    for (const input_text of [null, '']) expect(await refusal(path, { input_text })).toEqual([422, 'input_missing']);
  });

  it.each(['dialect_2', 'dialect_3'] as const)('is asked of every provider in its own way: %s', async (dialect) => {
    const path = await aTemplate({ fields: [TOTAL, { name: 'note', type: 'string' }], model: dialect });
    expect((await test(path, { input_text: INVOICE })).at(-1)).toMatchObject(['done', { data: { total: 12.5 }, model: dialect }]);
  });
});

describe('models of runs', () => {
  it('are chosen by the plan', async () => {
    const path = await aTemplate({ text: 'a', model: null });
    expect(await refusal(path, { model_mode: 'normal' })).toEqual([422, 'plan_mismatch']);
    expect(await refusal(path, { model: 'no-such' })).toEqual([422, 'model_unknown']);
    await entitle(t, { direct_model_choice: false });
    expect(await refusal(path, { model: 'mock' })).toEqual([403, 'entitlement_required']);
    expect(await refusal(path, { reasoning_effort: 'low' })).toEqual([403, 'entitlement_required']);
    expect((await test(path, { model_mode: 'high_effort' })).at(-1)![0]).toBe('done');
  });

  it('must have a price where credits are counted, and dollars are not shown there', async () => {
    const path = await aTemplate({ text: 'a' });
    await entitle(t, { enforces_credits: true });
    expect(await refusal(path, { model: 'unpriced' })).toEqual([422, 'model_not_priced']);
    expect((await test(path)).at(-1)).toMatchObject(['done', { cost_usd: null }]);
    expect(await runs(path)).toMatchObject([{ cost_usd: null }]);
  });
});

it('a test is of no chat, so no budget keeps it from running', async () => {
  await t.db.manager.insert(OrgAiSettings, { org_id: org.id, budget_limit_usd: '0' });
  expect(names(await test(await aTemplate({ text: 'a' }))).at(-1)).toBe('done');
});

describe('runs', () => {
  it('come newest first, as many as are asked for, and their revision is the one that was run', async () => {
    const path = await aTemplate({ text: 'one' });
    await test(path);
    await t.make('PUT', path, {
      as: org.owner,
      body: { text: 'two', description: null, file_input_mode: null, model: 'mock', reasoning_effort: null },
    });
    await test(path);
    const all = await runs(path);
    expect(all.map((run: { output: string }) => run.output)).toEqual(['You said: two', 'You said: one']);
    expect(all[0].revision_id).not.toBe(all[1].revision_id);
    expect(await runs(path, '?limit=1&offset=1')).toEqual([all[1]]);
  });

  it('are read in batches, each of the rows behind those before, when all of many are asked for', async () => {
    const path = await aTemplate({ text: 'a' });
    const { id: template_id, current_revision } = await t.make('GET', path, { as: org.owner });
    const run = { org_id: org.id, template_id, revision_id: current_revision.id, model: 'mock', held_until: new Date() };
    const ids: string[] = [];
    for (let i = 0; i < 160; i++) ids.unshift(await t.insert(PromptRun, { ...run, source: 'test', status: 'succeeded', output: `${i}` }));
    const read = jest.spyOn(Database.prototype, 'query');
    const { headers, body } = await t.call('GET', `${path}/runs?offset=10`, { as: org.owner });
    const asked = read.mock.calls.map(([, values]) => values).filter((values) => values?.length === 6 && values[2] === template_id);
    read.mockRestore();
    expect(headers.get('content-length')).toBeNull();
    expect(body.map(({ id }: { id: string }) => id)).toEqual(ids.slice(10));
    const behind = [[50, 10, null], ...[59, 109, 159].map((last) => [50, 0, ids[last]])];
    expect(asked.map((values) => values!.slice(3))).toEqual([[101, 10, null], ...behind]);
    expect((await runs(path, '?limit=100')).map(({ id }: { id: string }) => id)).toEqual(ids.slice(0, 100));
  });

  it('of a chat that the caller may not open hide what was read and answered', async () => {
    const path = await aTemplate({ text: 'a' });
    const { id: template_id, current_revision } = await t.make('GET', path, { as: org.owner });
    const agent_id = await t.insert(Agent, { org_id: org.id, slug: 'agent', name: 'Agent' });
    const agent_revision_id = await t.insert(AgentRevision, { org_id: org.id, agent_id, version: 1, hash: 'hash', config: {} });
    for (const shared of [false, true]) {
      const id = uuidv7();
      const ofAgent = { org_id: org.id, agent_id, agent_revision_id, root_chat_id: id };
      await t.insert(Chat, { id, ...ofAgent, created_by: org.owner.id, shared, origin_kind: 'user' });
      const run = { org_id: org.id, template_id, revision_id: current_revision.id, chat_id: id, model: 'mock', held_until: new Date() };
      const said = { input_preview: 'secret', output: 'secret', data: { secret: true } };
      await t.insert(PromptRun, { ...run, ...said, source: 'agent', status: 'succeeded' });
    }
    const seenBy = async (as: Bearer) =>
      (await t.make('GET', `${path}/runs`, { as })).map((run: Answer['body']) => [run.input_preview, run.output, run.data]);
    const [open, hidden] = [
      ['secret', 'secret', { secret: true }],
      [null, null, null],
    ];
    expect(await seenBy(org.owner)).toEqual([open, open]);
    expect(await seenBy(org.member)).toEqual([open, hidden]);
  });

  it('whose process has died are failed, and what it did after all is charged', async () => {
    const path = await aTemplate({ text: `Slowly.\n${script({ text: 'one two', chunk_delay_ms: 600_000 })}` });
    const answered = test(path);
    await eventually(
      () => runs(path),
      (all: unknown[]) => all.length === 1,
    );
    await t.get(Maintenance).runAll();
    expect(await runs(path)).toMatchObject([{ status: 'running' }]);
    await t.db.execute(sql(`UPDATE prompt_runs SET held_until = now() - interval '1 second' WHERE org_id = $1`), [org.id]);
    await t.get(Maintenance).runAll();
    const lost = { status: 'failed', error: { code: 'worker_lost' } };
    expect(await runs(path)).toMatchObject([lost]);
    letGo('Slowly.');
    expect((await answered).at(-1)).toMatchObject(['error', lost.error]);
    expect(await t.db.manager.findBy(PromptRun, { org_id: org.id })).toMatchObject([{ ...lost, cost_usd: expect.any(String) }]);
  });
});

it('a run whose commit was not heard of is told as it ended, and charged once', async () => {
  const path = await aTemplate({ text: 'a' });
  const db = t.get(Database);
  const transaction = db.transaction.bind(db);
  let ends = 0;
  jest.spyOn(db, 'transaction').mockImplementation(async (caller, work) => {
    const done = await transaction(caller, work);
    if (caller === NO_CALLER && !ends++) throw new Error('Connection terminated unexpectedly');
    return done;
  });
  const charge = jest.fn(() => Promise.resolve());
  const runner = t.get(PromptRunner);
  const prepared = await runner.prepare(org.scope, 'a', {}, new AbortController().signal);
  const frames: string[] = [];
  await runner.run(org.scope, prepared, {
    source: 'agent',
    charge,
    signal: new AbortController().signal,
    tell: ({ event }) => frames.push(event),
  });
  jest.restoreAllMocks();
  expect([ends, frames.at(-1), charge.mock.calls.length]).toEqual([2, 'done', 1]);
  expect(await runs(path)).toMatchObject([{ status: 'succeeded' }]);
  expect(await t.db.manager.countBy(InferenceReceipt, { org_id: org.id })).toBe(1);
});

it('forgets what old runs say, and then those of templates that are gone', async () => {
  const [path, other, fresh] = [await aTemplate({ text: 'Old.' }), await aTemplate({ text: 'Gone.' }), await aTemplate({ text: 'New.' })];
  for (const each of [path, other, fresh]) await test(each);
  const idOf = (template: string) => template.split('/').at(-1);
  const [{ cost_usd }] = await runs(path);
  const OLD = sql(`UPDATE prompt_runs SET created_at = now() - make_interval(days => $2) WHERE template_id = $1`);
  for (const [each, days] of [
    [path, 31],
    [other, 31],
    [fresh, 29],
  ] as const)
    await t.db.execute(OLD, [idOf(each), days]);
  expect((await t.call('DELETE', other, { as: org.owner })).status).toBe(204);
  await t.get(Maintenance).runAll();
  const forgotten = { status: 'succeeded', input_preview: null, output: null, data: null, cost_usd };
  expect(await runs(path)).toMatchObject([forgotten]);
  expect(await runs(fresh)).toMatchObject([{ input_preview: 'New.', output: 'You said: New.' }]);
  const left = () => t.db.manager.findBy(PromptRun, { template_id: idOf(other) });
  expect(await left()).toMatchObject([{ output: null }]);
  await t.db.execute(sql(`UPDATE prompt_templates SET deleted_at = now() - interval '31 days' WHERE id = $1`), [idOf(other)]);
  await t.get(Maintenance).runAll();
  expect([(await left()).length, (await runs(path)).length]).toEqual([0, 1]);
});

it('nothing is run for a client that has gone before it began', async () => {
  const path = await aTemplate({ text: 'a' });
  const runner = t.get(PromptRunner);
  const prepared = await runner.prepare(org.scope, 'a', {}, new AbortController().signal);
  const tell = jest.fn();
  await runner.run(org.scope, prepared, { source: 'test', signal: AbortSignal.abort(), tell });
  expect([tell.mock.calls, await runs(path)]).toEqual([[], []]);
});

// The last of the file: the runner of its service runs nothing after it.
it('a process that ends tells and notes what it cuts', async () => {
  const path = await aTemplate({ text: script({ text: 'one two', chunk_delay_ms: 20_000 }) });
  const answered = test(path);
  await eventually(
    () => runs(path),
    (all: unknown[]) => all.length === 1,
  );
  t.configure({ SHUTDOWN_GRACE_MS: '0' });
  t.get(PromptRunner).beforeApplicationShutdown();
  expect((await answered).at(-1)).toMatchObject(['error', { code: 'worker_lost' }]);
  expect(await runs(path)).toMatchObject([{ status: 'failed', error: { code: 'worker_lost' } }]);
});
