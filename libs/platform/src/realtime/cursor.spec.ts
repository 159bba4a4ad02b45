import { cursorKey, formatCursor, MAX_CURSOR_CHARS, parseCursor, parseNumber } from './cursor';

const topics = Array.from({ length: 50 }, (_, i) => ({
  key: cursorKey(`chat:0193488e-8a8c-7cc2-b7a5-${String(i).padStart(12, '0')}`),
  last: i * 1_000,
}));

describe('cursors over several topics', () => {
  it('come back as they were made, for as many topics as a stream has', () => {
    const text = formatCursor(topics);
    expect(parseCursor(text)).toEqual(new Map(topics.map(({ key, last }) => [key, last])));
    expect([text.length < MAX_CURSOR_CHARS, encodeURIComponent(text) === text]).toEqual([true, true]);
    // Numbers are of any length that one may have.
    expect(formatCursor(topics.map(({ key }) => ({ key, last: 999_999_999_999_999 }))).length).toBeLessThan(MAX_CURSOR_CHARS);
  });

  it('keep what they say of a topic whatever else is in them', () => {
    const [{ key }] = topics;
    expect(parseCursor(`x~${key}.7~~${key}~${key}.~other123.5~${key.slice(1)}.9`)).toEqual(
      new Map([
        [key, 7],
        ['other123', 5],
      ]),
    );
  });

  it.each([undefined, '', '41', 'nonsense', '-1', `${'a'.repeat(8)}.${'1'.repeat(16)}`, '__proto__.1\0'])(
    'are nothing when they are %j',
    (text) => {
      expect(parseCursor(text).size).toBe(0);
    },
  );
});

it.each([
  ['0', 0],
  ['41', 41],
  ['', undefined],
  ['-1', undefined],
  ['1e3', undefined],
  ['nonsense', undefined],
  ['1'.repeat(16), undefined],
  [undefined, undefined],
])('the number of one topic: %j is %j', (text, number) => {
  expect(parseNumber(text)).toBe(number);
});
