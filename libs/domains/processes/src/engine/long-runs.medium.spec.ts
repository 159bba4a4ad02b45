import { setTimeout as sleep } from 'node:timers/promises';
import { eventually, times } from '@aps/platform/testing';
import { LeaseEnded, RunLeases } from '@aps/platform/runs';
import { RunReviews } from '../reviews/run-reviews.service';
import { StepTools } from '../tools/step-tools';
import { runningService } from '../testing/running';
import { aTool } from '../testing/tools';
import { JournalRepository } from './journal.repository';
import { JournalRoom } from './journal-room';

const MIB = 1024 * 1024;
const t = runningService({ PROCESS_HELD_BYTES: String(MIB) });
const hold = (mib: number) => t.configure({ PROCESS_HELD_BYTES: String(mib * MIB) });
afterEach(() => hold(1));

it('a run of many steps is written piece by piece, and comes to its end', async () => {
  const org = await t.org();
  const loop = {
    id: 'l',
    kind: 'loop',
    while: 'vars.item_index < 1500',
    max_iterations: 10_000,
    steps: [
      {
        id: 'which',
        kind: 'branch',
        branches: [{ when: 'true', steps: [{ id: 'a', kind: 'transform', set: { n: '${vars.item_index}' } }] }],
      },
      { id: 'b', kind: 'transform', set: { m: '${vars.n}' } },
    ],
  };
  const process = await t.deployed(org, [loop], { output: '${steps.l.output[1499].m}' });
  const id = await t.begin(org, process);
  const run = await t.ended(id);
  expect(run).toMatchObject({ status: 'completed', output: 1_499 });
  expect([run.steps.length, run.steps_done >= 9]).toEqual([4_501, true]);
  // Each once, in the order in which they were done.
  expect(run.steps.map(({ seq }) => seq)).toEqual(run.steps.map((_, i) => i + 1));
  expect(run.event_seq).toBe((await t.events(id)).length);
  expect(await t.get(RunReviews).replayCheck(t.scope(org), process.id, id)).toMatchObject({ deterministic: true, compared: 4_501 });
});

it('runs that have no room together go on one after the other, whoever they belong to and whatever they wait for', async () => {
  const answers: (() => void)[] = [];
  t.get(StepTools).register(
    aTool('spec.text', { call: () => Promise.resolve({ output: 'x'.repeat(600_000) }) }),
    aTool('spec.slow', { call: () => new Promise((done) => answers.push(() => done({ output: 'at last' }))) }),
  );
  const steps = ['text', 'slow'].map((id) => ({ id, kind: 'tool', tool: `spec.${id}`, arguments: {} }));
  const read = jest.spyOn(t.get(JournalRepository), 'journal');
  const ids: string[] = [];
  for (let i = 0; i < 3; i++) {
    const org = await t.org();
    ids.push(await t.begin(org, await t.deployed(org, steps, { output: '${steps.slow.output}' })));
    // Those before have let it have their room, though nobody has answered them.
    await eventually(
      () => Promise.resolve(answers.length),
      (asked) => asked === ids.length,
    );
  }
  for (const answer of answers) answer();
  for (const id of ids) {
    const run = await t.ended(id);
    expect(run).toMatchObject({ status: 'completed', output: 'at last', deliveries: 0 });
    expect(run.held_bytes).toBeGreaterThan(600_000);
  }
  // What was not held was read anew.
  expect(read.mock.calls.map(([, id]) => id)).toEqual(expect.arrayContaining(ids.slice(0, 2)));
  read.mockRestore();
});

it('while the calls of an organization may bring more than there is to hold, a run of its own makes one at a time', async () => {
  hold(32);
  const answers: (() => void)[] = [];
  let [now, most] = [0, 0];
  t.get(StepTools).register(
    aTool('spec.large', { call: () => new Promise((done) => answers.push(() => done({ output: null }))) }),
    aTool('spec.counted', {
      call: async () => {
        most = Math.max(most, ++now);
        await sleep(5);
        now--;
        return { output: null };
      },
    }),
  );
  const each = (tool: string, args: object) => ({
    ...{ id: 'each', kind: 'loop', over: '${input.list}', as: 'n', concurrency: 3 },
    steps: [{ id: 'call', kind: 'tool', tool, arguments: args }],
  });
  const [org, other] = [await t.org(), await t.org()];
  const counted = [await t.deployed(org, [each('spec.counted', {})]), await t.deployed(other, [each('spec.counted', {})])] as const;
  const mostOf = async (whose: typeof org, process: (typeof counted)[number]) => {
    most = 0;
    const run = await t.ended(await t.begin(whose, process, { list: [1, 2, 3, 4, 5, 6] }));
    return [run.status, run.steps.length, most];
  };
  const large = await t.deployed(org, [each('spec.large', { email: '${input.text}' })]);
  const held = await t.begin(org, large, { list: [1, 2, 3], text: 'x'.repeat(400_000) });
  const asked = (times: number) =>
    eventually(
      () => Promise.resolve(answers.length),
      (n) => n === times,
    );
  await asked(3);
  expect(await mostOf(org, counted[0])).toEqual(['completed', 7, 1]);
  // Half of what is left to hold is another's, and that is two calls.
  expect(await mostOf(other, counted[1])).toEqual(['completed', 7, 2]);
  // What holds nothing waits for no call.
  const branches = [
    { id: 'a', steps: [{ id: 'call', kind: 'tool', tool: 'spec.large', arguments: {} }] },
    { id: 'b', steps: [{ id: 'ask', kind: 'human', prompt: 'Well?' }] },
  ];
  const both = await t.begin(org, await t.deployed(org, [{ id: 'both', kind: 'parallel', join: 'any', branches }]));
  await t.untilRun(both, ({ steps }) => steps.some(({ hitl_request_id }) => hitl_request_id !== null));
  await asked(4);
  for (const answer of answers) answer();
  expect((await t.ended(held)).status).toBe('completed');
  expect((await t.ended(both)).status).toBe('completed');
  expect(await mostOf(org, counted[0])).toEqual(['completed', 7, 3]);
});

it('runs that make one call each leave as much room for calls to others as if they made none', async () => {
  hold(32);
  const answers: (() => void)[] = [];
  let [now, most] = [0, 0];
  t.get(StepTools).register(
    aTool('spec.first', { call: () => Promise.resolve({ output: null }) }),
    aTool('spec.alone', { call: () => new Promise((done) => answers.push(() => done({ output: null }))) }),
    aTool('spec.beside', {
      call: async () => {
        most = Math.max(most, ++now);
        await sleep(5);
        now--;
        return { output: null };
      },
    }),
  );
  const [org, other] = [await t.org(), await t.org()];
  const tool = (id: string) => ({ id, kind: 'tool', tool: `spec.${id}`, arguments: {} });
  // By what they may bring, eight calls fill all that there is.
  const alone = await t.deployed(org, [tool('first'), tool('alone')]);
  const held = await times(8, () => t.begin(org, alone));
  await eventually(
    () => Promise.resolve(answers.length),
    (asked) => asked === held.length,
  );
  const each = { id: 'each', kind: 'loop', over: '${input.list}', as: 'n', concurrency: 3, steps: [tool('beside')] };
  const mostOf = async (whose: typeof org) => {
    most = 0;
    const run = await t.ended(await t.begin(whose, await t.deployed(whose, [each]), { list: [1, 2, 3, 4, 5, 6] }));
    return [run.status, most];
  };
  expect([await mostOf(other), await mostOf(org)]).toEqual([
    ['completed', 3],
    ['completed', 1],
  ]);
  for (const answer of answers) answer();
  for (const id of held) expect((await t.ended(id)).status).toBe('completed');
  expect(await mostOf(org)).toEqual(['completed', 3]);
});

it('what a call has come to is written also where its process ends before there is room for the journal', async () => {
  // Room for two calls of tools.
  hold(32);
  const answers: (() => void)[] = [];
  let calls = 0;
  t.get(StepTools).register(
    aTool('spec.once', { accessLevel: 'write', call: () => new Promise((done) => answers.push(() => done({ output: ++calls }))) }),
  );
  const org = await t.org();
  const steps = ['one', 'two'].map((id) => ({ id: `to_${id}`, steps: [{ id, kind: 'tool', tool: 'spec.once', arguments: {} }] }));
  const process = await t.deployed(org, [{ id: 'both', kind: 'parallel', join: 'all', branches: steps }], {
    output: '${steps.both.output}',
  });
  const id = await t.begin(org, process);
  await eventually(
    () => Promise.resolve(answers.length),
    (asked) => asked === 2,
  );
  const room = t.get(JournalRoom);
  const other = room.place('another');
  // It rests, and lets others have its room.
  await other.take(64 * MIB, new AbortController().signal);
  answers[0]();
  await eventually(
    () => Promise.resolve(room.isWanted),
    (waits) => waits,
  );
  const { held } = t.get(RunLeases) as unknown as { held: Map<string, { controller: AbortController }> };
  held.get(id)!.controller.abort(new LeaseEnded('shutdown'));
  const ended = await t.untilRun(id, (run) => run.steps.some(({ path, status }) => path === 'both/to_one/one' && status === 'completed'));
  expect(ended.steps.find(({ path }) => path === 'both/to_two/two')).toMatchObject({ status: 'running', noted: 'sent' });
  other.leave();
  // Of the other call nobody knows.
  const { steps: now } = await t.untilRun(id, ({ state }) => state === 'waiting_human');
  expect(now.map(({ path, status, output }) => [path, status, output])).toEqual([
    ['both', 'running', null],
    ['both/to_one/one', 'completed', 1],
    ['both/to_two/two', 'outcome_unknown', null],
  ]);
});

it('a run that ends here does not wait without end for another to be written', async () => {
  const answers: (() => void)[] = [];
  t.get(StepTools).register(
    aTool('spec.last', { accessLevel: 'write', call: () => new Promise((done) => answers.push(() => done({ output: 1 }))) }),
  );
  const org = await t.org();
  const process = await t.deployed(org, [{ id: 'last', kind: 'tool', tool: 'spec.last', arguments: {} }]);
  const ids = [await t.begin(org, process), await t.begin(org, process)];
  await eventually(
    () => Promise.resolve(answers.length),
    (asked) => asked === 2,
  );
  const room = t.get(JournalRoom);
  const other = room.place('another');
  await other.take(2 * MIB, new AbortController().signal);
  for (const answer of answers) answer();
  const { held } = t.get(RunLeases) as unknown as { held: Map<string, { controller: AbortController }> };
  const journal = t.get(JournalRepository);
  const read = journal.journal.bind(journal);
  let goOn = () => {};
  const stands = new Promise<void>((resolve) => (goOn = resolve));
  const reading = jest.spyOn(journal, 'journal').mockImplementation(async (db, id) => {
    if (id === ids[0]) await stands;
    return read(db, id);
  });
  await eventually(
    () => Promise.resolve((room as unknown as { waiting: unknown[] }).waiting.length),
    (waits) => waits === 2,
  );
  const [first, second] = ids.map((id) => held.get(id)!);
  first.controller.abort(new LeaseEnded('shutdown'));
  await eventually(
    () => Promise.resolve(reading.mock.calls.length),
    (reads) => reads > 0,
  );
  second.controller.abort(new LeaseEnded('shutdown'));
  await eventually(
    () => Promise.resolve(held.get(ids[1])),
    (lease) => lease !== second,
  );
  goOn();
  expect(await t.ended(ids[0])).toMatchObject({ status: 'completed' });
  other.leave();
  // Nobody has written what its call has come to.
  const { steps } = await t.untilRun(ids[1], ({ state }) => state === 'waiting_human');
  expect(steps).toMatchObject([{ status: 'outcome_unknown' }]);
  reading.mockRestore();
});

it('a run whose last call it has cut itself gives its worker up, though others wait for its room', async () => {
  t.get(StepTools).register(
    aTool('spec.cut', {
      call: (_args, { signal }) => new Promise((_done, cut) => signal.addEventListener('abort', () => cut(signal.reason as Error))),
    }),
  );
  const wanted = jest.spyOn(t.get(JournalRoom), 'isWanted', 'get').mockReturnValue(true);
  const fast = { id: 'fast', kind: 'transform', set: { n: '1' } };
  const cut = { id: 'cut', kind: 'tool', tool: 'spec.cut', arguments: {} };
  const both = {
    id: 'both',
    kind: 'parallel',
    join: 'any',
    branches: [
      { id: 'a', steps: [fast] },
      { id: 'b', steps: [cut] },
    ],
  };
  const org = await t.org();
  const process = await t.deployed(org, [both, { id: 'ok', kind: 'human', prompt: 'Well?' }]);
  expect((await t.waiting(await t.begin(org, process), 'ok')).status).toBe('waiting');
  wanted.mockRestore();
});

it('a call is not made where others may have its run by the time that all is known for it', async () => {
  let calls = 0;
  const tools = t.get(StepTools);
  tools.register(aTool('spec.late', { accessLevel: 'write', call: () => Promise.resolve({ output: ++calls }) }));
  const org = await t.org();
  const process = await t.deployed(org, [{ id: 'late', kind: 'tool', tool: 'spec.late', arguments: {} }]);
  const { held } = t.get(RunLeases) as unknown as { held: Map<string, { kept: number }> };
  const find = tools.find.bind(tools);
  // Asked for the definition, and then for the call: meanwhile the process stands still.
  const asked = jest.spyOn(tools, 'find').mockImplementationOnce(find);
  asked.mockImplementationOnce((...args) => {
    for (const lease of held.values()) lease.kept -= 60_000;
    return find(...args);
  });
  const id = await t.begin(org, process);
  await eventually(
    () => Promise.resolve(asked.mock.calls.length === 2 && !held.has(id)),
    (isOver) => isOver,
  );
  expect([calls, (await t.run(id)).steps]).toEqual([0, [expect.objectContaining({ status: 'running', noted: 'sent' })]]);
  asked.mockRestore();
});
