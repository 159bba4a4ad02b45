import { loadConfig } from '@aps/platform/config';
import type { CallResult } from './calls';
import { JournalRoom } from './journal-room';
import { RunAtWork } from './run-at-work';

const MAX = 100;
let room: JournalRoom;
let entered: string[];
const hold = (bytes: number) =>
  loadConfig({ DATABASE_URL: 'postgres://localhost/none', REDIS_URL: 'redis://localhost', PROCESS_HELD_BYTES: String(bytes) });
beforeAll(() => hold(MAX));
beforeEach(() => {
  room = new JournalRoom();
  entered = [];
});

const settled = () => new Promise(setImmediate);
/** Comes for so many bytes. @returns its place, be it in or not */
const comes = (name: string, bytes: number, signal = new AbortController().signal) => {
  const place = room.place(name[0]);
  const taken = place.take(bytes, signal).then(
    () => {
      entered.push(name);
      place.begin();
    },
    () => void entered.push(`${name} left`),
  );
  return { place, taken };
};

describe('the room for journals', () => {
  it('lets in what fits, and what is larger than all by itself', async () => {
    const all = [comes('a', 60), comes('b', 40), comes('c', 2 * MAX), comes('d', 1)];
    await settled();
    expect([entered, room.isWanted]).toEqual([['a', 'b'], true]);
    for (const i of [0, 1]) all[i].place.leave();
    await settled();
    // Nobody passes by who came before, however little he needs.
    expect(entered).toEqual(['a', 'b', 'c']);
    all[2].place.leave();
    await settled();
    expect([entered, room.isWanted]).toEqual([['a', 'b', 'c', 'd'], false]);
  });

  it('is for who holds least before it is for who came first', async () => {
    const first = comes('a1', 50);
    comes('a2', 50);
    for (const name of ['a3', 'a4', 'b1', 'a5', 'b2']) comes(name, 50);
    await settled();
    first.place.leave();
    await settled();
    expect(entered).toEqual(['a1', 'a2', 'b1']);
  });

  it('is left by who has grown out of it, and is not alone', async () => {
    const [a, b] = [comes('a', 30), comes('b', 30)];
    await settled();
    expect([a.place.fits(70), b.place.fits(31), b.place.fits(20)]).toEqual([true, false, true]);
    a.place.leave();
    expect(b.place.fits(2 * MAX)).toBe(true);
  });

  it('is given up at once by who rests, where others wait for it', async () => {
    const a = comes('a', MAX);
    await settled();
    expect(a.place.isDue(true)).toBe(false);
    comes('b', 1);
    expect([a.place.isDue(true), a.place.isDue(false)]).toEqual([true, false]);
  });

  it('is not kept for who does not wait any more', async () => {
    const a = comes('a', 60);
    const stop = new AbortController();
    const b = comes('b', MAX, stop.signal);
    comes('c', 40);
    await settled();
    stop.abort();
    await b.taken;
    await settled();
    expect(entered).toEqual(['a', 'b left', 'c']);
    a.place.leave();
    comes('d', 60);
    await settled();
    expect(entered.at(-1)).toBe('d');
  });
});

describe('the room for calls', () => {
  const ALL = 2 ** 28;
  beforeAll(() => hold(ALL));

  it('is filled by no calls, however many organizations take all that they may', () => {
    const taken = (orgId: string) => {
      const bytes = room.leftForCalls(orgId);
      return { bytes, release: room.holdCall(orgId, bytes, false) };
    };
    const held = Array.from({ length: 20 }, (_, i) => [taken(`${i}`)]);
    const of = (i: number) => held[i].reduce((sum, { bytes }) => sum + bytes, 0);
    const all = held.reduce((sum, _, i) => sum + of(i), 0);
    expect([of(0), of(1), all < ALL]).toEqual([ALL / 2, ALL / 4, true]);
    // Once their calls have come and gone a few times, each has as much as the others.
    for (let round = 0; round < 100; round++)
      for (const [i, calls] of held.entries()) {
        const half = of(i) / 2;
        for (const { release } of calls.splice(0)) release();
        calls.push({ bytes: half, release: room.holdCall(`${i}`, half, false) }, taken(`${i}`));
      }
    const parts = held.map((_, i) => of(i));
    expect(Math.max(...parts) / Math.min(...parts)).toBeLessThan(1.1);
  });

  it('is left to others as if there were no calls that an organization makes beyond its part', () => {
    const inAnyCase = room.holdCall('a', ALL, true);
    expect([room.leftForCalls('a'), room.leftForCalls('b')]).toEqual([0, ALL / 2]);
    inAnyCase();
    // Nobody knows how large the arguments of a call are before it is begun.
    const large = room.holdCall('a', 2 * ALL, false);
    expect([room.leftForCalls('a'), room.leftForCalls('b')]).toEqual([0, ALL / 4]);
    large();
    expect([room.leftForCalls('a'), room.leftForCalls('b')]).toEqual([ALL / 2, ALL / 2]);
  });
});

it('what calls have come to is written in pieces where it is charged, as its credits are locked so long', async () => {
  const signal = new AbortController().signal;
  const lease = { signal, requireNext: () => undefined, requireHeld: () => undefined, release: () => undefined };
  const work = new RunAtWork({ org_id: 'a', steps_done: 0 } as ConstructorParameters<typeof RunAtWork>[0], lease, room);
  const charge = () => Promise.resolve();
  for (let i = 0; i < 130; i++) {
    const result: CallResult = { outcome: { status: 'completed', output: null }, ...(i % 2 && { charge }) };
    work.make({ row: { path: String(i) } } as Parameters<RunAtWork['make']>[0], () => Promise.resolve(result));
  }
  await settled();
  const pieces = Array.from({ length: 2 }, () => {
    const { results, known } = work.known(true);
    const isAll = work.isIdle(results);
    work.written({ written: [] } as unknown as Parameters<RunAtWork['written']>[0], results);
    return [results.size, known.inFlight.size, isAll];
  });
  expect(pieces).toEqual([
    [115, 130, false],
    [15, 15, true],
  ]);
});
