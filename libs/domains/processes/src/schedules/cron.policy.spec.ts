import { nextFiring, timingProblems } from './cron.policy';

const [BERLIN, NEW_YORK, LORD_HOWE] = ['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe'];

/** Every firing of a time of two days or so, as month, day, hour and minute in UTC. */
function firings(cron: string, timezone: string, from: string, until: string): string[] {
  const told: string[] = [];
  for (let at = nextFiring({ cron, timezone }, new Date(from)); at && at <= new Date(until); at = nextFiring({ cron, timezone }, at))
    told.push(at.toISOString().slice(5, 16));
  return told;
}

/** Each quarter of an hour after `from`, so many. */
const quarters = (from: string, n: number): string[] =>
  Array.from({ length: n }, (_, i) => new Date(Date.parse(from) + (i + 1) * 900_000).toISOString().slice(5, 16));

describe('a local time that a change of the clock skips', () => {
  it.each([
    // Berlin: 2:00 is 3:00, at 1:00 UTC.
    ['30 2 * * *', BERLIN, '2026-03-28T00:00Z', '2026-03-31T00:00Z', ['03-28T01:30', '03-29T01:00', '03-30T00:30']],
    ['0 2 * * *', BERLIN, '2026-03-28T12:00Z', '2026-03-30T12:00Z', ['03-29T01:00', '03-30T00:00']],
    ['0 3 * * *', BERLIN, '2026-03-28T12:00Z', '2026-03-30T12:00Z', ['03-29T01:00', '03-30T01:00']],
    // Several that are skipped, or meet one that is not, are one.
    ['0,30 2 * * *', BERLIN, '2026-03-28T12:00Z', '2026-03-30T12:00Z', ['03-29T01:00', '03-30T00:00', '03-30T00:30']],
    ['30 2,3 * * *', BERLIN, '2026-03-28T12:00Z', '2026-03-29T12:00Z', ['03-29T01:00', '03-29T01:30']],
    [
      '*/20 1-3 29 3 *',
      BERLIN,
      '2026-03-28T12:00Z',
      '2026-03-30T12:00Z',
      ['03-29T00:00', '03-29T00:20', '03-29T00:40', '03-29T01:00', '03-29T01:20', '03-29T01:40'],
    ],
    ['30 2 29 3 *', BERLIN, '2025-12-01T00:00Z', '2026-12-01T00:00Z', ['03-29T01:00']],
    // New York: 2:00 is 3:00, at 7:00 UTC.
    ['30 2 * * *', NEW_YORK, '2026-03-07T12:00Z', '2026-03-09T12:00Z', ['03-08T07:00', '03-09T06:30']],
    // Lord Howe: 2:00 is 2:30, at 15:30 UTC the day before.
    ['15 2 * * *', LORD_HOWE, '2026-10-02T20:00Z', '2026-10-05T00:00Z', ['10-03T15:30', '10-04T15:15']],
    ['30 2 * * *', LORD_HOWE, '2026-10-02T20:00Z', '2026-10-05T00:00Z', ['10-03T15:30', '10-04T15:30']],
  ])('fires at the change: %s in %s', (cron, zone, from, until, told) => {
    expect(firings(cron, zone, from, until)).toEqual(told);
  });
});

describe('a local time that a change of the clock repeats', () => {
  it.each([
    // Berlin: 3:00 is 2:00, at 1:00 UTC.
    ['30 2 * * *', BERLIN, '2026-10-24T12:00Z', '2026-10-26T12:00Z', ['10-25T00:30', '10-26T01:30']],
    ['*/20 2 * * *', BERLIN, '2026-10-24T12:00Z', '2026-10-25T12:00Z', ['10-25T00:00', '10-25T00:20', '10-25T00:40']],
    ['0 2,3 * * *', BERLIN, '2026-10-24T12:00Z', '2026-10-25T12:00Z', ['10-25T00:00', '10-25T02:00']],
    ['0 */2 25 10 *', BERLIN, '2026-10-24T22:30Z', '2026-10-25T06:00Z', ['10-25T00:00', '10-25T03:00', '10-25T05:00']],
    ['30 2 25 10 *', BERLIN, '2025-12-01T00:00Z', '2026-12-01T00:00Z', ['10-25T00:30']],
    // Made, or changed, within the second of the two hours: it has been.
    ['45 2 * * *', BERLIN, '2026-10-25T01:20Z', '2026-10-26T12:00Z', ['10-26T01:45']],
    ['30 1 * * *', NEW_YORK, '2026-10-31T12:00Z', '2026-11-02T12:00Z', ['11-01T05:30', '11-02T06:30']],
    // Lord Howe: 2:00 is 1:30, at 15:00 UTC the day before.
    ['45 1 * * *', LORD_HOWE, '2026-04-03T20:00Z', '2026-04-05T20:00Z', ['04-04T14:45', '04-05T15:15']],
    ['15 1 * * *', LORD_HOWE, '2026-04-03T20:00Z', '2026-04-05T20:00Z', ['04-04T14:15', '04-05T14:45']],
  ])('fires once: %s in %s', (cron, zone, from, until, told) => {
    expect(firings(cron, zone, from, until)).toEqual(told);
  });
});

describe('a cron of every hour', () => {
  it.each([
    [BERLIN, '2026-03-28T22:00Z'],
    [BERLIN, '2026-10-24T22:00Z'],
    [NEW_YORK, '2026-03-08T04:00Z'],
    [NEW_YORK, '2026-11-01T03:00Z'],
    [LORD_HOWE, '2026-10-03T13:00Z'],
    [LORD_HOWE, '2026-04-04T12:00Z'],
  ])('goes on through the change: each quarter in %s from %s', (zone, from) => {
    const until = new Date(Date.parse(from) + 6 * 3_600_000).toISOString();
    for (const cron of ['*/15 * * * *', '0,15,30,45 */1 * * *', '*/15 0-23 * * *'])
      expect(firings(cron, zone, from, until)).toEqual(quarters(from, 24));
  });

  it.each([
    ['30 * * * *', BERLIN, '2026-03-28T23:00Z', '2026-03-29T03:00Z', ['03-28T23:30', '03-29T00:30', '03-29T01:30', '03-29T02:30']],
    ['30 * * * *', BERLIN, '2026-10-24T23:00Z', '2026-10-25T03:00Z', ['10-24T23:30', '10-25T00:30', '10-25T01:30', '10-25T02:30']],
    ['0 * * * *', NEW_YORK, '2026-11-01T03:30Z', '2026-11-01T07:30Z', ['11-01T04:00', '11-01T05:00', '11-01T06:00', '11-01T07:00']],
    // Half an hour: what its clocks show is what counts.
    ['0 * * * *', LORD_HOWE, '2026-04-04T12:30Z', '2026-04-04T17:00Z', ['04-04T13:00', '04-04T14:00', '04-04T15:30', '04-04T16:30']],
    ['0 * * * *', LORD_HOWE, '2026-10-03T13:00Z', '2026-10-03T17:30Z', ['10-03T13:30', '10-03T14:30', '10-03T16:00', '10-03T17:00']],
  ])('goes by the clock as it is: %s in %s', (cron, zone, from, until, told) => {
    expect(firings(cron, zone, from, until)).toEqual(told);
  });
});

describe('when it fires', () => {
  it.each([
    ['0 6 * * MON-FRI', 'UTC', '2026-01-02T06:00Z', '2026-01-06T00:00Z', ['01-05T06:00']],
    ['0 0 29 2 *', 'UTC', '2026-01-01T00:00Z', '2030-01-01T00:00Z', ['02-29T00:00']],
    // Either day will do.
    ['0 0 13 * FRI', 'UTC', '2026-03-01T00:00Z', '2026-03-14T00:00Z', ['03-06T00:00', '03-13T00:00']],
    ['0 0 * * 7', 'Asia/Kolkata', '2026-01-01T00:00Z', '2026-01-12T00:00Z', ['01-03T18:30', '01-10T18:30']],
    ['59 23 31 12 *', 'Pacific/Kiritimati', '2026-01-01T00:00Z', '2027-01-01T00:00Z', ['12-31T09:59']],
  ])('is told: %s in %s', (cron, zone, from, until, told) => {
    expect(firings(cron, zone, from, until)).toEqual(told);
  });

  it('is after the time that is asked for, by less than a minute too', () => {
    const timing = { cron: '0 6 * * *', timezone: 'UTC' };
    expect(nextFiring(timing, new Date('2026-01-01T05:59:59.999Z'))?.toISOString()).toBe('2026-01-01T06:00:00.000Z');
    expect(nextFiring(timing, new Date('2026-01-01T06:00:00.000Z'))?.toISOString()).toBe('2026-01-02T06:00:00.000Z');
    expect(nextFiring({ ...timing, cron: '* * * * *' }, new Date('2026-01-01T06:00:00.001Z'))?.toISOString()).toBe(
      '2026-01-01T06:01:00.000Z',
    );
  });
});

describe('what is no schedule', () => {
  const now = new Date('2026-01-01T00:00Z');
  const wrong = (cron: string, timezone = 'UTC') => timingProblems({ cron, timezone }, now).map(({ loc }) => loc.at(-1));

  it.each([
    ...[
      '',
      ' ',
      '* * * *',
      '* * * * * *',
      '0 * * * * * *',
      '@daily',
      '@hourly',
      '2026-01-01T00:00:00',
      'a b c d e',
      '0 0 L * *',
      '0 0 15W * *',
    ],
    ...[
      '0 0 ? * *',
      '0 0 * * MON#1',
      '0 0 * * +MON',
      '60 * * * *',
      '0 24 * * *',
      '0 0 0 * *',
      '0 0 32 * *',
      '0 0 * 13 *',
      '0 0 * * 8',
      '-1 * * * *',
    ],
    ...[
      '5-1 * * * *',
      '*/0 * * * *',
      '*/99 * * * *',
      '5/15 * * * *',
      '1,,2 * * * *',
      '0 0 * * * ',
      '0  0 * * *',
      '0 0 * * XYZ',
      '0\t0 * * *',
      '0 0 * * *\n',
    ],
    // They never come.
    ...['0 0 30 2 *', '0 0 31 4,6,9,11 *'],
  ])('is refused: %j', (cron) => {
    expect(wrong(cron)).toEqual(['cron']);
  });

  it.each(['', 'Mars/Phobos', '+02:00', 'local', 'Europe/Berlin ', 'Z'])('is refused in the zone %j', (zone) => {
    expect(wrong('0 6 * * *', zone)).toEqual(['timezone']);
    expect(wrong('@daily', zone)).toEqual(['cron', 'timezone']);
  });

  it.each(['UTC', 'Europe/Berlin', 'America/Argentina/Buenos_Aires', 'Etc/GMT+5'])('is none of the zone %s', (zone) => {
    expect(wrong('*/5 1-3,7 1,15 JAN-mar sun', zone)).toEqual([]);
  });
});

it('keeps what it knows of a zone, and not of each spelling of its name that was ever asked for', () => {
  const letters = [...'america/argentina/comodrivadavia'];
  const spelling = (n: number) => letters.map((letter, i) => ((n >> i) & 1 ? letter.toUpperCase() : letter)).join('');
  const made = jest.spyOn(Intl, 'DateTimeFormat');
  const fires = (timezone: string) => {
    made.mockClear();
    expect(nextFiring({ cron: '0 6 * * *', timezone }, new Date('2026-01-01T00:00Z'))?.toISOString()).toBe('2026-01-01T09:00:00.000Z');
    return made.mock.calls.filter(([, options]) => options?.timeZone === timezone).length;
  };
  expect([fires(spelling(0)), fires(spelling(0))]).toEqual([1, 0]);
  for (let n = 1; n < 1_000; n++) fires(spelling(n));
  expect([fires(spelling(999)), fires(spelling(0))]).toEqual([0, 1]);
  made.mockRestore();
});
