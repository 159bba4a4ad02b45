import { Injectable } from '@nestjs/common';
import { connectionId } from '@aps/contracts';
import { ConnectionsQueries, toolName, toolSlug, type ConnectionOutline } from '@aps/connections';
import type { OrgScope } from '@aps/guards';
import { Database, statement, type Listed, type Slice } from '@aps/platform/database';
import { GrantedBases, readsBase, writesBase } from '@aps/knowledge';
import { PromptsQueries, reachesPrompt } from '@aps/prompts';
import { covers, DECISION_MODES, isCovered, ToolCatalog, type DecisionMode, type Tool } from '@aps/tools';
import { AgentsQueries } from '../agents.queries';
import { reachesAgent } from '../delegates.policy';
import { ScopeOwners, type NamedScope } from '../scope-owners';
import type { AgentContext } from '../sharing/context.policy';
import { AgentContexts } from '../sharing/contexts.queries';

/** Of each kind of what can be granted, so many are named. */
const MAX_OF_KIND = 1_000;

/** Where tools come from. */
export interface ToolSourceView extends Pick<ConnectionOutline, 'slug' | 'label' | 'stale_since' | 'last_error' | 'status'> {
  kind: 'builtin' | 'connection';
  grant: string;
  connection_id: string | null;
  scope: ConnectionOutline['scope'] | null;
  tool_count: number;
}

/** A tool as people are shown it. */
export interface ToolView {
  name: string;
  source: string;
  description: string;
  slug: string;
  backend_ref: string;
  access_level: Tool['accessLevel'];
  is_terminal: boolean;
  is_pausable: boolean;
}

/** Something that an agent can be granted. */
export interface GrantableScope {
  scope: string;
  label: string;
  source_kind: 'system' | 'knowledge' | 'connection' | 'agent' | 'process' | 'prompt';
  tool_slugs: string[];
  /** Null: nobody was asked about. */
  granted: boolean | null;
}

export interface GrantableScopes {
  core: { label: string; tool_slugs: string[] };
  items: GrantableScope[];
}

/** What each decision mode would cover of a connection's tools. */
export interface Coverage extends Pick<ConnectionOutline, 'slug' | 'label' | 'decision_mode'> {
  connection_id: string;
  tools_total: number;
  covered: Record<DecisionMode, number>;
}

const EVERY_BASE = { allowed_tools: ['*'], denied_tools: [], knowledge_base_ids: [] };

const CORE = 'core';
const LABELS: Record<string, string> = { core: 'Core tools', 'system:web': 'Web search', 'system:exec': 'Commands' };

const AGENTS = statement<NamedScope & { id: string }>(
  'SELECT id, slug, name FROM agents WHERE org_id = $1 AND deleted_at IS NULL AND live_revision_id IS NOT NULL ORDER BY slug LIMIT $2',
);

/** Says which tools there are, where they come from, and what agents can be granted of them. */
@Injectable()
export class ToolSourcesQueries {
  constructor(
    private readonly db: Database,
    private readonly catalog: ToolCatalog,
    private readonly connections: ConnectionsQueries,
    private readonly bases: GrantedBases,
    private readonly prompts: PromptsQueries,
    private readonly owners: ScopeOwners,
    private readonly agents: AgentsQueries,
    private readonly contexts: AgentContexts,
  ) {}

  /** What is built in, and the connections that the caller sees, by slug. */
  async sources(scope: OrgScope): Promise<ToolSourceView[]> {
    const builtin = [...this.byScope()].map(([grant, tools]): ToolSourceView => ({
      ...{ kind: 'builtin', slug: grant, label: LABELS[grant] ?? grant, grant, connection_id: null, scope: null },
      ...{ status: 'active', tool_count: tools.length, stale_since: null, last_error: null },
    }));
    const connected = (await this.connections.outlines(this.db, scope, scope.userId)).map(
      ({ id, tools, ...connection }): ToolSourceView => ({
        ...connection,
        ...{ kind: 'connection', grant: `con:${connection.slug}`, connection_id: connectionId(id), tool_count: tools.length },
      }),
    );
    return [...builtin, ...connected];
  }

  /** The tools that can be called: what is built in, and those of connections that are active and that the caller sees. */
  async tools(scope: OrgScope, { limit = Infinity, offset = 0 }: Slice): Promise<Listed<ToolView>> {
    const builtin = this.catalog.own().map((tool): ToolView => ({
      ...{ name: tool.name, source: tool.scope, description: tool.description, slug: tool.slug, backend_ref: `builtin:${tool.slug}` },
      ...{ access_level: tool.accessLevel, is_terminal: tool.isTerminal ?? false, is_pausable: tool.waitsFor !== undefined },
    }));
    const own = builtin.slice(offset, offset + limit);
    const [from, left] = [Math.max(0, offset - builtin.length), limit - own.length];
    const { tools, total: others } = await this.connections.callable(scope, { offset: from, ...(left < Infinity && { limit: left }) });
    const connected = tools.map(({ connection_id, slug, name, description, access_level }): ToolView => ({
      ...{ name: toolName(slug, name), source: `con:${slug}`, description, slug: toolSlug(slug, name) },
      ...{ backend_ref: `${connectionId(connection_id)}/${name}`, access_level, is_terminal: false, is_pausable: false },
    }));
    const total = builtin.length + others;
    return { items: [...own, ...connected], total, more: offset + limit < total };
  }

  /** What each decision mode would cover, of the connections that the caller sees. */
  async coverage(scope: OrgScope): Promise<Coverage[]> {
    return (await this.connections.outlines(this.db, scope, scope.userId)).map(({ id, slug, label, decision_mode, tools }) => {
      const subjects = tools.map(({ access_level: accessLevel, hints }) => ({ accessLevel, hints }));
      const covered = Object.fromEntries(DECISION_MODES.map((mode) => [mode, subjects.filter((tool) => isCovered(mode, tool)).length]));
      return {
        connection_id: connectionId(id),
        slug,
        label,
        decision_mode,
        tools_total: tools.length,
        covered: covered as Coverage['covered'],
      };
    });
  }

  /**
   * What every agent has, and what one can be granted beside it.
   *
   * @param agentRef id or slug of the agent whose grants are asked for
   * @throws DomainError `not_found`
   */
  async scopes(scope: OrgScope, agentRef?: string): Promise<GrantableScopes> {
    const agent = agentRef === undefined ? null : await this.contextOf(scope, agentRef);
    const has = (of: (agent: AgentContext) => boolean): boolean | null => agent && of(agent);
    const hasScope = (name: string) => has((context) => covers(context.allowed_tools, name) && !covers(context.denied_tools, name));
    const opened = (kind: NonNullable<Tool['openedBy']>, level?: Tool['accessLevel']) =>
      this.catalog.own().flatMap((tool) => (tool.openedBy === kind && (!level || tool.accessLevel === level) ? [tool.slug] : []));
    const { core = [], ...systems } = Object.fromEntries(this.byScope());
    const [bases, connections, agents, processes, prompts] = await Promise.all([
      this.bases.readable(this.db, scope, EVERY_BASE, MAX_OF_KIND),
      this.connections.outlines(this.db, scope, scope.userId),
      this.db.query(AGENTS, [scope.orgId, MAX_OF_KIND]),
      this.owners.named(this.db, scope, 'process', MAX_OF_KIND),
      this.prompts.named(this.db, scope, MAX_OF_KIND),
    ]);
    return {
      core: { label: LABELS[CORE], tool_slugs: core.map(({ slug }) => slug) },
      items: [
        ...Object.entries(systems).map(([name, tools]): GrantableScope => ({
          ...{ scope: name, label: LABELS[name] ?? name, source_kind: 'system', tool_slugs: tools.map(({ slug }) => slug) },
          granted: hasScope(name),
        })),
        ...bases.flatMap((base): GrantableScope[] => [
          {
            ...{ scope: `kb:${base.slug}`, label: base.name, source_kind: 'knowledge', tool_slugs: opened('kb', 'read') },
            granted: has((context) => readsBase(context, base)),
          },
          {
            ...{ scope: `kb:${base.slug}:write`, label: base.name, source_kind: 'knowledge', tool_slugs: opened('kb') },
            granted: has((context) => writesBase(context, base)),
          },
        ]),
        ...connections.map(({ slug, label, tools }): GrantableScope => ({
          ...{ scope: `con:${slug}`, label, source_kind: 'connection', tool_slugs: tools.map(({ name }) => toolSlug(slug, name)) },
          granted: hasScope(`con:${slug}`),
        })),
        ...agents.map(({ id, slug, name }): GrantableScope => ({
          ...{ scope: `agent:${slug}`, label: name, source_kind: 'agent', tool_slugs: opened('agent') },
          granted: has((context) => reachesAgent(context, { id, slug })),
        })),
        ...processes.map(({ slug, name }): GrantableScope => ({
          ...{ scope: `process:${slug}`, label: name, source_kind: 'process', tool_slugs: opened('process') },
          granted: hasScope(`process:${slug}`),
        })),
        ...prompts.map(({ slug, name }): GrantableScope => ({
          ...{ scope: `prompt:${slug}`, label: name, source_kind: 'prompt', tool_slugs: opened('prompt') },
          granted: has((context) => reachesPrompt(context, slug)),
        })),
      ],
    };
  }

  /** Our own tools by the scope that grants them; what scopes of other things open has none of its own. */
  private byScope(): Map<string, Tool[]> {
    const scopes = new Map<string, Tool[]>();
    for (const tool of this.catalog.own()) if (!tool.openedBy) scopes.set(tool.scope, [...(scopes.get(tool.scope) ?? []), tool]);
    return scopes;
  }

  private async contextOf(scope: OrgScope, ref: string): Promise<AgentContext> {
    const { id, live_revision_id } = await this.agents.get(scope, ref);
    return this.contexts.of(scope, id, live_revision_id!);
  }
}
