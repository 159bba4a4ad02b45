import { Injectable } from '@nestjs/common';
import { slugsFor } from '@aps/contracts';
import { Entitlements } from '@aps/billing';
import type { SharedBlock } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { Audit } from '@aps/platform/audit';
import { Database, refusingTakenSlug, takingSlug, type Columns, type Tx, type Where } from '@aps/platform/database';
import { In } from 'typeorm';
import { AgentReferences } from '../agent-references';
import { isSet } from '../agents.policy';
import { BlocksRepository, type BlockKind } from './blocks.repository';

type Settings = Pick<SharedBlock, 'name' | 'description' | 'shared_instruction' | 'shared_allowed_tools' | 'shared_mounted_skills'>;

/** What a caller sets of a team or a project. Absent leaves it as it is (or as it begins), null clears it. */
export type BlockInput<B extends SharedBlock> = Partial<Settings> & Partial<Omit<B, keyof SharedBlock>> & { slug?: string | null };

/** Makes, edits, orders and deletes teams and projects: what they share holds for the next turn of each of their agents. */
@Injectable()
export class SharedBlocks {
  constructor(
    private readonly db: Database,
    private readonly blocks: BlocksRepository,
    private readonly references: AgentReferences,
    private readonly entitlements: Entitlements,
    private readonly audit: Audit,
  ) {}

  /** A new one comes after all others. @throws DomainError `slug_taken`, `entitlement_required`; 422 `unknown_reference` */
  create<B extends SharedBlock>(scope: OrgScope, of: BlockKind<B>, input: BlockInput<B> & { name: string }): Promise<B> {
    const columns = columnsOf(input);
    return this.db.transaction(scope, async (tx) => {
      await this.blocks.lockOrder(tx, scope, of);
      await this.requireUsable(tx, scope, columns);
      const slugs = slugsFor(input.name, input.slug, of.kind);
      const taken = await of.rows.list(tx, scope, { slug: In(slugs) } as Where<B>, {});
      const place = { display_order: await this.blocks.nextPlace(tx, scope, of), created_by: scope.actor.userId };
      const block = await takingSlug(slugs, taken, (slug) =>
        of.rows.insertOrNothing(tx, scope, { ...columns, ...place, slug } as Columns<B>),
      );
      await this.audit.record(tx, scope, `${of.kind}.created`, { kind: of.kind, id: block.id }, { slug: block.slug });
      return block;
    });
  }

  /** @throws DomainError `not_found`, and as of {@link create} */
  update<B extends SharedBlock>(scope: OrgScope, of: BlockKind<B>, ref: string, input: BlockInput<B>): Promise<B> {
    const columns = { ...columnsOf(input), ...(isSet(input.slug) && { slug: input.slug }) };
    return this.db.transaction(scope, async (tx) => {
      const before = await of.rows.get(tx, scope, ref, 'for no key update');
      await this.requireUsable(tx, scope, columns, before);
      const block = await refusingTakenSlug(of.slugs, of.rows.update(tx, scope, before.id, columns as Columns<B>));
      await this.audit.record(tx, scope, `${of.kind}.updated`, { kind: of.kind, id: before.id }, { fields: Object.keys(columns) });
      return block!;
    });
  }

  /** Deletes one, and what it remembers; what is in it stays. Its slug is free again. */
  async delete<B extends SharedBlock>(scope: OrgScope, of: BlockKind<B>, ref: string): Promise<void> {
    await this.db.transaction(scope, async (tx) => {
      const { id, slug } = await of.rows.get(tx, scope, ref, 'for update');
      const target = { kind: of.kind, id };
      await this.blocks.empty(tx, scope, target);
      await this.blocks.forget(tx, scope, target);
      await of.rows.delete(tx, scope, id);
      await this.audit.record(tx, scope, `${of.kind}.deleted`, target, { slug });
    });
  }

  /** Puts the named first, in that order; the others follow in theirs. Who orders at the same time as another, orders after them. */
  async reorder<B extends SharedBlock>(scope: OrgScope, of: BlockKind<B>, ids: readonly string[]): Promise<void> {
    await this.db.transaction(scope, async (tx) => {
      await this.blocks.lockOrder(tx, scope, of);
      await this.blocks.reorder(tx, scope, of, ids);
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

function columnsOf<B extends SharedBlock>({ slug: _, ...input }: BlockInput<B>): Partial<Settings> {
  const given = Object.entries(input).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given.map(([field, value]) => [field, Array.isArray(value) ? [...new Set(value)] : value]));
}
