import type { KnowledgeBase } from '@aps/entities';
import { statement } from '@aps/platform/database';
import { deleteJobs } from '@aps/platform/outbox';

/** Sources that are erased at once, and how many pieces they may have together; one by itself may have more. */
const SOURCES = 200;
const PIECES = 5_000;

/** Holds the base that has been deleted for longest, if for so many days and nobody else erases it. */
export const HOLD_LONG_GONE = statement<Pick<KnowledgeBase, 'id' | 'org_id'>>(`
  SELECT id, org_id FROM knowledge_bases WHERE deleted_at < now() - make_interval(days => $1) ORDER BY deleted_at LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED`);
/** Sources of a base to be erased together, the newest: mostly what stands below others comes before these. */
export const PART = statement<{ id: string }>(`
  SELECT id FROM (
    SELECT id, sum(chunk_count) OVER (ORDER BY created_at DESC, id DESC) - chunk_count AS before
    FROM (SELECT id, created_at, chunk_count FROM knowledge_sources WHERE kb_id = $1 ORDER BY created_at DESC, id DESC LIMIT ${SOURCES}) s) s
  WHERE before < ${PIECES} ORDER BY id`);
/** What is left of the base does not stand below them. */
export const LOOSEN = statement('UPDATE knowledge_sources SET parent_id = NULL WHERE org_id = $1 AND parent_id = ANY ($2::uuid[])');
/** Pieces, their vectors and texts go with them. */
export const ERASE_SOURCES = statement(`
  WITH gone AS MATERIALIZED (SELECT id FROM knowledge_sources WHERE org_id = $1 AND id = ANY ($2::uuid[]) ORDER BY id FOR UPDATE
  ), jobs AS (${deleteJobs({ from: 'gone', id: 'gone.id' })})
  DELETE FROM knowledge_sources s USING gone WHERE s.id = gone.id`);
export const ERASE_SYNCS = statement(`
  WITH gone AS MATERIALIZED (SELECT id FROM knowledge_syncs WHERE kb_id = $1 ORDER BY id FOR UPDATE
  ), jobs AS (${deleteJobs({ from: 'gone', id: 'gone.id' })})
  DELETE FROM knowledge_syncs s USING gone WHERE s.id = gone.id`);
export const ERASE = statement('DELETE FROM knowledge_bases WHERE id = $1');
