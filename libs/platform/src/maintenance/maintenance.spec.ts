import type { Database } from '@aps/platform/database';
import { metrics } from '@aps/platform/observability';
import { Maintenance } from './maintenance';

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
