import { isUuid } from './ids';
import { isSlug, numberedSlug, slugFrom, slugsFor } from './slugs';

const UUID = '0198c0de-0000-7000-8000-000000000000';

describe('slugFrom', () => {
  it.each([
    ['Acme', 'acme'],
    ['  Acme & Söhne GmbH ', 'acme-sohne-gmbh'],
    ['  Zürich -- Büro!  ', 'zurich-buro'],
    ['ÅNGSTRÖM', 'angstrom'],
    ['a--b__c', 'a-b-c'],
    ['ﬁle №1', 'file-no1'],
    ['42', '42'],
    ['株式会社', 'agent'],
    ['!!!', 'agent'],
    ['', 'agent'],
    [UUID, `agent-${UUID}`],
    [`${'a'.repeat(63)} b`, 'a'.repeat(63)],
  ])('makes %j to %j', (name, slug) => expect(slugFrom(name, 'agent')).toBe(slug));

  it.each(['x'.repeat(500), 'ab '.repeat(200), `${'a'.repeat(63)} b`, '-', '- -', 'ß', '\u0130stanbul', '\u{1F600}', UUID])(
    'makes a slug of %j that is no id',
    (name) => {
      const slug = slugFrom(name, 'agent');
      expect([isSlug(slug), isUuid(slug)]).toEqual([true, false]);
    },
  );
});

describe('numberedSlug', () => {
  it('leaves the first alone', () => expect(numberedSlug('acme', 1)).toBe('acme'));
  it('counts from two', () => expect(numberedSlug('acme', 2)).toBe('acme-2'));

  it.each([2, 12, 1000])('stays a slug with %d when the base is as long as may be', (n) => {
    const slug = numberedSlug(`${'a'.repeat(61)}-bc`, n);
    expect(isSlug(slug)).toBe(true);
    expect(slug.endsWith(`-${n}`)).toBe(true);
  });
});

describe('slugsFor', () => {
  it('counts up to a hundred, and then takes something random', () => {
    const slugs = slugsFor('A', undefined, 'agent');
    expect([...slugs.slice(0, 3), slugs[99]]).toEqual(['a', 'a-2', 'a-3', 'a-100']);
    expect(slugs.slice(100)).toEqual([expect.stringMatching(/^a-[0-9a-f]{12}$/)]);
  });

  it.each(['a'.repeat(64), `${'a'.repeat(49)} b`])('stays within the length, and a slug, for %j', (name) => {
    const slugs = slugsFor(name, null, 'agent');
    expect(slugs.filter((slug) => !isSlug(slug))).toEqual([]);
    expect(new Set(slugs).size).toBe(101);
  });

  it('takes what is wished, and nothing else', () => expect(slugsFor('A', 'b', 'agent')).toEqual(['b']));
});
