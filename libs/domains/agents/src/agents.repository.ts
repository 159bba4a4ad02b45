import { Injectable } from '@nestjs/common';
import { Agent } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { OrgTable, statement, type Columns, type Db, type Tx } from '@aps/platform/database';
import type { AgentName } from './agents.queries';

const HOLD_IDS = statement<AgentName>(
  'SELECT id, slug, name FROM agents WHERE org_id = $1 AND id = ANY($2) AND deleted_at IS NULL ORDER BY id FOR KEY SHARE',
);
const HOLD_SLUGS = statement<AgentName>(
  'SELECT id, slug, name FROM agents WHERE org_id = $1 AND slug = ANY($2) AND deleted_at IS NULL ORDER BY id FOR KEY SHARE',
);
const SLUGS_LIKE = statement<{ slug: string }>(
  'SELECT slug FROM agents WHERE org_id = $1 AND deleted_at IS NULL AND starts_with(slug, $2)',
);

/** Writes agents, by an id or a slug. */
@Injectable()
export class AgentsRepository {
  private readonly agents = new OrgTable(Agent);

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

  /** How many there are. */
  count(db: Db, scope: OrgScope): Promise<number> {
    return this.agents.count(db, scope);
  }

  /** Slugs of agents that begin with `base`. */
  async slugsLike(db: Db, scope: OrgScope, base: string): Promise<Set<string>> {
    const rows = await db.query(SLUGS_LIKE, [scope.orgId, base]);
    return new Set(rows.map((r) => r.slug));
  }

  insert(tx: Tx, scope: OrgScope, columns: Columns<Agent>): Promise<Agent> {
    return this.agents.insert(tx, scope, columns);
  }

  /** Of an agent whose row is locked. */
  async update(tx: Tx, scope: OrgScope, id: string, columns: Columns<Agent>): Promise<Agent> {
    return (await this.agents.update(tx, scope, id, columns))!;
  }

  async delete(tx: Tx, scope: OrgScope, id: string): Promise<void> {
    await this.agents.delete(tx, scope, id);
  }

  /** Those of the agents that live, held so that none is deleted before the transaction ends. */
  holdIds(tx: Tx, scope: OrgScope, ids: string[]): Promise<AgentName[]> {
    return tx.query(HOLD_IDS, [scope.orgId, ids]);
  }

  holdSlugs(tx: Tx, scope: OrgScope, slugs: string[]): Promise<AgentName[]> {
    return tx.query(HOLD_SLUGS, [scope.orgId, slugs]);
  }
}
