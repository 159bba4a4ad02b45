import { Injectable } from '@nestjs/common';
import { DomainError, refuseField } from '@aps/contracts';
import { KnowledgeContent, KnowledgeSource } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { Audit } from '@aps/platform/audit';
import { Database, now, OrgTable, type Db } from '@aps/platform/database';
import { DocumentTree } from './document-tree';
import { KnowledgeQueries, type DocumentView } from './knowledge.queries';
import { SourcesRepository } from './sources.repository';
import { versionText } from './tree.policy';

/** What a new document is; absent is as it begins. */
export interface DocumentInput {
  title?: string;
  content?: string;
  parent_id?: string | null;
  position?: number | null;
}

/** What is saved of a document; absent stays. */
export interface DocumentSave {
  title?: string;
  content?: string;
  /** The version that was read; null or absent for whatever it is. */
  base_version?: string | null;
}

/** Writes documents, which are sources of their base, and puts them below each other. */
@Injectable()
export class KnowledgeDocuments {
  private readonly rows = new OrgTable(KnowledgeSource, 'Document');
  private readonly contents = new OrgTable(KnowledgeContent);

  constructor(
    private readonly db: Database,
    private readonly queries: KnowledgeQueries,
    private readonly sources: SourcesRepository,
    private readonly tree: DocumentTree,
    private readonly audit: Audit,
  ) {}

  /** One that says nothing is ready at once. @throws DomainError `not_found`; 422 `unknown_reference` */
  create(
    scope: OrgScope,
    kbId: string,
    { title = 'Untitled', content = '', parent_id = null, position }: DocumentInput,
    db: Db = this.db,
  ): Promise<DocumentView> {
    return db.transaction(scope, async (tx) => {
      await this.sources.holdBase(tx, scope, kbId);
      await this.tree.lock(tx, kbId);
      if (parent_id !== null) await this.tree.lineOf(tx, scope, kbId, parent_id);
      const isEmpty = content.trim() === '';
      const by = { created_by: scope.actor.userId, updated_by: scope.actor.userId };
      const { id } = await this.rows.insert(tx, scope, {
        ...{ kb_id: kbId, kind: 'document', title, parent_id, version: 1, ...by },
        ...{ position: position ?? (await this.tree.lastPlace(tx, scope, kbId, parent_id)) },
        ...{ media_type: 'text/markdown', size_bytes: String(Buffer.byteLength(content)) },
        ...(isEmpty ? { status: 'ready', finished_at: now, indexed_at: now } : { status: 'queued' }),
      });
      await this.contents.insert(tx, scope, { source_id: id, written: content });
      await (isEmpty ? this.sources.tell(tx, scope.orgId, [id]) : this.sources.dispatch(tx, scope, [id]));
      await this.audit.record(tx, scope, 'knowledge_document.created', id, { kb_id: kbId });
      return this.queries.document(scope, kbId, id, tx);
    });
  }

  /**
   * Only what differs makes a new version, and only another content is indexed anew.
   *
   * @throws DomainError `not_found`; 409 `version_conflict` where somebody has saved since
   */
  save(scope: OrgScope, kbId: string, id: string, { title, content, base_version }: DocumentSave, db: Db = this.db): Promise<DocumentView> {
    return db.transaction(scope, async (tx) => {
      await this.sources.holdBase(tx, scope, kbId);
      const { version } = await this.rows.get(tx, scope, { id, kb_id: kbId, kind: 'document' }, 'for no key update');
      const current_version = versionText(version!);
      if ((base_version ?? current_version) !== current_version)
        throw new DomainError('version_conflict', 'The document has been saved since it was read.', { context: { current_version } });
      const before = await this.queries.document(scope, kbId, id, tx);
      const retitled = title !== undefined && title !== before.title;
      const rewritten = content !== undefined && content !== before.content;
      if (!retitled && !rewritten) return before;
      const size_bytes = rewritten ? String(Buffer.byteLength(content)) : undefined;
      await this.rows.update(tx, scope, id, { title, size_bytes, version: version! + 1, updated_by: scope.actor.userId });
      if (retitled) await this.sources.retitle(tx, id, title);
      if (rewritten) {
        await this.contents.update(tx, scope, { source_id: id }, { written: content });
        await this.sources.reindex(tx, scope, [id]);
      }
      const fields = [...(retitled ? ['title'] : []), ...(rewritten ? ['content'] : [])];
      await this.audit.record(tx, scope, 'knowledge_document.saved', id, { fields, version: versionText(version! + 1) });
      return this.queries.document(scope, kbId, id, tx);
    });
  }

  /** What stands below it moves along; its version stays. @throws DomainError `not_found`; 422 `unknown_reference`, `cycle` */
  move(
    scope: OrgScope,
    kbId: string,
    id: string,
    { position, parent_id }: { position: number; parent_id?: string | null },
  ): Promise<DocumentView> {
    return this.db.transaction(scope, async (tx) => {
      await this.sources.holdBase(tx, scope, kbId);
      await this.tree.lock(tx, kbId);
      await this.rows.get(tx, scope, { id, kb_id: kbId, kind: 'document' });
      if (parent_id && (await this.tree.lineOf(tx, scope, kbId, parent_id)).includes(id))
        throw refuseField('cycle', ['parent_id'], 'A document cannot stand below itself.');
      await this.rows.update(tx, scope, id, { position, parent_id });
      await this.audit.record(tx, scope, 'knowledge_document.moved', id, {
        position,
        ...(parent_id !== undefined && { parent_id }),
      });
      return this.queries.document(scope, kbId, id, tx);
    });
  }
}
