import { Injectable } from '@nestjs/common';
import { AgentRevision } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { OrgListing, OrgTable, statement, type Db, type Listed, type Slice, type Tx } from '@aps/platform/database';
import type { SealedAgentConfig } from './sealed-config';

export type RevisionRow = Omit<AgentRevision, 'config'> & { config: SealedAgentConfig };

/** A revision as it is shown. */
export type RevisionView = RevisionRow & { is_live: boolean };

const VIEWS = new OrgListing<RevisionView, { agent_id: string }>({
  key: 'r.id',
  org: 'r.org_id',
  select: 'r.*, r.id = a.live_revision_id AS is_live',
  from: 'agent_revisions r JOIN agents a ON a.id = r.agent_id',
  where: { agent_id: 'r.agent_id = $' },
  order: 'r.version DESC',
  what: 'Revision',
});
const LATEST = statement<{ id: string; hash: string }>(
  'SELECT id, hash FROM agent_revisions WHERE org_id = $1 AND agent_id = $2 ORDER BY version DESC LIMIT 1',
);
const CONFIG = statement<{ config: SealedAgentConfig; size: number }>(
  'SELECT config, octet_length(config::text) AS size FROM agent_revisions WHERE id = $1',
);

/** Sealed revisions. There is no update: a revision never changes. */
@Injectable()
export class RevisionsRepository {
  private readonly revisions = new OrgTable(AgentRevision);

  /** @throws DomainError `not_found` */
  get(db: Db, scope: OrgScope, agentId: string, id: string): Promise<RevisionView> {
    return VIEWS.get(db, scope, id, { agent_id: agentId });
  }

  list(db: Db, scope: OrgScope, agentId: string, page: Slice): Promise<Listed<RevisionView>> {
    return VIEWS.page(db, scope, { agent_id: agentId }, page);
  }

  async latest(db: Db, scope: OrgScope, agentId: string): Promise<{ id: string; hash: string } | null> {
    const [row] = await db.query(LATEST, [scope.orgId, agentId]);
    return row ?? null;
  }

  insert(
    tx: Tx,
    scope: OrgScope,
    row: { agent_id: string; version: number; hash: string; config: SealedAgentConfig },
  ): Promise<AgentRevision> {
    return this.revisions.insert(tx, scope, { ...row, config: { ...row.config }, created_by: scope.actor.userId });
  }

  /** By id alone: who holds the id of a revision got it from a row of the same organization. */
  async config(db: Db, id: string): Promise<{ config: SealedAgentConfig; size: number } | null> {
    const [row] = await db.query(CONFIG, [id]);
    return row ?? null;
  }
}
