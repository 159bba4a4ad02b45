import type { Connection, ConnectionTool, ProcessRun } from '@aps/entities';
import { statement } from '@aps/platform/database';

/** A process as an agent names it. */
export interface NamedProcess {
  id: string;
  slug: string;
}
export const BY_ID_OR_SLUG = statement<NamedProcess>(
  'SELECT id, slug FROM processes WHERE org_id = $1 AND (id = $2 OR slug = $2) AND deleted_at IS NULL FOR KEY SHARE',
);
/** Tools of connections with a decision mode that a process calls, or one that its steps run, as they are now. Values: organization, process. */
export const CALLED = statement<Pick<Connection, 'decision_mode'> & Pick<ConnectionTool, 'access_level' | 'hints'>>(`
  WITH RECURSIVE reached AS (
    SELECT $2::text AS id
    UNION
    SELECT substr(x.ref, 9) FROM reached p JOIN process_revisions r ON r.process_id = p.id AND r.status = 'deployed' CROSS JOIN LATERAL unnest(r.refs) AS x(ref)
    WHERE x.ref LIKE 'process:%'
  )
  SELECT c.decision_mode, t.access_level, t.hints
  FROM reached p JOIN process_revisions r ON r.process_id = p.id AND r.status = 'deployed' CROSS JOIN LATERAL jsonb_array_elements(r.tool_snapshot) AS s(tool)
    JOIN connections c ON c.org_id = $1 AND c.decision_mode <> 'off' AND c.deleted_at IS NULL AND starts_with(s.tool->>'tool_slug', c.slug || '.')
    JOIN connection_tools t ON t.connection_id = c.id AND s.tool->>'tool_slug' = c.slug || '.' || t.name`);
/** Slugs of null are any. What is looked through has a bound, too: of very many a denial may hide some. */
export const RUNNABLE = statement<{ slug: string; name: string; title: string; input_schema: unknown }>(`
  SELECT p.slug, p.name, p.title, r.definition->'input_schema' AS input_schema FROM processes p JOIN process_revisions r ON r.id = p.current_revision_id
  WHERE p.org_id = $1 AND p.deleted_at IS NULL AND ($2::text[] IS NULL OR p.slug = ANY ($2)) ORDER BY p.slug LIMIT $3`);
/** The run that has begun the chat, or the one that the chat was delegated by. */
export const ABOVE = statement<{ run_id: string; depth: number }>(`
  SELECT r.id AS run_id, r.depth FROM chats c JOIN chats o ON o.id = coalesce(c.root_chat_id, c.id)
    JOIN process_runs r ON r.org_id = o.org_id AND r.id = CASE WHEN o.origin_kind = 'process' THEN o.origin_ref_id::uuid END
  WHERE c.id = $1`);
type SeenRun = Pick<ProcessRun, 'id' | 'state' | 'output' | 'error' | 'flag_reason'> & { slug: string };
export const SEEN = statement<SeenRun>(`
  SELECT r.id, r.state, r.output, r.error, r.flag_reason, p.slug FROM process_runs r JOIN processes p ON p.id = r.process_id
  WHERE r.org_id = $1 AND r.id = $2 AND p.deleted_at IS NULL`);
