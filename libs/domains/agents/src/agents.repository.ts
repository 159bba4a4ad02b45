import { Injectable } from '@nestjs/common';
import { Agent } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import type { AgentModel } from '@aps/inference';
import { containing, sliceBounds, statement, type Db, type Slice, type Tx } from '@aps/platform/database';
import type { QueryDeepPartialEntity } from 'typeorm';
import { agentNotFound } from './agents.errors';
import { isId } from './values';

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

export interface AgentName {
  id: string;
  slug: string;
  name: string;
}

/** An agent as other agents are told of it. */
export interface NamedAgent extends AgentName {
  description: string | null;
}

/** What a new chat of an agent is frozen with. */
export interface NewChatBasis {
  agent_id: string;
  revision_id: string;
  rollout_id: string | null;
  arm_label: string | null;
}

const VIEW = `
  SELECT a.*, coalesce(i.content, '') AS instruction, coalesce(i.version, 0) AS instruction_version, r.version AS live_version,
         a.draft_hash IS DISTINCT FROM r.hash AS draft_dirty, x.id AS running_rollout_id,
         EXISTS (SELECT 1 FROM instruction_revisions d WHERE d.agent_id = a.id AND d.state = 'draft') AS has_instruction_draft
  FROM agents a
  LEFT JOIN instruction_revisions i ON i.agent_id = a.id AND i.state = 'active'
  LEFT JOIN agent_revisions r ON r.id = a.live_revision_id
  LEFT JOIN rollouts x ON x.agent_id = a.id AND x.status = 'running'
  WHERE a.org_id = $1 AND a.deleted_at IS NULL`;

const MATCHES = `
  AND ($2::text IS NULL OR a.name ILIKE $2 OR a.slug ILIKE $2 OR a.description ILIKE $2)
  AND ($3::text IS NULL OR a.team_id::text IS NOT DISTINCT FROM nullif($3, 'none'))
  AND ($4::text IS NULL OR a.project_id::text IS NOT DISTINCT FROM nullif($4, 'none'))`;

const VIEW_BY_ID = statement<AgentView>(`${VIEW} AND a.id = $2`);
const VIEW_BY_SLUG = statement<AgentView>(`${VIEW} AND a.slug = $2`);
const LIST = statement<AgentView>(`${VIEW} ${MATCHES} ORDER BY a.created_at DESC, a.id DESC LIMIT $5 OFFSET $6`);
const COUNT = statement<{ total: number }>(
  `SELECT count(*)::int AS total FROM agents a WHERE a.org_id = $1 AND a.deleted_at IS NULL ${MATCHES}`,
);
const ID_BY_ID = statement<{ id: string }>('SELECT id FROM agents WHERE org_id = $1 AND id = $2 AND deleted_at IS NULL');
const ID_BY_SLUG = statement<{ id: string }>('SELECT id FROM agents WHERE org_id = $1 AND slug = $2 AND deleted_at IS NULL');

// NO KEY UPDATE and not UPDATE: a chat that is being created refers to the agent's key and must not wait for an edit. Deleting and
// renaming do take the whole lock, so that they wait for those who have just begun to refer to the agent (KEY SHARE), and these for them.
const LOCK = statement<Agent>('SELECT * FROM agents WHERE org_id = $1 AND id = $2 AND deleted_at IS NULL FOR NO KEY UPDATE');
const LOCK_IDENTITY = statement<Agent>('SELECT * FROM agents WHERE org_id = $1 AND id = $2 AND deleted_at IS NULL FOR UPDATE');
const HOLD_IDS = statement<AgentName>(
  'SELECT id, slug, name FROM agents WHERE org_id = $1 AND id = ANY($2) AND deleted_at IS NULL ORDER BY id FOR KEY SHARE',
);
const HOLD_SLUGS = statement<AgentName>(
  'SELECT id, slug, name FROM agents WHERE org_id = $1 AND slug = ANY($2) AND deleted_at IS NULL ORDER BY id FOR KEY SHARE',
);
const NAMED = statement<NamedAgent>(`
  SELECT id, slug, name, description FROM agents
  WHERE org_id = $1 AND deleted_at IS NULL AND live_revision_id IS NOT NULL AND ($4 OR id = ANY($2) OR slug = ANY($3)) ORDER BY slug LIMIT $5`);

// Drafts and live revisions both count: a draft is the next thing to go live.
const NAMING = (inDraft: string, inLive: string) => `
  SELECT a.id, a.slug, a.name FROM agents a LEFT JOIN agent_revisions r ON r.id = a.live_revision_id
  WHERE a.org_id = $1 AND a.deleted_at IS NULL AND (${inDraft} OR ${inLive})`;
const NAMING_AGENT = statement<AgentName>(`
  ${NAMING(`$2::uuid = ANY(a.child_agent_ids) OR $3 = ANY(a.allowed_tools)`, `r.config->'child_agent_ids' ? $2::text OR r.config->'allowed_tools' ? $3`)}
  AND a.id <> $2::uuid ORDER BY a.slug`);
const NAMING_SLUG = statement<AgentName>(
  `${NAMING(`$3 = ANY(a.allowed_tools)`, `r.config->'allowed_tools' ? $3`)} AND a.id <> $2::uuid ORDER BY a.slug`,
);
const MOUNTING_SKILL = statement<AgentName>(`${NAMING('$2 = ANY(a.mounted_skills)', `r.config->'mounted_skills' ? $2`)} ORDER BY a.slug`);
// The live model first: chats run on it now.
const MODEL_OUTSIDE = statement<AgentModel>(`
  SELECT a.id, a.name, CASE WHEN r.config->>'model' <> ALL($2::text[]) THEN r.config->>'model' ELSE a.model END AS model
  FROM agents a LEFT JOIN agent_revisions r ON r.id = a.live_revision_id
  WHERE a.org_id = $1 AND a.deleted_at IS NULL AND (a.model <> ALL($2::text[]) OR r.config->>'model' <> ALL($2::text[]))
  ORDER BY a.name, a.id`);

const FOR_NEW_CHAT = statement<NewChatBasis>(`
  SELECT a.id AS agent_id, a.live_revision_id AS revision_id, r.id AS rollout_id, NULL::text AS arm_label
  FROM agents a LEFT JOIN rollouts r ON r.agent_id = a.id AND r.status = 'live'
  WHERE a.org_id = $1 AND a.id = $2 AND a.deleted_at IS NULL AND a.live_revision_id IS NOT NULL`);

const COUNT_LIVE = statement<{ n: number }>('SELECT count(*)::int AS n FROM agents WHERE org_id = $1 AND deleted_at IS NULL');
const SLUGS_LIKE = statement<{ slug: string }>(
  'SELECT slug FROM agents WHERE org_id = $1 AND deleted_at IS NULL AND starts_with(slug, $2)',
);
const READ = statement<Agent>('SELECT * FROM agents WHERE org_id = $1 AND id = $2');

/** The only file that names the table of agents; others only say what they want of it. */
@Injectable()
export class AgentsRepository {
  async view(db: Db, scope: OrgScope, ref: string): Promise<AgentView> {
    const [row] = await db.query(isId(ref) ? VIEW_BY_ID : VIEW_BY_SLUG, [scope.orgId, ref]);
    if (!row) throw agentNotFound();
    return row;
  }

  async list(db: Db, scope: OrgScope, filter: AgentFilter, page: Slice): Promise<{ items: AgentView[]; total: number }> {
    const matches = [
      scope.orgId,
      filter.q ? containing(filter.q) : null,
      filter.team_id?.toLowerCase() ?? null,
      filter.project_id?.toLowerCase() ?? null,
    ];
    const items = await db.query(LIST, [...matches, ...sliceBounds(page)]);
    const [{ total }] = await db.query(COUNT, matches);
    return { items, total };
  }

  /**
   * @param ref an id or a slug
   * @throws DomainError `not_found`
   */
  async idOf(db: Db, scope: OrgScope, ref: string): Promise<string> {
    const [row] = await db.query(isId(ref) ? ID_BY_ID : ID_BY_SLUG, [scope.orgId, ref]);
    if (!row) throw agentNotFound();
    return row.id;
  }

  /** Serializes every change of one agent until the transaction ends. Versions are counted under this lock. */
  async lock(tx: Tx, scope: OrgScope, ref: string): Promise<Agent> {
    return this.locked(LOCK, tx, scope, ref);
  }

  /** The same, and nobody begins to refer to the agent meanwhile. For what ends its id or slug. */
  async lockIdentity(tx: Tx, scope: OrgScope, ref: string): Promise<Agent> {
    return this.locked(LOCK_IDENTITY, tx, scope, ref);
  }

  private async locked(lock: typeof LOCK, tx: Tx, scope: OrgScope, ref: string): Promise<Agent> {
    const [agent] = await tx.query(lock, [scope.orgId, await this.idOf(tx, scope, ref)]);
    if (!agent) throw agentNotFound();
    return agent;
  }

  async countLive(db: Db, scope: OrgScope): Promise<number> {
    const [{ n }] = await db.query(COUNT_LIVE, [scope.orgId]);
    return n;
  }

  /** Slugs of live agents that begin with `base`. */
  async slugsLike(db: Db, scope: OrgScope, base: string): Promise<Set<string>> {
    const rows = await db.query(SLUGS_LIKE, [scope.orgId, base]);
    return new Set(rows.map((r) => r.slug));
  }

  /** Agents whose draft or live revision names a model that is not in the list. */
  withModelOutside(db: Db, scope: OrgScope, allowed: readonly string[]): Promise<AgentModel[]> {
    return db.query(MODEL_OUTSIDE, [scope.orgId, allowed]);
  }

  async insert(tx: Tx, agent: Partial<Agent>): Promise<void> {
    await tx.manager.insert(Agent, agent as QueryDeepPartialEntity<Agent>);
  }

  /** Writes columns of an agent and reads it back as the database keeps it. */
  async update(tx: Tx, scope: OrgScope, id: string, columns: Partial<Agent>): Promise<Agent> {
    const key = { org_id: scope.orgId, id };
    await tx.manager.update(Agent, key, { ...(columns as object), updated_at: () => 'clock_timestamp()' });
    return this.read(tx, scope, id);
  }

  async read(db: Db, scope: OrgScope, id: string): Promise<Agent> {
    const [agent] = await db.query(READ, [scope.orgId, id]);
    return agent;
  }

  /** Those of the agents that live, held so that none is deleted before the transaction ends. */
  holdIds(tx: Tx, scope: OrgScope, ids: string[]): Promise<AgentName[]> {
    return tx.query(HOLD_IDS, [scope.orgId, ids]);
  }

  holdSlugs(tx: Tx, scope: OrgScope, slugs: string[]): Promise<AgentName[]> {
    return tx.query(HOLD_SLUGS, [scope.orgId, slugs]);
  }

  /** Those of the agents that live, by slug. */
  named(
    db: Db,
    scope: OrgScope,
    which: { ids: readonly string[]; slugs: readonly string[]; all: boolean; limit: number },
  ): Promise<NamedAgent[]> {
    return db.query(NAMED, [scope.orgId, which.ids, which.slugs, which.all, which.limit]);
  }

  /** Other live agents that name this one as a child, or grant its tool scope. */
  naming(db: Db, scope: OrgScope, agent: { id: string; slug: string }): Promise<AgentName[]> {
    return db.query(NAMING_AGENT, [scope.orgId, agent.id, `agent:${agent.slug}`]);
  }

  /** Other live agents that grant this one's tool scope, which carries its slug. */
  namingSlug(db: Db, scope: OrgScope, agent: { id: string; slug: string }): Promise<AgentName[]> {
    return db.query(NAMING_SLUG, [scope.orgId, agent.id, `agent:${agent.slug}`]);
  }

  mountingSkill(db: Db, scope: OrgScope, slug: string): Promise<AgentName[]> {
    return db.query(MOUNTING_SKILL, [scope.orgId, slug]);
  }

  async forNewChat(db: Db, scope: OrgScope, agentId: string): Promise<NewChatBasis | null> {
    const [row] = await db.query(FOR_NEW_CHAT, [scope.orgId, agentId]);
    return row ?? null;
  }
}
