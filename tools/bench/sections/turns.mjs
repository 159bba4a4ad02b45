/** Turns a second, their latency and their CPU, with a model that answers at once; and what their updates do to indexes. */
import { query } from '../../dev/lib/postgres.mjs';
import { closedLoop, compared, cpuMs, figure, interleaved, middle, printTable } from '../lib/measure.mjs';

/** In flight -> chats that take turns in turn: enough that each stays short. */
const CHATS = { 1: 32, 16: 128, 64: 256 };
export const TEXT = 'How do I say good morning in four languages?';

export async function measure(system, pids, { width, ms, listening }) {
  const chats = await system.newChats(CHATS[width], { listening });
  const resting = [...chats];
  const cpu = () => ({ apps: cpuMs(system.pids), postgres: cpuMs(pids.postgres), redis: cpuMs(pids.redis) });
  const before = cpu();
  const result = await closedLoop({ width, ms }, async () => {
    const chat = resting.shift();
    await system.turn(chat, TEXT);
    resting.push(chat);
  });
  const after = cpu();
  system.forget(chats);
  return { ...result, ...Object.fromEntries(Object.keys(after).map((part) => [part, (after[part] - before[part]) / result.count])) };
}

export async function turns({ floor, product, servers, quick }) {
  await Promise.all([floor.start(), product.start()]);
  const [ms, rounds] = quick ? [1_000, 2] : [3_000, 4];
  const variants = (width, time) => ({
    floor: () => measure(floor, servers.pids, { width, ms: time }),
    listening: () => measure(product, servers.pids, { width, ms: time, listening: true }),
    opening: () => measure(product, servers.pids, { width, ms: time }),
  });
  // V8 goes on making code faster for about 5,000 turns; what a service costs in its first seconds is another question.
  await interleaved(variants(64, quick ? 2_000 : 10_000), 1);

  const rates = [];
  const costs = [];
  for (const width of Object.keys(CHATS).map(Number)) {
    const runs = await interleaved(variants(width, ms), rounds);
    for (const [variant, name] of [
      ['listening', 'stream kept open'],
      ['opening', 'stream per turn'],
    ]) {
      rates.push([width, name, ...compared(runs.floor, runs[variant], 'rate'), ...compared(runs.floor, runs[variant], 'p50')]);
      costs.push([
        width,
        name,
        ...compared(runs.floor, runs[variant], 'apps'),
        ...['postgres', 'redis'].map((part) => `${figure(middle(runs.floor, part))} / ${figure(middle(runs[variant], part))}`),
      ]);
    }
  }
  printTable('Turns', ['in flight', 'client', 'floor, turns/s', 'product', 'ratio', 'floor, p50 ms', 'product', 'ratio'], rates);
  printTable(
    'CPU per turn, ms',
    ['in flight', 'client', 'floor, gateway + worker', 'product', 'ratio', 'PostgreSQL, floor / product', 'Redis, floor / product'],
    costs,
  );
  // An update that touches no index stays on its page: no index names what turns change.
  const updates = await query(
    servers.env.DATABASE_URL,
    `SELECT relname AS name, n_tup_upd AS n, n_tup_hot_upd::float8 / n_tup_upd AS hot FROM pg_stat_user_tables WHERE relname IN ('chats', 'turns') AND n_tup_upd > 0 ORDER BY 1`,
  );
  printTable(
    'Updates that touch no index',
    ['of', 'updates', 'share'],
    updates.map(({ name, n, hot }) => [name, n, figure(hot)]),
  );
}
