import { SLUG } from '@aps/platform/http';
import { numbered, slugOf } from './slugs';

describe('slugOf', () => {
  it.each([
    ['Acme', 'acme'],
    ['  Acme & Söhne GmbH ', 'acme-sohne-gmbh'],
    ['ÅNGSTRÖM', 'angstrom'],
    ['a--b__c', 'a-b-c'],
    ['株式会社', 'org'],
    ['!!!', 'org'],
    ['42', '42'],
  ])('makes %j to %j', (name, slug) => expect(slugOf(name)).toBe(slug));

  it('makes a valid slug of anything', () => {
    for (const name of ['x'.repeat(500), `${'ab '.repeat(200)}`, `${'a'.repeat(63)} b`, '-', '- -', 'ß', '\u0130stanbul', '\u{1F600}']) {
      const slug = slugOf(name);
      expect(slug).toMatch(SLUG);
      expect(slug.length).toBeLessThanOrEqual(64);
    }
  });
});

describe('numbered', () => {
  it('leaves the first alone', () => expect(numbered('acme', 1)).toBe('acme'));
  it('counts from two', () => expect(numbered('acme', 2)).toBe('acme-2'));

  it('stays a valid slug when the base is as long as may be', () => {
    const base = `${'a'.repeat(61)}-bc`;
    for (const n of [2, 12, 1000]) {
      const slug = numbered(base, n);
      expect(slug).toMatch(SLUG);
      expect(slug.length).toBeLessThanOrEqual(64);
      expect(slug.endsWith(`-${n}`)).toBe(true);
    }
  });
});
