import type { DomainError } from '@aps/contracts';
import { applyPatch, assertApplicable, assertOwnKeys, readRoutePatches, setsAnything } from './route-settings.policy';
import { aRoute, idOf } from '../testing/views';

const problemsOf = (fn: () => unknown): { code: string; at: string[] } => {
  try {
    fn();
  } catch (error) {
    const e = error as DomainError;
    return { code: e.code, at: (e.problems ?? []).map((p) => p.loc.slice(2).join('.')) };
  }
  return { code: 'none', at: [] };
};

describe('route settings', () => {
  it('read what is there and nothing else', () => {
    const patches = readRoutePatches({
      a: { api_key: 'k', enabled: false, other: 1 },
      b: { api_key: '', base_url: '', credential_source: null },
      c: {},
    });
    expect(Object.fromEntries(patches)).toEqual({
      a: { api_key: 'k', enabled: false },
      b: { api_key: null, base_url: null, credential_source: null },
      c: {},
    });
    expect(setsAnything([patches.get('b')!, patches.get('c')!])).toBe(false);
    expect(setsAnything([patches.get('b')!, patches.get('a')!])).toBe(true);
    expect(setsAnything([{ enabled: false }])).toBe(true);
  });

  it('list every problem at once, without the values', () => {
    const read = () =>
      readRoutePatches({
        a: 1,
        b: { api_key: 5, credential_source: 'magic', base_url: 'x'.repeat(3_000), enabled: 'yes' },
        c: { api_key: 'two words' },
        d: { api_key: 'line\nbreak' },
        e: { api_key: 'k'.repeat(5_000) },
        f: null,
        g: [],
      });
    expect(problemsOf(read)).toEqual({
      code: 'validation_error',
      at: ['a', 'b.api_key', 'b.credential_source', 'b.base_url', 'b.enabled', 'c.api_key', 'd.api_key', 'e.api_key', 'f', 'g'],
    });
    expect(read).not.toThrow(/two words/);
  });

  it('refuse unknown slugs, masked keys and keys of borrowers, all at once', () => {
    const routes = new Map([
      ['openai', aRoute('openai')],
      ['lent', aRoute('lent', { credential_route_id: idOf('route:openai') })],
    ]);
    const check = (body: Record<string, unknown>) => problemsOf(() => assertApplicable(readRoutePatches(body), routes));
    expect(check({ nope: {}, openai: { api_key: 'sk-…4f2a' }, lent: { api_key: 'k', credential_source: 'gateway' } })).toEqual({
      code: 'unknown_reference',
      at: ['nope', 'openai.api_key', 'lent.api_key', 'lent.credential_source'],
    });
    expect(check({ openai: { api_key: '…' } })).toEqual({ code: 'masked_secret', at: ['openai.api_key'] });
    expect(check({ lent: { api_key: 'k' } })).toEqual({ code: 'route_borrows_key', at: ['lent.api_key'] });
    expect(check({ lent: { api_key: null, credential_source: null, enabled: false }, openai: { api_key: 'sk-real' } }).code).toBe('none');
  });

  it('keep an address only together with a key', () => {
    const route = aRoute('openai');
    const stored = { route_id: route.id, api_key: 'sealed', credential_source: null, base_url: 'https://x.example', enabled: true };
    expect(applyPatch(route, stored, { enabled: null })).toEqual({ ...stored, enabled: null });
    expect(applyPatch(route, stored, { api_key: null })).toEqual({ ...stored, api_key: null, base_url: null });
    expect(applyPatch(route, stored, { base_url: null }).api_key).toBe('sealed');
    const after = (patch: Parameters<typeof applyPatch>[2], before?: typeof stored) =>
      problemsOf(() => assertOwnKeys(new Map([['openai', applyPatch(route, before, patch)]])));
    expect(after({ base_url: 'https://y.example' })).toEqual({ code: 'base_url_needs_own_key', at: ['openai.base_url'] });
    expect(after({ base_url: 'https://y.example', api_key: 'k' }).code).toBe('none');
    expect(after({ base_url: 'https://y.example' }, stored).code).toBe('none');
    expect(after({ base_url: 'https://y.example', api_key: null }, stored).code).toBe('base_url_needs_own_key');
    expect(after({ api_key: null }, stored).code).toBe('none');
  });
});
