import { Injectable } from '@nestjs/common';
import { Rollout } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { now, OrgTable, statement, type Db, type Listed, type Slice, type Tx } from '@aps/platform/database';

// The clock and not now(): deployments wait for each other, and now() is when a transaction began to wait.
const END_CURRENT = statement<Pick<Rollout, 'id' | 'kind'>>(`
  UPDATE rollouts SET status = 'superseded', ended_at = clock_timestamp()
  WHERE org_id = $1 AND agent_id = $2 AND status IN ('live', 'running')
  RETURNING id, kind`);

/** Rollouts. Partial unique indexes allow one live and one running one per agent. */
@Injectable()
export class RolloutsRepository {
  private readonly rollouts = new OrgTable(Rollout);

  /** @throws DomainError `not_found` */
  get(db: Db, scope: OrgScope, agentId: string, id: string): Promise<Rollout> {
    return this.rollouts.get(db, scope, { agent_id: agentId, id });
  }

  live(db: Db, scope: OrgScope, agentId: string): Promise<Rollout | null> {
    return this.rollouts.find(db, scope, { agent_id: agentId, status: 'live' });
  }

  running(db: Db, scope: OrgScope, agentId: string): Promise<Rollout | null> {
    return this.rollouts.find(db, scope, { agent_id: agentId, status: 'running' });
  }

  /** Newest first. */
  list(db: Db, scope: OrgScope, agentId: string, page: Slice): Promise<Listed<Rollout>> {
    return this.rollouts.page(db, scope, { agent_id: agentId }, { started_at: 'DESC', id: 'DESC' }, page);
  }

  /** Ends what is live and what runs. */
  endCurrent(tx: Tx, scope: OrgScope, agentId: string): Promise<Pick<Rollout, 'id' | 'kind'>[]> {
    return tx.query(END_CURRENT, [scope.orgId, agentId]);
  }

  insertDeploy(tx: Tx, scope: OrgScope, agentId: string, arms: Rollout['arms']): Promise<Rollout> {
    const by = { started_by: scope.actor.userId, started_at: now };
    return this.rollouts.insert(tx, scope, { agent_id: agentId, kind: 'deploy', status: 'live', arms, ...by });
  }
}
