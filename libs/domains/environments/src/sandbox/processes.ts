import type { ChildProcess } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

interface Process {
  parent: number;
  isStopped: boolean;
  residentBytes: number;
}

const PAGE_BYTES = 4096;
/** One look serves all sandboxes that ask within this time. */
const FRESH_MS = 100;
/** What the kernel does not let go of in this time is not to be killed. */
const KILLING_MS = 2_000;

let looked: { at: number; all: Map<number, Process> } | undefined;

/** Text of a file of `/proc`; empty where the process has gone, or hides it. */
function told(pid: number | string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch {
    return '';
  }
}

const pids = (): number[] => readdirSync('/proc').map(Number).filter(Number.isInteger);

/** All processes of the machine that can be seen, without the dead ones that nobody has collected yet. */
function look(): Map<number, Process> {
  const all = new Map<number, Process>();
  for (const pid of pids()) {
    // The name stands in brackets and may hold anything; of what follows it is state, parent … resident pages.
    const stat = told(pid, 'stat');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields.length > 21 && fields[0] !== 'Z')
      all.set(pid, { parent: Number(fields[1]), isStopped: fields[0] === 'T', residentBytes: Number(fields[21]) * PAGE_BYTES });
  }
  return all;
}

function descendants(roots: number[], all: Map<number, Process>): number[] {
  const children = new Map<number, number[]>();
  for (const [pid, { parent }] of all) children.set(parent, [...(children.get(parent) ?? []), pid]);
  const found = new Set(roots.filter((pid) => all.has(pid)));
  for (const pid of found) for (const child of children.get(pid) ?? []) found.add(child);
  return [...found];
}

/** How many processes there are from this one on downwards, and how many bytes of memory they have; shared pages count once where it matters. */
export function weigh(root: number, enough: number): { count: number; bytes: number } {
  if (!looked || performance.now() - looked.at > FRESH_MS) looked = { at: performance.now(), all: look() };
  const { all } = looked;
  const tree = descendants([root], all);
  const sum = (bytesOf: (pid: number) => number) => tree.reduce((bytes, pid) => bytes + bytesOf(pid), 0);
  const resident = sum((pid) => all.get(pid)!.residentBytes);
  if (resident <= enough) return { count: tree.length, bytes: resident };
  const share = (pid: number) => Number(/^Pss: +(\d+) kB/m.exec(told(pid, 'smaps_rollup'))?.[1] ?? NaN) * 1024;
  return { count: tree.length, bytes: sum((pid) => share(pid) || all.get(pid)!.residentBytes) };
}

/** How many processes and threads the machine has, of everybody. */
export const threadCount = (): number => Number(/\/(\d+)/.exec(told('', 'loadavg'))?.[1] ?? 0);

/**
 * Kills a child and all below it, until nothing is left; and whatever has `variable` in its environment, whose parents may have gone. All stand still
 * before the first is killed: one that was about to fork has then done so, and none loses the parent that it is to die with before it has said so to
 * the kernel.
 */
export async function killTree(child: ChildProcess, variable?: string): Promise<void> {
  const began = performance.now();
  const isInTime = () => performance.now() - began < KILLING_MS;
  // Until it is collected its number is nobody else's.
  const isThere = () => child.pid !== undefined && child.exitCode === null && child.signalCode === null;
  const seen = (): { pid: number; isStopped: boolean }[] => {
    if (!variable && !isThere()) return [];
    const all = look();
    const marked = variable ? [...all.keys()].filter((pid) => told(pid, 'environ').split('\0').includes(variable)) : [];
    const tree = descendants(isThere() ? [child.pid!, ...marked] : marked, all);
    return tree.map((pid) => ({ pid, isStopped: all.get(pid)!.isStopped }));
  };
  // Where a program is just being exchanged for another, its environment cannot be read: that nothing was seen once is not enough.
  let clear = 0;
  do {
    let tree = seen();
    // Whose parent stands still in one look is in the next one at the latest: a look takes its time, and forks go on during it.
    for (let still = new Set<number>(); !tree.every(({ pid }) => still.has(pid)) && isInTime(); tree = seen()) {
      still = new Set(tree.flatMap(({ pid, isStopped }) => (isStopped ? pid : [])));
      for (const { pid } of tree) if (!still.has(pid)) send(pid, 'SIGSTOP');
      await sleep(1);
    }
    for (const { pid } of tree) send(pid, 'SIGKILL');
    clear = tree.length ? 0 : clear + 1;
    await sleep(5);
  } while (clear < 2 && isInTime());
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has gone by itself.
  }
}
