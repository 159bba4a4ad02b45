import { Injectable } from '@nestjs/common';
import type { KnowledgeChunk, KnowledgeOwnModel } from '@aps/entities';
import { Database, NO_CALLER, statement } from '@aps/platform/database';
import { uuidv7 } from 'uuidv7';
import { OwnModel } from './own-model.policy';

/** The space of all vectors by such models. Those of two organizations are never compared. */
export const OWN_SPACE = 'own';
/** From so many pieces of one base on there is something to learn. */
const ENOUGH = 200;
/** It is learnt anew when there are so many times as many pieces, until it was learnt from a full sample. */
const GROWN = 4;
/** What is learnt from: so many pieces, scattered over all. */
const SAMPLE = 20_000;
/** Pieces that are read at a time; others have their turn between. */
const PART = 50;
/** Models that a process keeps, the last used; each has 5 MB at most. */
const KEPT = 16;
const NIL = '00000000-0000-0000-0000-000000000000';

/** An organization that has something to learn from, and how much. */
export type Learner = Pick<KnowledgeOwnModel, 'org_id' | 'pieces'>;
type Piece = Pick<KnowledgeChunk, 'id' | 'content' | 'heading_path'>;

const LEARNERS = statement<Learner>(`
  WITH bases AS MATERIALIZED (
    SELECT t.org_id, t.kb_id, sum(t.chunks)::int AS pieces FROM knowledge_tallies t JOIN knowledge_bases b ON b.id = t.kb_id JOIN organizations o ON o.id = t.org_id
    WHERE b.deleted_at IS NULL AND o.deleted_at IS NULL AND o.suspended_at IS NULL GROUP BY t.org_id, t.kb_id
  ), orgs AS MATERIALIZED (SELECT org_id, sum(pieces)::int AS pieces FROM bases GROUP BY org_id HAVING max(pieces) >= ${ENOUGH})
  SELECT o.org_id, o.pieces FROM orgs o LEFT JOIN knowledge_own_models m ON m.org_id = o.org_id
  WHERE o.org_id <> ALL ($1::uuid[]) AND (m.org_id IS NULL OR (m.pieces < ${SAMPLE} AND o.pieces >= ${GROWN} * m.pieces)) ORDER BY m.pieces NULLS FIRST, o.org_id LIMIT 1`);
const SAMPLED = statement<Piece>(`
  SELECT c.id, c.content, c.heading_path FROM knowledge_chunks c JOIN knowledge_bases b ON b.id = c.kb_id
  WHERE c.org_id = $1 AND c.id > $2 AND c.source_id IS NOT NULL AND b.deleted_at IS NULL
    AND abs(hashtext(c.id::text)::bigint) % greatest(1, $3::int / ${SAMPLE}) = 0 ORDER BY c.id LIMIT ${PART}`);
// Two that learn at once come to the same; the first stays.
const STORE = statement<{ org_id: string }>(`
  INSERT INTO knowledge_own_models AS m (org_id, pieces, model, version) VALUES ($1, $2, $3, $4)
  ON CONFLICT (org_id) DO UPDATE SET pieces = $2, model = $3, version = $4, learnt_at = now() WHERE ${GROWN} * m.pieces <= $2 RETURNING org_id`);
// What others have said of texts is no longer comparable: it is said anew, and whoever is at it has lost it.
const LOOSE_BASES = statement(`UPDATE knowledge_bases SET embedding_model = NULL WHERE org_id = $1 AND embedding_model = '${OWN_SPACE}'`);
/** SQL of what belongs to the bases of an organization, which indexes find. */
const OF_BASES = 'org_id = $1 AND kb_id IN (SELECT b.id FROM knowledge_bases b WHERE b.org_id = $1)';
const LOOSE_SOURCES = statement(
  `UPDATE knowledge_sources SET embedded_as = CASE embedded_as WHEN '${OWN_SPACE}' THEN '' ELSE embedded_as END, embed_at = now() WHERE ${OF_BASES} AND chunk_count > 0`,
);
const DROP_VECTORS = statement(`DELETE FROM knowledge_vectors WHERE ${OF_BASES} AND model = '${OWN_SPACE}'`);
const VERSION = statement<Pick<KnowledgeOwnModel, 'version'>>('SELECT version FROM knowledge_own_models WHERE org_id = $1');
const LOAD = statement<Pick<KnowledgeOwnModel, 'version' | 'model'>>('SELECT version, model FROM knowledge_own_models WHERE org_id = $1');
const FORGET = statement<{ org_id: string }>(`
  DELETE FROM knowledge_own_models m USING organizations o WHERE o.id = m.org_id AND (o.deleted_at IS NOT NULL OR $1
    AND NOT EXISTS (SELECT FROM knowledge_bases b WHERE b.org_id = m.org_id AND b.deleted_at IS NULL AND b.embedding_model = '${OWN_SPACE}')) RETURNING m.org_id`);

/** A text as a piece is embedded: with the headings above it. */
export const textOf = ({ content, heading_path }: Pick<Piece, 'content' | 'heading_path'>): string => [...heading_path, content].join('\n');

/** What the platform has learnt of the pieces of organizations. */
@Injectable()
export class OwnModels {
  /** By organization, the last used last. */
  private readonly kept = new Map<string, { version: string; model: OwnModel }>();

  constructor(private readonly db: Database) {}

  /** What is known of the pieces of an organization; null where nothing is. */
  async of(orgId: string): Promise<OwnModel | null> {
    const kept = this.kept.get(orgId);
    const [now] = await this.db.query(VERSION, [orgId]);
    this.kept.delete(orgId);
    if (!now) return null;
    let current = kept?.version === now.version ? kept : undefined;
    if (!current) {
      const [row] = await this.db.query(LOAD, [orgId]);
      if (!row) return null;
      current = { version: row.version, model: OwnModel.unpack(row.model) };
    }
    this.kept.set(orgId, current);
    for (const oldest of this.kept.keys()) if (this.kept.size > KEPT) this.kept.delete(oldest);
    return current.model;
  }

  /** An organization from whose pieces there is something to learn, or more than last time. @param but those that are left out */
  async learner(but: readonly string[]): Promise<Learner | null> {
    return (await this.db.query(LEARNERS, [but]))[0] ?? null;
  }

  /** Learns from the pieces of an organization, which takes seconds; what was said of them before is dropped. */
  async learn({ org_id, pieces }: Learner): Promise<void> {
    const model = await OwnModel.learn(() => this.sample(org_id, pieces));
    await this.db.transaction(NO_CALLER, async (tx) => {
      if (!(await tx.query(STORE, [org_id, pieces, model.pack(), uuidv7()])).length) return;
      for (const loosen of [LOOSE_BASES, LOOSE_SOURCES, DROP_VECTORS]) await tx.execute(loosen, [org_id]);
    });
  }

  /** Forgets those of deleted organizations. @param named a model is named, so that those by which no base searches any more go, too. @returns how many */
  async forget(named: boolean): Promise<number> {
    return (await this.db.query(FORGET, [named])).length;
  }

  private async *sample(orgId: string, pieces: number): AsyncGenerator<string[]> {
    let after = NIL;
    for (;;) {
      const rows = await this.db.query(SAMPLED, [orgId, after, pieces]);
      if (!rows.length) return;
      yield rows.map(textOf);
      after = rows.at(-1)!.id;
    }
  }
}
