import { addMonths, monthOf, nextPeriodEnd } from './periods.policy';

const at = (day: string) => new Date(`${day}T13:45:00.000Z`);

describe('months', () => {
  it.each([
    ['2026-01-15', 1, '2026-02-15'],
    ['2026-01-31', 1, '2026-02-28'],
    ['2028-01-31', 1, '2028-02-29'],
    ['2028-02-29', 12, '2029-02-28'],
    ['2026-12-31', 1, '2027-01-31'],
    ['2026-03-28', 1, '2026-04-28'],
  ])('%s and %i later is %s', (from, months, to) => {
    expect(addMonths(at(from), months)).toEqual(at(to));
  });

  it('that begin on the 31st end on the last days of short ones, and come back to it', () => {
    const anchor = at('2027-12-31');
    const ends = [anchor];
    for (let i = 0; i < 5; i++) ends.push(nextPeriodEnd(anchor, ends[i]));
    expect(ends.slice(1)).toEqual(['2028-01-31', '2028-02-29', '2028-03-31', '2028-04-30', '2028-05-31'].map(at));
  });

  it.each([
    ['2026-01-31', '2026-06-15', '2026-05-31', '2026-06-30'],
    ['2026-01-31', '2026-02-28', '2026-02-28', '2026-03-31'],
    ['2026-01-31', '2026-01-31', '2026-01-31', '2026-02-28'],
    ['2026-01-31', '2026-01-30', '2026-01-31', '2026-02-28'],
    ['2026-05-10', '2025-02-01', '2026-05-10', '2026-06-10'],
  ])('counted from %s, of %s is the one from %s to %s', (anchor, date, period_start, period_end) => {
    expect(monthOf(at(anchor), at(date))).toEqual({
      period_start: at(period_start),
      period_end: at(period_end),
      period_anchor: at(anchor),
    });
  });

  it('end after the date, whatever lies between', () => {
    expect(nextPeriodEnd(at('2026-01-31'), at('2026-02-27'))).toEqual(at('2026-02-28'));
    expect(nextPeriodEnd(at('2026-05-10'), at('2026-01-01'))).toEqual(at('2026-05-10'));
  });
});
