import type { PinnedTool } from '@aps/entities';
import { statement } from '@aps/platform/database';

/** What is told of processes whose deployed revision names something, unless there is a reason already. Values: organization, what is named, the reason. */
export const MARK_NAMING = statement(`
  UPDATE processes p SET stale_reason = $3, updated_at = now() FROM process_revisions r
  WHERE r.status = 'deployed' AND r.refs @> ARRAY[$2] AND r.org_id = $1 AND p.id = r.process_id AND p.deleted_at IS NULL AND p.stale_reason IS NULL`);

/** Of processes that nobody has looked at for a day the first ones, which this caller looks at. */
export const DUE = statement<{ id: string; org_id: string; revision_id: string; looked_at: string }>(`
  WITH x AS MATERIALIZED (
    SELECT id FROM processes WHERE deleted_at IS NULL AND current_revision_id IS NOT NULL AND stale_checked_at < now() - interval '1 day'
    ORDER BY stale_checked_at LIMIT $1 FOR NO KEY UPDATE SKIP LOCKED)
  UPDATE processes p SET stale_checked_at = now() FROM x WHERE p.id = x.id RETURNING p.id, p.org_id, p.current_revision_id AS revision_id, p.stale_checked_at::text AS looked_at`);

/** Has those of an organization looked at next. */
export const MAKE_DUE = statement(
  `UPDATE processes SET stale_checked_at = to_timestamp(0) WHERE org_id = $1 AND deleted_at IS NULL AND current_revision_id IS NOT NULL`,
);

export const PINNED = statement<{ tool_snapshot: PinnedTool[] | null; meant: Record<string, string> }>(
  'SELECT tool_snapshot, meant FROM process_revisions WHERE org_id = $1 AND id = $2',
);

/** The connection that a revision was deployed to call by the name of a tool; null where that was a tool of ours. */
export const PINNED_CONNECTION = statement<{ connection_id: string | null }>(`
  SELECT t.tool->>'connection_id' AS connection_id FROM process_revisions r CROSS JOIN LATERAL jsonb_array_elements(r.tool_snapshot) AS t(tool)
  WHERE r.org_id = $1 AND r.id = $2 AND t.tool->>'tool_slug' = $3`);

/** Unless it has been deployed meanwhile, be it the same revision again, or is to be looked at once more. */
export const MARK = statement(
  'UPDATE processes SET stale_reason = $3, updated_at = now() WHERE id = $1 AND stale_checked_at = $2::timestamptz AND stale_reason IS DISTINCT FROM $3',
);
