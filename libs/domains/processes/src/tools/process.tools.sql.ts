import type { ProcessRun } from '@aps/entities';
import { statement } from '@aps/platform/database';

/** A process as an agent names it. */
export interface NamedProcess {
  id: string;
  slug: string;
}
export const NAMED = statement<NamedProcess>(
  'SELECT id, slug FROM processes WHERE org_id = $1 AND (id = $2 OR slug = $2) AND deleted_at IS NULL FOR KEY SHARE',
);
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
