import { statement } from '@aps/platform/database';

// One statement decides who handles the request. A row that has expired is anybody's; one whose try has died goes to a repeat of
// the same request, with what that try had made.
export const BEGIN = statement<{ id: string; resource_id: string | null }>(`
  INSERT INTO idempotency_keys AS k (id, owner_id, key, request_hash, attempt_id, locked_until, expires_at)
  VALUES ($1, $2, $3, $4, $1, now() + make_interval(secs => $5), now() + make_interval(hours => $6))
  ON CONFLICT (owner_id, key) DO UPDATE SET
    id = CASE WHEN k.expires_at <= now() THEN excluded.id ELSE k.id END,
    resource_id = CASE WHEN k.expires_at <= now() THEN NULL ELSE k.resource_id END,
    created_at = CASE WHEN k.expires_at <= now() THEN now() ELSE k.created_at END,
    request_hash = excluded.request_hash, attempt_id = excluded.attempt_id, locked_until = excluded.locked_until,
    expires_at = excluded.expires_at, status_code = NULL, body = NULL, answered_at = NULL
  WHERE k.expires_at <= now() OR (k.status_code IS NULL AND k.locked_until <= now() AND k.request_hash = excluded.request_hash)
  RETURNING id, resource_id`);
export const FIND = statement<Row>(`
  SELECT id, attempt_id, request_hash, resource_id, status_code, body, greatest(1, ceil(extract(epoch FROM locked_until - now())))::int AS wait_s
  FROM idempotency_keys WHERE owner_id = $1 AND key = $2`);
export const ATTACH = statement(`
  UPDATE idempotency_keys SET resource_id = $3, locked_until = now() + make_interval(secs => $4)
  WHERE id = $1 AND attempt_id = $2 AND status_code IS NULL`);
export const KEEP = statement(`
  UPDATE idempotency_keys k SET locked_until = now() + make_interval(secs => $3)
  FROM unnest($1::uuid[], $2::uuid[]) AS a(id, attempt_id)
  WHERE k.id = a.id AND k.attempt_id = a.attempt_id AND k.status_code IS NULL`);
export const COMPLETE = statement(`
  UPDATE idempotency_keys SET status_code = $3, body = $4, answered_at = now()
  WHERE id = $1 AND attempt_id = $2 AND status_code IS NULL`);
// What made something keeps its row, so that a repeat finds it; what made nothing leaves no trace.
export const ABANDON = statement(`
  WITH kept AS (
    UPDATE idempotency_keys SET locked_until = now() WHERE id = $1 AND attempt_id = $2 AND status_code IS NULL AND resource_id IS NOT NULL)
  DELETE FROM idempotency_keys WHERE id = $1 AND attempt_id = $2 AND status_code IS NULL AND resource_id IS NULL`);
export const PURGE = statement(`
  WITH x AS MATERIALIZED (SELECT id FROM idempotency_keys WHERE expires_at <= now() ORDER BY expires_at LIMIT $1 FOR UPDATE SKIP LOCKED)
  DELETE FROM idempotency_keys k USING x WHERE k.id = x.id`);
interface Row {
  id: string;
  attempt_id: string;
  request_hash: Buffer;
  resource_id: string | null;
  status_code: number | null;
  body: string | null;
  wait_s: number;
}
