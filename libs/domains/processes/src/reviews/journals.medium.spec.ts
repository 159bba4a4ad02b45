import { script, type TestOrg } from '@aps/chats/testing';
import { PromptsService } from '@aps/prompts';
import { sql } from '@aps/platform/testing';
import { RunControl } from '../runs/run-control.service';
import { StepTools } from '../tools/step-tools';
import { RunReviews } from './run-reviews.service';
import { ENGINE_VERSION } from '../engine/journal';
import { JournalRepository } from '../engine/journal.repository';
import { runningService, type RunningService, type RunNow } from '../testing/running';
import { storedJournals, storeJournal } from '../testing/stored-journals';
import { aTool } from '../testing/tools';

/** With RECORD_JOURNALS=1 what these runs leave is kept, for engines to come. */
const records = process.env.RECORD_JOURNALS === '1';

const set = (id: string, values: object) => ({ id, kind: 'transform', set: values });
const tool = (id: string, slug: string, more: object = {}) => ({ id, kind: 'tool', tool: `spec.${slug}`, arguments: { n: 1 }, ...more });
const RETRY = { max_attempts: 3, initial_s: 0.1, factor: 2, max_s: 1 };
const PAY = (more: object) => ({ id: 'pay', kind: 'tool', tool: 'spec.pay', arguments: {}, timeout_s: 1, ...more });

type Play = (t: RunningService, org: TestOrg) => Promise<RunNow>;
const started = async (
  t: RunningService,
  org: TestOrg,
  steps: unknown[],
  over: Record<string, unknown> = {},
  input: Record<string, unknown> = {},
) => {
  const process = await t.deployed(org, steps, over);
  return { process, id: await t.begin(org, process, input) };
};
const ended =
  (steps: unknown[], over?: Record<string, unknown>, input?: Record<string, unknown>): Play =>
  async (t, org) =>
    t.ended((await started(t, org, steps, over, input)).id);
const answer = (t: RunningService, org: TestOrg, run: RunNow, body: object) =>
  t.make('POST', `/api/orgs/${org.id}/hitl-requests/${run.steps.find((row) => row.hitl_request_id)!.hitl_request_id}/answer`, {
    as: org.owner,
    body: body as Record<string, unknown>,
  });
/** Has its call come to no answer in time, which may have had its effect. */
const unknown =
  (body: object | null, more: object = {}): Play =>
  async (t, org) => {
    const { id } = await started(t, org, [PAY(more), set('end', { x: 1 })]);
    if (!body) return t.untilRun(id, (run) => run.state === 'waiting_human' || run.finished_at !== null);
    await answer(t, org, await t.untilRun(id, ({ state }) => state === 'waiting_human'), body);
    return t.ended(id);
  };

const RUNS: Record<string, Play> = {
  'steps that are computed': ended(
    [
      set('a', { x: '${input.n * 2}' }),
      { id: 'which', kind: 'branch', branches: [{ when: 'vars.x > 10', steps: [set('much', { y: 1 })] }], else: [set('little', { y: 2 })] },
      { id: 'each', kind: 'loop', over: '${[1, 2, 3]}', as: 'n', steps: [set('square', { z: '${vars.n * vars.n}' })] },
      {
        id: 'until',
        kind: 'loop',
        while: 'vars.count != 3',
        max_iterations: 5,
        steps: [set('next', { count: '${default(vars.count, 0) + 1}' })],
      },
      { id: 'stop', kind: 'flag', reason: 'y is ${vars.y}' },
    ].map((step) => (step.id === 'a' ? set('a', { x: '${input.n * 2}', count: 0 }) : step)),
    {},
    { n: 3 },
  ),
  'a loop with calls side by side': ended(
    [
      {
        id: 'each',
        kind: 'loop',
        over: '${input.list}',
        as: 'n',
        concurrency: 4,
        steps: [tool('echo', 'echo', { arguments: { n: '${vars.n}' } })],
      },
    ],
    { output: '${steps.each.output}' },
    { list: [5, 1, 4, 2, 3, 0, 6] },
  ),
  'tries that fail, and one that does not': ended([tool('flaky', 'flaky', { retry: RETRY })]),
  'an error that is dealt with': ended([tool('bad', 'refuses'), set('after', { x: 1 })], {
    on_error: [{ match: 'tool_rejected', steps: [set('mend', { why: '${error.message}' })], then: 'continue' }],
  }),
  'an error that flags the run': ended([tool('bad', 'refuses')], { on_error: [{ match: '*', steps: [], then: 'flag' }] }),
  'an expression that fails': ended([set('a', { x: '${input.nothing.there}' })]),
  'branches of which one is enough': ended([
    {
      id: 'any',
      kind: 'parallel',
      join: 'any',
      branches: [
        { id: 'never', steps: [{ id: 'w', kind: 'wait', event: 'never' }] },
        { id: 'soon', steps: [tool('echo', 'echo', { arguments: { n: 2 } })] },
      ],
    },
    {
      id: 'settled',
      kind: 'parallel',
      join: 'settled',
      branches: [
        { id: 'bad', steps: [tool('refused', 'refuses')] },
        { id: 'good', steps: [set('good_x', { g: 1 })] },
      ],
    },
    {
      id: 'all',
      kind: 'parallel',
      branches: [
        { id: 'fails', steps: [tool('all_refused', 'refuses')] },
        { id: 'waits', steps: [{ id: 'long', kind: 'wait', for_s: 3600 }] },
      ],
    },
  ]),
  'what nobody has come for in time': ended([
    { id: 'nap', kind: 'wait', for_s: '${0.2}' },
    { id: 'event', kind: 'wait', event: 'paid', timeout_s: 1, on_timeout: 'continue' },
    { id: 'human', kind: 'human', prompt: 'Well?', timeout_s: 1, on_timeout: 'fail' },
  ]),
  'signals and answers': async (t, org) => {
    const form = { type: 'object', properties: { amount: { type: 'integer' } }, required: ['amount'] };
    const steps = [
      { id: 'paid', kind: 'wait', event: 'paid', timeout_s: 600 },
      { id: 'ok', kind: 'human', prompt: 'Pay ${steps.paid.output}?' },
      { id: 'sum', kind: 'human', prompt: 'How much?', form },
    ];
    const { process, id } = await started(t, org, steps, { output: '${steps.sum.output.values.amount}' });
    await t.signal(org, process, id, 'paid', 12);
    await answer(t, org, await t.waiting(id, 'ok'), { decision: 'reject', note: 'no' });
    const asked = await t.waiting(id, 'sum');
    await answer(t, org, { ...asked, steps: asked.steps.filter(({ path }) => path === 'sum') }, { values: { amount: 3 } });
    return t.ended(id);
  },
  'a call of which a human says that it is done': unknown({ option_id: 'done', values: { output: { id: 7 } } }),
  'a call of which a human says that it is to be made again': unknown({ option_id: 'retry' }, { arguments: { once: true } }),
  'a call of which nobody has said anything': unknown(null),
  'a call that fails where nobody knows': unknown(null, { on_ambiguous: 'fail' }),
  'models, agents and a template': async (t, org) => {
    const { slug } = await t.get(PromptsService).create(t.scope(org), { name: 'Greets', text: 'Greet {{ who }}.' });
    const output_schema = { type: 'object', properties: { total: { type: 'integer' } }, required: ['total'] };
    const steps = [
      { id: 'say', kind: 'llm', prompt: 'Say ${input.word}' },
      { id: 'count', kind: 'llm', prompt: 'total: 3', output_schema },
      { id: 'greet', kind: 'prompt', template: slug, input: { who: 'Ann' } },
      { id: 'agent', kind: 'agent', agent: org.agentId, task: 'Say ${input.word}' },
      { id: 'object', kind: 'agent', agent: org.agentId, task: script({ text: '{"total": 4}' }), output_schema },
      { id: 'drawn', kind: 'agent', agent: org.agentId, task: script({ text: 'total: 5' }), output_schema, distill: true },
    ];
    const { id } = await started(t, org, steps, { output: '${steps.drawn.output.total}' }, { word: 'hello' });
    return t.ended(id);
  },
  'runs within a run': async (t, org) => {
    const good = await t.deployed(org, [set('a', { x: '${input.n * 2}' })], { output: '${vars.x}' });
    const bad = await t.deployed(org, [{ id: 'stop', kind: 'flag', reason: 'odd' }]);
    const steps = [
      { id: 'good', kind: 'process', process: good.id, input: { n: 4 } },
      { id: 'bad', kind: 'process', process: bad.id, input: {} },
    ];
    return t.ended((await started(t, org, steps)).id);
  },
  'a run that is done again from a step': async (t, org) => {
    const steps = [set('a', { x: 1 }), tool('echo', 'echo', { arguments: { n: 2 } }), set('b', { y: '${vars.x + steps.echo.output}' })];
    const { process, id } = await started(t, org, steps, { output: '${vars.y}' });
    await t.ended(id);
    return t.ended((await t.get(RunControl).restart(t.scope(org), process.id, id, { from_step: 'b' })).id);
  },
  'a run that was cancelled': async (t, org) => {
    const { process, id } = await started(t, org, [set('a', { x: 1 }), { id: 'w', kind: 'wait', event: 'go' }]);
    await t.waiting(id, 'w');
    await t.get(RunControl).cancel(t.scope(org), process.id, id);
    return t.run(id);
  },
  'a run that still waits': async (t, org) =>
    t.waiting((await started(t, org, [set('a', { x: 1 }), { id: 'w', kind: 'wait', event: 'go' }])).id, 'w'),
};

describe('journals that runs leave', () => {
  const t = runningService();
  let org: TestOrg;
  const calls = new Map<string, number>();

  beforeAll(async () => {
    org = await t.org();
    const nth = (runId: string) => calls.set(runId, (calls.get(runId) ?? 0) + 1).get(runId)!;
    const inputSchema = { type: 'object' };
    t.get(StepTools).register(
      aTool('spec.echo', {
        inputSchema,
        call: async ({ n }) => {
          await new Promise((r) => setTimeout(r, Number(n) * 20));
          return { output: Number(n) * 10 };
        },
      }),
      aTool('spec.flaky', {
        inputSchema,
        call: (_, { runId }) => Promise.resolve(nth(runId) < 3 ? { failed: 'The other side answered 503.' } : { output: 'at last' }),
      }),
      aTool('spec.refuses', { inputSchema, call: () => Promise.resolve({ rejected: 'There is no such order.', mendable: false }) }),
      aTool('spec.pay', {
        inputSchema,
        accessLevel: 'write',
        call: ({ once }, { runId }) => (once && nth(runId) > 1 ? Promise.resolve({ output: 'paid' }) : new Promise(() => undefined)),
      }),
    );
  });

  it.each(Object.entries(RUNS))('of %s are gone through again by the same engine, and kept', async (name, play) => {
    const run = await play(t, org);
    const check = await t.get(RunReviews).replayCheck(t.scope(org), run.process_id, run.id);
    expect(check).toMatchObject({
      deterministic: true,
      first_divergence: null,
      engine_version: ENGINE_VERSION,
      run_engine_version: ENGINE_VERSION,
    });
    if (records) {
      const [{ definition }] = await t.db.query(
        sql<{ definition: Record<string, unknown> }>('SELECT definition FROM process_revisions WHERE id = $1'),
        [run.revision_id],
      );
      storeJournal(ENGINE_VERSION, name, { definition, run, journal: await t.get(JournalRepository).journal(t.db, run.id) });
    }
    expect(storedJournals()).toContainEqual(expect.objectContaining({ engine: ENGINE_VERSION, name }));
  });
});
