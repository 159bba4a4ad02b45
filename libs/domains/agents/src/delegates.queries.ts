import { Injectable } from '@nestjs/common';
import { isSlug, isUuid } from '@aps/contracts';
import type { OrgScope } from '@aps/guards';
import { statement, type Db, type Tx } from '@aps/platform/database';
import type { AgentName } from './agents.queries';
import { AgentsRepository } from './agents.repository';
import { mayDelegate, reachesAgent, type Granting } from './delegates.policy';

/** Agents that a model is told of at most. */
const MAX_LISTED = 50;

/** An agent as other agents are told of it. */
export interface NamedAgent extends AgentName {
  description: string | null;
}

const REACHABLE = statement<NamedAgent>(`
  SELECT id, slug, name, description FROM agents
  WHERE org_id = $1 AND deleted_at IS NULL AND live_revision_id IS NOT NULL AND ($4 OR id = ANY($2) OR slug = ANY($3)) ORDER BY slug LIMIT $5`);

/** Finds the agents that others may delegate to. */
@Injectable()
export class AgentDelegates {
  constructor(private readonly agents: AgentsRepository) {}

  /** The agents that a revision may delegate to now, by slug, as its model is told of them; at most fifty. */
  async reachable(db: Db, scope: OrgScope, config: Granting): Promise<NamedAgent[]> {
    if (!mayDelegate(config)) return [];
    const { child_agent_ids: ids, allowed_tools: tools, denied_tools } = config;
    const slugs = tools.flatMap((granted) => (granted.startsWith('agent:') ? [granted.slice('agent:'.length)] : []));
    const limit = MAX_LISTED + denied_tools.length + 1;
    const named = await db.query(REACHABLE, [scope.orgId, ids, slugs, tools.includes('*'), limit]);
    return named.filter((agent) => reachesAgent(config, agent)).slice(0, MAX_LISTED);
  }

  /**
   * The agent of this id or slug, if there is one and the revision may delegate to it; held so that it is not deleted or renamed before
   * the transaction ends.
   */
  async hold(tx: Tx, scope: OrgScope, config: Granting, ref: string): Promise<AgentName | null> {
    const found = await this.agents.hold(tx, scope, isUuid(ref) ? { ids: [ref] } : { slugs: [ref].filter(isSlug) });
    return found.find((agent) => reachesAgent(config, agent)) ?? null;
  }
}
