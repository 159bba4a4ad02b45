import { Injectable } from '@nestjs/common';
import { slugsFor } from '@aps/contracts';
import { KnowledgeBase } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { Audit } from '@aps/platform/audit';
import { changesOf, Database, Deletions, OrgTable } from '@aps/platform/database';
import { KnowledgeQueries, type KnowledgeBaseView } from './knowledge.queries';

/** What a caller sets of a base. Absent leaves it as it is, null clears it. */
export type KnowledgeBaseInput = Partial<Pick<KnowledgeBase, 'name' | 'description'>>;

/** Makes, edits and deletes knowledge bases. */
@Injectable()
export class KnowledgeBases {
  private readonly bases = new OrgTable(KnowledgeBase, 'Knowledge base');

  constructor(
    private readonly db: Database,
    private readonly queries: KnowledgeQueries,
    private readonly deletions: Deletions,
    private readonly audit: Audit,
  ) {}

  /** Its slug, as wished or made from its name, stays. @throws DomainError `slug_taken` */
  create(
    scope: OrgScope,
    { slug: wished, ...input }: KnowledgeBaseInput & { name: string; slug?: string | null },
  ): Promise<KnowledgeBaseView> {
    return this.db.transaction(scope, async (tx) => {
      const slugs = slugsFor(input.name, wished, 'knowledge');
      const { id, slug } = await this.bases.insertUnder(tx, scope, slugs, { ...input, created_by: scope.actor.userId });
      await this.audit.record(tx, scope, 'knowledge_base.created', id, { slug });
      return this.queries.get(scope, id, tx);
    });
  }

  /** @throws DomainError `not_found` */
  update(scope: OrgScope, id: string, { name, description }: KnowledgeBaseInput): Promise<KnowledgeBaseView> {
    return this.db.transaction(scope, async (tx) => {
      const changes = changesOf<KnowledgeBaseInput>(await this.bases.get(tx, scope, id, 'for no key update'), { name, description });
      const fields = Object.keys(changes);
      if (fields.length) {
        await this.bases.update(tx, scope, id, changes);
        await this.audit.record(tx, scope, 'knowledge_base.updated', id, { fields });
      }
      return this.queries.get(scope, id, tx);
    });
  }

  /** Its slug is free again. Nobody finds or opens what is in it from the commit on; what is being indexed is dropped. @throws DomainError `not_found` */
  async delete(scope: OrgScope, id: string): Promise<void> {
    await this.db.transaction(scope, async (tx) => {
      const gone = await this.bases.remove(tx, scope, id);
      await this.deletions.tell(tx, { kind: 'knowledge_base', orgId: scope.orgId, id, slug: gone.slug });
      await this.audit.record(tx, scope, 'knowledge_base.deleted', id, { slug: gone.slug });
    });
  }
}
