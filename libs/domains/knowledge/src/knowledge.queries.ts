import { Injectable } from '@nestjs/common';
import { notFound } from '@aps/contracts';
import { KnowledgeBase, listTally, NIL_UUID, sourceState, type KnowledgeChunk, type KnowledgeSource } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { Database, idOrNone, OrgListing, OrgTable, statement, type Db, type Listed, type Slice } from '@aps/platform/database';
import type { SourceState } from './sources.sql';

/** A base with what is in it. */
export interface KnowledgeBaseView extends KnowledgeBase {
  source_count: number;
  chunk_count: number;
  pending_count: number;
  failed_count: number;
}

/** A source as it is shown. */
export interface SourceView extends KnowledgeSource {
  state: SourceState;
}

/** A document with what it says. */
export interface DocumentView extends SourceView {
  content: string;
}

/** A piece without its words. */
export type ChunkView = Omit<KnowledgeChunk, 'words'>;

const sum = (of: string, states?: string[]) =>
  `coalesce(sum(t.${of})${states ? ` FILTER (WHERE t.state IN (${states.map((state) => `'${state}'`).join(', ')}))` : ''}, 0)::int`;
const BASES = new OrgListing<KnowledgeBaseView, { project_id?: string }>({
  key: 'b.id',
  org: 'b.org_id',
  select: 'b.*, n.*',
  from: `knowledge_bases b CROSS JOIN LATERAL (
    SELECT ${sum('sources')} AS source_count, ${sum('chunks')} AS chunk_count, ${sum('sources', ['PENDING', 'PROCESSING'])} AS pending_count, ${sum('sources', ['FAILED'])} AS failed_count
    FROM knowledge_tallies t WHERE t.kb_id = b.id) n`,
  found: 'knowledge_bases b',
  always: 'b.deleted_at IS NULL',
  where: { project_id: idOrNone('b.project_id') },
  tally: { from: listTally('knowledge_bases'), where: { project_id: idOrNone('t.of_id', NIL_UUID) } },
  order: 'b.created_at DESC, b.id DESC',
  what: 'Knowledge base',
});

const SOURCES = new OrgListing<SourceView, { kb_id: string }>({
  key: 's.id',
  org: 's.org_id',
  select: `s.*, ${sourceState('s')} AS state`,
  from: 'knowledge_sources s',
  where: { kb_id: 's.kb_id = $' },
  tally: { from: '(SELECT org_id, kb_id, sources AS n FROM knowledge_tallies) t', where: { kb_id: 't.kb_id = $' } },
  order: 's.created_at DESC, s.id DESC',
  what: 'Source',
});

const DOCUMENTS = new OrgListing<SourceView, { kb_id: string }>({
  key: 's.id',
  org: 's.org_id',
  select: `s.*, ${sourceState('s')} AS state`,
  from: 'knowledge_sources s',
  always: `s.kind = 'document'`,
  where: { kb_id: 's.kb_id = $' },
  order: 's.position, s.created_at, s.id',
  what: 'Document',
});

const CHUNKS = new OrgListing<ChunkView, { source_id: string }>({
  key: 'c.id',
  org: 'c.org_id',
  select: 'c.id, c.org_id, c.kb_id, c.source_id, c.position, c.content, c.heading_path, c.char_start, c.char_end, c.page, c.token_count',
  from: 'knowledge_chunks c',
  where: { source_id: 'c.source_id = $' },
  tally: { from: '(SELECT org_id, id, chunk_count AS n FROM knowledge_sources) t', where: { source_id: 't.id = $' } },
  order: 'c.position',
});

const EXISTING = statement<{ id: string }>(`
  SELECT s.id FROM knowledge_sources s JOIN knowledge_bases b ON b.id = s.kb_id WHERE s.org_id = $1 AND s.id = ANY ($2::uuid[]) AND b.deleted_at IS NULL`);
const WRITTEN = statement<{ written: string }>(
  `SELECT coalesce(written, '') AS written FROM knowledge_contents WHERE org_id = $1 AND source_id = $2`,
);

/** A source of a live base, as who may read that base reads it. */
export type ReadableSource = Pick<KnowledgeSource, 'kb_id' | 'title' | 'url' | 'version'> & { kb_slug: string };
const READABLE = statement<ReadableSource>(`
  SELECT s.kb_id, b.slug AS kb_slug, s.title, s.url, s.version FROM knowledge_sources s JOIN knowledge_bases b ON b.id = s.kb_id
  WHERE s.org_id = $1 AND s.id = $2 AND b.deleted_at IS NULL`);
// What was written is what is saved again; what was read from elsewhere is what pieces have their places in.
const TEXT = statement<{ text: string; characters: number }>(`
  SELECT substr(t.text, $3::int + 1, $4::int) AS text, length(t.text) AS characters
  FROM (SELECT coalesce((SELECT coalesce(written, extracted) FROM knowledge_contents WHERE org_id = $1 AND source_id = $2), '') AS text) t`);

/** Reads bases and what is in them. Never writes. What is below a deleted base is not there. */
@Injectable()
export class KnowledgeQueries {
  private readonly bases = new OrgTable(KnowledgeBase, 'Knowledge base');

  constructor(private readonly db: Database) {}

  /** Newest first. */
  list(scope: OrgScope, { project_id }: { project_id?: string }, page: Slice): Promise<Listed<KnowledgeBaseView>> {
    return BASES.page(this.db, scope, { project_id }, page);
  }

  /** @throws DomainError `not_found` */
  get(scope: OrgScope, id: string, db: Db = this.db): Promise<KnowledgeBaseView> {
    return BASES.get(db, scope, id, {});
  }

  /** Newest first. @throws DomainError `not_found` */
  async sources(scope: OrgScope, kbId: string, page: Slice): Promise<Listed<SourceView>> {
    await this.bases.get(this.db, scope, kbId);
    return SOURCES.page(this.db, scope, { kb_id: kbId }, page);
  }

  /** @throws DomainError `not_found` */
  async source(scope: OrgScope, kbId: string, id: string, db: Db = this.db): Promise<SourceView> {
    await this.bases.get(db, scope, kbId);
    return SOURCES.get(db, scope, id, { kb_id: kbId });
  }

  /** Those of the sources whose base is there. */
  existing(db: Db, scope: OrgScope, ids: readonly string[]): Promise<{ id: string }[]> {
    return db.query(EXISTING, [scope.orgId, ids]);
  }

  /** Null where there is none. */
  async readable(db: Db, scope: Pick<OrgScope, 'orgId'>, id: string): Promise<ReadableSource | null> {
    return (await db.query(READABLE, [scope.orgId, id]))[0] ?? null;
  }

  /** A part of what a source says, in code points; empty where nothing was read of it yet. */
  async textOf(
    db: Db,
    scope: Pick<OrgScope, 'orgId'>,
    id: string,
    part: { from: number; length: number },
  ): Promise<{ text: string; characters: number }> {
    return (await db.query(TEXT, [scope.orgId, id, part.from, part.length]))[0];
  }

  /** Of a source, in their order. @throws DomainError `not_found` */
  async chunksOf(scope: OrgScope, kbId: string, id: string, page: Slice): Promise<Listed<ChunkView>> {
    await this.source(scope, kbId, id);
    return CHUNKS.page(this.db, scope, { source_id: id }, page);
  }

  /** Of a base, siblings in their order. @throws DomainError `not_found` */
  async documents(scope: OrgScope, kbId: string, page: Slice): Promise<Listed<SourceView>> {
    await this.bases.get(this.db, scope, kbId);
    return DOCUMENTS.page(this.db, scope, { kb_id: kbId }, page);
  }

  /** @throws DomainError `not_found`, for sources that are no documents, too */
  async document(scope: OrgScope, kbId: string, id: string, db: Db = this.db): Promise<DocumentView> {
    await this.bases.get(db, scope, kbId);
    const item = await DOCUMENTS.get(db, scope, id, { kb_id: kbId });
    const [content] = await db.query(WRITTEN, [scope.orgId, id]);
    if (!content) throw notFound('Document');
    return { ...item, content: content.written };
  }
}
