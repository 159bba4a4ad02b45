import type { DecisionKind } from '@aps/entities';
import { statement } from '@aps/platform/database';

/**
 * What was decided last, in a turn, on a tool that goes by these names. By the database's time: workers that had the turn one after another need
 * not agree about theirs.
 */
export const NEWEST_KIND = statement<{ kind: DecisionKind }>(
  'SELECT kind FROM decisions WHERE turn_id = $1 AND tool_slug = ANY($2) ORDER BY created_at DESC, id DESC LIMIT 1',
);

/** Further back than that PostgreSQL counts no days. */
export const MAX_DAYS = 365_000;

/** For how long decisions are kept, of each organization, but for those that are kept for ever: from one to the next by the index, however many rows each has. */
export const RETENTIONS = statement<{ org_id: string; keep_days: number }>(`
  WITH RECURSIVE k AS (
    (SELECT org_id, keep_days FROM decisions WHERE keep_days >= 0 ORDER BY org_id, keep_days LIMIT 1)
    UNION ALL
    SELECT n.org_id, n.keep_days FROM k CROSS JOIN LATERAL (
      SELECT d.org_id, d.keep_days FROM decisions d WHERE d.keep_days >= 0 AND (d.org_id, d.keep_days) > (k.org_id, k.keep_days) ORDER BY d.org_id, d.keep_days LIMIT 1
    ) n
  ) SELECT org_id, keep_days FROM k`);
/** Notes that decisions are kept longer than was noted of them. Values: organizations, the days that were noted, those of now (-1 = for ever), how many at most. */
export const KEEP_LONGER = statement(`
  WITH x AS MATERIALIZED (
    SELECT o.id, r.days FROM unnest($1::uuid[], $2::int[], $3::int[]) AS r(org_id, keep_days, days), LATERAL (
      SELECT d.id FROM decisions d WHERE d.org_id = r.org_id AND d.keep_days = r.keep_days AND d.keep_days >= 0 LIMIT $4 FOR NO KEY UPDATE SKIP LOCKED
    ) o LIMIT $4)
  UPDATE decisions d SET keep_days = x.days FROM x WHERE d.id = x.id`);
/**
 * Removes what is older than its organization keeps, and than it has ever kept it as far as was noted; open disputes later. What was noted is a value, so
 * that nothing is looked at which is kept. Values: organizations, the days that were noted, those of now, how many at most, days of a dispute.
 */
export const PURGE = statement(`
  WITH x AS MATERIALIZED (
    SELECT o.id FROM unnest($1::uuid[], $2::int[], $3::int[]) AS r(org_id, keep_days, days), LATERAL (
      SELECT d.id FROM decisions d
      WHERE d.org_id = r.org_id AND d.keep_days = r.keep_days AND d.keep_days >= 0
        AND d.created_at < now() - make_interval(days => greatest(r.days, least(r.keep_days, ${MAX_DAYS})))
        AND NOT (d.review_status = 'disputed' AND d.archived_at IS NULL
          AND d.created_at >= now() - make_interval(days => greatest(r.days, least(r.keep_days, ${MAX_DAYS})) + $5::int))
      ORDER BY d.created_at LIMIT $4 FOR UPDATE SKIP LOCKED
    ) o LIMIT $4)
  DELETE FROM decisions d USING x WHERE d.id = x.id`);
