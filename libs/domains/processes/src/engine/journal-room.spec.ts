import { loadConfig } from '@aps/platform/config';
import { JournalRoom } from './journal-room';

const MAX = 100;
let room: JournalRoom;
let entered: string[];
beforeAll(() => loadConfig({ DATABASE_URL: 'postgres://localhost/none', PROCESS_HELD_BYTES: String(MAX) }));
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

  it('is filled by no calls, however many organizations take all that they may', () => {
    const held = Array.from({ length: 20 }, (_, i) => {
      const left = room.leftForCalls(`${i}`);
      room.countCalls(`${i}`, left);
      return left;
    });
    const all = held.reduce((sum, bytes) => sum + bytes);
    expect([held[0], held[1], all < MAX]).toEqual([MAX / 2, MAX / 4, true]);
    // Who has least is let in when others leave; who has more than is left, is not.
    room.countCalls('0', -MAX / 4);
    expect(room.leftForCalls('0')).toBeLessThan(room.leftForCalls('19'));
    // Once their calls have come and gone a few times, each has as much as the others.
    held[0] -= MAX / 4;
    for (let round = 0; round < 100; round++)
      held.forEach((bytes, i) => {
        room.countCalls(`${i}`, -bytes / 2);
        const more = room.leftForCalls(`${i}`);
        room.countCalls(`${i}`, more);
        held[i] = bytes / 2 + more;
      });
    expect(Math.max(...held) / Math.min(...held)).toBeLessThan(1.1);
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
