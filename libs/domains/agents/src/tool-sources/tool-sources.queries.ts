import { Injectable } from '@nestjs/common';
import { connectionId } from '@aps/contracts';
import { ConnectionsQueries, toolName, toolSlug } from '@aps/connections';
import type { OrgScope } from '@aps/guards';
import { Database, statement, type Slice } from '@aps/platform/database';
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

/** Something that an agent can be granted. */
export interface GrantableScope {
  scope: string;
  label: string;
  source_kind: 'system' | 'knowledge' | 'connection' | 'agent' | 'process' | 'prompt';
  tool_slugs: string[];
  /** Null: nobody was asked about. */
  granted: boolean | null;
  tool_count: number;
}

const grantable = (
  source_kind: GrantableScope['source_kind'],
  scope: string,
  label: string,
  tool_slugs: string[],
  granted: boolean | null,
): GrantableScope => ({ scope, label, source_kind, tool_slugs, granted, tool_count: tool_slugs.length });

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
  async sources(scope: OrgScope) {
    const builtin = [...this.byScope()].map(([grant, tools]) => ({
      ...{ kind: 'builtin' as const, slug: grant, label: LABELS[grant] ?? grant, grant, connection_id: null, scope: null },
      ...{ status: 'active' as const, tool_count: tools.length, stale_since: null, last_error: null },
    }));
    const connected = (await this.connections.outlines(this.db, scope, scope.userId)).map(({ id, tools, ...connection }) => ({
      ...connection,
      ...{ kind: 'connection' as const, grant: `con:${connection.slug}`, connection_id: connectionId(id), tool_count: tools.length },
    }));
    return [...builtin, ...connected];
  }

  /** The tools that can be called: what is built in, and those of connections that are active and that the caller sees. */
  async tools(scope: OrgScope, { limit = Infinity, offset = 0 }: Slice) {
    const builtin = this.catalog.own().map((tool) => ({
      ...{ name: tool.name, source: tool.scope, description: tool.description, slug: tool.slug, backend_ref: `builtin:${tool.slug}` },
      ...{ access_level: tool.accessLevel, is_terminal: tool.isTerminal ?? false, is_pausable: tool.waitsFor !== undefined },
    }));
    const own = builtin.slice(offset, offset + limit);
    const [from, left] = [Math.max(0, offset - builtin.length), limit - own.length];
    const { tools, total: others } = await this.connections.callable(scope, { offset: from, ...(left < Infinity && { limit: left }) });
    const connected = tools.map(({ connection_id, slug, name, description, access_level }) => ({
      ...{ name: toolName(slug, name), source: `con:${slug}`, description, slug: toolSlug(slug, name) },
      ...{ backend_ref: `${connectionId(connection_id)}/${name}`, access_level, is_terminal: false, is_pausable: false },
    }));
    const total = builtin.length + others;
    return { items: [...own, ...connected], total, more: offset + limit < total };
  }

  /** What each decision mode would cover, of the connections that the caller sees. */
  async coverage(scope: OrgScope) {
    return (await this.connections.outlines(this.db, scope, scope.userId)).map(({ id, slug, label, decision_mode, tools }) => {
      const subjects = tools.map(({ access_level: accessLevel, hints }) => ({ accessLevel, hints }));
      const counts = DECISION_MODES.map((mode) => [mode, subjects.filter((tool) => isCovered(mode, tool)).length]);
      const covered = Object.fromEntries(counts) as Record<DecisionMode, number>;
      return { connection_id: connectionId(id), slug, label, decision_mode, tools_total: tools.length, covered };
    });
  }

  /**
   * What every agent has, and what one can be granted beside it.
   *
   * @param agentRef id or slug of the agent whose grants are asked for
   * @throws DomainError `not_found`
   */
  async scopes(scope: OrgScope, agentRef?: string) {
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
    const slugsOf = (tools: Tool[]) => tools.map(({ slug }) => slug);
    return {
      core: { label: LABELS[CORE], tool_slugs: slugsOf(core), tool_count: core.length },
      items: [
        ...Object.entries(systems).map(([name, tools]) => grantable('system', name, LABELS[name] ?? name, slugsOf(tools), hasScope(name))),
        ...bases.flatMap((base) => [
          grantable(
            'knowledge',
            `kb:${base.slug}`,
            base.name,
            opened('kb', 'read'),
            has((context) => readsBase(context, base)),
          ),
          grantable(
            'knowledge',
            `kb:${base.slug}:write`,
            base.name,
            opened('kb'),
            has((context) => writesBase(context, base)),
          ),
        ]),
        ...connections.map(({ slug, label, tools }) => {
          const slugs = tools.map(({ name }) => toolSlug(slug, name));
          return grantable('connection', `con:${slug}`, label, slugs, hasScope(`con:${slug}`));
        }),
        ...agents.map(({ id, slug, name }) => {
          const granted = has((context) => reachesAgent(context, { id, slug }));
          return grantable('agent', `agent:${slug}`, name, opened('agent'), granted);
        }),
        ...processes.map(({ slug, name }) => grantable('process', `process:${slug}`, name, opened('process'), hasScope(`process:${slug}`))),
        ...prompts.map(({ slug, name }) => {
          const granted = has((context) => reachesPrompt(context, slug));
          return grantable('prompt', `prompt:${slug}`, name, opened('prompt'), granted);
        }),
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
