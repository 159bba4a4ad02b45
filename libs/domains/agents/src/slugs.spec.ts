import { freeSlug, isUsableSlug, slugFrom } from './slugs';

const UUID = '0198c0de-0000-7000-8000-000000000000';

describe('slugFrom', () => {
  it.each([
    ['Support agent', 'support-agent'],
    ['  Zürich -- Büro!  ', 'zurich-buro'],
    ['ﬁle №1', 'file-no1'],
    ['日本語', 'agent'],
    ['', 'agent'],
    [UUID, `agent-${UUID}`],
  ])('makes of %p', (name, slug) => expect(slugFrom(name, 'agent')).toBe(slug));

  it('makes nothing that is too long or ends with a hyphen', () => {
    expect(slugFrom(`${'a'.repeat(63)} b`, 'agent')).toBe('a'.repeat(63));
    expect(isUsableSlug(slugFrom('x'.repeat(500), 'agent'))).toBe(true);
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
