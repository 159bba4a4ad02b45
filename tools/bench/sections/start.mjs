/** From spawning a process until it is ready, and what it holds when it then does nothing. */
import { setTimeout as sleep } from 'node:timers/promises';
import { cpuMs, figure, interleaved, median, middle, printTable, rssKb } from '../lib/measure.mjs';

const SETTLE_MS = 3_000;

async function measure(children) {
  // One after another: a start is not to wait for another one's.
  const cpu = {};
  for (const child of children) {
    await child.start();
    cpu[child.name] = cpuMs([child.pid]);
  }
  await sleep(SETTLE_MS);
  const result = Object.fromEntries(
    children.map(({ name, startMs, pid }) => [name, { startMs, cpu: cpu[name], mb: rssKb([pid]) / 1_024 }]),
  );
  await Promise.all(children.map((child) => child.stop()));
  return result;
}

export async function start({ floor, product, quick }) {
  await Promise.all([floor.stop(), product.stop()]);
  const groups = {
    floor: async () => measure(await floor.makeChildren()),
    product: async () => measure([...(await product.makeChildren()), await product.app('admin-api')]),
  };
  await interleaved(groups, 1);
  const runs = await interleaved(groups, quick ? 1 : 4);
  const of = (system, name, key) => runs[system].map((run) => run[name][key]);
  const row = (name, base) => {
    const cells = ['startMs', 'cpu', 'mb'].flatMap((key) => {
      const [theirs, ours] = [of('floor', base, key), of('product', name, key)];
      return [figure(median(theirs)), figure(median(ours)), figure(median(ours.map((value, round) => value / theirs[round])))];
    });
    return [name, base, ...cells];
  };
  const sum = (system, names) =>
    middle(
      runs[system].map((run) => ({ mb: names.reduce((total, name) => total + run[name].mb, 0) })),
      'mb',
    );
  const [theirs, ours] = [sum('floor', ['floor-gateway', 'floor-worker']), sum('product', ['api-gateway', 'chat-worker'])];
  printTable(
    'Start and idle memory',
    [
      'app',
      'against',
      'floor, ms to ready',
      'product',
      'ratio',
      'floor, CPU ms until then',
      'product',
      'ratio',
      'floor, RSS MB',
      'product',
      'ratio',
    ],
    [
      row('api-gateway', 'floor-gateway'),
      row('chat-worker', 'floor-worker'),
      row('admin-api', 'floor-gateway'),
      ['gateway + worker', ...Array(7).fill(''), figure(theirs), figure(ours), figure(ours / theirs)],
    ],
  );
}
