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

/** Every organization that has decisions which are not kept for ever: from one to the next by the index, however many rows each has. */
export const ORGANIZATIONS = statement<{ org_id: string }>(`
  WITH RECURSIVE o AS (
    (SELECT org_id FROM decisions WHERE keep_days >= 0 ORDER BY org_id LIMIT 1)
    UNION ALL
    SELECT (SELECT d.org_id FROM decisions d WHERE d.keep_days >= 0 AND d.org_id > o.org_id ORDER BY d.org_id LIMIT 1) FROM o WHERE o.org_id IS NOT NULL
  ) SELECT org_id FROM o WHERE org_id IS NOT NULL`);
/** Notes that decisions are kept longer than was noted of them. Values: organizations, the days of each (-1 = for ever), how many at most. */
export const KEEP_LONGER = statement(`
  WITH x AS MATERIALIZED (
    SELECT o.id, r.days FROM unnest($1::uuid[], $2::int[]) AS r(org_id, days), LATERAL (
      SELECT d.id FROM decisions d
      WHERE d.org_id = r.org_id AND d.keep_days >= 0 AND d.keep_days < CASE WHEN r.days < 0 THEN 2147483647 ELSE r.days END
      ORDER BY d.keep_days LIMIT $3 FOR NO KEY UPDATE SKIP LOCKED
    ) o LIMIT $3)
  UPDATE decisions d SET keep_days = x.days FROM x WHERE d.id = x.id`);
/**
 * Removes what is older than its organization keeps, and than it has ever kept it as far as was noted; open disputes later. Values: organizations,
 * the days of each, how many at most, days of a dispute.
 */
export const PURGE = statement(`
  WITH x AS MATERIALIZED (
    SELECT o.id FROM unnest($1::uuid[], $2::int[]) AS r(org_id, days), LATERAL (
      SELECT d.id FROM decisions d
      WHERE d.org_id = r.org_id AND d.keep_days >= 0 AND d.created_at < now() - make_interval(days => r.days)
        AND d.created_at < now() - make_interval(days => greatest(r.days, least(d.keep_days, ${MAX_DAYS}))
          + CASE WHEN d.review_status = 'disputed' AND d.archived_at IS NULL THEN $4::int ELSE 0 END)
      ORDER BY d.created_at LIMIT $3 FOR UPDATE SKIP LOCKED
    ) o LIMIT $3)
  DELETE FROM decisions d USING x WHERE d.id = x.id`);
