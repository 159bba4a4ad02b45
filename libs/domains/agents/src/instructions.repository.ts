import { Injectable } from '@nestjs/common';
import type { InstructionRevision } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { sliceBounds, statement, type Db, type Slice, type Tx } from '@aps/platform/database';
import { uuidv7 } from 'uuidv7';

const CURRENT = statement<InstructionRevision>(
  `SELECT * FROM instruction_revisions WHERE org_id = $1 AND agent_id = $2 AND state IN ('active', 'draft')`,
);
const LIST = statement<InstructionRevision>(`
  SELECT * FROM instruction_revisions WHERE org_id = $1 AND agent_id = $2
  ORDER BY version DESC NULLS FIRST LIMIT $3 OFFSET $4`);
const COUNT = statement<{ total: number }>('SELECT count(*)::int AS total FROM instruction_revisions WHERE org_id = $1 AND agent_id = $2');
const INSERT_DRAFT = statement(`
  INSERT INTO instruction_revisions (id, org_id, agent_id, state, content, base_revision_id, created_by, created_at, updated_at)
  VALUES ($1, $2, $3, 'draft', $4, $5, $6, clock_timestamp(), clock_timestamp())`);
const UPDATE_DRAFT = statement(`
  UPDATE instruction_revisions SET content = $3, updated_at = clock_timestamp()
  WHERE org_id = $1 AND agent_id = $2 AND state = 'draft'`);
const DELETE_DRAFT = statement(`DELETE FROM instruction_revisions WHERE org_id = $1 AND agent_id = $2 AND state = 'draft'`);
const SUPERSEDE = statement(`
  UPDATE instruction_revisions SET state = 'superseded', updated_at = clock_timestamp()
  WHERE org_id = $1 AND agent_id = $2 AND state = 'active'`);
const PUBLISH_DRAFT = statement(`
  UPDATE instruction_revisions SET state = 'active', version = $3, published_at = clock_timestamp(), updated_at = clock_timestamp()
  WHERE org_id = $1 AND agent_id = $2 AND state = 'draft'`);
const INSERT_ACTIVE = statement(`
  INSERT INTO instruction_revisions (id, org_id, agent_id, version, state, content, base_revision_id, created_by, published_at, created_at, updated_at)
  VALUES ($1, $2, $3, $4, 'active', $5, $6, $7, clock_timestamp(), clock_timestamp(), clock_timestamp())`);

export interface CurrentInstruction {
  active: InstructionRevision | null;
  draft: InstructionRevision | null;
}

/** The only file that names the table of instruction revisions. */
@Injectable()
export class InstructionsRepository {
  async current(db: Db, scope: OrgScope, agentId: string): Promise<CurrentInstruction> {
    const rows = await db.query(CURRENT, [scope.orgId, agentId]);
    return { active: rows.find((r) => r.state === 'active') ?? null, draft: rows.find((r) => r.state === 'draft') ?? null };
  }

  async list(db: Db, scope: OrgScope, agentId: string, page: Slice): Promise<{ items: InstructionRevision[]; total: number }> {
    const items = await db.query(LIST, [scope.orgId, agentId, ...sliceBounds(page)]);
    const [{ total }] = await db.query(COUNT, [scope.orgId, agentId]);
    return { items, total };
  }

  async writeDraft(tx: Tx, scope: OrgScope, agentId: string, content: string, baseId: string | null): Promise<void> {
    if ((await tx.execute(UPDATE_DRAFT, [scope.orgId, agentId, content])) > 0) return;
    await tx.execute(INSERT_DRAFT, [uuidv7(), scope.orgId, agentId, content, baseId, scope.actor.userId]);
  }

  /** @returns whether there was one */
  async deleteDraft(tx: Tx, scope: OrgScope, agentId: string): Promise<boolean> {
    return (await tx.execute(DELETE_DRAFT, [scope.orgId, agentId])) > 0;
  }

  /** Makes the draft the active revision. @returns whether there was one */
  async publishDraft(tx: Tx, scope: OrgScope, agentId: string, version: number): Promise<boolean> {
    await tx.execute(SUPERSEDE, [scope.orgId, agentId]);
    return (await tx.execute(PUBLISH_DRAFT, [scope.orgId, agentId, version])) > 0;
  }

  /** Makes a text the active revision, past the draft. */
  async insertActive(tx: Tx, scope: OrgScope, agentId: string, version: number, content: string, baseId: string | null): Promise<void> {
    await tx.execute(SUPERSEDE, [scope.orgId, agentId]);
    await tx.execute(INSERT_ACTIVE, [uuidv7(), scope.orgId, agentId, version, content, baseId, scope.actor.userId]);
  }
}
