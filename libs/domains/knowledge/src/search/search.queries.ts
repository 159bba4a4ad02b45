import { Injectable } from '@nestjs/common';
import type { KnowledgeChunk, KnowledgeSource } from '@aps/entities';
import { Database, statement, type Db, type Tenant } from '@aps/platform/database';

/** A piece that was found. */
export interface Hit
  extends
    Pick<KnowledgeChunk, 'kb_id' | 'source_id' | 'heading_path' | 'content' | 'position' | 'char_start' | 'char_end'>,
    Pick<KnowledgeSource, 'title' | 'url'> {
  chunk_id: string;
  score: number;
}

/** How much a word counts for by where it stands: in the text, nowhere, in a heading, in the title. */
const WEIGHTS = `'{0.4, 0.4, 0.6, 0.8}'`;

/** A query with more different words is looked for by so many of its rarest, and so many that are in none of the pieces that tell which these are. */
const MOST_WORDS = 16;
/** How many pieces tell how rare words are, scattered evenly over all. */
const TOLD_BY = 1_000;
/**
 * Among more pieces only those are ranked that have one of the rarest words: of so many words that some {@link LEAST} pieces have one, and no fewer than {@link OF_TOLD} of those
 * that tell; of more words as long as some {@link MOST} pieces at most have one.
 */
const MANY = 50_000;
const LEAST = 2_000;
const OF_TOLD = 10;
const MOST = 20_000;
/** Of all bases of an organization, so many live ones are named to the index; of more, it finds also what is in those that are deleted, and not erased yet. */
const MAX_NAMED_BASES = 50;

/**
 * Pieces with any of the words, the best first: those with more of the words, and with those that are rarer here, each by how often and where it stands
 * in the piece. What is asked with a whole paragraph is looked for by its rarest words: the others are in nearly all pieces, and each would be ranked by each. So is
 * whatever is asked of very many pieces: those that have none of its rarest words are not among the best. The index finds what belongs to the organization or the bases
 * together with the words, so that what others have costs nothing, nor what is in bases that are deleted, and not erased yet. The words of each piece are unpacked once, for all that is asked of them.
 * Values: organization, query, how many, bases or null.
 */
const BY_WORDS = statement<Hit>(`
  WITH asked AS MATERIALIZED (SELECT lexeme, ('''' || replace(replace(lexeme, '\\', '\\\\'), '''', '''''') || '''')::tsquery AS word FROM unnest(to_tsvector('english', $2))
  ), live AS MATERIALIZED (SELECT b.id FROM knowledge_bases b WHERE b.org_id = $1 AND b.deleted_at IS NULL AND ($4::uuid[] IS NULL OR b.id = ANY ($4))
  ), size AS MATERIALIZED (SELECT coalesce(sum(t.chunks), 0)::float8 AS pieces, coalesce(sum(t.chunks), 0) > ${MANY} AS are_many FROM live JOIN knowledge_tallies t ON t.kb_id = live.id
  ), step AS MATERIALIZED (
    SELECT greatest(1, pieces / ${TOLD_BY})::int AS step FROM size WHERE (SELECT count(*) FROM asked) > CASE WHEN are_many THEN 1 ELSE ${MOST_WORDS} END
  ), sources AS MATERIALIZED (
    SELECT s.id, s.chunk_count, (sum(s.chunk_count) OVER (ORDER BY s.id) - s.chunk_count)::int AS before
    FROM step CROSS JOIN live JOIN knowledge_sources s ON s.kb_id = live.id AND s.chunk_count > 0
  ), sampled AS MATERIALIZED (
    SELECT c.words || ''::tsvector AS words FROM step CROSS JOIN sources s
    CROSS JOIN LATERAL (SELECT n * step + abs(hashint4(n)::bigint) % step - s.before AS place FROM generate_series(s.before / step, (s.before + s.chunk_count - 1) / step) AS n) p
    CROSS JOIN LATERAL (SELECT c.words FROM knowledge_chunks c WHERE c.source_id = s.id AND c.position = p.place OFFSET 0) c WHERE p.place BETWEEN 0 AND s.chunk_count - 1
  ), told AS MATERIALIZED (SELECT a.lexeme, count(*)::int AS n FROM sampled s JOIN asked a ON s.words @@ a.word GROUP BY a.lexeme
  ), rarest AS MATERIALIZED (
    SELECT a.lexeme, a.word, coalesce(t.n, 0) AS n, row_number() OVER (PARTITION BY t.n IS NULL ORDER BY t.n, length(a.lexeme) DESC, a.lexeme) AS place FROM asked a LEFT JOIN told t ON t.lexeme = a.lexeme
  ), q AS MATERIALIZED (
    SELECT (row_number() OVER rarer)::int AS i, n, word, NOT are_many OR sum(n) OVER rarer - n < greatest(${OF_TOLD}, ${LEAST} * share) OR sum(n) OVER rarer <= ${MOST} * share AS finds
    FROM rarest CROSS JOIN (SELECT are_many, (SELECT count(*) FROM sampled) / greatest(pieces, 1) AS share FROM size) size
    WHERE place <= ${MOST_WORDS} WINDOW rarer AS (ORDER BY n, place ROWS UNBOUNDED PRECEDING)
  ), within AS MATERIALIZED (
    SELECT CASE WHEN $4::uuid[] IS NULL AND count(*) > ${MAX_NAMED_BASES} THEN format('''org:%s''', $1::uuid) ELSE string_agg(format('''kb:%s''', id), ' | ') END::tsquery AS theirs FROM live
  ), words AS MATERIALIZED (SELECT string_agg(word::text, ' | ')::tsquery && (SELECT theirs FROM within) AS found_by FROM q WHERE finds HAVING count(*) > 0
  ), found AS MATERIALIZED (
    SELECT c.id, r.i, r.rank / (1 + ln(1 + c.token_count)) AS rank
    FROM words CROSS JOIN knowledge_chunks c JOIN live ON live.id = c.kb_id
    CROSS JOIN LATERAL (SELECT c.words || ''::tsvector AS words OFFSET 0) unpacked
    CROSS JOIN LATERAL (SELECT q.i, ts_rank(${WEIGHTS}, unpacked.words, q.word) AS rank FROM q OFFSET 0) r
    WHERE c.org_id = $1 AND c.words @@ words.found_by AND r.rank > 0
  ), rare AS MATERIALIZED (
    SELECT f.i, ln(1 + CASE WHEN NOT are_many THEN ((SELECT count(DISTINCT id) FROM found) + 1.0) / f.n WHEN q.finds THEN (pieces + 1) / f.n ELSE ((SELECT count(*) FROM sampled) + 1.0) / q.n END) AS idf
    FROM (SELECT i, count(*) AS n FROM found GROUP BY i) f JOIN q ON q.i = f.i CROSS JOIN size
  ), best AS MATERIALIZED (
    SELECT f.id, sum(f.rank * rare.idf)::float8 AS score FROM found f JOIN rare ON rare.i = f.i GROUP BY f.id ORDER BY score DESC, f.id LIMIT $3
  )
  SELECT c.id AS chunk_id, c.kb_id, c.source_id, s.title, c.heading_path, c.content, best.score, c.position, c.char_start, c.char_end, s.url
  FROM best JOIN knowledge_chunks c ON c.id = best.id JOIN knowledge_sources s ON s.id = c.source_id ORDER BY best.score DESC, c.id`);

/** For the transaction: how long each of its statements may take, in milliseconds. */
export const WITHIN = statement(`SELECT set_config('statement_timeout', $1, true)`);

const BY_ID = statement<Omit<Hit, 'score'>>(`
  SELECT c.id AS chunk_id, c.kb_id, c.source_id, s.title, c.heading_path, c.content, c.position, c.char_start, c.char_end, s.url
  FROM knowledge_chunks c JOIN knowledge_sources s ON s.id = c.source_id JOIN knowledge_bases b ON b.id = c.kb_id
  WHERE c.org_id = $1 AND c.id = ANY ($2::uuid[]) AND b.deleted_at IS NULL`);

/** Finds pieces of live bases. */
@Injectable()
export class SearchQueries {
  constructor(private readonly db: Database) {}

  /** @param kbIds null for all bases of the organization @returns the best first */
  byWords(db: Db, { orgId }: Pick<Tenant, 'orgId'>, kbIds: readonly string[] | null, query: string, limit: number): Promise<Hit[]> {
    return db.query(BY_WORDS, [orgId, query, limit, kbIds]);
  }

  /** Those of the pieces that are there, in any order. */
  byId({ orgId }: Pick<Tenant, 'orgId'>, ids: readonly string[]): Promise<Omit<Hit, 'score'>[]> {
    return this.db.query(BY_ID, [orgId, ids]);
  }
}
