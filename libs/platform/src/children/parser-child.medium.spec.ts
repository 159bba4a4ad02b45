import path from 'node:path';
import { ParserChild, type ParserEnd } from './parser-child';
import { Places } from './places';
import type { Deed } from './testing/prying.worker';

/** What comes of a deed: what the process says, or why it has ended. */
function trying(deed: Deed): Promise<string> {
  return new Promise((resolve) => {
    const child = new ParserChild<{ deed: Deed }, { came: string }>({
      ...{ directory: path.join(__dirname, 'testing'), file: 'prying.worker.js', heapMib: 64, residentMib: 256 },
      heard: ({ came }) => {
        resolve(came);
        child.end();
      },
      ended: (why: ParserEnd) => resolve(why),
    });
    child.tell({ deed });
  });
}

describe('a process that parses', () => {
  it.each(['file', 'parent', 'write', 'program', 'connection', 'request', 'names'] as const)('has no %s', async (deed) => {
    expect(await trying(deed)).toBe('refused');
  });

  it('has no settings', async () => {
    expect((await trying('environment')).split(',')).not.toEqual(expect.arrayContaining(['PATH']));
  });

  it.each(['heap', 'buffers'] as const)('has no more memory than it may, of its %s', async (deed) => {
    expect(await trying(deed)).toBe('memory');
  });

  it('ends when it is told to, and says so once', async () => {
    const ends: ParserEnd[] = [];
    await new Promise<void>((resolve) => {
      const child = new ParserChild({
        ...{ directory: path.join(__dirname, 'testing'), file: 'prying.worker.js', heapMib: 64 },
        heard: () => undefined,
        ended: (why) => resolve(void ends.push(why)),
      });
      child.end();
      child.end();
      expect(child.isRunning).toBe(false);
    });
    expect(ends).toEqual(['other']);
  });
});

it('places are taken one after another, the last used first', async () => {
  const places = new Places<string>(2);
  let [running, most] = [0, 0];
  await Promise.all(
    Array.from({ length: 9 }, () =>
      places.at(async (place) => {
        most = Math.max(most, ++running);
        place.holds = 'used';
        await new Promise(setImmediate);
        running--;
      }),
    ),
  );
  await expect(places.at(() => Promise.reject(new Error('not done')))).rejects.toThrow('not done');
  expect(most).toBe(2);
  const alone = new Places<number>(2);
  for (let i = 0; i < 5; i++) await alone.at((place) => void (place.holds = i));
  expect(alone.all.filter(({ holds }) => holds !== undefined)).toHaveLength(1);
});

it('places are waited for as long as a signal lets, and those behind go on waiting', async () => {
  const places = new Places<string>(1);
  const leaving = new AbortController();
  const came: string[] = [];
  const waits = (name: string, signal?: AbortSignal) =>
    places.at(() => void came.push(name), { signal }).catch((reason: Error) => void came.push(`${name} ${reason.message}`));
  let done!: () => void;
  const first = places.at(() => new Promise<void>((resolve) => (done = resolve)));
  const all = [waits('a', leaving.signal), waits('b'), waits('c', leaving.signal), waits('d', new AbortController().signal)];
  leaving.abort(new Error('gone'));
  await new Promise(setImmediate);
  expect(came).toEqual(['a gone', 'c gone']);
  done();
  await Promise.all([first, ...all]);
  expect(came).toEqual(['a gone', 'c gone', 'b', 'd']);
  await waits('e', leaving.signal);
  expect(came.at(-1)).toBe('e gone');
});

describe('places that are shared', () => {
  /** Takes them, each until it is ended. @returns who has had one, in order */
  async function taken(places: Places<string>, shares: string, ends: number): Promise<string> {
    const [came, open]: [string[], (() => void)[]] = [[], []];
    for (const share of shares) void places.at(() => new Promise<void>((end) => (came.push(share), open.push(end))), { share });
    for (let ended = 0; ended < ends; ended++) {
      await new Promise(setImmediate);
      open[ended]();
    }
    await new Promise(setImmediate);
    return came.join('');
  }

  it('go to who has the fewest, and of several to whose last turn was longest ago', async () => {
    expect(await taken(new Places(2), 'aaaaaabbc', 9)).toBe('aabacbaaa');
  });

  it('are kept for others, where one share may not have all', async () => {
    expect(await taken(new Places(2, { ofAShare: 1 }), 'aaab', 0)).toBe('ab');
    expect(await taken(new Places(2, { ofAShare: 1 }), 'aaab', 4)).toBe('abaa');
  });
});
