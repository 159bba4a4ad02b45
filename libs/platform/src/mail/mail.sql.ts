import { statement } from '@aps/platform/database';

/** `is_last` where it has been tried for $3 hours. */
export const CLAIM = statement<{ recipient: string; subject: string; body: string; attempts: number; is_last: boolean }>(`
  UPDATE outbound_mails SET attempts = attempts + 1, claimed_until = now() + make_interval(secs => $2)
  WHERE id = $1 AND status = 'pending' AND (claimed_until IS NULL OR claimed_until <= now())
  RETURNING recipient, subject, body, attempts, created_at < now() - make_interval(hours => $3) AS is_last`);
/** How long somebody has it at most, where it is not over. */
export const HELD = statement<{ seconds: number }>(
  `SELECT greatest(0, extract(epoch FROM claimed_until - now()))::float8 AS seconds FROM outbound_mails WHERE id = $1 AND status = 'pending'`,
);
// Links in the body are credentials: they stay no longer than they are needed.
export const SENT = statement(
  `UPDATE outbound_mails SET status = 'sent', body = NULL, sent_at = now(), claimed_until = NULL, last_error = NULL WHERE id = $1`,
);
export const FAILED = statement(
  `UPDATE outbound_mails SET status = 'failed', body = NULL, claimed_until = NULL, last_error = $2 WHERE id = $1`,
);
/** Those that are tried no more since their job was given up. */
export const LOST = statement(
  `UPDATE outbound_mails SET status = 'failed', body = NULL, claimed_until = NULL WHERE status = 'pending' AND created_at < now() - make_interval(hours => $1)`,
);
export const AGAIN = statement('UPDATE outbound_mails SET claimed_until = NULL, last_error = $2 WHERE id = $1');
/** Mails that have not left, and for how long the oldest has not. */
export const WAITING = statement<{ n: number; oldest_s: number }>(`
  SELECT count(*)::int AS n, coalesce(extract(epoch FROM now() - min(created_at)), 0)::float8 AS oldest_s
  FROM outbound_mails WHERE status = 'pending'`);
export const PURGE = statement(`
  WITH x AS MATERIALIZED (
    SELECT id FROM outbound_mails WHERE created_at < now() - make_interval(days => $2) AND status <> 'pending'
    ORDER BY created_at LIMIT $1 FOR UPDATE SKIP LOCKED)
  DELETE FROM outbound_mails m USING x WHERE m.id = x.id`);
export const INSERT = statement('INSERT INTO outbound_mails (id, recipient, subject, body) VALUES ($1, $2, $3, $4)');
