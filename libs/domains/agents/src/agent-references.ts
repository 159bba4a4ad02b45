import { Injectable } from '@nestjs/common';
import { DomainError, type Problem } from '@aps/contracts';
import type { Agent } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import type { Tx } from '@aps/platform/database';
import { isSet } from './agents.policy';
import { AgentsRepository } from './agents.repository';
import type { SealedAgentConfig } from './sealed-config';
import { ScopeOwners } from './scope-owners';
import { BlocksRepository } from './sharing/blocks.repository';
import { SkillsRepository } from './skills.repository';
import { parseToolScope } from './tool-scopes';

/** What of an agent's configuration names something else. */
type Referring = Partial<
  Pick<
    SealedAgentConfig,
    'allowed_tools' | 'denied_tools' | 'mounted_skills' | 'child_agent_ids' | 'knowledge_base_ids' | 'environment_id'
  > &
    Pick<Agent, 'team_id' | 'project_id'>
>;

interface ReferenceOptions {
  /** The agent that refers; undefined for one that is not there yet. */
  self?: { id: string; slug: string };
  /** Where the problems stand in the request. Default: each in its own field of the body. */
  loc?: (string | number)[];
  /** What the names of fields begin with, where what is shared with agents refers. */
  prefix?: 'shared_';
  /** A denial of an agent that is gone takes nothing away: what was written when the agent was there still holds. */
  deniedMayBeGone?: boolean;
}

/**
 * Checks that what a configuration names is there, and holds it there until the transaction ends: whoever deletes it meanwhile waits,
 * and then finds the reference.
 *
 * Of tool scopes, all but those of agents are checked by form only: knowledge bases and connections have no domain yet, and prompt templates and processes are
 * deleted whoever names them: an agent that names one that is gone can still be changed. What is shared names processes that are there.
 */
@Injectable()
export class AgentReferences {
  constructor(
    private readonly agents: AgentsRepository,
    private readonly skills: SkillsRepository,
    private readonly blocks: BlocksRepository,
    private readonly owners: ScopeOwners,
  ) {}

  /** @throws DomainError `unknown_reference` with every problem */
  async require(tx: Tx, scope: OrgScope, refs: Referring, options: ReferenceOptions = {}): Promise<void> {
    const { self, loc, prefix = '', deniedMayBeGone } = options;
    const { mounted_skills: skills = [], child_agent_ids: children = [], knowledge_base_ids: bases = [] } = refs;
    const tools = (['allowed_tools', 'denied_tools'] as const).flatMap((field) =>
      (refs[field] ?? []).map((text, i) => ({ path: [field, i], tool: parseToolScope(text) })),
    );
    const slugsOf = (kind: 'agent' | 'process') => tools.flatMap(({ tool }) => (tool?.kind === kind ? [tool.slug] : []));
    const slugs = slugsOf('agent');
    const isHeld = async (kind: 'team' | 'project', id?: string | null) => !isSet(id) || (await this.blocks.hold(tx, scope, { kind, id }));
    const belongs = { team_id: await isHeld('team', refs.team_id), project_id: await isHeld('project', refs.project_id) };
    const processes = prefix ? await this.owners.existing(tx, scope, 'process', slugsOf('process')) : null;
    const agents = await this.agents.hold(tx, scope, { ids: children, slugs });
    const there = { ids: new Set(agents.map((a) => a.id)), slugs: new Set(agents.map((a) => a.slug)) };
    const mountable = await this.skills.hold(tx, scope, skills);

    const unknown = (path: (string | number)[], msg: string): Problem[] => [
      { loc: loc ?? ['body', prefix + path[0], ...path.slice(1)], msg, type: 'semantic.unknown_reference' },
    ];
    const problems = [
      ...tools.flatMap(({ path, tool }) => {
        if (!tool) return unknown(path, 'There is no such tool scope');
        if (tool.kind === 'process' && processes?.has(tool.slug) === false) return unknown(path, 'There is no process of this slug');
        if (tool.kind !== 'agent' || (deniedMayBeGone && path[0] === 'denied_tools')) return [];
        if (tool.slug === self?.slug) return unknown(path, 'An agent cannot be its own tool');
        return there.slugs.has(tool.slug) ? [] : unknown(path, 'There is no agent of this slug');
      }),
      ...skills.flatMap((slug, i) => (mountable.has(slug) ? [] : unknown(['mounted_skills', i], 'There is no skill of this slug'))),
      ...(belongs.team_id ? [] : unknown(['team_id'], 'There is no such team')),
      ...(belongs.project_id ? [] : unknown(['project_id'], 'There is no such project')),
      // Neither environments nor knowledge bases have a domain yet: no id can be one of this organization's.
      ...(isSet(refs.environment_id) ? unknown(['environment_id'], 'There is no such environment') : []),
      ...bases.flatMap((_, i) => unknown(['knowledge_base_ids', i], 'There is no such knowledge base')),
      ...children.flatMap((id, i) => {
        if (id === self?.id) return unknown(['child_agent_ids', i], 'An agent cannot be its own child');
        return there.ids.has(id) ? [] : unknown(['child_agent_ids', i], 'There is no such agent');
      }),
    ];
    if (problems.length) throw new DomainError('unknown_reference', 'The configuration names something that does not exist.', { problems });
  }
}
