import { getMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Cutoff } from './cutoff';

const reasonOf = ({ signal }: Cutoff): unknown => signal.aborted && (signal.reason as Error).message;

it('ends with the outer signal, and with its reason, also where that has ended before', () => {
  const outer = new AbortController();
  const cut = new Cutoff(outer.signal, 60_000);
  expect(reasonOf(cut)).toBe(false);
  outer.abort(new Error('outer'));
  for (const ended of [cut, new Cutoff(outer.signal)]) expect([reasonOf(ended), ended.isLate]).toEqual(['outer', false]);
});

it('ends when its time is up', async () => {
  const cut = new Cutoff(undefined, 5);
  while (!cut.signal.aborted) await sleep(1);
  expect([cut.isLate, (cut.signal.reason as Error).name]).toEqual([true, 'TimeoutError']);
});

it('ends by its owner, and then by nothing else', () => {
  const outer = new AbortController();
  const cut = new Cutoff(outer.signal, 60_000);
  cut.abort(new Error('owner'));
  outer.abort(new Error('outer'));
  expect(reasonOf(cut)).toBe('owner');
});

it('is one of as many as like that wait for one signal', () => {
  const outer = new AbortController();
  const all = Array.from({ length: 20 }, () => new Cutoff(outer.signal));
  expect(getMaxListeners(outer.signal)).toBe(Infinity);
  outer.abort(new Error('outer'));
  expect(all.map(reasonOf)).toEqual(all.map(() => 'outer'));
});

it('is ended by nothing once it is released', async () => {
  const outer = new AbortController();
  const cut = new Cutoff(outer.signal, 1);
  cut.release();
  outer.abort();
  await sleep(20);
  expect(cut.signal.aborted).toBe(false);
});
