import { statement } from '@aps/platform/database';

export const DONE = statement('DELETE FROM outbox WHERE id = $1');
/** Values: after how many seconds, why, and what of the count of tries is taken back. */
export const LATER = statement(
  'UPDATE outbox SET available_at = now() + make_interval(secs => $2), last_error = $3, failures = failures - $4::int WHERE id = $1',
);
export const BURY = statement(`
  WITH gone AS (DELETE FROM outbox WHERE id = $1 RETURNING *)
  INSERT INTO dead_letters (id, job, version, payload, request_id, error, failed_at)
  SELECT id, job, version, payload, request_id, $2, now() FROM gone
  ON CONFLICT (id) DO UPDATE SET payload = excluded.payload, request_id = excluded.request_id, error = excluded.error, failed_at = excluded.failed_at`);
/** Counts a try as one that has failed, until it has not. */
export const COUNT_TRY = statement<{ failures: number }>('UPDATE outbox SET failures = failures + 1 WHERE id = $1 RETURNING failures');
