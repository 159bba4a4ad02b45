import { freeSlug, isSlug, isUsableSlug, numberedSlug, slugFrom } from './slugs';

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
    'makes a usable slug of %j',
    (name) => expect(isUsableSlug(slugFrom(name, 'agent'))).toBe(true),
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

describe('freeSlug', () => {
  it('counts up past what is taken', () => {
    expect(freeSlug('a', new Set())).toBe('a');
    expect(freeSlug('a', new Set(['a', 'a-2']))).toBe('a-3');
  });

  it('stays within the length', () => {
    const base = 'a'.repeat(64);
    expect(freeSlug(base, new Set([base]))).toBe(`${'a'.repeat(62)}-2`);
  });
});

it('takes no slug that would be read as an id', () => {
  expect(isUsableSlug(UUID)).toBe(false);
  expect(isUsableSlug('support')).toBe(true);
});
