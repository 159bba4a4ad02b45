import type { KnowledgeSource, KnowledgeSync } from '@aps/entities';
import { HELD_WITH_ORG } from '@aps/guards';
import { statement } from '@aps/platform/database';
import { claimStatement, runOver, runStatements, type RunTable } from '@aps/platform/runs';
import { PASSING } from '../diagnosis/diagnosis.policy';
import { SOURCES } from '../sources.sql';

const TABLE = 'knowledge_syncs';
/** How long a base is content with what it has of a collection. */
const EVERY = `interval '1 hour'`;

export const SYNC_RUNS = {
  kind: 'knowledge_sync',
  table: TABLE,
  payload: { org_id: 'org_id', sync_id: 'id' },
  ...HELD_WITH_ORG,
} satisfies RunTable<'knowledge.sync'>;

export const RUNS = runStatements<'knowledge.sync'>(SYNC_RUNS);

export const CLAIM = claimStatement(SYNC_RUNS, {
  columns:
    'r.kb_id, r.deleted_at IS NOT NULL OR EXISTS (SELECT 1 FROM knowledge_bases b WHERE b.id = r.kb_id AND b.deleted_at IS NOT NULL) AS is_left',
  isGone: 'l.is_left',
  answer: 'v.kb_id',
});

/** SQL of whether a connection is the organization's, or that of whoever a synchronisation asks it for. */
const isOpen = (connection: string, sync: string): string =>
  `${connection}.deleted_at IS NULL AND (${connection}.scope = 'org' OR ${connection}.owner_user_id = ${sync}.principal_id)`;
/** SQL of why a connection is not asked; null where it is. */
export const pausedBy = (connection: string, sync: string): string =>
  `CASE WHEN NOT coalesce(${isOpen(connection, sync)}, false) THEN 'connection_gone' WHEN ${connection}.status = 'disabled' THEN 'connection_disabled' WHEN ${connection}.status = 'expired' THEN 'connection_expired' END`;

/** Which synchronisations go by connections: those whose base is there. */
export const OF_CONNECTIONS = statement<Pick<KnowledgeSync, 'id' | 'connection_id'>>(`
  SELECT s.id, s.connection_id FROM ${TABLE} s JOIN knowledge_bases b ON b.id = s.kb_id
  WHERE s.org_id = $1 AND s.connection_id = ANY ($2::uuid[]) AND s.deleted_at IS NULL AND b.deleted_at IS NULL ORDER BY s.id`);

export const LOAD = statement<KnowledgeSync>(`SELECT * FROM ${TABLE} WHERE id = $1`);

/** Of one that there was not enough time for, the round is gone on with: what it has seen and counted stands. */
const GOES_ON = `coalesce(s.error->>'code' = 'timeout', false)`;
const counted = (counts: string[]): string =>
  counts.map((count) => `${count} = CASE WHEN ${GOES_ON} THEN s.${count} ELSE 0 END`).join(', ');
const ANEW = `status = 'queued', round = s.round + (NOT ${GOES_ON})::int, ${counted(['added', 'updated', 'deleted', 'unchanged'])}, error = NULL, deliveries = 0, steps_done = 0,
  started_at = NULL, finished_at = NULL, dispatched_at = now(), updated_at = now()`;
/** Begins the next run of one that is over, unless its connection is not asked. */
export const BEGIN = statement<{ id: string }>(`
  UPDATE ${TABLE} s SET ${ANEW} FROM connections c
  WHERE s.org_id = $1 AND s.id = $2 AND s.deleted_at IS NULL AND s.finished_at IS NOT NULL AND c.id = s.connection_id AND ${pausedBy('c', 's')} IS NULL RETURNING s.id`);
/** The same of those whose time has come. */
export const BEGIN_DUE = statement<Pick<KnowledgeSync, 'id' | 'org_id'>>(`
  WITH due AS MATERIALIZED (
    SELECT s.id FROM ${TABLE} s JOIN connections c ON c.id = s.connection_id JOIN knowledge_bases b ON b.id = s.kb_id
    WHERE s.next_sync_at <= now() AND s.deleted_at IS NULL AND s.finished_at IS NOT NULL AND b.deleted_at IS NULL AND ${pausedBy('c', 's')} IS NULL
    ORDER BY s.next_sync_at LIMIT $1 FOR NO KEY UPDATE OF s SKIP LOCKED)
  UPDATE ${TABLE} s SET ${ANEW} FROM due WHERE s.id = due.id RETURNING s.id, s.org_id`);

/** What a base has of a collection. */
export type KnownItem = Pick<KnowledgeSource, 'id' | 'title' | 'remote_hash' | 'remote_modified' | 'sync_round'> & {
  remote_id: string;
  /** Its newest run failed by what may have passed. */
  may_pass: boolean;
  /** Nothing was made of it yet, and that is no reason to have it indexed anew: its run comes, or what it is cannot be read as long as its server does not say that it was changed. */
  stands: boolean;
};
const MAY_PASS = `status = 'failed' AND coalesce(error->>'stage' = 'fetch' OR error->>'code' IN (${PASSING.map((code) => `'${code}'`).join(', ')}), false)`;
export const KNOWN = statement<KnownItem>(`
  SELECT id, title, coalesce(remote_id, '') AS remote_id, remote_hash, remote_modified, sync_round, ${MAY_PASS} AS may_pass,
    remote_hash IS NULL AND (status = 'queued' OR remote_modified IS NOT NULL AND NOT (${MAY_PASS})) AS stands
  FROM knowledge_sources WHERE org_id = $1 AND sync_config_id = $2`);
export const ADD_ITEMS = statement<{ id: string }>(`
  INSERT INTO knowledge_sources (id, org_id, kb_id, kind, title, status, sync_config_id, remote_id, remote_modified, sync_round, created_by)
  SELECT x.id, s.org_id, s.kb_id, 'synced', x.title, 'queued', s.id, x.remote_id, x.modified, s.round, s.created_by
  FROM ${TABLE} s CROSS JOIN jsonb_to_recordset($2::jsonb) AS x(id uuid, title text, remote_id text, modified text) WHERE s.id = $1
  ON CONFLICT (sync_config_id, remote_id) WHERE sync_config_id IS NOT NULL DO NOTHING RETURNING id`);
export const SEE_ITEMS = statement(`
  UPDATE knowledge_sources k SET sync_round = $2, title = x.title, remote_hash = coalesce(x.hash, k.remote_hash), remote_modified = x.modified
  FROM jsonb_to_recordset($3::jsonb) AS x(id uuid, title text, hash text, modified text) WHERE k.org_id = $1 AND k.id = x.id`);
export const COUNT = statement(
  `UPDATE ${TABLE} SET added = added + $2, updated = updated + $3, deleted = deleted + $4, unchanged = unchanged + $5 WHERE id = $1`,
);
/** Holds what came by a synchronisation and no round since has seen, all of it where none is named: as much as is erased at once. */
export const HOLD_UNSEEN = statement<{ id: string }>(`
  SELECT id FROM knowledge_sources WHERE org_id = $1 AND sync_config_id = $2 AND ($3::int IS NULL OR sync_round < $3) ORDER BY id LIMIT ${SOURCES} FOR NO KEY UPDATE`);
/** They lack pieces: where a later round sees them again, they are indexed anew. */
export const UNREAD = statement(
  'UPDATE knowledge_sources SET remote_hash = NULL, remote_modified = NULL WHERE org_id = $1 AND id = ANY ($2::uuid[])',
);

export const SYNCED = statement(
  `UPDATE ${TABLE} SET last_sync_at = now(), next_sync_at = now() + ${EVERY}, updated_at = now() WHERE id = $1`,
);
const failed = (where: string) =>
  statement<{ id: string }>(
    `UPDATE ${TABLE} SET ${runOver(`'failed'`, 'now()')}, error = $2, next_sync_at = now() + ${EVERY}, updated_at = now() WHERE id = $1 AND ${where} RETURNING id`,
  );
export const FAILED = failed(`fence = $3 AND status = 'running'`);
/** The same of one that nobody has any more. */
export const GIVEN_UP = failed(`status IN ('queued', 'running') AND coalesce(lease_expires_at, '-infinity') <= now()`);

/** Nobody goes on with it; what came by it is deleted next. */
export const LEAVE = statement<Pick<KnowledgeSync, 'id' | 'collection_id'>>(`
  UPDATE ${TABLE} SET deleted_at = now(), fence = fence + 1, ${runOver(`'failed'`, 'now()')}
  WHERE org_id = $1 AND kb_id = $2 AND id = $3 AND deleted_at IS NULL RETURNING id, collection_id`);
export const LEFT = statement<{ id: string }>(
  `SELECT id FROM ${TABLE} WHERE deleted_at < now() - interval '1 minute' AND id <> ALL ($2::uuid[]) ORDER BY id LIMIT $1`,
);
export const HOLD_LEFT = statement<Pick<KnowledgeSync, 'id' | 'org_id'>>(
  `SELECT id, org_id FROM ${TABLE} WHERE id = $1 AND deleted_at IS NOT NULL FOR NO KEY UPDATE SKIP LOCKED`,
);
export const FORGET = statement(`DELETE FROM ${TABLE} WHERE id = $1`);
