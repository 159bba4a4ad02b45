import { Interpreter, type RunFacts } from '../engine/interpreter';
import type { CallOutcome, JournalRow, RunOutcome } from '../engine/journal';
import { MAX_BEGUN, MAX_ROWS } from '../engine/progress';
import { aDefinition } from '../testing/definition';
import type { Bounds } from './bounds';
import { replayed } from './replay.policy';
import { simulated } from './simulation.policy';

const list = Array.from({ length: 10_000 }, (_, i) => i);
const FACTS: RunFacts = { envelope: { input: { list } }, run: { id: 'r' }, started_at: new Date(0) };
const set = (id: string, values: object = { x: 1 }) => ({ id, kind: 'transform', set: values });
const whilst = (id: string, iterations: number, ...steps: unknown[]) => ({
  id,
  kind: 'loop',
  while: `vars.item_index < ${iterations}`,
  max_iterations: 10_000,
  steps,
});
/** Three rows an iteration. */
const long = (id: string, iterations: number) =>
  whilst(id, iterations, { id: `${id}_which`, kind: 'branch', branches: [{ when: 'true', steps: [set(`${id}_a`)] }] }, set(`${id}_b`));

const each = (id: string, ...steps: unknown[]) => ({ id, kind: 'loop', over: '${input.list}', max_iterations: 10_000, steps });
const ENDLESS = [each('l', each('m', set('a')))];

/** A run that is gone on with piece by piece, a second apart. */
class Pieces {
  readonly rows = new Map<string, JournalRow>();
  readonly sizes: number[] = [];
  private readonly interpreter: Interpreter;

  constructor(
    readonly steps: unknown[],
    private readonly facts = FACTS,
    journal: JournalRow[] = [],
  ) {
    this.interpreter = new Interpreter(aDefinition(steps), facts, journal);
  }

  /** Until it waits, or has come to its end. @param most pieces */
  goOn(outcomes: Record<string, unknown> = {}, most = Infinity): RunOutcome | null {
    let came = new Map<string, CallOutcome>(Object.entries(outcomes).map(([path, output]) => [path, { status: 'completed', output }]));
    for (let pieces = 0; ; came = new Map()) {
      const inFlight = new Set(
        [...this.rows.values()].filter(({ status, noted }) => noted && status === 'running').map(({ path }) => path),
      );
      const { end, goesOn, written } = this.interpreter.advance(new Date(1_000 * (this.sizes.length + 1)), { outcomes: came, inFlight });
      for (const row of written) this.rows.set(row.path, row);
      this.sizes.push(written.length);
      if (!goesOn || ++pieces >= most) return end;
    }
  }

  replay(bounds?: Bounds) {
    return replayed(aDefinition(this.steps), this.facts, [...this.rows.values()], bounds);
  }
}

describe('a run of many steps', () => {
  it('is gone on with piece by piece to its end, and is the same again', async () => {
    const run = new Pieces([long('l', 10_000)]);
    expect(run.goOn()).toMatchObject({ status: 'completed' });
    expect(run.rows.size).toBe(30_001);
    // What was begun in a piece before may end in it.
    expect(Math.max(...run.sizes)).toBeLessThanOrEqual(MAX_BEGUN + 3);
    expect(await run.replay()).toMatchObject({ deterministic: true, first_divergence: null, compared: 30_001 });
  });

  it('fails where it would take too many, whatever its errors are handled by', () => {
    const run = new Pieces(ENDLESS);
    expect(run.goOn()).toMatchObject({ status: 'failed', error: { code: 'max_iterations' } });
    expect([run.rows.size, run.rows.get('l')!.status]).toEqual([MAX_ROWS, 'cancelled']);
  });

  it('fails where its steps would keep too much', () => {
    const facts = { ...FACTS, envelope: { input: { text: 'x'.repeat(512 * 1024), list: list.slice(0, 1_000) } } };
    const taken = { text: '${input.text}' };
    const run = new Pieces([each('l', set('a', taken))], facts);
    expect(run.goOn()).toMatchObject({ status: 'failed', error: { code: 'max_iterations' } });
    expect(run.rows.size).toBeGreaterThan(120);
    expect(run.rows.size).toBeLessThanOrEqual(130);
    expect(run.rows.get('l')!.status).toBe('cancelled');
    // What a loop came to is what its steps came to, once more; whoever reads the journal counts the same.
    const again = new Pieces([whilst('l', 70, set('a', taken)), set('after')], facts);
    expect(again.goOn()).toMatchObject({ status: 'failed', error: { code: 'max_iterations' } });
    expect([again.rows.get('l')!.output, again.rows.has('after')]).toEqual([null, false]);
    Object.assign(run.rows.get('l')!, { status: 'running', finished_at: null });
    const read = new Pieces([each('l', set('a', taken))], facts, [...run.rows.values()].slice(0, 120));
    expect(read.goOn()).toMatchObject({ status: 'failed', error: { code: 'max_iterations' } });
    expect(read.rows.size).toBeLessThanOrEqual(12);
  });

  it('fails where its calls bring too much, and keeps no more than it may', () => {
    const branches = list.slice(0, 40).map((i) => ({ id: `b${i}`, steps: [{ id: `ask${i}`, kind: 'llm', prompt: 'x' }] }));
    const run = new Pieces([{ id: 'p', kind: 'parallel', branches }]);
    run.goOn();
    const text = 'x'.repeat(2 * 1024 * 1024);
    expect(run.goOn(Object.fromEntries(branches.map(({ id, steps }) => [`p/${id}/${steps[0].id}`, text])))).toMatchObject({
      status: 'failed',
      error: { code: 'max_iterations' },
    });
    expect([...run.rows.values()].filter(({ output }) => output !== null)).toHaveLength(31);
  });

  it('may be a loop that holds nothing', () => {
    const run = new Pieces([whilst('l', 9_999)]);
    expect([run.goOn(), run.rows.size]).toMatchObject([{ status: 'completed' }, 1]);
    expect(run.sizes.length).toBeGreaterThan(1);
  });

  it('hears between its pieces of what has come, in whatever order that is', async () => {
    const branches = [
      { id: 'a', steps: [long('l', 500), { id: 'w', kind: 'wait', event: 'never' }] },
      { id: 'b', steps: [{ id: 'ask', kind: 'llm', prompt: 'x' }, set('after')] },
    ];
    const run = new Pieces([
      { id: 'first', kind: 'llm', prompt: 'x' },
      { id: 'any', kind: 'parallel', join: 'any', branches: branches.reverse() },
    ]);
    run.goOn();
    run.goOn({ first: 'x' }, 1);
    expect(run.rows.get('any/b/ask')).toMatchObject({ status: 'running' });
    run.goOn({ 'any/b/ask': 'y' }, 1);
    expect(run.rows.get('any/b/after')).toMatchObject({ status: 'completed' });
    expect([run.rows.get('any')!.status, run.goOn()]).toMatchObject(['running', { status: 'completed' }]);
    expect(await run.replay()).toMatchObject({ deterministic: true, first_divergence: null });
  });

  it('is the same again as far as it came, where it was cut off between its pieces', async () => {
    const run = new Pieces([long('l', 1_000)]);
    run.goOn({}, 3);
    expect(await run.replay()).toMatchObject({ deterministic: true });
    for (const row of run.rows.values())
      if (row.status === 'running') Object.assign(row, { status: 'cancelled', finished_at: new Date(9e6) });
    expect(await run.replay()).toMatchObject({ deterministic: true });
  });
});

describe('a look at a run of many steps', () => {
  /** How often others came to their turn. */
  const turnsDuring = async (work: Promise<unknown>) => {
    let turns = 0;
    const others = setInterval(() => (turns += 1), 1);
    await work;
    clearInterval(others);
    return turns;
  };

  it('lets others in', async () => {
    const run = new Pieces([long('l', 5_000)]);
    run.goOn();
    expect(await turnsDuring(simulated(aDefinition(run.steps), FACTS, [], new Map()))).toBeGreaterThan(5);
    expect(await turnsDuring(run.replay())).toBeGreaterThan(5);
  });

  it.each([
    ['has taken too long', { maxMs: 0 }],
    ['nobody waits for it any more', { signal: AbortSignal.abort() }],
  ])('ends where it is once it %s', async (_, bounds) => {
    const run = new Pieces([long('l', 1_000)]);
    run.goOn();
    const { status, error, steps } = await simulated(aDefinition(run.steps), FACTS, [], new Map(), bounds);
    expect([status, error]).toMatchObject(['running', { code: 'timeout' }]);
    const { compared, ...found } = await run.replay(bounds);
    expect(found).toMatchObject({ deterministic: false, first_divergence: null });
    for (const most of [steps.length, compared]) {
      expect(most).toBeGreaterThan(0);
      expect(most).toBeLessThan(run.rows.size);
    }
    // What differs is found as far as it went.
    run.rows.get([...run.rows.keys()].find((path) => path.endsWith('l_b'))!)!.output = { x: 2 };
    expect(await run.replay(bounds)).toMatchObject({ deterministic: false, first_divergence: { field: 'output' } });
  });

  it('ends as the run would', async () => {
    const { status, error } = await simulated(aDefinition(ENDLESS), FACTS, [], new Map());
    expect([status, error]).toMatchObject(['failed', { code: 'max_iterations' }]);
  });

  it('asks as often as the run would', async () => {
    const say = (id: string) => ({ id, kind: 'llm', prompt: 'x' });
    const { status, steps } = await simulated(aDefinition([each('l', ...['a', 'b', 'c'].map(say))]), FACTS, [], new Map());
    expect([status, steps.length]).toEqual(['completed', 30_001]);
  });
});
