/** What is to be known of a run, beside its row, to say where it stands. */
export interface RunSurroundings {
  /** Its worker is silent, or gone and nobody has taken over; of a run that is at work. */
  lease_expired: boolean;
  /** Runs that were dispatched before it and have not begun; 0 once it has begun itself. */
  ahead: number;
  oldest_ahead_s: number | null;
}

/**
 * SQL to join to a run, of the columns of {@link RunSurroundings}.
 *
 * @param run the run's name in the statement
 * @param with.of the column that runs which wait for one another have in common
 * @param with.waits SQL of which runs `w` wait. Default: all that are queued
 */
export const surroundings = (
  table: string,
  run: string,
  { of, waits = `w.status = 'queued'` }: { of: string; waits?: string },
): string => `LATERAL (
    SELECT coalesce(${run}.lease_expires_at, '-infinity') <= now() AS lease_expired,
           count(*)::int AS ahead, extract(epoch FROM now() - min(w.dispatched_at))::float8 AS oldest_ahead_s
    FROM ${table} w WHERE ${run}.status = 'queued' AND w.${of} = ${run}.${of} AND ${waits} AND w.dispatched_at < ${run}.dispatched_at
  )`;
