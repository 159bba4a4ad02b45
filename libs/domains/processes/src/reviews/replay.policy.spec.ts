import { Interpreter, type RunFacts } from '../engine/interpreter';
import type { CallOutcome, JournalRow } from '../engine/journal';
import { aDefinition } from '../testing/definition';
import { replayed } from './replay.policy';

const after = (ms: number) => new Date(Date.UTC(2026, 0, 1) + ms);
const CLAIMED: RunFacts = { envelope: { input: {} }, run: { id: 'r' }, started_at: after(0) };

it('lets people come as late as they came, where a worker began long after its claim', async () => {
  const ask = (id: string) => ({ id, kind: 'human', prompt: 'Well?', timeout_s: 1, on_timeout: 'continue' });
  const branches = ['a', 'b'].map((id) => ({ id, steps: [ask(`${id}1`)] }));
  const definition = aDefinition([{ id: 'both', kind: 'parallel', join: 'settled', branches }]);
  const journal = new Map<string, JournalRow>();
  const interpreter = new Interpreter(definition, CLAIMED, []);
  const look = (ms: number) => {
    const progress = interpreter.advance(after(ms));
    for (const row of progress.written) journal.set(row.path, row);
    return progress;
  };
  const answer = { kind: 'answer', answer: { decision: 'approve' }, answered_by: 'u', answered_at: after(0).toISOString() };
  look(600);
  journal.get('both/a/a1')!.resolution = answer as unknown as JournalRow['resolution'];
  look(1_200);
  journal.get('both/b/b1')!.resolution = answer as unknown as JournalRow['resolution'];
  expect(look(1_500).end).toMatchObject({ status: 'completed' });
  expect([...journal.values()].map(({ path, status }) => [path, status])).toEqual([
    ['both', 'completed'],
    ['both/a/a1', 'completed'],
    ['both/b/b1', 'completed'],
  ]);
  expect(await replayed(definition, CLAIMED, [...journal.values()])).toMatchObject({ deterministic: true, compared: 3 });
});

it.each([
  ['after a while', (row: JournalRow) => row],
  // As engines did before.
  ['at once', (row: JournalRow) => ({ ...row, started_at: after(0), ...(row.error && { error: { ...row.error, retryable: false } }) })],
])('lets a call be made again of which nobody knew what became of it: %s', async (_, as) => {
  const pay = { id: 'pay', kind: 'tool', tool: 'spec.pay', arguments: {}, on_ambiguous: 'retry' };
  const definition = aDefinition([pay], { output: '${steps.pay.output}' });
  const journal = new Map<string, JournalRow>();
  const interpreter = new Interpreter(definition, CLAIMED, [], () => true);
  const look = (ms: number, outcome?: CallOutcome) => {
    const progress = interpreter.advance(after(ms), { outcomes: new Map(outcome && [['pay', outcome]]) });
    for (const row of progress.written) journal.set(row.id, row);
    return progress;
  };
  look(0);
  look(100, { status: 'outcome_unknown', error: { code: 'timeout', message: 'late', retryable: false } });
  look(2_100);
  expect(look(2_200, { status: 'completed', output: 7 }).end).toEqual({ status: 'completed', output: 7 });
  expect(await replayed(definition, CLAIMED, [...journal.values()].map(as))).toMatchObject({ deterministic: true, compared: 2 });
});
