import { storedForm } from './stored-form';

const textOf = (value: unknown) => JSON.stringify(storedForm(value));

it.each<[string, unknown, string]>([
  ['keys, the shorter ones first', { abc: 1, b: 2, a: 3 }, '{"a":3,"b":2,"abc":1}'],
  [
    'keys, by their bytes in UTF-8',
    { '\u{1f600}': 1, '\uffffa': 2, é: 3, abc: 4, z: 5 },
    '{"z":5,"é":3,"abc":4,"\uffffa":2,"\u{1f600}":1}',
  ],
  ['keys within lists and objects', [{ b: [{ d: 1, c: 2 }] }], '[{"b":[{"c":2,"d":1}]}]'],
  ['texts that are not storable', { 'k\0': ['a\0', '\ud800'] }, '{"k":["a","\ufffd"]}'],
  ['keys that are the same then', { 'a\0': 1, a: 2 }, '{"a":2}'],
])('orders %s', (_, value, text) => expect(textOf(value)).toBe(text));

it('has one zero', () => expect(storedForm([-0])).toEqual([0]));

it('keeps a key that objects have of their own', () => {
  expect(textOf(JSON.parse('{"bb":1,"__proto__":{"b":1,"a":2},"a":3}'))).toBe('{"a":3,"bb":1,"__proto__":{"a":2,"b":1}}');
});

it('copies nothing that is stored so', () => {
  const value = { a: [{ x: null, y: 'é', zz: true }], bb: 1.5 };
  expect(storedForm(value)).toBe(value);
});

it('looks once at what nests deeply', () => {
  let value: object = {};
  for (let i = 0; i < 100; i++) value = { b: value, a: i };
  expect(textOf(value).length).toBeGreaterThan(1_000);
});
