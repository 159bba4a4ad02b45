import { Injectable } from '@nestjs/common';
import { slugsFor } from '@aps/contracts';
import { Entitlements } from '@aps/billing';
import type { SharedBlock } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { Audit } from '@aps/platform/audit';
import { advisoryLock, changesOf, Database, refusingTakenSlug, type Columns, type Tx } from '@aps/platform/database';
import { AgentReferences } from '../agent-references';
import { columnsOf, isSet } from '../agents.policy';
import { EMPTY, FORGET, NEXT_PLACE, REORDER, type BlockKind } from './blocks.sql';

type Settings = Pick<SharedBlock, 'name' | 'description' | 'shared_instruction' | 'shared_allowed_tools' | 'shared_mounted_skills'>;

/** What a caller sets of a team or a project. Absent leaves it as it is (or as it begins), null clears it. */
export type BlockInput<B extends SharedBlock> = Partial<Settings> & Partial<Omit<B, keyof SharedBlock>> & { slug?: string | null };

/** Nobody else takes a slug, or a place in the order, before the transaction ends. */
const lockOrder = (tx: Tx, scope: OrgScope, { kind }: { kind: string }) => advisoryLock(tx, `${kind}s:${scope.orgId}`);

/** Makes, edits, orders and deletes teams and projects: what they share holds for the next turn of each of their agents. */
@Injectable()
export class SharedBlocks {
  constructor(
    private readonly db: Database,
    private readonly references: AgentReferences,
    private readonly entitlements: Entitlements,
    private readonly audit: Audit,
  ) {}

  /** A new one comes after all others. @throws DomainError `slug_taken`, `entitlement_required`; 422 `unknown_reference` */
  create<B extends SharedBlock>(scope: OrgScope, of: BlockKind<B>, input: BlockInput<B> & { name: string }): Promise<B> {
    const columns = columnsOf<Settings>(input);
    return this.db.transaction(scope, async (tx) => {
      await lockOrder(tx, scope, of);
      await this.requireUsable(tx, scope, columns);
      const slugs = slugsFor(input.name, input.slug, of.kind);
      const [{ place: display_order }] = await tx.query(NEXT_PLACE[of.kind], [scope.orgId]);
      const row = { ...columns, display_order, created_by: scope.actor.userId } as Columns<B>;
      const block = await of.rows.insertUnder(tx, scope, slugs, row);
      await this.audit.record(tx, scope, `${of.kind}.created`, block.id, { slug: block.slug });
      return block;
    });
  }

  /** @throws DomainError `not_found`, and as of {@link create} */
  update<B extends SharedBlock>(scope: OrgScope, of: BlockKind<B>, ref: string, input: BlockInput<B>): Promise<B> {
    const columns = { ...columnsOf<Settings>(input), ...(isSet(input.slug) && { slug: input.slug }) };
    return this.db.transaction(scope, async (tx) => {
      const before = await of.rows.get(tx, scope, ref, 'for no key update');
      await this.requireUsable(tx, scope, columns, before);
      const changes = changesOf(before, columns as Partial<B>);
      const fields = Object.keys(changes);
      if (!fields.length) return before;
      const block = await refusingTakenSlug(of.slugs, of.rows.update(tx, scope, before.id, changes as Columns<B>));
      await this.audit.record(tx, scope, `${of.kind}.updated`, before.id, { fields });
      return block!;
    });
  }

  /** Deletes one, and what it remembers; what is in it stays. Its slug is free again. */
  async delete<B extends SharedBlock>(scope: OrgScope, of: BlockKind<B>, ref: string): Promise<void> {
    await this.db.transaction(scope, async (tx) => {
      const { id, slug } = await of.rows.get(tx, scope, ref, 'for update');
      for (const emptied of EMPTY[of.kind]) await tx.execute(emptied, [scope.orgId, id]);
      await tx.execute(FORGET, [scope.orgId, of.kind, id]);
      await of.rows.delete(tx, scope, id);
      await this.audit.record(tx, scope, `${of.kind}.deleted`, id, { slug });
    });
  }

  /** Puts the named first, in that order; the others follow in theirs. Who orders at the same time as another, orders after them. */
  async reorder<B extends SharedBlock>(scope: OrgScope, of: BlockKind<B>, ids: readonly string[]): Promise<void> {
    await this.db.transaction(scope, async (tx) => {
      await lockOrder(tx, scope, of);
      if (await tx.execute(REORDER[of.kind], [scope.orgId, ids]))
        await this.audit.record(tx, scope, `${of.kind}s.reordered`, { kind: 'organization', id: scope.orgId }, {});
    });
  }

  /** What is set anew, needs the plan and has to be there; what is cleared or sent again as it is, does not. */
  private async requireUsable(tx: Tx, scope: OrgScope, columns: Partial<Settings>, before?: Settings): Promise<void> {
    const { shared_instruction: text, shared_allowed_tools: allowed_tools, shared_mounted_skills: mounted_skills } = columns;
    if (text?.trim() && text !== before?.shared_instruction) await this.entitlements.require(scope.orgId, 'shared_blocks', tx);
    await this.references.require(
      tx,
      scope,
      { allowed_tools, mounted_skills },
      { prefix: 'shared_', before: before?.shared_allowed_tools },
    );
  }
}
