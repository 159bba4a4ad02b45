import { script, type TestOrg } from '@aps/chats/testing';
import { NO_CALLER } from '@aps/platform/database';
import { sql } from '@aps/platform/testing';
import { eventually } from '@aps/testing';
import { RunControl } from '../../runs/run-control.service';
import { StepTools, type StepTool, type StepToolResult } from '../../tools/step-tools';
import { runningService } from '../../testing/running';
import { aTool } from '../../testing/tools';
import { JournalRepository } from '../journal.repository';

const t = runningService();
let org: TestOrg;
/** What the tool was called with, and what it answers each time; the last for ever. */
let called: unknown[];
let answers: (StepToolResult | Error | 'nothing')[];
const day = (value: string) => ({ op: 'replace', path: '/arguments/day', value });
/** Refused, with what a model will propose of it. */
const refused = (...operations: object[]): StepToolResult => ({
  rejected: script({ text: JSON.stringify({ fixable: operations.length > 0, reason: 'so', operations }) }),
  mendable: true,
});
const BUSY: StepToolResult = { failed: 'The other side answered 503.' };

beforeEach(async () => {
  org = await t.org();
  [called, answers] = [[], []];
});

const begin = async (step: object = {}, tool: Partial<StepTool> = {}) => {
  const call: StepTool['call'] = (args) => {
    called.push(args);
    const answer = answers[Math.min(called.length, answers.length) - 1];
    if (answer instanceof Error) return Promise.reject(answer);
    return answer === 'nothing' ? new Promise(() => undefined) : Promise.resolve(answer);
  };
  t.get(StepTools).register(aTool('spec.dates', { inputSchema: {}, call, ...tool }));
  const retry = { max_attempts: 3, initial_s: 0.1, factor: 1, max_s: 1 };
  const a = { id: 'a', kind: 'tool', tool: 'spec.dates', arguments: { day: '1' }, repair: { max_attempts: 1 }, retry, ...step };
  const process = await t.deployed(org, [a], { output: '${steps.a.output}' });
  return { process, id: await t.begin(org, process) };
};
const untilCalled = (times: number) =>
  eventually(
    () => Promise.resolve(called.length),
    (length) => length === times,
  );
const REPAIRS = sql<{ attempt: number; fixable: boolean; cost_credits: string }>(
  'SELECT attempt, fixable, cost_credits FROM process_repairs WHERE run_id = $1 ORDER BY id',
);
const repairs = (id: string) => t.db.query(REPAIRS, [id]);
const receipts = async () =>
  (await t.db.query(sql(`SELECT id FROM inference_receipts WHERE org_id = $1 AND feature = 'payload_repair'`), [org.id])).length;
const told = async (id: string) =>
  (await t.events(id)).flatMap(({ data: { event, attempt, fixable } }) => (event === 'repair_attempted' ? [[attempt, fixable]] : []));

describe('the repair of a call', () => {
  it('holds for the tries that follow, and is told', async () => {
    answers = [refused(day('2')), BUSY, { output: 'ok' }];
    const { id } = await begin();
    expect(await t.ended(id)).toMatchObject({ status: 'completed', output: 'ok' });
    expect(called).toEqual([{ day: '1' }, { day: '2' }, { day: '2' }]);
    expect([await repairs(id), await told(id), await receipts()]).toMatchObject([[{ attempt: 1, fixable: true }], [[1, true]], 1]);
  });

  it('is tried so often in all tries of its step together', async () => {
    answers = [refused(day('2')), BUSY, refused(day('3')), BUSY, refused(day('4'))];
    const { id } = await begin({ repair: { max_attempts: 2 } });
    expect(await t.ended(id)).toMatchObject({ status: 'failed', error: { code: 'tool_rejected' } });
    expect(called).toEqual(['1', '2', '2', '3', '3'].map((value) => ({ day: value })));
    expect(await told(id)).toEqual([
      [1, true],
      [2, true],
    ]);
  });

  it('is not tried behind a call of which nobody knows what became of it', async () => {
    answers = ['nothing', refused(day('2'))];
    const { id } = await begin({ timeout_s: 1 });
    const { steps } = await t.ended(id);
    expect(steps.map(({ error }) => error?.code)).toEqual(['timeout', 'tool_rejected']);
    expect([await repairs(id), await receipts()]).toEqual([[], 0]);
  });

  it.each<[string, Partial<StepTool>]>([
    ['may not be made again', { accessLevel: 'write', idempotent: false }],
    ['may be made again', {}],
  ])('is not tried behind a call that %s and has broken off', async (_, tool) => {
    answers = [new Error('reset'), refused(day('2'))];
    const { id } = await begin({ on_ambiguous: 'retry', repair: { max_attempts: 2 } }, tool);
    const { steps } = await t.ended(id);
    expect(steps.map(({ error, note }) => [error?.code, note])).toEqual([
      ['tool_error', 'outcome_unknown'],
      ['tool_rejected', null],
    ]);
    expect([called, await repairs(id)]).toEqual([[{ day: '1' }, { day: '1' }], []]);
  });

  it('is paid where the call that follows is cut', async () => {
    answers = [refused(day('2')), 'nothing'];
    const { id, process } = await begin();
    await untilCalled(2);
    await t.get(RunControl).cancel(t.scope(org), process.id, id);
    const [{ cost_credits }] = await repairs(id);
    const run = await t.ended(id);
    expect([run.status, run.cost_credits, await receipts(), await told(id)]).toEqual(['cancelled', cost_credits, 1, [[1, true]]]);
  });

  it('makes no call that may not be made again of one that may', async () => {
    answers = [refused(day('2'))];
    const { id } = await begin({}, { accessLevel: 'write', isRepeatable: (args) => args.day === '1' });
    expect(await t.ended(id)).toMatchObject({ status: 'failed', error: { code: 'tool_rejected' } });
    expect([called, await repairs(id)]).toMatchObject([[{ day: '1' }], [{ fixable: false }]]);
  });
});

it('a run is told of nothing by who has lost it', async () => {
  answers = ['nothing'];
  const { id, process } = await begin();
  await untilCalled(1);
  const before = (await t.events(id)).length;
  const tell = (fence: string) =>
    t.db.transaction(NO_CALLER, (tx) =>
      t.get(JournalRepository).tellAsOwner(tx, { id, fence }, [{ type: 'repair_attempted', step_id: 'a', path: 'a', metadata: {} }]),
    );
  const { fence } = await t.run(id);
  await tell(String(Number(fence) - 1));
  expect(await t.events(id)).toHaveLength(before);
  await tell(fence);
  expect(await t.events(id)).toHaveLength(before + 1);
  await t.get(RunControl).cancel(t.scope(org), process.id, id);
});
