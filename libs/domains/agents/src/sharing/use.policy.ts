import { DomainError } from '@aps/contracts';
import type { AgentName } from '../agents.queries';
import type { NamingBlock } from './blocks.sql';

/** @throws DomainError of the code, naming who uses what is to go, unless nobody does */
export function refuseUse(code: 'agent_in_use' | 'skill_in_use', what: string, agents: AgentName[], blocks: NamingBlock[]): void {
  if (!agents.length && !blocks.length) return;
  const idsOf = (kind: NamingBlock['kind']) => blocks.filter((block) => block.kind === kind).map(({ id }) => id);
  const context = { agents, team_ids: idsOf('team'), project_ids: idsOf('project') };
  throw new DomainError(code, `Agents, teams or projects use ${what}. Remove it from them first.`, { context });
}
