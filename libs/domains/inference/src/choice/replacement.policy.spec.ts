import { assertReplacement } from './replacement.policy';

describe('assertReplacement', () => {
  const find = (links: Record<string, string | null>) => (id: string) =>
    id in links ? { id, replacement_model_id: links[id] } : undefined;

  it.each<[string, string | null, Record<string, string | null>]>([
    ['nothing', null, {}],
    ['a model at the end', 'b', { b: null }],
    ['a chain of five', 'b', { b: 'c', c: 'd', d: 'e', e: 'f', f: null }],
  ])('lets %s through', (_, replacement, links) => {
    expect(() => assertReplacement('a', replacement, find(links))).not.toThrow();
  });

  it.each<[string, string, Record<string, string | null>]>([
    ['itself', 'a', { a: null }],
    ['a model that leads back', 'b', { b: 'c', c: 'a' }],
    ['a chain of six', 'b', { b: 'c', c: 'd', d: 'e', e: 'f', f: 'g', g: null }],
    ['a circle that it is not part of', 'b', { b: 'c', c: 'b' }],
  ])('refuses %s', (_, replacement, links) => {
    expect(() => assertReplacement('a', replacement, find(links))).toThrow(
      expect.objectContaining({ code: 'replacement_cycle', status: 422 }) as Error,
    );
  });
});
