import { Injectable } from '@nestjs/common';
import { Agent } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { OrgTable, statement, type Columns, type Tx } from '@aps/platform/database';
import type { AgentName } from './agents.queries';

const HOLD = statement<AgentName>(`
  SELECT id, slug, name FROM agents WHERE org_id = $1 AND deleted_at IS NULL AND (id = ANY($2) OR slug = ANY($3))
  ORDER BY id FOR KEY SHARE`);

const LEAVE_ENVIRONMENT = statement<{ id: string; is_live: boolean }>(
  'UPDATE agents SET environment_id = NULL, updated_at = now() WHERE org_id = $1 AND environment_id = $2 RETURNING id, deleted_at IS NULL AS is_live',
);

/** Locks agents, and writes those that are locked. */
@Injectable()
export class AgentsRepository {
  private readonly agents = new OrgTable(Agent);

  /** As it is now, without a lock. @throws DomainError `not_found` */
  get(tx: Tx, scope: OrgScope, ref: string): Promise<Agent> {
    return this.agents.get(tx, scope, ref);
  }

  /**
   * Serializes every change of one agent until the transaction ends; versions are counted under this lock. A chat that is being created
   * refers to the agent's key and does not wait for it.
   *
   * @throws DomainError `not_found`
   */
  lock(tx: Tx, scope: OrgScope, ref: string): Promise<Agent> {
    return this.agents.get(tx, scope, ref, 'for no key update');
  }

  /** The same, and nobody begins to refer to the agent meanwhile: for what ends its id or slug, and waits for those who have just begun. */
  lockIdentity(tx: Tx, scope: OrgScope, ref: string): Promise<Agent> {
    return this.agents.get(tx, scope, ref, 'for update');
  }

  /** Of an agent whose row is locked. */
  async update(tx: Tx, scope: OrgScope, id: string, columns: Columns<Agent>): Promise<Agent> {
    return (await this.agents.update(tx, scope, id, columns))!;
  }

  /** An environment that is gone is nobody's any more. @returns ids of the agents that live and had it; their drafts are others now */
  async leaveEnvironment(tx: Tx, { orgId }: OrgScope, environmentId: string): Promise<string[]> {
    const left = await tx.query(LEAVE_ENVIRONMENT, [orgId, environmentId]);
    return left.flatMap(({ id, is_live }) => (is_live ? [id] : []));
  }

  /** Those of the agents that live, held so that none is deleted or renamed before the transaction ends. */
  async hold(
    tx: Tx,
    scope: OrgScope,
    { ids = [], slugs = [] }: { ids?: readonly string[]; slugs?: readonly string[] },
  ): Promise<AgentName[]> {
    return ids.length || slugs.length ? tx.query(HOLD, [scope.orgId, ids, slugs]) : [];
  }
}
