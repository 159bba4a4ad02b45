import { storable } from './storable';

it('stores what a database takes of a value, at every depth', () => {
  expect(storable({ 'a\0': ['b\0\ud800', { c: 1, d: null }] })).toEqual({ a: ['b\ufffd', { c: 1, d: null }] });
  expect(storable('\0é\udc00')).toBe('é\ufffd');
});

it('copies nothing that is so already', () => {
  const value = { a: ['b', { c: 1, d: null }] };
  expect(storable(value)).toBe(value);
});
