import type { KnowledgeBase } from '@aps/entities';
import { statement } from '@aps/platform/database';
import { deleteJobs } from '@aps/platform/outbox';
import { SOURCES } from './sources.sql';

/** Holds the base that has been deleted for longest, if for so many days, it is none of the others, and nobody else erases it. */
export const HOLD_LONG_GONE = statement<Pick<KnowledgeBase, 'id' | 'org_id'>>(`
  SELECT id, org_id FROM knowledge_bases WHERE deleted_at < now() - make_interval(days => $1) AND id <> ALL ($2::uuid[]) ORDER BY deleted_at LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED`);
/** Sources of a base to be erased together, the newest: mostly what stands below others comes before these. */
export const PART = statement<{ id: string }>(`
  SELECT id FROM (SELECT id FROM knowledge_sources WHERE kb_id = $1 ORDER BY created_at DESC, id DESC LIMIT ${SOURCES}) s ORDER BY id`);
/** What is left of the base does not stand below them. */
export const LOOSEN = statement('UPDATE knowledge_sources SET parent_id = NULL WHERE org_id = $1 AND parent_id = ANY ($2::uuid[])');
export const ERASE_SYNCS = statement(`
  WITH gone AS MATERIALIZED (SELECT id FROM knowledge_syncs WHERE kb_id = $1 ORDER BY id FOR UPDATE
  ), jobs AS (${deleteJobs({ from: 'gone', id: 'gone.id' })})
  DELETE FROM knowledge_syncs s USING gone WHERE s.id = gone.id`);
export const ERASE = statement('DELETE FROM knowledge_bases WHERE id = $1');
