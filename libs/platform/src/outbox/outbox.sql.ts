import { statement } from '@aps/platform/database';

export const TAKE = statement<{ id: string; job: string; payload: unknown; request_id: string | null; traceparent: string | null }>(`
  UPDATE outbox SET available_at = now() + make_interval(secs => $2), publishes = publishes + 1
  WHERE id IN (SELECT id FROM outbox WHERE available_at <= now() ORDER BY available_at LIMIT $1 FOR UPDATE SKIP LOCKED)
  RETURNING id, job, payload, request_id, traceparent`);
export const OLDEST_DUE = statement<{ seconds: number }>(
  'SELECT coalesce(extract(epoch FROM now() - min(available_at)), 0)::float8 AS seconds FROM outbox WHERE available_at < now()',
);
export const DUE_AGAIN = statement('UPDATE outbox SET available_at = now() WHERE id = ANY($1)');
export const DUE_ALL = statement(
  `UPDATE outbox SET available_at = now() WHERE publishes > 0 OR available_at <= now() + interval '5 seconds'`,
);
export const INSERT = statement(`
  INSERT INTO outbox (id, job, version, payload, request_id, traceparent, available_at)
  VALUES ($1, $2, $3, $4, $5, $6, coalesce($7::timestamptz, now() + make_interval(secs => $8)))
  ON CONFLICT (id) DO NOTHING`);
export const CANCEL = statement('DELETE FROM outbox WHERE id = $1');
