import { Injectable } from '@nestjs/common';
import { NIL_UUID, type KnowledgeChunk, type KnowledgeOwnModel } from '@aps/entities';
import { WeightedLru } from '@aps/platform/cache';
import { advisoryLock, Database, NO_CALLER, statement } from '@aps/platform/database';
import { uuidv7 } from 'uuidv7';
import { OwnModel } from './own-model.policy';

/** What the spaces of such models begin with, in SQL too. */
export const OWN = 'own/';
/** From so many pieces of one base on there is something to learn. */
const ENOUGH = 200;
/** It is learnt anew when there are so many times as many pieces, until it was learnt from a full sample. */
const GROWN = 4;
/** What is learnt from: so many pieces, scattered over all. */
const SAMPLE = 20_000;
/** Pieces that are read at a time; others have their turn between. */
const PART = 50;
/** Whoever gives vectors by a model that another has come after is done by then. */
const LATE_MIN = 10;
/** Models that a process keeps, the last used, in bytes; each has 5.5 MB at most. */
const KEPT_BYTES = 128 * 1024 * 1024;

/** An organization that has something to learn from, and how much. */
export type Learner = Pick<KnowledgeOwnModel, 'org_id' | 'pieces'>;
type Piece = Pick<KnowledgeChunk, 'id' | 'content' | 'heading_path'>;

const LEARNERS = statement<Learner>(`
  WITH bases AS MATERIALIZED (
    SELECT t.org_id, t.kb_id, sum(t.chunks)::int AS pieces FROM knowledge_tallies t JOIN knowledge_bases b ON b.id = t.kb_id JOIN organizations o ON o.id = t.org_id
    WHERE b.deleted_at IS NULL AND o.deleted_at IS NULL AND o.suspended_at IS NULL GROUP BY t.org_id, t.kb_id
  ), orgs AS MATERIALIZED (SELECT org_id, sum(pieces)::int AS pieces FROM bases GROUP BY org_id HAVING max(pieces) >= ${ENOUGH})
  SELECT o.org_id, o.pieces FROM orgs o CROSS JOIN LATERAL (SELECT max(m.pieces) AS pieces FROM knowledge_own_models m WHERE m.org_id = o.org_id) m
  WHERE o.org_id <> ALL ($1::uuid[]) AND (m.pieces IS NULL OR (m.pieces < ${SAMPLE} AND o.pieces >= ${GROWN} * m.pieces)) ORDER BY m.pieces NULLS FIRST, o.org_id LIMIT 1`);
const SAMPLED = statement<Piece>(`
  SELECT c.id, c.content, c.heading_path FROM knowledge_chunks c JOIN knowledge_bases b ON b.id = c.kb_id
  WHERE c.org_id = $1 AND c.id > $2 AND c.source_id IS NOT NULL AND b.deleted_at IS NULL
    AND abs(hashtext(c.id::text)::bigint) % greatest(1, $3::int / ${SAMPLE}) = 0 ORDER BY c.id LIMIT ${PART}`);
// Two that learn at once come to the same; the first stays. Of two learnt in the same moment nobody would know which is the newest.
const STORE = statement(`
  INSERT INTO knowledge_own_models (org_id, pieces, model, version, learnt_at) SELECT $1, $2, $3, $4, clock_timestamp()
  WHERE NOT EXISTS (SELECT FROM knowledge_own_models m WHERE m.org_id = $1 AND ${GROWN} * m.pieces > $2)`);
const VERSIONS = statement<Pick<KnowledgeOwnModel, 'version'>>(
  'SELECT version FROM knowledge_own_models WHERE org_id = $1 ORDER BY learnt_at DESC',
);
const LOAD = statement<Pick<KnowledgeOwnModel, 'model'>>('SELECT model FROM knowledge_own_models WHERE org_id = $1 AND version = $2');
// One that any base is searched by stays, and one that a source has its vectors by: by that it is known that it waits for others.
const FORGET = statement<{ org_id: string }>(`
  DELETE FROM knowledge_own_models m USING organizations o WHERE o.id = m.org_id AND (o.deleted_at IS NOT NULL OR (
    $1 OR EXISTS (SELECT FROM knowledge_own_models n WHERE n.org_id = m.org_id AND n.learnt_at > m.learnt_at AND n.learnt_at < now() - interval '${LATE_MIN} minutes'))
    AND NOT EXISTS (SELECT FROM knowledge_bases b WHERE b.org_id = m.org_id AND b.deleted_at IS NULL AND b.embedding_model = '${OWN}' || m.version)
    AND NOT EXISTS (SELECT FROM knowledge_sources s JOIN knowledge_bases b ON b.id = s.kb_id
      WHERE s.chunk_count > 0 AND s.embedded_as = '${OWN}' || m.version AND s.org_id = m.org_id AND b.deleted_at IS NULL)) RETURNING m.org_id`);

/** A text as a piece is embedded: with the headings above it. */
export const textOf = ({ content, heading_path }: Pick<Piece, 'content' | 'heading_path'>): string => [...heading_path, content].join('\n');

/** What the platform has learnt of the pieces of organizations. */
@Injectable()
export class OwnModels {
  /** By version, as what follows. */
  private readonly kept = new WeightedLru<OwnModel>(KEPT_BYTES);
  /** What is being loaded: once, for all who want it. */
  private readonly loading = new Map<string, Promise<OwnModel | null>>();

  constructor(private readonly db: Database) {}

  /**
   * What is known of the pieces of an organization; null where nothing is.
   *
   * @param space of what was known of them at one time; without it, what is known now
   */
  async of(orgId: string, space?: string): Promise<{ model: OwnModel; space: string } | null> {
    const versions = (await this.db.query(VERSIONS, [orgId])).map(({ version }) => version);
    const version = space === undefined ? versions[0] : versions.find((each) => OWN + each === space);
    if (version === undefined) return null;
    const model = this.kept.get(version) ?? (await this.loaded(orgId, version));
    return model && { model, space: OWN + version };
  }

  /** An organization from whose pieces there is something to learn, or more than last time. @param but those that are left out */
  async learner(but: readonly string[]): Promise<Learner | null> {
    return (await this.db.query(LEARNERS, [but]))[0] ?? null;
  }

  /** Learns from the pieces of an organization, which takes seconds. What was known before serves until all of a base was said anew. */
  async learn({ org_id, pieces }: Learner): Promise<void> {
    const model = await OwnModel.learn(() => this.sample(org_id, pieces));
    await this.db.transaction(NO_CALLER, async (tx) => {
      await advisoryLock(tx, `knowledge_own_models:${org_id}`);
      await tx.execute(STORE, [org_id, pieces, model.pack(), uuidv7()]);
    });
  }

  /** Forgets those of deleted organizations, and earlier ones that nothing is left of. @param named a model is named, so that the newest go as well. @returns how many */
  async forget(named: boolean): Promise<number> {
    return (await this.db.query(FORGET, [named])).length;
  }

  private loaded(orgId: string, version: string): Promise<OwnModel | null> {
    const loading = this.loading.get(version) ?? this.load(orgId, version).finally(() => this.loading.delete(version));
    this.loading.set(version, loading);
    return loading;
  }

  private async load(orgId: string, version: string): Promise<OwnModel | null> {
    const [row] = await this.db.query(LOAD, [orgId, version]);
    if (!row) return null;
    const model = OwnModel.unpack(row.model);
    this.kept.set(version, model, model.bytes);
    return model;
  }

  private async *sample(orgId: string, pieces: number): AsyncGenerator<string[]> {
    let after = NIL_UUID;
    for (;;) {
      const rows = await this.db.query(SAMPLED, [orgId, after, pieces]);
      if (!rows.length) return;
      yield rows.map(textOf);
      after = rows.at(-1)!.id;
    }
  }
}
