import { Injectable } from '@nestjs/common';
import type { KnowledgeChunk, KnowledgeSource } from '@aps/entities';
import { statement, type Db, type Tenant, type Tx } from '@aps/platform/database';
import { bitsOf, dot, packed, unpacked } from './vectors.policy';

/** A source whose pieces have no vectors yet. */
export type Unembedded = Pick<KnowledgeSource, 'id' | 'org_id' | 'kb_id'>;
type Piece = Pick<KnowledgeChunk, 'id' | 'content' | 'heading_path'>;
/** A piece that means something near. */
export interface Near {
  chunk_id: string;
  /** Cosine of the angle between. */
  likeness: number;
}

/** Nobody else takes a source up for so long. */
const CLAIM_TIME = `interval '5 minutes'`;
/** So many pieces are compared exactly, the nearest by the signs of their vectors. */
const CANDIDATES = 200;

// Those that are done are far more: as two ranges, neither side of them is read.
const CLAIM = statement<Unembedded>(`
  WITH s AS MATERIALIZED (
    SELECT s.id FROM knowledge_sources s JOIN knowledge_bases b ON b.id = s.kb_id JOIN organizations o ON o.id = s.org_id
    WHERE s.chunk_count > 0 AND (s.embedded_as < $1 OR s.embedded_as > $1) AND s.embed_at <= now()
      AND b.deleted_at IS NULL AND o.deleted_at IS NULL AND o.suspended_at IS NULL LIMIT 1 FOR NO KEY UPDATE OF s SKIP LOCKED)
  UPDATE knowledge_sources SET embed_at = now() + ${CLAIM_TIME} FROM s WHERE knowledge_sources.id = s.id RETURNING knowledge_sources.id, org_id, kb_id`);
const PUT_OFF = statement(`UPDATE knowledge_sources SET embed_at = now() + make_interval(secs => $2) WHERE id = $1`);
const LACKING = `c.source_id = $1 AND NOT EXISTS (SELECT FROM knowledge_vectors v WHERE v.chunk_id = c.id AND v.model = $2)`;
const NEXT = statement<Piece>(
  `SELECT c.id, c.content, c.heading_path FROM knowledge_chunks c WHERE ${LACKING} ORDER BY c.position LIMIT $3`,
);
// What has been replaced meanwhile gets none.
const STORE = statement(`
  INSERT INTO knowledge_vectors (chunk_id, model, org_id, kb_id, bits, vector)
  SELECT c.id, $1, c.org_id, c.kb_id, x.bits::varbit, decode(x.vector, 'base64') FROM jsonb_to_recordset($2::jsonb) AS x(id uuid, bits text, vector text)
  JOIN knowledge_chunks c ON c.id = x.id ON CONFLICT DO NOTHING`);
const HOLD_BASE = statement('SELECT id FROM knowledge_bases WHERE id = $1 FOR NO KEY UPDATE');
const DONE = statement(`
  UPDATE knowledge_sources SET embedded_as = $3, embed_at = now() WHERE id = $1 AND NOT EXISTS (SELECT FROM knowledge_chunks c WHERE ${LACKING})`);
const SWAP = statement<{ id: string }>(`
  UPDATE knowledge_bases SET embedding_model = $2 WHERE id = $1 AND embedding_model IS DISTINCT FROM $2
    AND NOT EXISTS (SELECT FROM knowledge_sources s WHERE s.kb_id = $1 AND s.chunk_count > 0 AND s.embedded_as <> $3) RETURNING id`);
const DROP_OTHERS = statement('DELETE FROM knowledge_vectors WHERE kb_id = $1 AND model <> $2');

const SPACES = statement<{ space: string }>(`
  SELECT DISTINCT embedding_model AS space FROM knowledge_bases
  WHERE org_id = $1 AND deleted_at IS NULL AND ($2::uuid[] IS NULL OR id = ANY ($2)) AND embedding_model IS NOT NULL`);
const NEAR = statement<{ chunk_id: string; vector: Buffer }>(`
  WITH near AS MATERIALIZED (
    SELECT v.chunk_id FROM knowledge_vectors v JOIN knowledge_bases b ON b.id = v.kb_id AND b.embedding_model = v.model
    WHERE v.org_id = $1 AND v.model = $3 AND ($2::uuid[] IS NULL OR v.kb_id = ANY ($2)) AND b.deleted_at IS NULL AND length(v.bits) = length($4::varbit)
    ORDER BY CASE WHEN length(v.bits) = length($4::varbit) THEN bit_count(v.bits # $4::varbit) END LIMIT ${CANDIDATES})
  SELECT v.chunk_id, v.vector FROM near n JOIN knowledge_vectors v ON v.chunk_id = n.chunk_id AND v.model = $3`);

type Org = Pick<Tenant, 'orgId'>;

/** Vectors of pieces, an index of them for each model of a base; a search uses the one that its base names. */
@Injectable()
export class VectorsRepository {
  /** Takes up a source that has none of the model that is named now. */
  async claim(db: Db, named: string): Promise<Unembedded | null> {
    return (await db.query(CLAIM, [named]))[0] ?? null;
  }

  async putOff(db: Db, sourceId: string, seconds: number): Promise<void> {
    await db.execute(PUT_OFF, [sourceId, seconds]);
  }

  /** Pieces of a source that have no vector in a space. */
  lacking(db: Db, sourceId: string, space: string, limit: number): Promise<Piece[]> {
    return db.query(NEXT, [sourceId, space, limit]);
  }

  async store(tx: Tx, space: string, pieces: readonly Piece[], vectors: readonly number[][]): Promise<void> {
    const rows = pieces.map(({ id }, i) => ({ id, bits: bitsOf(vectors[i]), vector: packed(vectors[i]).toString('base64') }));
    await tx.execute(STORE, [space, JSON.stringify(rows)]);
  }

  /** Notes that a source has all its vectors; with the last one of its base, searches use the new index, and the old one is gone. */
  async done(tx: Tx, { id, kb_id }: Unembedded, space: string, named: string): Promise<void> {
    await tx.execute(HOLD_BASE, [kb_id]);
    await tx.execute(DONE, [id, space, named]);
    if ((await tx.query(SWAP, [kb_id, space, named])).length) await tx.execute(DROP_OTHERS, [kb_id, space]);
  }

  /** Spaces of the indexes of bases. @param kbIds null for all of the organization */
  async spaces(db: Db, { orgId }: Org, kbIds: readonly string[] | null): Promise<string[]> {
    return (await db.query(SPACES, [orgId, kbIds])).map(({ space }) => space);
  }

  /** The nearest pieces, the nearest first; none that has nothing to do with it. */
  async near(db: Db, { orgId }: Org, kbIds: readonly string[] | null, space: string, vector: number[]): Promise<Near[]> {
    const rows = await db.query(NEAR, [orgId, kbIds, space, bitsOf(vector)]);
    return rows
      .map((row) => ({ chunk_id: row.chunk_id, likeness: dot(unpacked(row.vector), vector) }))
      .filter(({ likeness }) => likeness > 0)
      .sort((a, b) => b.likeness - a.likeness || (a.chunk_id < b.chunk_id ? -1 : 1));
  }
}
