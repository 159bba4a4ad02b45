import { sourceState, type KnowledgeSource } from '@aps/entities';
import { HELD_WITH_ORG } from '@aps/guards';
import { statement } from '@aps/platform/database';
import { deleteJobs } from '@aps/platform/outbox';
import { appendEvent } from '@aps/platform/realtime';
import { claimStatement, runOver, runStatements, type RunTable } from '@aps/platform/runs';

const TABLE = 'knowledge_sources';

/** What is shown of a source. */
export type SourceState = 'PENDING' | 'PROCESSING' | 'READY' | 'FAILED';

export const SOURCE_RUNS = {
  kind: 'knowledge_source',
  table: TABLE,
  payload: { org_id: 'org_id', source_id: 'id' },
  ...HELD_WITH_ORG,
} satisfies RunTable<'knowledge.index'>;

export const RUNS = runStatements<'knowledge.index'>(SOURCE_RUNS);
export const CLAIM = claimStatement(SOURCE_RUNS, {
  columns: 'r.kind, (SELECT b.deleted_at IS NOT NULL FROM knowledge_bases b WHERE b.id = r.kb_id) AS base_gone',
  isGone: 'l.base_gone',
  answer: 'v.kind',
});

/** Holds a live base: nobody deletes it before the transaction ends. */
export const HOLD_BASE = statement<{ id: string }>(
  'SELECT id FROM knowledge_bases WHERE org_id = $1 AND id = $2 AND deleted_at IS NULL FOR SHARE',
);

/** What a run reads of its source. */
export type LoadedSource = Pick<
  KnowledgeSource,
  'id' | 'org_id' | 'kb_id' | 'kind' | 'url' | 'file_id' | 'sync_config_id' | 'remote_id'
> & {
  written: string | null;
};
export const LOAD = statement<LoadedSource>(`
  SELECT s.id, s.org_id, s.kb_id, s.kind, s.url, s.file_id, s.sync_config_id, s.remote_id, c.written
  FROM ${TABLE} s LEFT JOIN knowledge_contents c ON c.source_id = s.id WHERE s.id = $1`);

/** Has sources indexed anew: by a new run, or, where one is under way, by one more after that. */
export const REINDEX = statement<{ id: string; was: KnowledgeSource['status'] }>(`
  WITH l AS MATERIALIZED (SELECT id, status FROM ${TABLE} WHERE org_id = $1 AND id = ANY ($2::uuid[]) ORDER BY id FOR NO KEY UPDATE)
  UPDATE ${TABLE} s SET again = l.status = 'running', status = CASE l.status WHEN 'running' THEN l.status ELSE 'queued' END,
    deliveries = CASE l.status WHEN 'running' THEN s.deliveries ELSE 0 END, error = NULL, started_at = CASE l.status WHEN 'running' THEN s.started_at END,
    finished_at = NULL, dispatched_at = CASE l.status WHEN 'queued' THEN s.dispatched_at ELSE now() END, updated_at = now()
  FROM l WHERE s.id = l.id RETURNING s.id, l.status AS was`);

/** Ends a run, by its owner or of one whose workers were lost. Where it is to be indexed again, it waits for that. */
const over = (status: 'ready' | 'failed', sets: string): string => `
  UPDATE ${TABLE} SET ${runOver(`CASE WHEN ${TABLE}.again THEN 'queued' ELSE '${status}' END`, `CASE WHEN ${TABLE}.again THEN NULL ELSE now() END`)}, steps_done = 0,
    deliveries = CASE WHEN ${TABLE}.again THEN 0 ELSE ${TABLE}.deliveries END, dispatched_at = CASE WHEN ${TABLE}.again THEN now() ELSE ${TABLE}.dispatched_at END, again = false, updated_at = now(), ${sets}`;
export const READY = statement<{ status: KnowledgeSource['status'] }>(
  `${over('ready', "error = NULL, chunk_count = $3, size_bytes = $4, media_type = $5, title = $6, remote_hash = $7, indexed_at = now(), embedded_as = '', embed_at = now()")} WHERE id = $1 AND fence = $2 AND status = 'running' RETURNING status`,
);
export const FAILED = statement<{ status: KnowledgeSource['status'] }>(
  `${over('failed', `error = CASE WHEN ${TABLE}.again THEN NULL ELSE $3::jsonb END`)} WHERE id = $1 AND fence = $2 AND status = 'running' RETURNING status`,
);
/** The same of one that nobody has any more. */
export const GIVEN_UP = statement<{ status: KnowledgeSource['status'] }>(
  `${over('failed', `error = CASE WHEN ${TABLE}.again THEN NULL ELSE $2::jsonb END`)} WHERE id = $1 AND status IN ('queued', 'running') AND coalesce(lease_expires_at, '-infinity') <= now() RETURNING status`,
);
/** The source of a run, as its owner ends that. */
export interface OwnedSource {
  /** As it is called by now. */
  title: string;
  /** What stands at an address is called as it calls itself, from when it is first read. */
  names_itself: boolean;
}
const OWN = `SELECT title, kind = 'url' AND indexed_at IS NULL AS names_itself FROM ${TABLE} WHERE id = $1 AND fence = $2 AND status = 'running'`;
export const OWN_NOW = statement<OwnedSource>(OWN);
export const OWNED = statement<OwnedSource>(`${OWN} FOR NO KEY UPDATE`);

/** SQL of the words of a piece, those of its title and headings above all; and what it belongs to, by which the index finds that first. */
const wordsOf = (chunk: string, title: string): string =>
  `setweight(to_tsvector('english', ${title}), 'A') || setweight(to_tsvector('english', array_to_string(${chunk}.heading_path, ' ')), 'B') || to_tsvector('english', ${chunk}.content)
    || array_to_tsvector(ARRAY['org:' || ${chunk}.org_id, 'kb:' || ${chunk}.kb_id])`;
// Hashed in any plan; as a list they would be compared one by one in a generic one.
export const DELETE_OTHER_CHUNKS = statement('DELETE FROM knowledge_chunks WHERE source_id = $1 AND id NOT IN (SELECT unnest($2::uuid[]))');
export const INSERT_CHUNKS = statement(`
  INSERT INTO knowledge_chunks (id, org_id, kb_id, source_id, position, content, heading_path, char_start, char_end, page, token_count, words)
  SELECT c.id, c.org_id, c.kb_id, c.source_id, c.position, c.content, c.heading_path, c.char_start, c.char_end, c.page, c.token_count, ${wordsOf('c', '$5')}
  FROM (SELECT x.*, $1::uuid AS org_id, $2::uuid AS kb_id, $3::uuid AS source_id
    FROM jsonb_to_recordset($4::jsonb) AS x(id uuid, position int, content text, heading_path text[], char_start int, char_end int, page int, token_count int)) c`);
/** Sources, and pieces of them, that are erased at once. */
export const SOURCES = 200;
export const PIECES = 5_000;
/** Their vectors go with them. */
export const ERASE_PIECES = statement(`
  DELETE FROM knowledge_chunks WHERE id IN (SELECT id FROM knowledge_chunks WHERE source_id = ANY ($1::uuid[]) LIMIT ${PIECES})`);
/** Their texts go with them, and what pieces there still are. */
export const ERASE = statement(`
  WITH gone AS MATERIALIZED (SELECT id FROM ${TABLE} WHERE org_id = $1 AND id = ANY ($2::uuid[]) ORDER BY id FOR UPDATE
  ), jobs AS (${deleteJobs({ from: 'gone', id: 'gone.id' })})
  DELETE FROM ${TABLE} s USING gone WHERE s.id = gone.id`);

export const RETITLE_CHUNKS = statement(`UPDATE knowledge_chunks c SET words = ${wordsOf('c', '$2')} WHERE source_id = $1`);
export const KEEP_EXTRACTED = statement(`
  INSERT INTO knowledge_contents (source_id, org_id, extracted) VALUES ($1, $2, $3) ON CONFLICT (source_id) DO UPDATE SET extracted = excluded.extracted`);

/** What readers of the organization are told of a source. */
export interface SourceUpdate extends Record<string, unknown> {
  source_id: string;
  kb_id: string;
  status: SourceState;
  chunk_count: number;
  error: KnowledgeSource['error'];
}
/** Tells of sources, in the order of their ids. The organization's row, whose lock numbers its events, is locked here, and best no sooner. */
export const TELL = statement<{ id: number; data: SourceUpdate }>(`
  WITH s AS MATERIALIZED (
    SELECT row_number() OVER (ORDER BY s.id) AS n, jsonb_build_object('source_id', s.id, 'kb_id', s.kb_id, 'status', ${sourceState('s')}, 'chunk_count', s.chunk_count,
      'error', s.error - 'retryable') AS data
    FROM ${TABLE} s WHERE s.org_id = $1 AND s.id = ANY ($2::uuid[])
  ), o AS (UPDATE organizations o SET event_seq = o.event_seq + (SELECT count(*)::int FROM s) WHERE o.id = $1 RETURNING o.event_seq - (SELECT count(*)::int FROM s) AS before
  ), told AS MATERIALIZED (SELECT s.data, (o.before + s.n - 1)::int AS before FROM s CROSS JOIN o
  ), e AS (${appendEvent({ from: 'told x', topic: `'org:' || $1::uuid`, orgId: '$1', after: 'x.before', type: 'source_updated', data: 'x.data', at: '$3::timestamptz' })}
  )
  SELECT before + 1 AS id, data FROM told ORDER BY before`);
