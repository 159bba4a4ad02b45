import { Injectable } from '@nestjs/common';
import { refuseField } from '@aps/contracts';
import { KnowledgeSource } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { advisoryLock, OrgTable, type Tx } from '@aps/platform/database';
import { DocumentsRepository } from './documents.repository';
import { inPlaceOf } from './tree.policy';

/** The pages of a base, as they stand below each other. Who changes that does so alone: two moves that cross would make a circle. */
@Injectable()
export class DocumentTree {
  private readonly rows = new OrgTable(KnowledgeSource, 'Document');

  constructor(private readonly documents: DocumentsRepository) {}

  /** Until the transaction ends nobody else changes how pages of the base stand. */
  lock(tx: Tx, kbId: string): Promise<void> {
    return advisoryLock(tx, `knowledge_tree:${kbId}`);
  }

  /**
   * Of a locked tree.
   *
   * @returns the page, and all that it stands below
   * @throws DomainError 422 `unknown_reference` for what is no page of the base
   */
  async lineOf(tx: Tx, scope: OrgScope, kbId: string, parentId: string): Promise<string[]> {
    const line = await this.documents.lineOf(tx, scope, kbId, parentId);
    if (!line.length) throw refuseField('unknown_reference', ['parent_id'], 'There is no such document in the base.');
    return line;
  }

  /** After all that stand below the same page. */
  lastPlace(tx: Tx, scope: OrgScope, kbId: string, parentId: string | null): Promise<number> {
    return this.documents.lastPlace(tx, scope, kbId, parentId);
  }

  /** What stands below a page stands where it stands, in its order. */
  async liftChildren(tx: Tx, scope: OrgScope, kbId: string, id: string): Promise<void> {
    await this.lock(tx, kbId);
    const { parent_id } = await this.rows.get(tx, scope, { id, kb_id: kbId });
    const children = await this.documents.below(tx, scope, kbId, id);
    if (!children.length) return;
    const siblings = await this.documents.below(tx, scope, kbId, parent_id);
    await this.documents.place(tx, scope, inPlaceOf(siblings, id, children));
    await this.documents.hang(tx, scope, children.map((child) => child.id), parent_id); // prettier-ignore
  }
}
