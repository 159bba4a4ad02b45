import { statement } from '@aps/platform/database';

export const EXISTS = statement('SELECT 1 FROM outbox WHERE id = $1');
export const DONE = statement('DELETE FROM outbox WHERE id = $1');
export const LATER = statement('UPDATE outbox SET available_at = now() + make_interval(secs => $2), last_error = $3 WHERE id = $1');
export const BURY = statement(`
  WITH gone AS (DELETE FROM outbox WHERE id = $1 RETURNING *)
  INSERT INTO dead_letters (id, job, version, payload, request_id, error, failed_at)
  SELECT id, job, version, payload, request_id, $2, now() FROM gone
  ON CONFLICT (id) DO UPDATE SET payload = excluded.payload, request_id = excluded.request_id, error = excluded.error, failed_at = excluded.failed_at`);
export const FAILED_AGAIN = statement<{ failures: number }>('UPDATE outbox SET failures = failures + 1 WHERE id = $1 RETURNING failures');
