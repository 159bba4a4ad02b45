import { WeightedLru } from './weighted-lru';

describe('WeightedLru', () => {
  it('forgets what was not used for longest when it grows too heavy', () => {
    const lru = new WeightedLru<number>(10);
    lru.set('a', 1, 4);
    lru.set('b', 2, 4);
    expect(lru.get('a')).toBe(1);
    lru.set('c', 3, 4);
    expect([lru.get('a'), lru.get('b'), lru.get('c')]).toEqual([1, undefined, 3]);
  });

  it('counts a replaced value once, and keeps nothing that is too heavy alone', () => {
    const lru = new WeightedLru<number>(10);
    lru.set('a', 1, 8);
    lru.set('a', 2, 8);
    expect(lru.get('a')).toBe(2);
    lru.set('b', 3, 11);
    expect(lru.get('b')).toBeUndefined();
    lru.set('c', 4, 10);
    expect(lru.get('c')).toBe(4);
  });
});
