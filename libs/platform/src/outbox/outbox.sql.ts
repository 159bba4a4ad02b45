import { JOBS, type JobName, type JobPayload } from '@aps/contracts';
import { statement } from '@aps/platform/database';

/**
 * How long the relay leaves a new row to the process that wrote it. The writer publishes right after its commit without touching the
 * row again, so the fast path costs no second write; only a crash in between costs this wait.
 */
const GRACE = `interval '5 seconds'`;

/**
 * SQL: `from` is what follows FROM, all else stands for a value of its rows; of the payload field by field. `generation` is of jobs whose
 * earlier delivery may still be under way ({@link nextGeneration}), `at` when the relay publishes what nobody hands out.
 */
interface JobParts<N extends JobName> {
  from: string;
  id: string;
  payload: Record<keyof JobPayload<N>, string>;
  requestId?: string;
  traceparent?: string;
  generation?: string;
  at?: string;
}

/**
 * The part of a statement that writes jobs, one for each row of `from`, for statements that write them with what causes them. Whoever
 * runs it hands them out once that is committed ({@link Outbox.handOut}), or leaves them to the relay. A job that is there already is due
 * anew.
 */
export const insertJobs = <N extends JobName>(name: N, job: JobParts<N>): string => `${rowsOf(name, job)}
  ON CONFLICT (id) DO UPDATE SET available_at = excluded.available_at`;

function rowsOf<N extends JobName>(name: N, { from, id, requestId, traceparent, generation, at, ...job }: JobParts<N>): string {
  const payload = Object.entries<string>(job.payload).map(([field, value]) => `'${field}', ${value}`);
  return `
  INSERT INTO outbox (id, job, version, payload, request_id, traceparent, available_at, generation)
  SELECT ${id}, '${name}', ${JOBS[name].version}, jsonb_build_object(${payload.join(', ')}), ${requestId ?? 'NULL'}, ${traceparent ?? 'NULL'}, ${at ?? `now() + ${GRACE}`}, ${generation ?? '0'}
  FROM ${from}`;
}

/**
 * The generation of a job whose row was removed while its delivery was under way, as one that is parked, or begins to wait, does itself. The
 * queue takes no job under the name of one that it still has, and would leave it to the relay. Milliseconds, which come again after 23 days;
 * further deliveries count on from there.
 */
export const nextGeneration = (): number => Date.now() % 2_000_000_000;
/** SQL of the same. */
const NEXT_GENERATION = `((extract(epoch FROM clock_timestamp()) * 1000)::bigint % 2000000000)::int`;

/** The part of a statement that removes the jobs of the rows of `from`: their effect is there. */
export const deleteJobs = (job: { from: string; id: string }): string => `DELETE FROM outbox USING ${job.from} WHERE outbox.id = ${job.id}`;

/** A job's row, for its publication. */
export interface JobRow {
  id: string;
  job: string;
  version: number;
  payload: unknown;
  request_id: string | null;
  traceparent: string | null;
  generation: number;
}
const RETURNED =
  'RETURNING outbox.id, outbox.job, outbox.version, outbox.payload, outbox.request_id, outbox.traceparent, outbox.generation';

/**
 * The part of a statement that has the jobs of the rows of `from` delivered anew, whatever the queue still believes of them: their worker
 * is gone, or has handed them back. One that is missing is made anew. Returns {@link JobRow}s, to be handed out once that is committed
 * ({@link Outbox.handOutRows}).
 */
export const redeliverJobs = <N extends JobName>(
  name: N,
  job: JobParts<N>,
): string => `${rowsOf(name, { ...job, generation: NEXT_GENERATION })}
  ON CONFLICT (id) DO UPDATE SET generation = outbox.generation + 1, available_at = excluded.available_at
  ${RETURNED}`;

export const TAKE = statement<JobRow & { due_at: Date }>(`
  WITH due AS MATERIALIZED (SELECT id, available_at FROM outbox WHERE available_at <= now() ORDER BY available_at LIMIT $1 FOR NO KEY UPDATE SKIP LOCKED)
  UPDATE outbox SET available_at = now() + make_interval(secs => $2), publishes = publishes + 1 FROM due WHERE outbox.id = due.id
  ${RETURNED}, due.available_at AS due_at`);
export const OLDEST_DUE = statement<{ seconds: number }>(
  'SELECT coalesce(extract(epoch FROM now() - min(available_at)), 0)::float8 AS seconds FROM outbox WHERE available_at < now()',
);
/**
 * Who has the row of a job at the moment goes on with it, or ends it. Waiting for all of them, in no order of theirs, would end in deadlocks.
 * What was due already stays so since then: that is how long it has waited.
 *
 * @param rows SQL: what follows FROM
 */
const dueSince = (at: string, rows: string) => `
  WITH due AS MATERIALIZED (SELECT outbox.id, ${at} AS at FROM ${rows} FOR NO KEY UPDATE OF outbox SKIP LOCKED)
  UPDATE outbox SET available_at = due.at FROM due WHERE outbox.id = due.id`;
/** Values: ids of what was taken and could not be published, and since when each was due. */
export const DUE_AGAIN = statement(dueSince('taken.at', 'outbox JOIN unnest($1::uuid[], $2::timestamptz[]) AS taken (id, at) USING (id)'));
/**
 * Of what was published before, and is due later only because of that, as many as a value says; the next first. A second value is the time by which all of it
 * is due: what is due later has a time of its own, or was published since.
 */
export const DUE_ALL = statement(
  dueSince(
    'now()',
    `outbox WHERE available_at > now() AND available_at <= $2 AND (publishes > 0 OR available_at <= now() + ${GRACE}) ORDER BY available_at LIMIT $1`,
  ),
);
export const INSERT = statement<{ generation: number }>(`
  INSERT INTO outbox (id, job, version, payload, request_id, traceparent, available_at, generation)
  VALUES ($1, $2, $3, $4, $5, $6, coalesce($7::timestamptz, now() + ${GRACE}), coalesce($8::int, 0))
  ON CONFLICT (id) DO UPDATE SET available_at = excluded.available_at,
    generation = CASE WHEN $8 IS NULL THEN outbox.generation ELSE greatest(outbox.generation + 1, excluded.generation) END
  RETURNING generation`);
export const POSTPONE = statement('UPDATE outbox SET available_at = $2 WHERE id = $1');
export const AGE = statement<{ seconds: number }>(
  'SELECT extract(epoch FROM now() - created_at)::float8 AS seconds FROM outbox WHERE id = $1',
);
export const CANCEL = statement('DELETE FROM outbox WHERE id = $1');
