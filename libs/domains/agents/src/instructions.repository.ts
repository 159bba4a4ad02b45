import { Injectable } from '@nestjs/common';
import { InstructionRevision } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { now, OrgTable, type Db, type Listed, type Slice, type Tx } from '@aps/platform/database';
import { In } from 'typeorm';

export interface CurrentInstruction {
  active: InstructionRevision | null;
  draft: InstructionRevision | null;
}

/** Versions of instructions. An agent has one active and one draft at most; whoever writes them holds the agent's lock. */
@Injectable()
export class InstructionsRepository {
  private readonly revisions = new OrgTable(InstructionRevision);

  async current(db: Db, scope: OrgScope, agentId: string): Promise<CurrentInstruction> {
    const rows = await this.revisions.list(db, scope, { agent_id: agentId, state: In(['active', 'draft']) }, {});
    return { active: rows.find((r) => r.state === 'active') ?? null, draft: rows.find((r) => r.state === 'draft') ?? null };
  }

  /** The draft, then the newest first. */
  list(db: Db, scope: OrgScope, agentId: string, page: Slice): Promise<Listed<InstructionRevision>> {
    // NULLs, which drafts have, come first where the order is descending.
    return this.revisions.page(db, scope, { agent_id: agentId }, { version: 'DESC' }, page);
  }

  async writeDraft(tx: Tx, scope: OrgScope, agentId: string, content: string, baseId: string | null): Promise<void> {
    const draft = { agent_id: agentId, state: 'draft' } as const;
    if (await this.revisions.update(tx, scope, draft, { content })) return;
    await this.revisions.insert(tx, scope, { ...draft, content, base_revision_id: baseId, created_by: scope.actor.userId });
  }

  /** @returns whether there was one */
  async deleteDraft(tx: Tx, scope: OrgScope, agentId: string): Promise<boolean> {
    return (await this.revisions.delete(tx, scope, { agent_id: agentId, state: 'draft' })) !== null;
  }

  /** Makes the draft the active revision. @returns whether there was one */
  async publishDraft(tx: Tx, scope: OrgScope, agentId: string, version: number): Promise<boolean> {
    await this.supersede(tx, scope, agentId);
    return (await this.revisions.update(tx, scope, { agent_id: agentId, state: 'draft' }, { ...PUBLISHED, version })) !== null;
  }

  /** Makes a text the active revision, past the draft. */
  async insertActive(tx: Tx, scope: OrgScope, agentId: string, version: number, content: string, baseId: string | null): Promise<void> {
    await this.supersede(tx, scope, agentId);
    const made = { agent_id: agentId, version, content, base_revision_id: baseId, created_by: scope.actor.userId };
    await this.revisions.insert(tx, scope, { ...PUBLISHED, ...made });
  }

  private async supersede(tx: Tx, scope: OrgScope, agentId: string): Promise<void> {
    await this.revisions.update(tx, scope, { agent_id: agentId, state: 'active' }, { state: 'superseded' });
  }
}

const PUBLISHED = { state: 'active', published_at: now } as const;
