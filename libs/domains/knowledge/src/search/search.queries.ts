import { Injectable } from '@nestjs/common';
import type { KnowledgeChunk, KnowledgeSource } from '@aps/entities';
import { Database, statement, type Tenant } from '@aps/platform/database';

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

/** A query with more different words is looked for by so many of its rarest, as some pieces tell, and so many that none of these has. */
const MOST_WORDS = 16;
const TOLD_BY = 500;

/**
 * Pieces with any of the words, the best first: those with more of the words, and with those that are rarer here, each by how often and where it stands
 * in the piece. What is asked with a whole paragraph is looked for by its rarest words: the others are in nearly all pieces, and each would be ranked by each. The index finds what belongs to the organization or the bases together with the words, so that what others have costs nothing. The words of each piece are
 * unpacked once, for all that is asked of them. Values: organization, query, what the pieces belong to, how many.
 */
const BY_WORDS = statement<Hit>(`
  WITH asked AS MATERIALIZED (SELECT lexeme FROM unnest(to_tsvector('english', $2))
  ), told AS MATERIALIZED (
    SELECT w.lexeme, count(*) AS n FROM (SELECT c.words FROM knowledge_chunks c WHERE c.org_id = $1 AND c.words @@ $3::tsquery AND (SELECT count(*) FROM asked) > ${MOST_WORDS} LIMIT ${TOLD_BY}) c
    CROSS JOIN LATERAL unnest(c.words) w GROUP BY w.lexeme
  ), rarest AS MATERIALIZED (
    SELECT a.lexeme, row_number() OVER (PARTITION BY t.n IS NULL ORDER BY t.n, length(a.lexeme) DESC, a.lexeme) AS n FROM asked a LEFT JOIN told t ON t.lexeme = a.lexeme
  ), q AS MATERIALIZED (
    SELECT (row_number() OVER ())::int AS i, ('''' || replace(replace(lexeme, '\\', '\\\\'), '''', '''''') || '''')::tsquery AS word FROM rarest WHERE n <= ${MOST_WORDS}
  ), words AS MATERIALIZED (SELECT string_agg(word::text, ' | ')::tsquery AS found_by FROM q HAVING count(*) > 0
  ), found AS MATERIALIZED (
    SELECT c.id, r.i, r.rank / (1 + ln(1 + c.token_count)) AS rank
    FROM words CROSS JOIN knowledge_chunks c JOIN knowledge_bases b ON b.id = c.kb_id
    CROSS JOIN LATERAL (SELECT c.words || ''::tsvector AS words OFFSET 0) unpacked
    CROSS JOIN LATERAL (SELECT q.i, ts_rank(${WEIGHTS}, unpacked.words, q.word) AS rank FROM q OFFSET 0) r
    WHERE c.org_id = $1 AND c.words @@ ($3::tsquery && words.found_by) AND b.deleted_at IS NULL AND r.rank > 0
  ), rare AS MATERIALIZED (
    SELECT i, ln(1 + ((SELECT count(DISTINCT id) FROM found) + 1.0) / count(*)) AS idf FROM found GROUP BY i
  ), best AS MATERIALIZED (
    SELECT f.id, sum(f.rank * rare.idf)::float8 AS score FROM found f JOIN rare ON rare.i = f.i GROUP BY f.id ORDER BY score DESC, f.id LIMIT $4
  )
  SELECT c.id AS chunk_id, c.kb_id, c.source_id, s.title, c.heading_path, c.content, best.score, c.position, c.char_start, c.char_end, s.url
  FROM best JOIN knowledge_chunks c ON c.id = best.id JOIN knowledge_sources s ON s.id = c.source_id ORDER BY best.score DESC, c.id`);

const BY_ID = statement<Omit<Hit, 'score'>>(`
  SELECT c.id AS chunk_id, c.kb_id, c.source_id, s.title, c.heading_path, c.content, c.position, c.char_start, c.char_end, s.url
  FROM knowledge_chunks c JOIN knowledge_sources s ON s.id = c.source_id JOIN knowledge_bases b ON b.id = c.kb_id
  WHERE c.org_id = $1 AND c.id = ANY ($2::uuid[]) AND b.deleted_at IS NULL`);

/** Finds pieces of live bases. */
@Injectable()
export class SearchQueries {
  constructor(private readonly db: Database) {}

  /** @param kbIds null for all bases of the organization @returns the best first */
  byWords({ orgId }: Pick<Tenant, 'orgId'>, kbIds: readonly string[] | null, query: string, limit: number): Promise<Hit[]> {
    const within = kbIds === null ? `'org:${orgId}'` : kbIds.map((id) => `'kb:${id}'`).join(' | ');
    return this.db.query(BY_WORDS, [orgId, query, within, limit]);
  }

  /** Those of the pieces that are there, in any order. */
  byId({ orgId }: Pick<Tenant, 'orgId'>, ids: readonly string[]): Promise<Omit<Hit, 'score'>[]> {
    return this.db.query(BY_ID, [orgId, ids]);
  }
}
