import { covers } from '@aps/tools';
import type { AgentName } from './agents.queries';
import type { SealedAgentConfig } from './sealed-config';

/** What of an agent says whom it may delegate to. */
export type Granting = Pick<SealedAgentConfig, 'agent_id' | 'allowed_tools' | 'denied_tools' | 'child_agent_ids'>;

/** Whether an agent may delegate at all. */
export const mayDelegate = (grants: Pick<Granting, 'allowed_tools' | 'child_agent_ids'>): boolean =>
  grants.child_agent_ids.length > 0 || grants.allowed_tools.some((scope) => scope === '*' || scope.startsWith('agent:'));

/**
 * Whether an agent may delegate to another one: as its child, by the scope `agent:{slug}` or by `*`. A denied scope, or `*` denied, beats all
 * three, and nobody delegates to itself.
 */
export function reachesAgent(config: Granting, agent: Pick<AgentName, 'id' | 'slug'>): boolean {
  const scope = `agent:${agent.slug}`;
  if (agent.id === config.agent_id || covers(config.denied_tools, scope)) return false;
  return config.child_agent_ids.includes(agent.id) || covers(config.allowed_tools, scope);
}
