import { Injectable } from '@nestjs/common';
import type { Rollout } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { sliceBounds, statement, type Db, type Slice, type Tx } from '@aps/platform/database';

const ONE = statement<Rollout>('SELECT * FROM rollouts WHERE org_id = $1 AND agent_id = $2 AND id = $3');
const LIVE = statement<Rollout>(`SELECT * FROM rollouts WHERE org_id = $1 AND agent_id = $2 AND status = 'live'`);
const LIST = statement<Rollout>(
  'SELECT * FROM rollouts WHERE org_id = $1 AND agent_id = $2 ORDER BY started_at DESC, id DESC LIMIT $3 OFFSET $4',
);
const COUNT = statement<{ total: number }>('SELECT count(*)::int AS total FROM rollouts WHERE org_id = $1 AND agent_id = $2');
// The clock and not now(): deployments wait for each other, and now() is when a transaction began to wait.
const END_CURRENT = statement<Pick<Rollout, 'id' | 'kind'>>(`
  UPDATE rollouts SET status = 'superseded', ended_at = clock_timestamp()
  WHERE org_id = $1 AND agent_id = $2 AND status IN ('live', 'running')
  RETURNING id, kind`);
const INSERT_DEPLOY = statement(`
  INSERT INTO rollouts (id, org_id, agent_id, kind, status, arms, started_by, started_at)
  VALUES ($1, $2, $3, 'deploy', 'live', $4, $5, clock_timestamp())`);

const HAS_RUNNING = statement(`SELECT 1 FROM rollouts WHERE org_id = $1 AND agent_id = $2 AND status = 'running'`);

/** The only file that names the table of rollouts. Its partial unique indexes allow one live and one running one per agent. */
@Injectable()
export class RolloutsRepository {
  async find(db: Db, scope: OrgScope, agentId: string, id: string): Promise<Rollout | null> {
    const [row] = await db.query(ONE, [scope.orgId, agentId, id]);
    return row ?? null;
  }

  async live(db: Db, scope: OrgScope, agentId: string): Promise<Rollout | null> {
    const [row] = await db.query(LIVE, [scope.orgId, agentId]);
    return row ?? null;
  }

  async list(db: Db, scope: OrgScope, agentId: string, page: Slice): Promise<{ items: Rollout[]; total: number }> {
    const items = await db.query(LIST, [scope.orgId, agentId, ...sliceBounds(page)]);
    const [{ total }] = await db.query(COUNT, [scope.orgId, agentId]);
    return { items, total };
  }

  async hasRunning(db: Db, scope: OrgScope, agentId: string): Promise<boolean> {
    return (await db.query(HAS_RUNNING, [scope.orgId, agentId])).length > 0;
  }

  /** Ends what is live and what runs. */
  endCurrent(tx: Tx, scope: OrgScope, agentId: string): Promise<Pick<Rollout, 'id' | 'kind'>[]> {
    return tx.query(END_CURRENT, [scope.orgId, agentId]);
  }

  async insertDeploy(tx: Tx, scope: OrgScope, row: { id: string; agent_id: string; arms: Rollout['arms'] }): Promise<void> {
    await tx.execute(INSERT_DEPLOY, [row.id, scope.orgId, row.agent_id, JSON.stringify(row.arms), scope.actor.userId]);
  }
}
