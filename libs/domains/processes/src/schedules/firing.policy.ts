import type { Schedule } from '@aps/entities';

/** A firing that comes later is one that was missed: crons are no finer. */
export const MISSED_AFTER_S = 60;

/** What becomes of a firing that is due: its target is begun; it waits for the last one to be over; or it is left out. */
export type Firing = 'begin' | 'wait' | 'skip' | 'miss';

/** @param lasts whether what the schedule has begun last is not over */
export function firingOf(
  { overlap, catch_up }: Pick<Schedule, 'overlap' | 'catch_up'>,
  { late_s, lasts }: { late_s: number; lasts: boolean },
): Firing {
  if (late_s > MISSED_AFTER_S && catch_up === 'none') return 'miss';
  if (overlap === 'allow' || !lasts) return 'begin';
  return overlap === 'queue' ? 'wait' : 'skip';
}
