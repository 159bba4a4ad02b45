/**
 * Common table expressions that take the oldest parked turn of an organization, mark it dispatched and write its job; `p` has its
 * `id, org_id, chat_id`.
 *
 * @param org a query that yields `org_id` (or nothing, and then nothing happens)
 */
export const DISPATCH_PARKED = (org: string): string => `
p AS (
  UPDATE turns SET parked = false
  WHERE id = (SELECT x.id FROM turns x WHERE x.parked AND x.org_id = (${org}) ORDER BY x.dispatched_at LIMIT 1 FOR UPDATE SKIP LOCKED)
  RETURNING id, org_id, chat_id
), po AS (
  INSERT INTO outbox (id, job, version, payload, available_at)
  SELECT p.id, 'turn.run', 1, jsonb_build_object('org_id', p.org_id, 'chat_id', p.chat_id, 'turn_id', p.id), now() + interval '5 seconds' FROM p
  ON CONFLICT (id) DO NOTHING
)`;
