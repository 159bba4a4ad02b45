import { bitsOf, dot, fused, packed, unpacked } from './vectors.policy';

describe('vectors', () => {
  const vector = [0.6, -0.8, 0, 1e-8];

  it('are stored in single precision', () => {
    expect(unpacked(packed(vector))).toEqual(vector.map(Math.fround));
    expect(dot(unpacked(packed(vector)), vector)).toBeCloseTo(1);
  });

  it('are told apart roughly by their signs', () => expect(bitsOf(vector)).toBe('1001'));
});

describe('rankings in one', () => {
  it('have first what stands high in several', () => {
    expect(fused([['a', 'b', 'c'], ['c', 'd', 'b']]).map(([id]) => id)).toEqual(['c', 'b', 'a', 'd']); // prettier-ignore
  });

  it('are as the one where there is no other', () => {
    const [[, first], [, second]] = fused([['a', 'b'], []]);
    expect([first, second]).toEqual([1 / 61, 1 / 62]);
  });
});
