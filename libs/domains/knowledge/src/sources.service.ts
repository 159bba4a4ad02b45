import { Injectable } from '@nestjs/common';
import { DomainError, notFound, refuseField } from '@aps/contracts';
import { KnowledgeContent, KnowledgeSource } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { Audit } from '@aps/platform/audit';
import { Database, OrgTable, type Columns, type Tx } from '@aps/platform/database';
import { Egress } from '@aps/platform/egress';
import { Outbox } from '@aps/platform/outbox';
import { DocumentTree } from './document-tree';
import { KnowledgeQueries, type SourceView } from './knowledge.queries';
import { SourceFiles, type FileRef } from './source-files';
import { SourcesRepository } from './sources.repository';

/** Adds sources to bases, has them indexed anew, and deletes them. */
@Injectable()
export class KnowledgeSources {
  private readonly rows = new OrgTable(KnowledgeSource, 'Source');
  private readonly contents = new OrgTable(KnowledgeContent);

  constructor(
    private readonly db: Database,
    private readonly queries: KnowledgeQueries,
    private readonly sources: SourcesRepository,
    private readonly files: SourceFiles,
    private readonly tree: DocumentTree,
    private readonly egress: Egress,
    private readonly outbox: Outbox,
    private readonly audit: Audit,
  ) {}

  /** @throws DomainError `not_found` */
  addText(scope: OrgScope, kbId: string, { title, content }: { title: string; content: string }): Promise<SourceView> {
    return this.db.transaction(scope, async (tx) => {
      await this.sources.holdBase(tx, scope, kbId);
      const size_bytes = String(Buffer.byteLength(content));
      const id = await this.add(tx, scope, { kb_id: kbId, kind: 'text', title, size_bytes, media_type: 'text/markdown' });
      await this.contents.insert(tx, scope, { source_id: id, written: content });
      await this.sources.dispatch(tx, scope, [id]);
      return this.queries.source(scope, kbId, id, tx);
    });
  }

  /** All of them or none. @returns in the order of the request @throws DomainError `not_found`; 422 `unknown_reference` */
  async addFiles(scope: OrgScope, kbId: string, refs: readonly FileRef[]): Promise<SourceView[]> {
    await this.queries.get(scope, kbId);
    const files = await this.files.named(scope, refs);
    return this.db.transaction(scope, async (tx) => {
      await this.sources.holdBase(tx, scope, kbId);
      const ids: string[] = [];
      for (const [i, { file_id, filename, media_type, size_bytes }] of files.entries()) {
        const file = { file_id, media_type, size_bytes: String(size_bytes), title: refs[i].filename ?? filename };
        const id = await this.add(tx, scope, { kb_id: kbId, kind: 'file', ...file });
        await this.files.tie(tx, scope, id, file_id, i);
        ids.push(id);
      }
      await this.sources.dispatch(tx, scope, ids);
      return Promise.all(ids.map((id) => this.queries.source(scope, kbId, id, tx)));
    });
  }

  /** What stands at an address, which is kept as it is given. @throws DomainError `not_found`; 422 `address_refused` */
  async addUrl(scope: OrgScope, kbId: string, { url }: { url: string }): Promise<SourceView> {
    await this.queries.get(scope, kbId);
    await this.egress.assertPublicUrl(url, { field: 'url', purpose: 'source' }).catch((error: unknown) => {
      throw error instanceof DomainError ? refuseField('address_refused', ['url'], error.detail) : error;
    });
    return this.db.transaction(scope, async (tx) => {
      await this.sources.holdBase(tx, scope, kbId);
      const id = await this.add(tx, scope, { kb_id: kbId, kind: 'url', title: url, url });
      await this.sources.dispatch(tx, scope, [id]);
      return this.queries.source(scope, kbId, id, tx);
    });
  }

  /** Has a source indexed anew, from what is kept or from where it stands. @throws DomainError `not_found` */
  resync(scope: OrgScope, kbId: string, id: string): Promise<SourceView> {
    return this.db.transaction(scope, async (tx) => {
      await this.sources.holdBase(tx, scope, kbId);
      await this.queries.source(scope, kbId, id, tx);
      if (!(await this.sources.reindex(tx, scope, [id]))) throw notFound('Source');
      await this.audit.record(tx, scope, 'knowledge_source.resynced', id, { kb_id: kbId });
      return this.queries.source(scope, kbId, id, tx);
    });
  }

  /** Deletes a source with all that is found of it. What stands below a document stands where that stood. @throws DomainError `not_found` */
  async delete(scope: OrgScope, kbId: string, id: string): Promise<void> {
    await this.db.transaction(scope, async (tx) => {
      await this.sources.holdBase(tx, scope, kbId);
      const { kind } = await this.queries.source(scope, kbId, id, tx);
      if (kind === 'document') await this.tree.liftChildren(tx, scope, kbId, id);
      await this.rows.remove(tx, scope, { id, kb_id: kbId });
      await this.outbox.cancel(tx, id);
      await this.files.release(tx, scope, [id]);
      await this.audit.record(tx, scope, 'knowledge_source.deleted', id, { kb_id: kbId, kind });
    });
  }

  private async add(tx: Tx, scope: OrgScope, columns: Columns<KnowledgeSource> & Pick<KnowledgeSource, 'kb_id' | 'kind'>): Promise<string> {
    const { id } = await this.rows.insert(tx, scope, { ...columns, status: 'queued', created_by: scope.actor.userId });
    await this.audit.record(tx, scope, 'knowledge_source.added', id, { kb_id: columns.kb_id, kind: columns.kind });
    return id;
  }
}
