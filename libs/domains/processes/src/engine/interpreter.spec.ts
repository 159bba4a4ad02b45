import { aDefinition } from '../testing/definition';
import { Interpreter, type RunFacts } from './interpreter';
import type { CallOutcome, JournalRow } from './journal';
import type { Progress } from './progress';

const FACTS: RunFacts = { envelope: { input: { n: 3, lines: ['a', 'b', 'c', 'd'] } }, run: { id: 'r' }, started_at: new Date(0) };
const T0 = new Date('2026-01-01T00:00:00Z');
const after = (s: number) => new Date(T0.getTime() + s * 1_000);

/** A run that is driven by hand: the journal is read anew before each look, so nothing is remembered that does not stand there. */
class Driven {
  journal: JournalRow[] = [];
  last: Progress;
  at = T0;

  constructor(
    private readonly steps: unknown[],
    private readonly over: Record<string, unknown> = {},
    private readonly once: string[] = [],
    private readonly input: Record<string, unknown> = FACTS.envelope.input as Record<string, unknown>,
  ) {
    this.last = this.look();
  }

  look(
    outcomes: Record<string, CallOutcome> = {},
    options: { inFlight?: string[]; begins?: number; bytes?: number; asks?: boolean } = {},
  ): Progress {
    const rows = structuredClone(this.journal);
    const facts = { ...FACTS, envelope: { input: this.input } };
    const interpreter = new Interpreter(aDefinition(this.steps, this.over), facts, rows, ({ tool }) => this.once.includes(tool));
    this.last = interpreter.advance(this.at, {
      outcomes: new Map(Object.entries(outcomes)),
      inFlight: new Set(options.inFlight),
      begins: options.begins ?? Infinity,
      bytes: options.bytes ?? Infinity,
      asks: options.asks ?? true,
    });
    for (const row of this.last.written) {
      const i = this.journal.findIndex(({ id }) => id === row.id);
      if (i < 0) this.journal.push(row);
      else this.journal[i] = row;
    }
    return this.last;
  }

  /** What calls have come to, all others still being made. */
  come(outcomes: Record<string, unknown>): Progress {
    const came = Object.entries(outcomes).map(
      ([path, output]) => [path, isOutcome(output) ? output : { status: 'completed', output }] as const,
    );
    const inFlight = this.journal.filter((row) => row.status === 'running' && row.noted && !(row.path in outcomes)).map(({ path }) => path);
    return this.look(Object.fromEntries(came) as Record<string, CallOutcome>, { inFlight });
  }

  resolve(path: string, resolution: JournalRow['resolution']): Progress {
    this.row(path).resolution = resolution;
    return this.look();
  }

  row(path: string): JournalRow {
    return this.journal.filter((row) => row.path === path).at(-1)!;
  }

  get statuses(): Record<string, string> {
    return Object.fromEntries(this.journal.map((row) => [row.path, row.status]));
  }

  get called(): string[] {
    return this.last.calls.map(({ row }) => row.path);
  }
}

const isOutcome = (value: unknown): value is CallOutcome =>
  typeof value === 'object' && value !== null && 'status' in value && ['failed', 'outcome_unknown'].includes(String(value.status));
const failure = (code: string, retryable = false): CallOutcome => ({ status: 'failed', error: { code, message: code, retryable } });
const llm = (id: string) => ({ id, kind: 'llm', prompt: 'say' });
const tool = (id: string, more: object = {}) => ({
  id,
  kind: 'tool',
  tool: 'core.http_request',
  arguments: { method: 'GET', url: 'https://x.example' },
  ...more,
});
const set = (id: string, values: object) => ({ id, kind: 'transform', set: values });

// How long one look takes bounds what it begins: here it takes no time, however busy the machine is.
beforeAll(() => jest.spyOn(performance, 'now').mockReturnValue(0));
afterAll(() => jest.restoreAllMocks());

describe('a run', () => {
  it('computes what it can at once, and ends with its output', () => {
    const run = new Driven([set('a', { x: '${input.n + 1}' }), set('b', { y: '${vars.x * 2}' })], { output: '${steps.b.output.y}' });
    expect(run.last).toMatchObject({ end: { status: 'completed', output: 8 }, calls: [], wakeAt: null });
    expect(run.last.events.map(({ type, path }) => `${type} ${path}`)).toEqual([
      'step_started a',
      'step_finished a',
      'step_started b',
      'step_finished b',
    ]);
  });

  it('stops at a call, whose row is written before it is made, and goes on with what came of it', () => {
    const run = new Driven([llm('ask'), set('b', { said: '${steps.ask.output}' })], { output: '${vars.said}' });
    expect([run.called, run.row('ask')]).toMatchObject([['ask'], { status: 'running', noted: 'intent', input: { prompt: 'say' } }]);
    expect(run.come({ ask: 'hello' }).end).toEqual({ status: 'completed', output: 'hello' });
  });

  it('goes by what a step came to as it will be read, also before it is', () => {
    const run = new Driven([llm('ask')], { output: '${join(steps.ask.output.map(k, k), ",")}' });
    expect(run.come({ ask: { bb: 1, 'c\0': 2, a: 3 } }).end).toEqual({ status: 'completed', output: 'a,c,bb' });
  });

  it('fails by an expression, without another try', () => {
    const run = new Driven([set('a', { x: '${input.missing}' })]);
    expect(run.last.end).toMatchObject({ status: 'failed', error: { code: 'expression_error' } });
  });

  it.each([
    ['process', { process: 'p' }],
    ['prompt', { template: 'p' }],
  ])('fails where a step of a %s is given no object', (kind, more) => {
    const run = new Driven([{ id: 'a', kind, ...more, input: '${input.n}' }]);
    expect(run.last.end).toMatchObject({ error: { code: 'expression_error', message: 'input: There is no object.' } });
  });

  it('makes a call again that nobody is making any more, where it may be made again', () => {
    const run = new Driven([llm('ask')]);
    expect(run.look({}, { inFlight: ['ask'] }).calls).toEqual([]);
    expect([run.look().calls.length, run.journal.length]).toEqual([1, 1]);
  });

  it('begins nothing for who is about to end, and writes what has come', () => {
    for (const next of [llm('two'), { id: 'two', kind: 'human', prompt: 'Well?' }]) {
      const run = new Driven([llm('one'), next]);
      const last = run.look({ one: { status: 'completed', output: 'x' } }, { begins: 0, asks: false });
      expect([last.calls, last.opened, run.statuses]).toEqual([[], [], { one: 'completed' }]);
      const { calls, opened } = run.look();
      expect([...calls, ...opened].map(({ row }) => row.path)).toEqual(['two']);
    }
  });

  it('begins as many calls as what they may bring has room, of tools fewer than of models, and one in any case', () => {
    const each = (step: object) => ({ id: 'each', kind: 'loop', over: '${input.list}', as: 'n', concurrency: 5, steps: [step] });
    const list = { list: [1, 2, 3, 4, 5] };
    const MIB = 1024 * 1024;
    for (const [step, bytes, calls] of [
      [tool('call'), 0, 1],
      [tool('call'), 9 * MIB, 2],
      [llm('call'), 9 * MIB, 5],
    ] as const) {
      const run = new Driven([each(step)], {}, [], list);
      run.journal.length = 0;
      const { calls: begun, isFull } = run.look({}, { bytes });
      expect([begun.length, isFull]).toEqual([calls, calls < 5]);
      // While others of it are being made, it has no more than its room.
      const inFlight = begun.map(({ row }) => row.path);
      expect(run.look({}, { bytes: 0, inFlight }).calls).toEqual([]);
      const came = run.look(Object.fromEntries(inFlight.map((path) => [path, { status: 'completed', output: 1 }])), { bytes: 0, inFlight });
      expect(came.calls.length).toBe(calls < 5 ? 1 : 0);
    }
  });

  it('ends where it takes too long', () => {
    const run = new Driven([{ id: 'w', kind: 'wait', for_s: 100_000 }], { limits: { max_duration_s: 60 } });
    FACTS.started_at = T0;
    expect(run.look().wakeAt).toEqual(after(60));
    run.at = after(60);
    expect([run.look().end, run.statuses]).toMatchObject([{ status: 'failed', error: { code: 'timeout' } }, { w: 'cancelled' }]);
  });
});

describe('tries', () => {
  const RETRY = { retry: { max_attempts: 3, initial_s: 2, factor: 3, max_s: 5 } };

  it('wait longer and longer, each a row of its own, until there are enough', () => {
    const run = new Driven([{ ...llm('ask'), ...RETRY }]);
    expect(run.come({ ask: failure('provider_unavailable', true) }).wakeAt).toEqual(after(2));
    expect(run.look().calls).toEqual([]);
    run.at = after(2);
    expect(run.look().calls.map(({ row }) => row.attempt)).toEqual([2]);
    expect(run.come({ ask: failure('provider_unavailable', true) }).wakeAt).toEqual(after(7));
    run.at = after(7);
    run.look();
    expect(run.come({ ask: failure('provider_unavailable', true) }).end).toMatchObject({ status: 'failed' });
    expect(run.journal.map(({ attempt, status }) => [attempt, status])).toEqual([
      [1, 'failed'],
      [2, 'failed'],
      [3, 'failed'],
    ]);
  });

  it('are not made of what would fail again', () => {
    const run = new Driven([{ ...llm('ask'), ...RETRY }]);
    expect(run.come({ ask: failure('output_schema') }).end).toMatchObject({ status: 'failed', error: { code: 'output_schema' } });
  });
});

describe('a call that may not be made twice', () => {
  const pay = (more: object = {}) =>
    new Driven([tool('pay', more), set('b', { x: 1 })], { output: '${steps.pay.output}' }, ['core.http_request']);

  it('is noted as sent before it is made', () => {
    expect(pay().row('pay').noted).toBe('sent');
  });

  it('is asked about, once, where its worker was lost', () => {
    const run = pay();
    expect([run.look().calls, run.last.opened.map(({ row }) => row.path)]).toEqual([[], ['pay']]);
    expect(run.statuses.pay).toBe('outcome_unknown');
    run.row('pay').hitl_request_id = 'q';
    expect([run.look().opened, run.last.calls, run.last.end]).toEqual([[], [], null]);
  });

  it.each([
    ['made again by a human', 'retry', { pay: 'running' }],
    ['taken as done by a human', 'done', { pay: 'completed', b: 'completed' }],
    ['failed by a human', 'fail', { pay: 'failed' }],
  ])('is %s', (_, option_id, statuses) => {
    const run = pay();
    run.look();
    run.row('pay').hitl_request_id = 'q';
    run.resolve('pay', { kind: 'answer', answer: { option_id, values: { output: { id: 7 } } }, answered_by: 'u' });
    expect(run.statuses).toEqual(statuses);
    if (option_id === 'done') expect(run.last.end).toEqual({ status: 'completed', output: { id: 7 } });
    if (option_id === 'retry') expect(run.journal.map(({ attempt, status }) => [attempt, status])).toContainEqual([1, 'failed']);
  });

  it('is asked about where the call itself says that nobody knows', () => {
    const run = pay();
    run.come({ pay: { status: 'outcome_unknown', error: { code: 'timeout', message: 'late', retryable: false } } });
    expect(run.last.opened).toHaveLength(1);
  });

  it('fails where its definition says so', () => {
    const run = pay({ on_ambiguous: 'fail' });
    run.look();
    expect([run.last.opened, run.statuses]).toEqual([[], { pay: 'failed' }]);
  });

  it('is tried again where its definition says so, as often and as late as what has failed', () => {
    const run = pay({ on_ambiguous: 'retry', retry: { max_attempts: 3, initial_s: 2, factor: 3, max_s: 60 } });
    expect(run.look()).toMatchObject({ calls: [], opened: [], wakeAt: after(2) });
    run.at = after(2);
    expect(run.look().calls.map(({ row }) => row.attempt)).toEqual([2]);
    const late: CallOutcome = { status: 'outcome_unknown', error: { code: 'timeout', message: 'late', retryable: false } };
    expect(run.look({ pay: late })).toMatchObject({ calls: [], wakeAt: after(8) });
    run.at = after(8);
    expect(run.look().calls.map(({ row }) => row.attempt)).toEqual([3]);
    expect(run.look({ pay: late }).end).toMatchObject({ status: 'failed', error: { code: 'timeout' } });
    expect(run.journal.map(({ attempt, status }) => [attempt, status])).toEqual([
      [1, 'failed'],
      [2, 'failed'],
      [3, 'failed'],
    ]);
  });
});

describe('branches', () => {
  it('take the first that holds, or what else; what they do is seen behind them', () => {
    const steps = (when: string) => [
      { id: 'b', kind: 'branch', branches: [{ when, steps: [set('one', { x: 1 })] }], else: [set('two', { x: 2 })] },
      set('end', { is: '${vars.x}', last: '${steps.b.output.x}' }),
    ];
    expect(new Driven(steps('input.n == 3'), { output: '${steps.end.output}' }).last.end).toMatchObject({ output: { is: 1, last: 1 } });
    expect(new Driven(steps('input.n == 4'), { output: '${steps.end.output}' }).last.end).toMatchObject({ output: { is: 2, last: 2 } });
    const run = new Driven(steps('input.n == 4'));
    expect(Object.keys(run.statuses)).toEqual(['b', 'b/else/two', 'end']);
  });

  it('have their steps seen behind them, as far as they were done', () => {
    const steps = (when: string) => [
      { id: 'b', kind: 'branch', branches: [{ when, steps: [set('one', { x: 1 })] }], else: [set('two', { x: 2 })] },
      llm('ask'),
      set('end', { one: '${has(steps.one)}', two: '${default(steps.two.output.x, 0)}' }),
    ];
    const output = '${steps.end.output}';
    expect(new Driven(steps('true'), { output }).come({ ask: 'x' }).end).toMatchObject({ output: { one: true, two: 0 } });
    expect(new Driven(steps('false'), { output }).come({ ask: 'x' }).end).toMatchObject({ output: { one: false, two: 2 } });
  });

  it('have them seen also where one has failed, whenever that is dealt with', () => {
    const broken = [set('one', { x: 1 }), set('two', { y: '${input.missing}' })];
    const run = new Driven([{ id: 'b', kind: 'branch', branches: [{ when: 'true', steps: broken }] }], {
      on_error: [{ match: '*', steps: [llm('ask'), set('note', { x: '${vars.x + steps.one.output.x}' })], then: 'continue' }],
    });
    expect(run.come({ 'b/on_error/0/ask': 'y' }).end).toMatchObject({ status: 'completed' });
    expect(run.row('b/on_error/0/note').output).toEqual({ x: 2 });
  });

  it('are null where none is taken', () => {
    const run = new Driven([{ id: 'b', kind: 'branch', branches: [{ when: 'false', steps: [set('one', { x: 1 })] }] }], {
      output: '${steps.b.output}',
    });
    expect(run.last.end).toEqual({ status: 'completed', output: null });
  });

  it('keep their decision once it is made', () => {
    const run = new Driven([{ id: 'b', kind: 'branch', branches: [{ when: 'true', steps: [llm('ask')] }], else: [] }]);
    (run.row('b').input as { taken: unknown }).taken = 'else';
    expect(run.look().end).toEqual({ status: 'completed', output: null });
  });
});

describe('loops', () => {
  const each = (more: object = {}) => ({ id: 'each', kind: 'loop', over: '${input.lines}', as: 'line', steps: [llm('ask')], ...more });

  it('go over a list, so many at once, and answer in its order', () => {
    const run = new Driven([each({ concurrency: 2 })], { output: '${steps.each.output}' });
    expect(run.called).toEqual(['each/0/ask', 'each/1/ask']);
    run.come({ 'each/1/ask': 'B' });
    expect(run.called).toEqual(['each/2/ask']);
    run.come({ 'each/2/ask': 'C' });
    run.come({ 'each/3/ask': 'D' });
    expect(run.last.end).toBeNull();
    expect(run.come({ 'each/0/ask': 'A' }).end).toEqual({ status: 'completed', output: ['A', 'B', 'C', 'D'] });
  });

  it('name their item and its place, within themselves alone', () => {
    const steps = [
      set('before', { x: 'outside' }),
      each({ steps: [set('t', { x: '${vars.line + string(vars.line_index)}' })] }),
      set('after', { y: '${vars.x}' }),
    ];
    const run = new Driven(steps, { output: '${[steps.each.output, vars.y]}' });
    expect(run.last.end).toEqual({ status: 'completed', output: [[{ x: 'a0' }, { x: 'b1' }, { x: 'c2' }, { x: 'd3' }], 'outside'] });
  });

  it('end with the first that fails, and give up the others', () => {
    const run = new Driven([each({ concurrency: 3 })]);
    run.come({ 'each/1/ask': failure('provider_refused') });
    expect([run.last.end, run.statuses]).toMatchObject([
      { status: 'failed', error: { code: 'provider_refused' } },
      { each: 'failed', 'each/0/ask': 'cancelled', 'each/1/ask': 'failed', 'each/2/ask': 'cancelled' },
    ]);
  });

  it('begin nothing of a list that is too long', () => {
    const run = new Driven([each({ max_iterations: 3 })]);
    expect([run.last.end, Object.keys(run.statuses)]).toMatchObject([{ error: { code: 'max_iterations' } }, ['each']]);
  });

  it('go on while something holds of what they have done', () => {
    const until = { id: 'until', kind: 'loop', while: 'steps.check.output != "ok"', max_iterations: 3, steps: [llm('check')] };
    const run = new Driven([until], { output: '${steps.until.output}' });
    run.come({ 'until/0/check': 'no' });
    expect(run.called).toEqual(['until/1/check']);
    expect(run.come({ 'until/1/check': 'ok' }).end).toEqual({ status: 'completed', output: ['no', 'ok'] });
    const other = new Driven([until]);
    for (const i of [0, 1, 2]) other.come({ [`until/${i}/check`]: 'no' });
    expect(other.last.end).toMatchObject({ error: { code: 'max_iterations' } });
  });

  it('do not ask again of an iteration that has begun whether it was to be', () => {
    const input: Record<string, unknown> = { n: 3 };
    const steps = [{ id: 'until', kind: 'loop', while: 'input.n > 0', max_iterations: 3, steps: [llm('a'), llm('b')] }];
    const run = new Driven(steps, {}, [], input);
    delete input.n;
    run.come({ 'until/0/a': 'x' });
    expect([run.called, run.last.end]).toEqual([['until/0/b'], null]);
    expect(run.come({ 'until/0/b': 'x' }).end).toMatchObject({ error: { code: 'expression_error' } });
  });

  it('ask first after an iteration also of a step that one of its ways holds', () => {
    const which = { id: 'which', kind: 'branch', branches: [{ when: 'true', steps: [set('check', { ok: '${vars.item_index == 1}' })] }] };
    const run = new Driven([{ id: 'until', kind: 'loop', while: '!steps.check.output.ok', max_iterations: 3, steps: [which] }], {
      output: '${steps.until.output}',
    });
    expect(run.last.end).toEqual({ status: 'completed', output: [{ ok: false }, { ok: true }] });
  });

  it('hand what they set on to the next iteration', () => {
    const steps = [
      set('zero', { n: 0 }),
      { id: 'count', kind: 'loop', while: 'vars.n < 3', max_iterations: 10, steps: [set('one', { n: '${vars.n + 1}' })] },
    ];
    expect(new Driven(steps, { output: '${steps.count.output}' }).last.end).toMatchObject({ output: [{ n: 1 }, { n: 2 }, { n: 3 }] });
  });

  it('are done at once without items', () => {
    expect(new Driven([each({ over: [] })], { output: '${steps.each.output}' }).last.end).toEqual({ status: 'completed', output: [] });
  });
});

describe('what is done side by side', () => {
  const both = (join: string) => ({
    id: 'both',
    kind: 'parallel',
    join,
    branches: [
      { id: 'a', steps: [llm('one')] },
      { id: 'b', steps: [llm('two')] },
    ],
  });

  it('all: is what each came to, or fails with the first that does', () => {
    const run = new Driven([both('all')], { output: '${steps.both.output}' });
    expect(run.called).toEqual(['both/a/one', 'both/b/two']);
    run.come({ 'both/b/two': 2 });
    expect(run.come({ 'both/a/one': 1 }).end).toEqual({ status: 'completed', output: { a: 1, b: 2 } });
    const other = new Driven([both('all')]);
    expect(other.come({ 'both/a/one': failure('x') }).end).toMatchObject({ status: 'failed' });
    expect(other.statuses['both/b/two']).toBe('cancelled');
  });

  it('any: is the first that comes to something, and fails where none does', () => {
    const run = new Driven([both('any')], { output: '${steps.both.output}' });
    run.come({ 'both/a/one': failure('x') });
    expect(run.come({ 'both/b/two': 2 }).end).toEqual({ status: 'completed', output: { a: null, b: 2 } });
    const other = new Driven([both('any')]);
    other.come({ 'both/b/two': failure('y') });
    expect(other.come({ 'both/a/one': failure('x') }).end).toMatchObject({ error: { code: 'x' } });
  });

  it('settled: waits for all, whatever comes of them', () => {
    const run = new Driven([both('settled')], { output: '${steps.both.output}' });
    run.come({ 'both/a/one': failure('x') });
    expect(run.last.end).toBeNull();
    expect(run.come({ 'both/b/two': 2 }).end).toEqual({ status: 'completed', output: { a: null, b: 2 } });
  });
});

describe('a wait that flags the run when it is too late', () => {
  const late = { id: 'w', kind: 'wait', event: 'paid', timeout_s: 60, on_timeout: 'flag' };
  const count = { id: 'count', kind: 'loop', over: '${input.many}', as: 'one', max_iterations: 1_000, steps: [set('step', { x: 1 })] };
  const input = { many: Array(600).fill(0) };

  it('does so beside what is too much to be done at once', () => {
    const branches = [
      { id: 'a', steps: [late] },
      { id: 'b', steps: [{ id: 'nap', kind: 'wait', for_s: 60 }, count] },
    ];
    const run = new Driven([{ id: 'both', kind: 'parallel', branches }], {}, [], input);
    run.at = after(60);
    expect(run.look().end).toMatchObject({ status: 'flagged' });
  });

  it('does so in one iteration of several, whatever those before it do', () => {
    const which = { id: 'which', kind: 'branch', branches: [{ when: 'vars.item == 1', steps: [late] }] };
    const steps = [
      { id: 'nap', kind: 'wait', for_s: 60 },
      { ...which, else: [count] },
    ];
    const run = new Driven([{ id: 'each', kind: 'loop', over: '${[0, 1]}', concurrency: 2, steps }], {}, [], input);
    for (const s of [60, 60, 60, 120]) {
      run.at = after(s);
      run.look();
    }
    expect(run.last.end).toMatchObject({ status: 'flagged' });
  });
});

describe('waits', () => {
  it('for a time end by themselves', () => {
    const run = new Driven([{ id: 'w', kind: 'wait', for_s: '${input.n * 10}' }]);
    expect([run.last.end, run.last.wakeAt]).toEqual([null, after(30)]);
    run.at = after(29);
    expect(run.look().end).toBeNull();
    run.at = after(30);
    expect(run.look().end).toMatchObject({ status: 'completed' });
  });

  it.each(['0000-01-01T00:00:00Z', '+100000-01-01T00:00:00Z', 'March 7', '2026-01-31 12:00'])('until %s fail', (until) => {
    const run = new Driven([{ id: 'w', kind: 'wait', until: '${input.until}' }], {}, [], { until });
    expect(run.last.end).toMatchObject({ error: { code: 'expression_error', message: expect.stringMatching(/^until: /) as string } });
  });

  it('until a time that is over are none', () => {
    expect(new Driven([{ id: 'w', kind: 'wait', until: '2020-01-01T00:00:00Z' }]).last.end).toMatchObject({ status: 'completed' });
  });

  it.each([
    ['fail', { status: 'failed', error: { code: 'event_timeout' } }],
    ['flag', { status: 'flagged' }],
    ['continue', { status: 'completed', output: null }],
  ])('for a signal that does not come: %s', (on_timeout, end) => {
    const run = new Driven([{ id: 'w', kind: 'wait', event: 'paid', timeout_s: 60, on_timeout }], { output: '${steps.w.output}' });
    expect(run.last.wakeAt).toEqual(after(60));
    run.at = after(60);
    expect(run.look().end).toMatchObject(end);
  });

  it('for a signal are what it says', () => {
    const run = new Driven([{ id: 'w', kind: 'wait', event: 'paid' }], { output: '${steps.w.output.sum}' });
    expect(run.resolve('w', { kind: 'signal', payload: { sum: 5 } }).end).toEqual({ status: 'completed', output: 5 });
  });

  it('for a human are asked, and answered; a refusal is an answer', () => {
    const run = new Driven([{ id: 'ok', kind: 'human', prompt: 'Pay ${input.n}?' }], { output: '${steps.ok.output.decision}' });
    expect(run.last.opened.map(({ row }) => row.input)).toEqual([{ prompt: 'Pay 3?' }]);
    expect(run.resolve('ok', { kind: 'answer', answer: { decision: 'reject' }, answered_by: 'u' }).end).toEqual({
      status: 'completed',
      output: 'reject',
    });
  });

  it('for a human who does not answer end as is said', () => {
    const run = new Driven([{ id: 'ok', kind: 'human', prompt: 'Pay?', timeout_s: 60, on_timeout: 'flag' }]);
    run.row('ok').hitl_request_id = 'q';
    run.at = after(60);
    expect([run.look().end, run.last.closed.map(({ path }) => path), run.statuses]).toMatchObject([
      { status: 'flagged' },
      ['ok'],
      { ok: 'skipped' },
    ]);
  });

  it('for an agent are its last words, or the object in them', () => {
    const schema = { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] };
    const step = { id: 'a', kind: 'agent', agent: 'researcher', task: 'Find it' };
    const end = (over: object, text: string) =>
      new Driven([{ ...step, ...over }], { output: '${steps.a.output}' }).resolve('a', { kind: 'chat', text, error: null }).end;
    expect(end({}, 'found')).toEqual({ status: 'completed', output: 'found' });
    expect(end({ output_schema: schema }, '```json\n{"sum": 4}\n```')).toEqual({ status: 'completed', output: { sum: 4 } });
    expect(end({ output_schema: schema }, 'four')).toMatchObject({ error: { code: 'output_schema' } });
    const run = new Driven([{ ...step, output_schema: schema, distill: true }], { output: '${steps.a.output.sum}' });
    expect(run.resolve('a', { kind: 'chat', text: 'four', error: null }).calls.map(({ row }) => row.path)).toEqual(['a']);
    expect(run.come({ a: { sum: 4 } }).end).toEqual({ status: 'completed', output: 4 });
  });
});

describe('errors', () => {
  const steps = [llm('ask'), set('next', { x: 1 })];

  it.each([
    ['fail', { status: 'failed', error: { code: 'provider_refused' } }],
    ['flag', { status: 'flagged', reason: 'provider_refused' }],
    ['continue', { status: 'completed', output: 'provider_refused' }],
  ])('are handled by what matches first, and then: %s', (then, end) => {
    const run = new Driven(steps, {
      on_error: [
        { match: 'timeout', steps: [] },
        { match: '*', steps: [set('note', { code: '${error.code}', step: '${error.step_id}' })], then },
      ],
      output: '${steps.ask.error.code}',
    });
    expect(run.come({ ask: failure('provider_refused') }).end).toMatchObject(end);
    expect(run.row('ask/on_error/1/note').output).toEqual({ code: 'provider_refused', step: 'ask' });
  });

  it('of their handling end the run', () => {
    const run = new Driven(steps, { on_error: [{ match: '*', steps: [set('note', { x: '${input.missing}' })], then: 'continue' }] });
    expect(run.come({ ask: failure('provider_refused') }).end).toMatchObject({ error: { code: 'expression_error' } });
  });

  it('of a list of steps inside are those of the step that holds it', () => {
    const run = new Driven([{ id: 'b', kind: 'branch', branches: [{ when: 'true', steps: [llm('ask')] }], else: [] }], {
      on_error: [{ match: 'x', steps: [], then: 'continue' }],
    });
    expect([run.come({ 'b/0/ask': failure('x') }).end, run.statuses.b]).toMatchObject([{ status: 'completed' }, 'failed']);
  });

  it('are none where a run is flagged, which ends it', () => {
    const run = new Driven([
      { id: 'b', kind: 'branch', branches: [{ when: 'input.n == 3', steps: [{ id: 'stop', kind: 'flag', reason: 'n is ${input.n}' }] }] },
      llm('never'),
    ]);
    expect(run.last).toMatchObject({ end: { status: 'flagged', reason: 'n is 3' }, calls: [] });
  });
});
