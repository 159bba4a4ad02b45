import { inPlaceOf } from './tree.policy';

const pages = (...places: [id: string, position: number][]) => places.map(([id, position]) => ({ id, position }));

describe('pages in the place of another', () => {
  it.each([
    ['between neighbours', pages(['a', 1], ['x', 2], ['b', 3]), 2],
    ['at the end', pages(['a', 1], ['x', 2]), 2],
    ['at the beginning', pages(['x', 0], ['b', 0.5]), 2],
    ['alone', pages(['x', -3]), 2],
    ['where there is little room', pages(['x', 1], ['b', 1 + 1e-9]), 2],
  ])('%s move nobody else', (_, siblings, moved) => {
    const placed = inPlaceOf(siblings, 'x', pages(['c', 7], ['d', 9]));
    expect(placed).toHaveLength(moved);
    expect(order(siblings, placed)).toEqual(siblings.flatMap(({ id }) => (id === 'x' ? ['c', 'd'] : [id])));
  });

  it.each([
    ['behind one of the same place', pages(['a', 2], ['x', 2], ['b', 3])],
    ['before one of the same place', pages(['a', 1], ['x', 2], ['b', 2])],
    ['where numbers have no room', pages(['x', 1], ['b', 1 + Number.EPSILON])],
    ['at the end of numbers', pages(['a', 1], ['x', Number.MAX_VALUE])],
  ])('%s have all stand anew', (_, siblings) => {
    const placed = inPlaceOf(siblings, 'x', pages(['c', 7], ['d', 9]));
    expect(order(siblings, placed)).toEqual(siblings.flatMap(({ id }) => (id === 'x' ? ['c', 'd'] : [id])));
  });

  /** In which they stand then; the same place twice is none. */
  function order(siblings: { id: string; position: number }[], placed: { id: string; position: number }[]): string[] {
    const now = new Map([...siblings.filter(({ id }) => id !== 'x'), ...placed].map(({ id, position }) => [id, position]));
    expect(new Set(now.values()).size).toBe(now.size);
    return [...now].sort(([, a], [, b]) => a - b).map(([id]) => id);
  }
});
