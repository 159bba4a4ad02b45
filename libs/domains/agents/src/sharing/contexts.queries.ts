import { Injectable } from '@nestjs/common';
import type { Memory } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { GrantedBases } from '@aps/knowledge';
import { Database, statement, type Db } from '@aps/platform/database';
import { PromptsQueries } from '@aps/prompts';
import { AgentsQueries } from '../agents.queries';
import { AgentDelegates } from '../delegates.queries';
import { MemoriesService } from '../memories.service';
import { AgentRevisions } from '../revisions.queries';
import type { SealedAgentConfig } from '../sealed-config';
import { SkillsRepository } from '../skills.repository';
import {
  contextHash,
  effectiveContext,
  toldMemories,
  withShares,
  type AgentContext,
  type EffectiveContext,
  type Share,
  type Told,
} from './context.policy';

/** Memories of each owner that may be told. */
const MEMORIES_OF_EACH = 50;

// An agent's project is its own, else its team's.
const SHARES = statement<Share>(`
  WITH a AS (
    SELECT t.id AS team_id, coalesce(a.project_id, t.project_id) AS project_id
    FROM agents a LEFT JOIN agent_teams t ON t.id = a.team_id AND t.deleted_at IS NULL WHERE a.org_id = $1 AND a.id = $2)
  SELECT 'project' AS kind, p.id, p.shared_instruction, p.shared_allowed_tools, p.shared_mounted_skills
  FROM a JOIN projects p ON p.id = a.project_id WHERE p.deleted_at IS NULL
  UNION ALL
  SELECT 'team', t.id, t.shared_instruction, t.shared_allowed_tools, t.shared_mounted_skills FROM a JOIN agent_teams t ON t.id = a.team_id`);

/** Reads what agents have in their turns, beside their chats. */
@Injectable()
export class AgentContexts {
  constructor(
    private readonly db: Database,
    private readonly agents: AgentsQueries,
    private readonly revisions: AgentRevisions,
    private readonly skills: SkillsRepository,
    private readonly memories: MemoriesService,
    private readonly delegates: AgentDelegates,
    private readonly prompts: PromptsQueries,
    private readonly bases: GrantedBases,
  ) {}

  /**
   * What a turn has that begins now, on a revision of the agent.
   *
   * @param belongs whether it is in a team or a project; who knows that it is not, need not ask what they share
   */
  async of(scope: OrgScope, agentId: string, revisionId: string, { db = this.db as Db, belongs = true } = {}): Promise<AgentContext> {
    const [config, shares] = await Promise.all([
      this.revisions.config(revisionId, db),
      belongs ? db.query(SHARES, [scope.orgId, agentId]) : [],
    ]);
    return withShares(config, shares);
  }

  /** The same on a configuration that need not be sealed. */
  async ofConfig(scope: OrgScope, config: SealedAgentConfig): Promise<AgentContext> {
    return withShares(config, await this.db.query(SHARES, [scope.orgId, config.agent_id]));
  }

  /** All that a turn is told beside its chat and its instructions. */
  async told(scope: OrgScope, context: AgentContext): Promise<Told> {
    const [skills, agents, prompts, bases, memories] = await Promise.all([
      this.skills.told(this.db, scope, context.mounted_skills),
      this.delegates.reachable(this.db, scope, context),
      this.prompts.runnable(this.db, scope, context),
      this.bases.told(this.db, scope, context),
      this.remembered(scope, context),
    ]);
    return { skills, agents, prompts, bases, memories };
  }

  /** As the next turn of an agent would get it. @throws DomainError `not_found` */
  async effective(scope: OrgScope, agentRef: string): Promise<EffectiveContext & { sha256: string }> {
    const { id, live_revision_id } = await this.agents.get(scope, agentRef);
    const context = await this.of(scope, id, live_revision_id!);
    const told = await this.told(scope, context);
    return { ...effectiveContext(context, told), sha256: contextHash(context, told) };
  }

  /** The agent's first, if it has any, and then what is shared, whether it has any or not. */
  private async remembered(scope: OrgScope, { agent_id, memory_enabled, shares }: AgentContext): Promise<Memory[]> {
    const owners = [...(memory_enabled ? [{ kind: 'agent' as const, id: agent_id }] : []), ...[...shares].reverse()];
    const newest = await Promise.all(owners.map(({ kind, id }) => this.memories.newest(this.db, scope, { kind, id }, MEMORIES_OF_EACH)));
    return toldMemories(newest.flat());
  }
}
