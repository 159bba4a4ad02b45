import { Injectable } from '@nestjs/common';
import { isUuid, isSlug } from '@aps/contracts';
import type { OrgScope } from '@aps/guards';
import type { Db, Tx } from '@aps/platform/database';
import { AgentsQueries, type AgentName, type NamedAgent } from './agents.queries';
import { AgentsRepository } from './agents.repository';
import { mayDelegate, reachesAgent } from './delegates.policy';
import type { SealedAgentConfig } from './sealed-config';

/** Agents that a model is told of at most. */
const MAX_LISTED = 50;

/** Finds the agents that others may delegate to. */
@Injectable()
export class AgentDelegates {
  constructor(
    private readonly queries: AgentsQueries,
    private readonly agents: AgentsRepository,
  ) {}

  /** The agents that a revision may delegate to now, by slug, as its model is told of them; at most fifty. */
  async reachable(db: Db, scope: OrgScope, config: SealedAgentConfig): Promise<NamedAgent[]> {
    if (!mayDelegate(config)) return [];
    const slugs = config.allowed_tools.flatMap((granted) => (granted.startsWith('agent:') ? [granted.slice('agent:'.length)] : []));
    const named = await this.queries.named(db, scope, {
      ids: config.child_agent_ids,
      slugs,
      all: config.allowed_tools.includes('*'),
      limit: MAX_LISTED + config.denied_tools.length + 1,
    });
    return named.filter((agent) => reachesAgent(config, agent)).slice(0, MAX_LISTED);
  }

  /**
   * The agent of this id or slug, if there is one and the revision may delegate to it; held so that it is not deleted or renamed before
   * the transaction ends.
   */
  async hold(tx: Tx, scope: OrgScope, config: SealedAgentConfig, ref: string): Promise<AgentName | null> {
    const found = isUuid(ref)
      ? await this.agents.holdIds(tx, scope, [ref])
      : isSlug(ref)
        ? await this.agents.holdSlugs(tx, scope, [ref])
        : [];
    return found.find((agent) => reachesAgent(config, agent)) ?? null;
  }
}
