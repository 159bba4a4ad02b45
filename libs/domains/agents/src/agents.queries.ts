import { Injectable } from '@nestjs/common';
import { isUuid, notFound } from '@aps/contracts';
import type { Dependents, NamedConnection } from '@aps/connections';
import { listTally, NIL_UUID, type Agent, type Rollout } from '@aps/entities';
import { isOfLive, type OrgScope } from '@aps/guards';
import type { AgentModel, ModelsCounted, ModelUser, ModelUserReader } from '@aps/inference';
import { containing, Database, idOrNone, OrgListing, statement, type Db, type Listed, type Slice } from '@aps/platform/database';
import { armOf, type ChatUnit } from './assignment.policy';

/** An agent as it is shown: its draft, and where that stands against what is live. */
export interface AgentView extends Agent {
  /** The published instruction. */
  instruction: string;
  /** 0 when none was ever published. */
  instruction_version: number;
  live_version: number | null;
  draft_dirty: boolean;
  running_rollout_id: string | null;
  has_instruction_draft: boolean;
}

export interface AgentFilter {
  /** Part of a name, slug or description. */
  q?: string;
  /** An id, or `none`. */
  team_id?: string;
  project_id?: string;
}

export type AgentName = Pick<Agent, 'id' | 'slug' | 'name'>;

/** What a new chat of an agent is frozen with. */
export interface NewChatBasis {
  agent_id: string;
  revision_id: string;
  rollout_id: string | null;
  arm_label: string | null;
}

const VIEWS = new OrgListing<AgentView, AgentFilter>({
  key: 'a.id',
  slug: 'a.slug',
  org: 'a.org_id',
  select: `a.*, coalesce(i.content, '') AS instruction, coalesce(i.version, 0) AS instruction_version, r.version AS live_version,
    a.draft_hash IS DISTINCT FROM r.hash AS draft_dirty, x.id AS running_rollout_id,
    EXISTS (SELECT 1 FROM instruction_revisions d WHERE d.agent_id = a.id AND d.state = 'draft') AS has_instruction_draft`,
  from: `agents a
    LEFT JOIN instruction_revisions i ON i.agent_id = a.id AND i.state = 'active'
    LEFT JOIN agent_revisions r ON r.id = a.live_revision_id
    LEFT JOIN rollouts x ON x.agent_id = a.id AND x.status = 'running'`,
  found: 'agents a',
  always: 'a.deleted_at IS NULL',
  where: {
    q: 'a.name ILIKE $ OR a.slug ILIKE $ OR a.description ILIKE $',
    team_id: idOrNone('a.team_id'),
    project_id: idOrNone('a.project_id'),
  },
  tally: {
    from: listTally('agents'),
    where: {
      team_id: idOrNone('t.of_id', NIL_UUID),
      // The value is an id for the rows.
      project_id: { id: 't.facet = ($::uuid)::text', none: `t.facet = ''` },
    },
  },
  order: 'a.created_at DESC, a.id DESC',
  what: 'Agent',
});

// By statements: whatever goes by an agent asks.
const ID_BY_ID = statement<{ id: string }>('SELECT id FROM agents WHERE org_id = $1 AND id = $2 AND deleted_at IS NULL');
const ID_BY_SLUG = statement<{ id: string }>('SELECT id FROM agents WHERE org_id = $1 AND slug = $2 AND deleted_at IS NULL');

/** Revisions that new chats of `a` run on: the live one, which is the control's of an experiment, and those of its other arms. */
const IN_FORCE = `(
  SELECT a.live_revision_id AS id UNION
  SELECT (arm->>'revision_id')::uuid FROM rollouts o CROSS JOIN LATERAL jsonb_array_elements(o.arms) AS arm WHERE o.agent_id = a.id AND o.status = 'running')`;
// Drafts count beside what is in force: a draft is the next thing to go live.
const NAMING = (inDraft: string, inLive: string) => `
  SELECT DISTINCT a.id, a.slug, a.name FROM agents a CROSS JOIN LATERAL ${IN_FORCE} f LEFT JOIN agent_revisions r ON r.id = f.id
  WHERE a.org_id = $1 AND a.deleted_at IS NULL AND (${inDraft} OR ${inLive})`;
/** Other live agents that name an agent as a child, or grant its tool scope. Those that deny it lose nothing with it. */
export const NAMING_AGENT = statement<AgentName>(`
  ${NAMING(`$2::uuid = ANY(a.child_agent_ids) OR $3 = ANY(a.allowed_tools)`, `r.config->'child_agent_ids' ? $2::text OR r.config->'allowed_tools' ? $3`)}
  AND a.id <> $2::uuid ORDER BY a.slug`);
/** Other live agents that grant or deny an agent's tool scope, which carries its slug. */
export const NAMING_SLUG = statement<AgentName>(`
  ${NAMING(`$3 = ANY(a.allowed_tools || a.denied_tools)`, `r.config->'allowed_tools' ? $3 OR r.config->'denied_tools' ? $3`)}
  AND a.id <> $2::uuid ORDER BY a.slug`);
export const MOUNTING_SKILL = statement<AgentName>(
  `${NAMING('$2 = ANY(a.mounted_skills)', `r.config->'mounted_skills' ? $2`)} ORDER BY a.slug`,
);
/** A tool scope of `t` that reaches tools of a connection of `c`, by its slug: all of them, or one. */
const REACHES = `(t.scope = 'con:' || c.slug OR starts_with(t.scope, c.slug || '.'))`;
/** What drafts and revisions in force grant, a scope a row. */
const GRANTED = `agents a CROSS JOIN LATERAL (
    SELECT unnest(a.allowed_tools) UNION
    SELECT jsonb_array_elements_text(r.config->'allowed_tools') FROM agent_revisions r WHERE r.id IN ${IN_FORCE}) AS t(scope)`;
const NAMING_CONNECTIONS = statement<{ connection_id: string; kind: 'agent' | 'team' | 'project'; id: string }>(`
  WITH c AS (SELECT * FROM unnest($2::uuid[], $3::text[]) AS c(id, slug))
  SELECT DISTINCT c.id AS connection_id, 'agent' AS kind, a.id FROM ${GRANTED} JOIN c ON ${REACHES} WHERE a.org_id = $1 AND a.deleted_at IS NULL
  UNION
  SELECT c.id, s.kind, s.id FROM (
    SELECT 'team' AS kind, id, shared_allowed_tools AS scopes FROM agent_teams WHERE org_id = $1 AND deleted_at IS NULL UNION ALL
    SELECT 'project', id, shared_allowed_tools FROM projects WHERE org_id = $1 AND deleted_at IS NULL) s CROSS JOIN LATERAL unnest(s.scopes) AS t(scope) JOIN c ON ${REACHES}
  ORDER BY 2, 3`);
const WILDCARDS = statement<{ n: number }>(
  `SELECT count(DISTINCT a.id)::int AS n FROM ${GRANTED} WHERE a.org_id = $1 AND a.deleted_at IS NULL AND t.scope = '*'`,
);
// The live model first: chats run on it now.
const MODEL_OUTSIDE = statement<AgentModel>(`
  SELECT DISTINCT ON (a.name, a.id) a.id, a.name, CASE WHEN r.config->>'model' <> ALL($2::text[]) THEN r.config->>'model' ELSE a.model END AS model
  FROM agents a CROSS JOIN LATERAL ${IN_FORCE} f LEFT JOIN agent_revisions r ON r.id = f.id
  WHERE a.org_id = $1 AND a.deleted_at IS NULL AND (a.model <> ALL($2::text[]) OR r.config->>'model' <> ALL($2::text[]))
  ORDER BY a.name, a.id, r.config->>'model' <> ALL($2::text[]) DESC NULLS LAST, r.id = a.live_revision_id DESC`);

const NAMED_MODELS = `
  SELECT a.id, a.org_id, a.name, a.model AS model_key FROM agents a
  WHERE a.model IS NOT NULL AND ($1::text[] IS NULL OR a.model = ANY($1)) AND a.deleted_at IS NULL
  UNION
  SELECT a.id, a.org_id, a.name, r.config->>'model' FROM agent_revisions r JOIN agents a ON a.live_revision_id = r.id AND a.deleted_at IS NULL
  WHERE r.config->>'model' IS NOT NULL AND ($1::text[] IS NULL OR r.config->>'model' = ANY($1))
  UNION
  SELECT a.id, a.org_id, a.name, r.config->>'model'
  FROM rollouts o JOIN agents a ON a.id = o.agent_id AND a.deleted_at IS NULL CROSS JOIN LATERAL jsonb_array_elements(o.arms) AS arm
    JOIN agent_revisions r ON r.id = (arm->>'revision_id')::uuid
  WHERE o.status = 'running' AND r.config->>'model' IS NOT NULL AND ($1::text[] IS NULL OR r.config->>'model' = ANY($1))`;
const NAMING_MODELS = statement<ModelUser>(
  `SELECT * FROM (${NAMED_MODELS}) n WHERE ($3::uuid IS NULL OR n.org_id = $3) AND ${isOfLive('n')} ORDER BY n.name, n.id LIMIT $2`,
);
const MODELS_COUNTED = statement<ModelsCounted>(
  `SELECT n.model_key, count(*)::int AS n FROM (${NAMED_MODELS}) n WHERE ${isOfLive('n')} GROUP BY n.model_key`,
);

/** Agents whose draft or live revision names a model. */
export const AGENT_MODELS: ModelUserReader = { kind: 'agent', naming: NAMING_MODELS, counted: MODELS_COUNTED, outside: MODEL_OUTSIDE };

type InForce = Pick<NewChatBasis, 'agent_id' | 'revision_id'> & Pick<Rollout, 'kind' | 'unit' | 'arms'> & { id: string | null };
const FOR_NEW_CHAT = statement<InForce>(`
  SELECT a.id AS agent_id, a.live_revision_id AS revision_id, r.id, r.kind, r.unit, r.arms
  FROM agents a LEFT JOIN rollouts r ON r.agent_id = a.id AND r.status IN ('live', 'running')
  WHERE a.org_id = $1 AND a.id = $2 AND a.deleted_at IS NULL AND a.live_revision_id IS NOT NULL`);

/** Reads agents, by an id or a slug. Never writes. */
@Injectable()
export class AgentsQueries {
  constructor(private readonly db: Database) {}

  /** Newest first. */
  list(scope: OrgScope, { q, team_id, project_id }: AgentFilter, page: Slice): Promise<Listed<AgentView>> {
    return VIEWS.page(this.db, scope, { q: q ? containing(q) : undefined, team_id, project_id }, page);
  }

  /** @throws DomainError `not_found` */
  get(scope: OrgScope, ref: string, db: Db = this.db): Promise<AgentView> {
    return VIEWS.get(db, scope, ref, {});
  }

  /** @throws DomainError `not_found` */
  async idOf(scope: OrgScope, ref: string, db: Db = this.db): Promise<string> {
    const [row] = await db.query(isUuid(ref) ? ID_BY_ID : ID_BY_SLUG, [scope.orgId, ref]);
    if (!row) throw notFound('Agent');
    return row.id;
  }

  /**
   * What a chat that begins now runs on; null when there is no such agent. One prepared statement: every new chat asks.
   *
   * @param unit what an experiment assigns by; whoever only asks whether there is such an agent, has none
   */
  async forNewChat(db: Db, scope: OrgScope, agentId: string, unit?: ChatUnit): Promise<NewChatBasis | null> {
    const [row] = await db.query(FOR_NEW_CHAT, [scope.orgId, agentId]);
    if (!row) return null;
    const { agent_id, revision_id, id: rollout_id, kind, arms } = row;
    if (!unit || !rollout_id || kind !== 'experiment') return { agent_id, revision_id, rollout_id, arm_label: null };
    const arm = armOf({ id: rollout_id, unit: row.unit, arms }, unit);
    return { agent_id, revision_id: arm.revision_id, rollout_id, arm_label: arm.label };
  }

  /** Agents whose draft or live revision grants one of the connections or a tool of it by name, and teams and projects that share it. */
  async namingConnections(db: Db, scope: OrgScope, connections: readonly NamedConnection[]): Promise<Map<string, Partial<Dependents>>> {
    const rows = await db.query(NAMING_CONNECTIONS, [scope.orgId, connections.map(({ id }) => id), connections.map(({ slug }) => slug)]);
    const idsOf = (connection: string, kind: 'agent' | 'team' | 'project') =>
      rows.filter((row) => row.connection_id === connection && row.kind === kind).map(({ id }) => id);
    return new Map(
      connections.map(({ id }) => [id, { agent_ids: idsOf(id, 'agent'), team_ids: idsOf(id, 'team'), project_ids: idsOf(id, 'project') }]),
    );
  }

  /** How many agents are granted every tool there is. */
  async grantedEverything(db: Db, scope: OrgScope): Promise<number> {
    return (await db.query(WILDCARDS, [scope.orgId]))[0].n;
  }
}
