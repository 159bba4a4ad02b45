import type { Problem } from '@aps/contracts';
import { WeightedLru } from '@aps/platform/cache';
import { Cron } from 'croner';

/** When a schedule fires. */
export interface Timing {
  /** Five fields. */
  cron: string;
  /** IANA. */
  timezone: string;
}

const HOUR_MS = 3_600_000;
const VALUE = String.raw`(\d{1,2}|[a-zA-Z]{3})`;
const ENTRY = String.raw`(\*|${VALUE}(-${VALUE})?)(\/\d{1,2})?`;
/** Five fields of lists, ranges, steps and names. What croner takes besides (`L`, `W`, `#`, `@daily`, dates) is said in as many ways as there are crons. */
const FIVE_FIELDS = new RegExp(String.raw`^${ENTRY}(,${ENTRY})*( ${ENTRY}(,${ENTRY})*){4}$`);
/** Hours of a cron that goes on through all of a day. */
const EVERY_HOUR = ['*', '*/1', '0-23'];

const FORM = 'Input should be five fields: minute, hour, day of the month, month, day of the week';

/** What is wrong with a timing, field by field. @param after when it is asked */
export function timingProblems({ cron, timezone }: Timing, after: Date): Problem[] {
  const wrong = (field: string, msg: string): Problem => ({ loc: ['body', field], msg, type: 'value_error' });
  const problems = isZone(timezone) ? [] : [wrong('timezone', 'Input should be the name of a time zone, such as Europe/Berlin')];
  if (!isCron(cron)) return [wrong('cron', FORM), ...problems];
  const comes = nextFiring({ cron, timezone: problems.length ? 'UTC' : timezone }, after) !== null;
  return comes ? problems : [wrong('cron', 'There is no such day'), ...problems];
}

/**
 * The first time after `after` at which a schedule fires, null where there is none.
 *
 * A cron that names hours fires once for each local time that it names: at the change of the clock where that skips it, and the first time
 * where that repeats it. One of every hour goes by the clock as it is: it skips what is skipped, and fires in both of two equal hours.
 */
export function nextFiring({ cron, timezone }: Timing, after: Date): Date | null {
  if (EVERY_HOUR.includes(cron.split(' ')[1])) return pattern(cron, timezone).nextRun(after);
  // Local times are looked for as if they were UTC, which skips and repeats none.
  const local = pattern(cron, 'UTC');
  let time = new Date(after.getTime() + offsetAt(timezone, after.getTime()));
  for (;;) {
    const next = local.nextRun(time);
    if (!next) return null;
    const fires = instantOf(timezone, next.getTime());
    // The later of two equal hours has been fired in.
    if (fires > after.getTime()) return new Date(fires);
    time = next;
  }
}

const pattern = (cron: string, timezone: string) => new Cron(cron, { mode: '5-part', timezone, paused: true });

function isCron(cron: string): boolean {
  if (!FIVE_FIELDS.test(cron)) return false;
  try {
    pattern(cron, 'UTC');
    return true;
  } catch {
    return false;
  }
}

function isZone(timezone: string): boolean {
  // Offsets, which newer versions of Node take, are no names.
  if (!/^[A-Za-z]/.test(timezone)) return false;
  try {
    return Boolean(new Intl.DateTimeFormat('en', { timeZone: timezone }));
  } catch {
    return false;
  }
}

/** The first instant at which a zone's clocks show a time, or at which they skip it. */
function instantOf(timezone: string, local: number): number {
  const [before, behind] = [-24, 24].map((hours) => offsetAt(timezone, local + hours * HOUR_MS));
  const shown = [local - before, local - behind].filter((at) => at + offsetAt(timezone, at) === local);
  return shown.length ? Math.min(...shown) : changeBetween(timezone, local - behind, local - before);
}

/** When a zone's offset changes, to the minute. */
function changeBetween(timezone: string, from: number, to: number): number {
  const before = offsetAt(timezone, from);
  while (to - from > 60_000) {
    const middle = from + Math.floor((to - from) / 120_000) * 60_000;
    if (offsetAt(timezone, middle) === before) from = middle;
    else to = middle;
  }
  return to;
}

/**
 * By names of zones as they are given, of which each has as many spellings as letters: no more are kept than there are zones. They have some
 * 40 KB each, outside of what the garbage collector counts.
 */
const formats = new WeightedLru<Intl.DateTimeFormat>(500);

/** By how much a zone's clocks are ahead of UTC at an instant. */
function offsetAt(timezone: string, at: number): number {
  let format = formats.get(timezone);
  if (!format) formats.set(timezone, (format = new Intl.DateTimeFormat('en', { timeZone: timezone, timeZoneName: 'longOffset' })), 1);
  // `GMT+10:30`, or `GMT` alone.
  const [, sign, hours, minutes] = /GMT(?:([+-])(\d+):(\d+))?/.exec(format.format(at)) ?? [];
  return sign ? (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000 : 0;
}
