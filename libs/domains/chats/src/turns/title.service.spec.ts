import { cleanTitle } from './title.service';

describe('a title', () => {
  it.each([
    ['within a pair', 'x'.repeat(39) + '😀'.repeat(40), `${'x'.repeat(39)}…`],
    ['between two', 'x'.repeat(40) + '😀'.repeat(40), `${'x'.repeat(40)}…`],
    ['within a pair that ends its words', `${'x'.repeat(60)} ${'y'.repeat(18)}😀 and more`, `${'x'.repeat(60)}…`],
  ])('that is cut %s is whole characters', (_, text, title) => expect(cleanTitle(text)).toBe(title));

  it.each([
    ['quotes around it', '"A plan"\n', 'A plan'],
    ['lines after it', '\n# A plan\nthat has two lines', 'A plan'],
    ['no word to name it by', ' \n"" ', ''],
    ['a million quotes within', `A${'"'.repeat(1_000_000)}a`, 'A'],
    ['a million blank lines before it', `${'\n'.repeat(1_000_000)}A plan`, 'A plan'],
    ['what PostgreSQL does not take', 'a\0b\ud83d', 'ab\ufffd'],
  ])('is of one line without %s', (_, text, title) => expect(cleanTitle(text)).toBe(title));
});
