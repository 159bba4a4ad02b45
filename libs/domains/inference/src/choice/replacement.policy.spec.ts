import { assertReplacement } from './replacement.policy';

describe('assertReplacement', () => {
  const all = (links: Record<string, string | null>) =>
    Object.entries(links).map(([id, replacement_model_id]) => ({ id, replacement_model_id }));

  it.each<[string, string | null, Record<string, string | null>]>([
    ['nothing', null, {}],
    ['a model at the end', 'b', { b: null }],
    ['a chain of five', 'b', { b: 'c', c: 'd', d: 'e', e: 'f', f: null }],
    ['one of five that it is the middle of', 'b', { y: 'x', z: 'x', x: 'a', b: 'c', c: 'd', d: null }],
    ['no successor at the end of one that is long', null, { v: 'w', w: 'x', x: 'y', y: 'z', z: 'a' }],
  ])('lets %s through', (_, replacement, links) => {
    expect(() => assertReplacement('a', replacement, all(links))).not.toThrow();
  });

  it.each<[string, string, Record<string, string | null>]>([
    ['itself', 'a', { a: null }],
    ['a model that leads back', 'b', { b: 'c', c: 'a' }],
    ['a chain of six', 'b', { b: 'c', c: 'd', d: 'e', e: 'f', f: 'g', g: null }],
    ['one of six that it is the middle of', 'b', { y: 'x', z: 'a', x: 'a', b: 'c', c: 'd', d: 'e', e: null }],
    ['a successor at the end of one of five', 'b', { v: 'w', w: 'x', x: 'y', y: 'z', z: 'a', b: null }],
    ['a circle that it is not part of', 'b', { b: 'c', c: 'b' }],
  ])('refuses %s', (_, replacement, links) => {
    expect(() => assertReplacement('a', replacement, all(links))).toThrow(
      expect.objectContaining({ code: 'replacement_cycle', status: 422 }) as Error,
    );
  });
});
