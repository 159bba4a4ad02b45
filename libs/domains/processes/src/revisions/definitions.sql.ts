import { statement } from '@aps/platform/database';

export const WRITTEN = statement<{ definition: Record<string, unknown>; size: number }>(
  'SELECT definition, octet_length(definition::text) AS size FROM process_revisions WHERE org_id = $1 AND id = $2',
);

/** What is deployed of a live process by its id or slug, which it holds as whoever refers to its row does. */
export const DEPLOYED = statement<{ process_id: string; revision_id: string; revision_version: number; revision_hash: string }>(`
  SELECT p.id AS process_id, r.id AS revision_id, r.version AS revision_version, r.hash AS revision_hash
  FROM processes p JOIN process_revisions r ON r.id = p.current_revision_id
  WHERE p.org_id = $1 AND (p.id = $2 OR p.slug = $2) AND p.deleted_at IS NULL FOR KEY SHARE OF p`);

export const LIVE = statement<{ id: string }>(
  'SELECT id FROM processes WHERE org_id = $1 AND id = $2 AND deleted_at IS NULL FOR KEY SHARE',
);
