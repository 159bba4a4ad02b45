import { Injectable } from '@nestjs/common';
import type { AgentRevision } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { sliceBounds, statement, type Db, type Slice, type Tx } from '@aps/platform/database';
import type { SealedAgentConfig } from './sealed-config';

export type RevisionRow = Omit<AgentRevision, 'config'> & { config: SealedAgentConfig };

/** A revision as it is shown. */
export type RevisionView = RevisionRow & { is_live: boolean };

const VIEW = `
  SELECT r.*, r.id = a.live_revision_id AS is_live
  FROM agent_revisions r JOIN agents a ON a.id = r.agent_id
  WHERE r.org_id = $1 AND r.agent_id = $2`;

const ONE = statement<RevisionView>(`${VIEW} AND r.id = $3`);
const LIST = statement<RevisionView>(`${VIEW} ORDER BY r.version DESC LIMIT $3 OFFSET $4`);
const COUNT = statement<{ total: number }>('SELECT count(*)::int AS total FROM agent_revisions WHERE org_id = $1 AND agent_id = $2');
const LATEST = statement<{ id: string; hash: string }>(
  'SELECT id, hash FROM agent_revisions WHERE org_id = $1 AND agent_id = $2 ORDER BY version DESC LIMIT 1',
);
const CONFIG = statement<{ config: SealedAgentConfig; size: number }>(
  'SELECT config, octet_length(config::text) AS size FROM agent_revisions WHERE id = $1',
);
const INSERT = statement(`
  INSERT INTO agent_revisions (id, org_id, agent_id, version, hash, config, created_by, created_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, clock_timestamp())`);

/** The only file that names the table of sealed revisions. It has no update: a revision never changes. */
@Injectable()
export class RevisionsRepository {
  async find(db: Db, scope: OrgScope, agentId: string, id: string): Promise<RevisionView | null> {
    const [row] = await db.query(ONE, [scope.orgId, agentId, id]);
    return row ?? null;
  }

  async list(db: Db, scope: OrgScope, agentId: string, page: Slice): Promise<{ items: RevisionView[]; total: number }> {
    const items = await db.query(LIST, [scope.orgId, agentId, ...sliceBounds(page)]);
    const [{ total }] = await db.query(COUNT, [scope.orgId, agentId]);
    return { items, total };
  }

  async latest(db: Db, scope: OrgScope, agentId: string): Promise<{ id: string; hash: string } | null> {
    const [row] = await db.query(LATEST, [scope.orgId, agentId]);
    return row ?? null;
  }

  async insert(
    tx: Tx,
    scope: OrgScope,
    row: { id: string; agent_id: string; version: number; hash: string; config: SealedAgentConfig },
  ): Promise<void> {
    await tx.execute(INSERT, [row.id, scope.orgId, row.agent_id, row.version, row.hash, JSON.stringify(row.config), scope.actor.userId]);
  }

  /** By id alone: who holds the id of a revision got it from a row of the same organization. */
  async config(db: Db, id: string): Promise<{ config: SealedAgentConfig; size: number } | null> {
    const [row] = await db.query(CONFIG, [id]);
    return row ?? null;
  }
}
