/** Numbers: what processes use (from /proc), what a load loop reaches, and how two systems compare. */
import { readFileSync, readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const TICK_MS = 10;

const statOf = (pid) => {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    // In words: parent; then own user and system time, then that of children that have ended.
    return { pid, parent: fields[1], own: fields[11] + fields[12], ended: fields[13] + fields[14] };
  } catch {
    return undefined;
  }
};

/** CPU milliseconds of processes so far, with those of their direct children, living or ended (PostgreSQL's backends come and go). */
export function cpuMs(pids) {
  const wanted = new Set(pids);
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => statOf(Number(name)))
    .filter(Boolean);
  const ticks = all.reduce((sum, { pid, parent, own, ended }) => sum + (wanted.has(pid) ? own + ended : wanted.has(parent) ? own : 0), 0);
  return ticks * TICK_MS;
}

/** Resident kilobytes of processes, without their children. */
export function rssKb(pids) {
  return pids.reduce((sum, pid) => sum + Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0), 0);
}

/** The share of `values` below which `q` of them lie. */
export const quantile = (values, q) => [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(q * values.length))];

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  return sorted.length % 2 ? sorted[Math.floor(middle)] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** `width` callers repeat `operation` until the time is over. @returns {Promise<{ rate: number, p50: number, p95: number, count: number }>} */
export async function closedLoop({ width, ms }, operation) {
  const began = performance.now();
  const took = [];
  await Promise.all(
    Array.from({ length: width }, async () => {
      while (performance.now() - began < ms) {
        const since = performance.now();
        await operation();
        took.push(performance.now() - since);
      }
    }),
  );
  return {
    count: took.length,
    rate: (took.length * 1_000) / (performance.now() - began),
    p50: quantile(took, 0.5),
    p95: quantile(took, 0.95),
  };
}

/** Does it so many times a second, whether or not those before have ended. @returns {Promise<number[]>} what each took, ms */
export async function steadily(perSecond, ms, operation) {
  const took = [];
  const begun = [];
  const began = performance.now();
  for (let n = 0; (n * 1_000) / perSecond < ms; n++) {
    await sleep(Math.max(0, began + (n * 1_000) / perSecond - performance.now()));
    const since = performance.now();
    begun.push(operation().then(() => took.push(performance.now() - since)));
  }
  await Promise.all(begun);
  return took;
}

/** Runs each variant `rounds` times, every other round backwards (A B B A), so that what else the machine does meets all alike. */
export async function interleaved(variants, rounds) {
  const names = Object.keys(variants);
  const results = Object.fromEntries(names.map((name) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const name of round % 2 ? [...names].reverse() : names) results[name].push(await variants[name]());
  }
  return results;
}

/** Median of a figure, of a variant's rounds. */
export const middle = (runs, key) => median(runs.map((run) => run[key]));

/** Median of the rounds' ratios: neighbours in time are compared, not the best of one with the worst of the other. */
export const ratio = (runs, base, key) => median(runs.map((run, round) => run[key] / base[round][key]));

export const figure = (value) => (Math.abs(value) >= 100 ? value.toFixed(0) : Math.abs(value) >= 10 ? value.toFixed(1) : value.toFixed(2));

/** Floor, product and ratio of one figure, as three cells. */
export const compared = (floor, product, key) => [middle(floor, key), middle(product, key), ratio(product, floor, key)].map(figure);

export function printTable(title, head, rows) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  console.log(`\n### ${title}\n\n${[line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')}`);
}
