import { Injectable } from '@nestjs/common';
import type { KnowledgeChunk, KnowledgeSource } from '@aps/entities';
import { statement, type Db, type Tenant, type Tx } from '@aps/platform/database';
import { OWN } from './own-models.repository';
import { bitsOf, dot, packed, unpacked } from './vectors.policy';

/** In which space vectors belong by now. */
export interface Target {
  space: string;
  /** Organizations with models of their own, and theirs; null where that cannot be called. */
  own: { org_id: string; space: string | null }[];
}
/** Sources of an organization whose vectors are of this space, which is another than they belong in; of none where it is empty. */
export type Waiting = Pick<KnowledgeSource, 'org_id' | 'embedded_as'>;
/** A source that somebody has taken up to give it vectors. */
export type ClaimedSource = Pick<KnowledgeSource, 'id' | 'org_id' | 'kb_id'> & {
  /** Another one by when its pieces are others, or somebody else has taken it up. */
  claim: string;
  /** When somebody else may take it up, by `performance.now()`. */
  lapses: number;
};
export type Piece = Pick<KnowledgeChunk, 'id' | 'content' | 'heading_path'>;

/** Vectors of a base by which it is not searched: either all that it needs, or such as no source goes by yet, or any more. */
export interface OtherIndex {
  kb_id: string;
  org_id: string;
  space: string;
  is_whole: boolean;
}

/** Nobody else takes a source up for so long. */
const CLAIM_S = 300;
/** Vectors that are deleted at a time. */
const PART = 5_000;
/** So many pieces are compared exactly, the nearest by the signs of their vectors. */
const CANDIDATES = 200;

const IS_LIVE = 'b.deleted_at IS NULL AND o.deleted_at IS NULL AND o.suspended_at IS NULL';

// Those that are where they belong are far more: they are not read, and of the others one for each organization and space.
const others = (name: string, side: string, from = ''): string => `
  ${name} AS (
    (SELECT s.embedded_as, s.org_id FROM knowledge_sources s WHERE s.chunk_count > 0 AND s.embedded_as ${side} ${from} ORDER BY 1, 2 LIMIT 1)
    UNION ALL SELECT n.embedded_as, n.org_id FROM ${name} p CROSS JOIN LATERAL (
      SELECT s.embedded_as, s.org_id FROM knowledge_sources s
      WHERE s.chunk_count > 0 AND s.embedded_as ${side} AND (s.embedded_as, s.org_id) > (p.embedded_as, p.org_id) ORDER BY 1, 2 LIMIT 1) n)`;
/** SQL of since when the first source of a pair waits. */
const FIRST = `CROSS JOIN LATERAL (
      SELECT s.embed_at FROM knowledge_sources s JOIN knowledge_bases b ON b.id = s.kb_id JOIN organizations o ON o.id = s.org_id
      WHERE s.chunk_count > 0 AND s.embedded_as = p.embedded_as AND s.org_id = p.org_id AND s.embed_at <= now() AND ${IS_LIVE} ORDER BY s.embed_at LIMIT 1) first`;
const OWNERS = statement<{ org_id: string }>(`
  SELECT o.id AS org_id FROM organizations o WHERE o.id IN (SELECT owner_org_id FROM model_catalog WHERE kind = 'embedding')
    AND EXISTS (SELECT FROM knowledge_sources s WHERE s.org_id = o.id)`);
const WAITING = statement<Waiting>(`
  WITH RECURSIVE ${others('below', '< $1')}, ${others('above', '> $1')},
  own AS MATERIALIZED (SELECT x.org_id, x.space FROM jsonb_to_recordset($2::jsonb) AS x(org_id uuid, space text)
  ), due AS MATERIALIZED (
    SELECT DISTINCT ON (p.org_id) p.org_id, p.embedded_as, first.embed_at
    FROM (SELECT * FROM below UNION ALL SELECT * FROM above UNION ALL SELECT $1, org_id FROM own) p LEFT JOIN own ON own.org_id = p.org_id
    ${FIRST}
    WHERE p.embedded_as <> coalesce(own.space, $1) AND p.org_id <> ALL ($3::uuid[]) ORDER BY p.org_id, first.embed_at
  )
  SELECT org_id, embedded_as FROM due ORDER BY embed_at LIMIT $4`);
// Of what the platform says itself: whoever has nothing yet, or what was learnt earlier has said, is found by what was learnt, as all that have too little to
// learn from have nothing, too, and those that are where they belong are each in a space of their own.
const WAITING_FOR_OWN = statement<Waiting>(`
  WITH RECURSIVE ${others('below', `< '${OWN}'`, `AND s.embedded_as > ''`)}, ${others('above', `> '${OWN}~'`)},
  newest AS MATERIALIZED (SELECT DISTINCT ON (org_id) org_id, '${OWN}' || version AS space FROM knowledge_own_models ORDER BY org_id, learnt_at DESC
  ), due AS MATERIALIZED (
    SELECT DISTINCT ON (p.org_id) p.org_id, p.embedded_as, first.embed_at
    FROM (SELECT * FROM below UNION ALL SELECT * FROM above UNION ALL SELECT '', org_id FROM newest UNION ALL SELECT '${OWN}' || version, org_id FROM knowledge_own_models) p
    JOIN newest n ON n.org_id = p.org_id
    ${FIRST}
    WHERE p.embedded_as <> n.space AND p.org_id <> ALL ($1::uuid[]) ORDER BY p.org_id, first.embed_at
  )
  SELECT org_id, embedded_as FROM due ORDER BY embed_at LIMIT $2`);
const CLAIM = statement<Omit<ClaimedSource, 'lapses'>>(`
  WITH s AS MATERIALIZED (
    SELECT s.id FROM knowledge_sources s JOIN knowledge_bases b ON b.id = s.kb_id JOIN organizations o ON o.id = s.org_id
    WHERE s.chunk_count > 0 AND s.embedded_as = $2 AND s.org_id = $1 AND s.embed_at <= now() AND ${IS_LIVE} ORDER BY s.embed_at LIMIT 1 FOR NO KEY UPDATE OF s SKIP LOCKED)
  UPDATE knowledge_sources k SET embed_at = now() + interval '${CLAIM_S} seconds' FROM s WHERE k.id = s.id RETURNING k.id, k.org_id, k.kb_id, k.embed_at::text AS claim`);
const HAND_BACK = statement('UPDATE knowledge_sources SET embed_at = now() WHERE id = $1 AND embed_at = $2::timestamptz');
/** SQL of whether a source is still claimed, and there is still anybody who pays for it. */
const isHeld = (id: string, claim: string): string => `
  EXISTS (SELECT FROM knowledge_sources s JOIN knowledge_bases b ON b.id = s.kb_id JOIN organizations o ON o.id = s.org_id
    WHERE s.id = ${id} AND s.embed_at = ${claim}::timestamptz AND ${IS_LIVE})`;
const lacks = (space: string): string => `NOT EXISTS (SELECT FROM knowledge_vectors v WHERE v.chunk_id = c.id AND v.model = ${space})`;
const NEXT = statement<Piece>(
  `SELECT c.id, c.content, c.heading_path FROM knowledge_chunks c WHERE c.source_id = $1 AND ${lacks('$3')} AND ${isHeld('$1', '$2')} ORDER BY c.position LIMIT $4`,
);
/** Keeps a source as it is while its pieces get vectors, so that none is told in the same moment that all are loose. */
const HOLD_SOURCE = statement<{ id: string }>(
  'SELECT id FROM knowledge_sources WHERE id = $1 AND embed_at = $2::timestamptz FOR NO KEY UPDATE',
);
// What has been replaced meanwhile gets none.
const STORE = statement(`
  INSERT INTO knowledge_vectors (chunk_id, model, org_id, kb_id, bits, vector)
  SELECT c.id, $3, c.org_id, c.kb_id, x.bits::varbit, decode(x.vector, 'base64') FROM jsonb_to_recordset($4::jsonb) AS x(id uuid, bits text, vector text)
  JOIN knowledge_chunks c ON c.id = x.id WHERE ${isHeld('$1', '$2')} ON CONFLICT DO NOTHING`);
const HOLD_BASE = statement('SELECT id FROM knowledge_bases WHERE id = $1 FOR NO KEY UPDATE');
const DONE = statement<{ id: string }>(`
  UPDATE knowledge_sources SET embedded_as = $3, embed_at = now()
  WHERE id = $1 AND embed_at = $2::timestamptz AND NOT EXISTS (SELECT FROM knowledge_chunks c WHERE c.source_id = $1 AND ${lacks('$3')}) RETURNING id`);
/** SQL of whether a source of a base has pieces without vectors of a space. */
const isElsewhere = (base: string, space: string): string =>
  `EXISTS (SELECT FROM knowledge_sources s WHERE s.kb_id = ${base} AND s.chunk_count > 0 AND s.embedded_as <> ${space})`;
// A base that has none yet takes the first that it gets. What each of its pieces has is looked at once more, since the others go then.
const SWAP = statement<{ id: string }>(`
  UPDATE knowledge_bases SET embedding_model = $2 WHERE id = $1 AND embedding_model IS DISTINCT FROM $2 AND (embedding_model IS NULL OR NOT ${isElsewhere('$1', '$2')}
    AND NOT EXISTS (SELECT FROM knowledge_sources s JOIN knowledge_chunks c ON c.source_id = s.id WHERE s.kb_id = $1 AND ${lacks('$2')})) RETURNING id`);
/** SQL of whether any source of a base has its vectors in a space. */
const isIn = (base: string, space: string): string =>
  `EXISTS (SELECT FROM knowledge_sources s WHERE s.kb_id = ${base} AND s.chunk_count > 0 AND s.embedded_as = ${space})`;
const OTHERS = statement<OtherIndex>(`
  SELECT b.id AS kb_id, b.org_id, v.space, NOT ${isElsewhere('b.id', 'v.space')} AS is_whole FROM knowledge_bases b CROSS JOIN LATERAL (
    SELECT DISTINCT v.model AS space FROM knowledge_vectors v WHERE v.kb_id = b.id AND (v.model < b.embedding_model OR v.model > b.embedding_model)) v
  WHERE b.id > $1 AND b.deleted_at IS NULL AND (NOT ${isElsewhere('b.id', 'v.space')} OR NOT ${isIn('b.id', 'v.space')}) ORDER BY b.id, v.space LIMIT $2`);
// What goes with its source just now is left to that: waiting for it could end in a deadlock.
const CLEAR = statement<{ n: number }>(`
  WITH v AS (DELETE FROM knowledge_vectors WHERE (chunk_id, model) IN (SELECT v.chunk_id, v.model FROM knowledge_vectors v WHERE v.kb_id = $1 AND v.model = $2 LIMIT ${PART} FOR UPDATE SKIP LOCKED)
    AND NOT ${isIn('$1', '$2')} AND NOT EXISTS (SELECT FROM knowledge_bases b WHERE b.id = $1 AND b.embedding_model = $2) RETURNING 1)
  SELECT count(*)::int AS n FROM v`);

const SPACES = statement<{ space: string }>(`
  SELECT DISTINCT embedding_model AS space FROM knowledge_bases
  WHERE org_id = $1 AND deleted_at IS NULL AND ($2::uuid[] IS NULL OR id = ANY ($2)) AND embedding_model IS NOT NULL`);
const NEAR = statement<{ chunk_id: string; vector: Buffer }>(`
  WITH near AS MATERIALIZED (
    SELECT v.chunk_id FROM knowledge_vectors v JOIN knowledge_bases b ON b.id = v.kb_id AND b.embedding_model = v.model
    WHERE b.org_id = $1 AND v.model = $3 AND ($2::uuid[] IS NULL OR v.kb_id = ANY ($2)) AND b.deleted_at IS NULL AND length(v.bits) = length($4::varbit)
    ORDER BY CASE WHEN length(v.bits) = length($4::varbit) THEN bit_count(v.bits # $4::varbit) END LIMIT ${CANDIDATES})
  SELECT v.chunk_id, v.vector FROM near n JOIN knowledge_vectors v ON v.chunk_id = n.chunk_id AND v.model = $3`);

type Org = Pick<Tenant, 'orgId'>;

/** Vectors of pieces, an index of them for each model of a base; a search uses the one that its base names. */
@Injectable()
export class VectorsRepository {
  /** Organizations with models of their own for it. */
  async owners(db: Db): Promise<string[]> {
    return (await db.query(OWNERS, [])).map(({ org_id }) => org_id);
  }

  /**
   * Organizations that have sources to be given vectors, who waits longest first.
   *
   * @param target null: by what the platform has learnt of each
   * @param but those that are left out
   */
  waiting(db: Db, target: Target | null, but: readonly string[], limit: number): Promise<Waiting[]> {
    if (!target) return db.query(WAITING_FOR_OWN, [but, limit]);
    return db.query(WAITING, [target.space, JSON.stringify(target.own), but, limit]);
  }

  /** Takes up one of them, which nobody else does meanwhile. */
  async claim(db: Db, { org_id, embedded_as }: Waiting): Promise<ClaimedSource | null> {
    const lapses = performance.now() + CLAIM_S * 1_000;
    const [source] = await db.query(CLAIM, [org_id, embedded_as]);
    return source ? { ...source, lapses } : null;
  }

  /** Leaves it to whoever takes it up next. */
  async handBack(db: Db, { id, claim }: ClaimedSource): Promise<void> {
    await db.execute(HAND_BACK, [id, claim]);
  }

  /** Pieces of a source that have no vector in a space; none of one that is not the caller's any more, or that nobody pays for. */
  lacking(db: Db, { id, claim }: ClaimedSource, space: string, limit: number): Promise<Piece[]> {
    return db.query(NEXT, [id, claim, space, limit]);
  }

  /** @param vectors one for each piece; an empty one of a piece that gets none, and is near to nothing */
  async store(tx: Tx, { id, claim }: ClaimedSource, space: string, pieces: readonly Piece[], vectors: readonly number[][]): Promise<void> {
    if (!(await tx.query(HOLD_SOURCE, [id, claim])).length) return;
    const rows = pieces.map((piece, i) => ({ id: piece.id, bits: bitsOf(vectors[i]), vector: packed(vectors[i]).toString('base64') }));
    await tx.execute(STORE, [id, claim, space, JSON.stringify(rows)]);
  }

  /** Notes that a source has all its vectors; with the last one of its base, searches use the new index. */
  async done(tx: Tx, { id, kb_id, claim }: ClaimedSource, space: string): Promise<void> {
    await tx.execute(HOLD_BASE, [kb_id]);
    if ((await tx.query(DONE, [id, claim, space])).length) await this.swap(tx, kb_id, space);
  }

  /** Of bases behind one, in their order: the last source that lacked them was deleted, or says nothing any more; or they are left of an index, or begun. */
  others(db: Db, after: string, limit: number): Promise<OtherIndex[]> {
    return db.query(OTHERS, [after, limit]);
  }

  /** Has searches of a base use the index of a space, if nothing is missing of that. */
  async swap(tx: Tx, kbId: string, space: string): Promise<void> {
    // Before its sources are looked at, so that none of them gets other pieces meanwhile.
    await tx.execute(HOLD_BASE, [kbId]);
    await tx.execute(SWAP, [kbId, space]);
  }

  /** Deletes a part of the vectors of a base that no source goes by. Who notes that one does, holds the base, too. @returns whether there may be more */
  async clear(tx: Tx, kbId: string, space: string): Promise<boolean> {
    await tx.execute(HOLD_BASE, [kbId]);
    return (await tx.query(CLEAR, [kbId, space]))[0].n === PART;
  }

  /** Spaces of the indexes of bases. @param kbIds null for all of the organization */
  async spaces(db: Db, { orgId }: Org, kbIds: readonly string[] | null): Promise<string[]> {
    return (await db.query(SPACES, [orgId, kbIds])).map(({ space }) => space);
  }

  /** Ids of the nearest pieces, the nearest first; none that has nothing to do with it. Null where there is nothing to compare, or the vector has no length. */
  async near(db: Db, { orgId }: Org, kbIds: readonly string[] | null, space: string, vector: number[]): Promise<string[] | null> {
    const rows = vector.some(Boolean) ? await db.query(NEAR, [orgId, kbIds, space, bitsOf(vector)]) : [];
    if (!rows.length) return null;
    return rows
      .map((row) => ({ chunk_id: row.chunk_id, likeness: dot(unpacked(row.vector), vector) }))
      .filter(({ likeness }) => likeness > 0)
      .sort((a, b) => b.likeness - a.likeness || (a.chunk_id < b.chunk_id ? -1 : 1))
      .map(({ chunk_id }) => chunk_id);
  }
}
