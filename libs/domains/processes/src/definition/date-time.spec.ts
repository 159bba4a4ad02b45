import { dateTimeOf } from './date-time';

it.each<[string, string | null]>([
  ['2026-01-31T12:00:00Z', '2026-01-31T12:00:00.000Z'],
  ['2026-01-31T12:00:00.5+02:00', '2026-01-31T10:00:00.500Z'],
  ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
  ['9999-12-31T23:59:59Z', '9999-12-31T23:59:59.000Z'],
  ['0000-01-01T00:00:00Z', null],
  ['0001-01-01T00:00:00+01:00', null],
  ['9999-12-31T23:59:59-01:00', null],
  ['+100000-01-01T00:00:00Z', null],
  ['2026-01-31 12:00', null],
  ['2026-01-31T12:00:00', null],
  ['2026-02-30T12:00:00Z', null],
  ['2016-12-31T23:59:60Z', null],
  ['March 7', null],
  ['', null],
])('of %j: %s', (text, time) => expect(dateTimeOf(text)?.toISOString() ?? null).toBe(time));

it('is none of anything but a text', () =>
  expect([dateTimeOf(0), dateTimeOf(null), dateTimeOf(['2026-01-31T12:00:00Z'])]).toEqual([null, null, null]));
