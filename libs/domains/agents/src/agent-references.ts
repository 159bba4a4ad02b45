import { Injectable } from '@nestjs/common';
import { ConnectionsQueries } from '@aps/connections';
import { DomainError, type Problem } from '@aps/contracts';
import type { Agent } from '@aps/entities';
import { EnvironmentsQueries } from '@aps/environments';
import type { OrgScope } from '@aps/guards';
import { ModelCatalog } from '@aps/inference';
import { GrantedBases } from '@aps/knowledge';
import type { Tx } from '@aps/platform/database';
import { isSet } from './agents.policy';
import { AgentsRepository } from './agents.repository';
import type { SealedAgentConfig } from './sealed-config';
import { ScopeOwners } from './scope-owners';
import { isHeld } from './sharing/blocks.sql';
import { SkillsRepository } from './skills.repository';
import { parseToolScope, type ToolScope } from './tool-scopes';

/** What of an agent's configuration names something else. */
type Referring = Partial<
  Pick<
    SealedAgentConfig,
    'model' | 'allowed_tools' | 'denied_tools' | 'mounted_skills' | 'child_agent_ids' | 'knowledge_base_ids' | 'environment_id'
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
  /** Tool scopes name what is there, too, exact tools included, for whomever it is there. What is shared names what is there for everybody, exact tools as far as their connection. */
  scopesAreThere?: boolean;
  /** Tools that were shared before: what has gone without asking them, they may go on naming. */
  before?: readonly string[];
  /** Knowledge bases that were named before: those that have gone are lost silently. */
  basesBefore?: readonly string[];
  /** A denial of an agent that is gone takes nothing away: what was written when the agent was there still holds, all of it or these. */
  deniedMayBeGone?: true | readonly string[];
  /** The model is to be there, whether or not it is allowed: who may store it asks that of itself. */
  modelToo?: boolean;
}

type Path = [field: keyof Referring, place?: number];

/** Something that is named and not there. */
export interface MissingReference {
  kind: 'tool' | 'skill' | 'agent' | 'knowledge_base' | 'connection' | 'environment' | 'team' | 'project' | 'model';
  /** As it was named: a slug, a tool scope or an id. */
  slug: string;
  path: Path;
  msg: string;
}

/**
 * Checks that what a configuration names is there, and holds it there until the transaction ends: whoever deletes it meanwhile waits,
 * and then finds the reference.
 *
 * Of tool scopes, all but those of agents are checked by form only, where nothing else is asked for: connections, knowledge bases, prompt templates and processes are deleted
 * whoever names them: an agent that names one that is gone can still be changed. What is shared names what is there for everybody, or was when it was first shared; prompt
 * templates aside.
 */
@Injectable()
export class AgentReferences {
  constructor(
    private readonly agents: AgentsRepository,
    private readonly skills: SkillsRepository,
    private readonly owners: ScopeOwners,
    private readonly connections: ConnectionsQueries,
    private readonly bases: GrantedBases,
    private readonly environments: EnvironmentsQueries,
    private readonly models: ModelCatalog,
  ) {}

  /**
   * Holds the environment that an agent names until the transaction ends. Before the agent is locked: whoever deletes an environment has it locked,
   * and then has its agents leave it.
   *
   * @throws DomainError `not_found` of the agent
   */
  async holdEnvironment(tx: Tx, scope: OrgScope, ref: string): Promise<void> {
    const { environment_id: id } = await this.agents.get(tx, scope, ref);
    if (id !== null) await this.environments.holds(tx, scope, id);
  }

  /** @throws DomainError `unknown_reference` with every problem */
  async require(tx: Tx, scope: OrgScope, refs: Referring, options: ReferenceOptions = {}): Promise<void> {
    const { loc, prefix = '' } = options;
    const problems = (await this.missing(tx, scope, refs, options)).map(({ path: [field, ...place], msg }): Problem => ({
      loc: loc ?? ['body', `${prefix}${field}`, ...(place as number[])],
      msg,
      type: 'semantic.unknown_reference',
    }));
    if (problems.length) throw new DomainError('unknown_reference', 'The configuration names something that does not exist.', { problems });
  }

  /** All that is named and not there; what is there is held. */
  async missing(
    tx: Tx,
    scope: OrgScope,
    refs: Referring,
    {
      self,
      prefix,
      scopesAreThere = prefix !== undefined,
      before = [],
      basesBefore = [],
      deniedMayBeGone,
      modelToo,
    }: ReferenceOptions = {},
  ): Promise<MissingReference[]> {
    const { mounted_skills: skills = [], child_agent_ids: children = [], knowledge_base_ids: baseIds = [] } = refs;
    const tools = (['allowed_tools', 'denied_tools'] as const).flatMap((field) =>
      (refs[field] ?? []).map((text, i) => ({ path: [field, i] as Path, text, tool: parseToolScope(text) })),
    );
    const slugsOf = (kind: 'agent' | 'process' | 'kb') => tools.flatMap(({ tool }) => (tool?.kind === kind ? [tool.slug] : []));
    const isThere = async (kind: 'team' | 'project', id?: string | null) => !isSet(id) || isHeld(tx, scope, kind, id);
    const belongs = { team_id: await isThere('team', refs.team_id), project_id: await isThere('project', refs.project_id) };
    const processes = scopesAreThere ? await this.owners.existing(tx, scope, 'process', slugsOf('process')) : null;
    const ofConnections = tools.flatMap(({ tool }) => connectionIn(tool) ?? []);
    const connections = scopesAreThere ? await this.connections.existing(tx, scope, ofConnections, prefix ? 'shared' : 'any') : null;
    const exact = scopesAreThere && !prefix ? tools.flatMap(({ tool }) => (tool?.kind === 'tool' ? [tool] : [])) : null;
    const listed = exact && (await this.connections.existingTools(tx, scope, exact));
    const bases = await this.bases.existing(tx, scope, { ids: baseIds, slugs: scopesAreThere ? slugsOf('kb') : [] });
    const agents = await this.agents.hold(tx, scope, { ids: children, slugs: slugsOf('agent') });
    const there = { ids: new Set(agents.map((a) => a.id)), slugs: new Set(agents.map((a) => a.slug)) };
    const mountable = await this.skills.hold(tx, scope, skills);

    type Kind = MissingReference['kind'];
    const unknown = (kind: Kind, slug: string, path: Path, msg: string): MissingReference[] => [{ kind, slug, path, msg }];
    return [
      ...tools.flatMap(({ path, text, tool }) => {
        const missing = (msg: string) => unknown('tool', text, path, msg);
        if (!tool) return missing('There is no such tool scope');
        if (path[0] === 'denied_tools' && (deniedMayBeGone === true || deniedMayBeGone?.includes(text))) return [];
        if (scopesAreThere && !before.includes(text)) {
          if (tool.kind === 'process' && processes?.has(tool.slug) === false) return missing('There is no process of this slug');
          if (tool.kind === 'kb' && !bases.slugs.has(tool.slug))
            return unknown('knowledge_base', tool.slug, path, 'There is no knowledge base of this slug');
          const connection = connectionIn(tool);
          if (connection !== undefined && connections?.has(connection) === false)
            return unknown('connection', connection, path, 'There is no connection of this slug');
          if (tool.kind === 'tool' && listed?.has(text) === false) return missing('The connection has no tool of this name');
        }
        if (tool.kind !== 'agent') return [];
        if (tool.slug === self?.slug) return missing('An agent cannot be its own tool');
        return there.slugs.has(tool.slug) ? [] : missing('There is no agent of this slug');
      }),
      ...skills.flatMap((slug, i) =>
        mountable.has(slug) ? [] : unknown('skill', slug, ['mounted_skills', i], 'There is no skill of this slug'),
      ),
      ...(belongs.team_id ? [] : unknown('team', refs.team_id!, ['team_id'], 'There is no such team')),
      ...(belongs.project_id ? [] : unknown('project', refs.project_id!, ['project_id'], 'There is no such project')),
      ...(isSet(refs.environment_id) && !(await this.environments.holds(tx, scope, refs.environment_id))
        ? unknown('environment', refs.environment_id, ['environment_id'], 'There is no such environment')
        : []),
      ...(modelToo && isSet(refs.model) && !(await this.models.holdKnown(tx, scope, refs.model))
        ? unknown('model', refs.model, ['model'], 'There is no such model')
        : []),
      ...baseIds.flatMap((id, i) =>
        bases.ids.has(id) || basesBefore.includes(id)
          ? []
          : unknown('knowledge_base', id, ['knowledge_base_ids', i], 'There is no such knowledge base'),
      ),
      ...children.flatMap((id, i) => {
        if (id === self?.id) return unknown('agent', id, ['child_agent_ids', i], 'An agent cannot be its own child');
        return there.ids.has(id) ? [] : unknown('agent', id, ['child_agent_ids', i], 'There is no such agent');
      }),
    ];
  }
}

/** The slug of the connection whose tools a scope has. */
const connectionIn = (tool?: ToolScope): string | undefined =>
  tool?.kind === 'con' ? tool.slug : tool?.kind === 'tool' ? tool.connection : undefined;
