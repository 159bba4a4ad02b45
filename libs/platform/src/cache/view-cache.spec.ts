import { ViewCache } from './view-cache';

function aCache(max = 10, failedMs?: number) {
  const time = { now: 0 };
  const loads: string[] = [];
  let answer: (key: string) => Promise<string> = (key) => Promise.resolve(`${key}${loads.length}`);
  const cache = new ViewCache<string, string>(
    100,
    max,
    (key) => {
      loads.push(key);
      return answer(key);
    },
    failedMs,
    () => time.now,
  );
  return { cache, time, loads, answerWith: (fn: typeof answer) => (answer = fn) };
}

describe('ViewCache', () => {
  it('loads once for all who come, and again after its time', async () => {
    const { cache, time, loads } = aCache();
    expect(await Promise.all([cache.get('a'), cache.get('a')])).toEqual(['a1', 'a1']);
    time.now = 99;
    await cache.get('a');
    expect(loads).toHaveLength(1);
    time.now = 100;
    expect(await cache.get('a')).toBe('a2');
  });

  it('does not grow old while it loads', async () => {
    const { cache, time, loads, answerWith } = aCache();
    let release: (v: string) => void = () => undefined;
    answerWith(() => new Promise((resolve) => (release = resolve)));
    const early = cache.get('a');
    time.now = 150;
    const late = cache.get('a');
    release('slow');
    expect([await early, await late]).toEqual(['slow', 'slow']);
    time.now = 249;
    expect([await cache.get('a'), loads.length]).toEqual(['slow', 1]);
  });

  it('does not grow old by being asked', async () => {
    const { cache, time, loads } = aCache();
    for (time.now = 0; time.now < 250; time.now += 50) await cache.get('a');
    expect(loads).toHaveLength(3);
  });

  it('never gives what was dropped while it loaded to those who come later', async () => {
    const { cache, answerWith } = aCache();
    let release: (v: string) => void = () => undefined;
    answerWith(() => new Promise((resolve) => (release = resolve)));
    const early = cache.get('a');
    cache.drop('a');
    answerWith(() => Promise.resolve('new'));
    const late = cache.get('a');
    release('old');
    expect([await early, await late, await cache.get('a')]).toEqual(['old', 'new', 'new']);
  });

  it.each([undefined, 10])('keeps no failure, or no longer than it is to', async (failedMs) => {
    const { cache, time, loads, answerWith } = aCache(10, failedMs);
    answerWith(() => Promise.reject(new Error('away')));
    await expect(cache.get('a')).rejects.toThrow('away');
    time.now = (failedMs ?? 1) - 1;
    if (failedMs) await expect(cache.get('a')).rejects.toThrow('away');
    expect(loads).toHaveLength(1);
    answerWith(() => Promise.resolve('back'));
    time.now = failedMs ?? 0;
    await expect(cache.get('a')).resolves.toBe('back');
  });

  it('lets the least recently used go', async () => {
    const { cache, loads } = aCache(2);
    for (const key of ['a', 'b', 'a', 'c', 'a', 'b']) await cache.get(key);
    expect(loads).toEqual(['a', 'b', 'c', 'b']);
    cache.clear();
    await cache.get('a');
    expect(loads).toHaveLength(5);
  });
});
