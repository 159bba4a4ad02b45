import type { Caller, Database, Tx } from '@aps/platform/database';
import { metrics } from '@aps/platform/observability';
import { Maintenance } from './maintenance';
import { RowByRow } from './row-by-row';

describe('maintenance', () => {
  // None of this touches a table.
  const make = () => new Maintenance({ query: () => Promise.resolve([]) } as unknown as Database);

  it('tells no figure that the database does not give, and everything else all the same', async () => {
    const answers = [Promise.resolve([]), Promise.reject(new Error('away')), new Promise(() => undefined)];
    const maintenance = new Maintenance({ query: () => answers.shift() } as unknown as Database);
    maintenance.register({ name: 'told', everyS: 1, batch: 10, run: () => Promise.resolve(0) });
    expect(await metrics.metrics()).toMatch(/^dead_letters\{.*\} 0$/m);
    // It is away, then it says nothing, and nobody asks again as long as that lasts.
    for (let i = 0; i < 3; i++) {
      const text = await metrics.metrics();
      expect(text).not.toMatch(/^dead_letters\{/m);
      expect(text).toContain('maintenance_failing{task="told"} 0');
    }
  });

  it('does not join a task that is still running', async () => {
    const maintenance = make();
    let runs = 0;
    let finish = (_touched: number): void => undefined;
    maintenance.register({ name: 'slow', everyS: 1, batch: 10, run: () => new Promise((resolve) => ((runs += 1), (finish = resolve))) });
    const first = maintenance.runAll();
    await maintenance.runAll();
    expect(runs).toBe(1);
    finish(0);
    await first;
    const second = maintenance.runAll();
    expect(runs).toBe(2);
    finish(0);
    await second;
  });

  it('goes on at once while a whole batch is found, and survives a failure', async () => {
    const maintenance = make();
    const found = [10, 10, 3];
    let failed = 0;
    maintenance.register({ name: 'many', everyS: 1, batch: 10, run: () => Promise.resolve(found.shift() ?? 0) });
    maintenance.register({ name: 'broken', everyS: 1, batch: 10, run: () => Promise.reject(new Error(`${(failed += 1)}`)) });
    await maintenance.runAll();
    expect([found, failed]).toEqual([[], 1]);
  });

  it('counts the failures of a task from when it is registered: what begins with 1 has not grown', async () => {
    make().register({ name: 'calm', everyS: 1, batch: 10, run: () => Promise.resolve(0) });
    const { values } = await metrics.getSingleMetric('maintenance_failures_total')!.get();
    expect(values).toContainEqual({ labels: { task: 'calm' }, value: 0 });
  });

  it('tells how often a task has failed in a row, however seldom it runs', async () => {
    const maintenance = make();
    const ends = [false, false, true, false];
    maintenance.register({
      name: 'hourly',
      everyS: 3_600,
      batch: 10,
      run: () => (ends.shift() ? Promise.resolve(0) : Promise.reject(new Error('away'))),
    });
    const told: number[] = [];
    for (let i = 0; i <= 4; i++) {
      const { values } = await metrics.getSingleMetric('maintenance_failing')!.get();
      told.push(values.find(({ labels }) => labels.task === 'hourly')!.value);
      if (ends.length) await maintenance.runAll();
    }
    expect(told).toEqual([0, 1, 2, 0, 1]);
  });
});

describe('rows that something is done to one by one', () => {
  it('are gone past where they fail, and left out while more are due than one pass takes', async () => {
    const tx = {} as Tx;
    const rows = new RowByRow({ transaction: (_: Caller, work: (tx: Tx) => unknown) => work(tx) } as unknown as Database, 'rows');
    let ids = ['a', 'b', 'c', 'd', 'e'];
    const broken = new Set(['a', 'b']);
    const tried: string[] = [];
    const pass = () =>
      rows.pass(
        2,
        (batch, but) =>
          Promise.resolve(
            ids
              .filter((id) => !but.includes(id))
              .slice(0, batch)
              .map((id) => ({ id })),
          ),
        (_, { id }) => {
          tried.push(id);
          if (broken.has(id)) return Promise.reject(new Error(`${id} is broken`));
          ids = ids.filter((other) => other !== id);
          return Promise.resolve(true);
        },
      );
    await expect(pass()).rejects.toThrow('a is broken');
    expect([await pass(), await pass()]).toEqual([2, 1]);
    await expect(pass()).rejects.toThrow('a is broken');
    broken.delete('a');
    expect(tried.join('')).toBe('abcdeab');
    // Both failed when two were due, which is a whole batch.
    expect(await pass()).toBe(0);
    await expect(pass()).rejects.toThrow('b is broken');
    expect(ids).toEqual(['b']);
  });

  it('are left for the next pass where the database is away', async () => {
    const tx = {} as Tx;
    const rows = new RowByRow({ transaction: (_: Caller, work: (tx: Tx) => unknown) => work(tx) } as unknown as Database, 'rows');
    let isAway = true;
    const leftOut: string[][] = [];
    const tried: string[] = [];
    const pass = () =>
      rows.pass(
        3,
        (_, but) => {
          leftOut.push(but);
          return Promise.resolve(['a', 'b', 'c'].map((id) => ({ id })));
        },
        (_, { id }) => {
          tried.push(id);
          const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
          return isAway && id === 'b' ? Promise.reject(refused) : Promise.resolve(true);
        },
      );
    await expect(pass()).rejects.toThrow('connect ECONNREFUSED');
    isAway = false;
    expect([await pass(), leftOut, tried.join('')]).toEqual([3, [[], []], 'ababc']);
  });
});
