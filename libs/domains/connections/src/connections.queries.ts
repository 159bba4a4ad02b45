import { Injectable } from '@nestjs/common';
import { connectionUuid, isUuid, notFound } from '@aps/contracts';
import { listTally, NIL_UUID, type Connection, type ConnectionTool } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { Database, idOrNone, mapListed, OrgListing, statement, type Db, type Listed, type Slice } from '@aps/platform/database';
import { isVisible } from './connections.policy';
import { ConnectionDependents, type Dependents } from './dependents';
import { toolSlug } from './tools/tool-names.policy';

/** A connection without what nobody may read. */
export type ConnectionRow = Omit<Connection, 'secrets' | 'consent' | 'token_version' | 'refreshing_until' | 'deleted_at'>;

/** A connection as it is shown to who sees it. */
export interface ConnectionView extends ConnectionRow {
  tool_count: number;
  dependents: Dependents;
  /** How many agents may use every tool there is. */
  wildcard_agent_count: number;
}

/** A connection as administrators see all of them, private ones, too. */
export type StewardedConnection = Pick<
  Connection,
  'id' | 'slug' | 'label' | 'app_key' | 'provider_key' | 'method' | 'status' | 'scope' | 'owner_user_id' | 'decision_mode' | 'last_used_at'
> & { owner_email: string | null; dependent_count: number };

/** A connection with the tools that it has. */
export interface ConnectionWithTools extends ConnectionRow {
  tools: Omit<ConnectionTool, 'org_id' | 'connection_id' | 'gone_at' | 'created_at' | 'updated_at'>[];
}

/** A connection with what there is to know of its tools without their words and schemas, which are most of them. */
export interface ConnectionOutline extends ConnectionRow {
  tools: Pick<ConnectionTool, 'name' | 'access_level' | 'hints'>[];
}

/** A tool that can be called, and of which connection it is. */
export type CallableTool = Pick<ConnectionTool, 'connection_id' | 'name' | 'description' | 'access_level'> & Pick<Connection, 'slug'>;

/** What a connection is called, whether it can be used, and whether the caller sees it. */
export type LabelledConnection = Pick<Connection, 'id' | 'slug' | 'label'> & { is_active: boolean; is_seen: boolean };

const COLUMNS = [
  'id',
  'org_id',
  'slug',
  'label',
  'app_key',
  'provider_key',
  'method',
  'status',
  'scope',
  'owner_user_id',
  'project_id',
  'decision_mode',
  'server_url',
  'credential_hint',
  'headers',
  'expires_at',
  'knowledge_capable',
  'last_error',
  'tools_listed_at',
  'stale_since',
  'last_used_at',
  'created_by',
  'created_at',
  'updated_at',
]
  .map((column) => `c.${column}`)
  .join(', ');

const ROWS = {
  key: 'c.id',
  org: 'c.org_id',
  always: 'c.deleted_at IS NULL',
  order: 'c.created_at DESC, c.id DESC',
  what: 'Connection',
};

/** What is looked for. */
interface Sought {
  seen_by: string;
  project_id?: string;
}

// What is private is its owner's alone: whoever lists gets the organization's, and their own.
const VIEWS = new OrgListing<Omit<ConnectionView, 'dependents' | 'wildcard_agent_count'>, Sought>({
  ...ROWS,
  slug: 'c.slug',
  select: `${COLUMNS}, (SELECT count(*)::int FROM connection_tools t WHERE t.connection_id = c.id AND t.gone_at IS NULL) AS tool_count`,
  from: 'connections c',
  where: {
    seen_by: [`c.scope = 'org'`, `c.scope = 'private' AND c.owner_user_id = $`],
    project_id: idOrNone('c.project_id'),
  },
  tally: {
    from: listTally('connections'),
    where: {
      seen_by: [`t.of_id = '${NIL_UUID}'`, 't.of_id = $'],
      // The value is an id for the rows.
      project_id: { id: 't.facet = ($::uuid)::text', none: `t.facet = ''` },
    },
  },
});
const STEWARDED = new OrgListing<Omit<StewardedConnection, 'dependent_count'>, object>({
  ...ROWS,
  select: `c.id, c.slug, c.label, c.app_key, c.provider_key, c.method, c.status, c.scope, c.owner_user_id, c.decision_mode, c.last_used_at, u.email AS owner_email`,
  from: 'connections c LEFT JOIN users u ON u.id = c.owner_user_id',
  found: 'connections c',
  tally: { from: listTally('connections'), where: {} },
});

const SEEN = `c.org_id = $1 AND c.deleted_at IS NULL AND (c.scope = 'org' OR c.owner_user_id = $2)`;
const COUNTS = statement<{ provider_key: string; n: number }>(
  `SELECT c.provider_key, count(*)::int AS n FROM connections c WHERE ${SEEN} GROUP BY c.provider_key`,
);
const WITH_TOOLS = statement<ConnectionWithTools>(`
  SELECT ${COLUMNS}, coalesce(t.tools, '[]') AS tools
  FROM connections c LEFT JOIN LATERAL (
    SELECT jsonb_agg(jsonb_build_object('name', t.name, 'title', t.title, 'description', t.description, 'input_schema', t.input_schema, 'hints', t.hints,
      'access_level', t.access_level, 'waiting', t.waiting) ORDER BY t.name) AS tools
    FROM connection_tools t WHERE t.connection_id = c.id AND t.gone_at IS NULL AND ($5::text IS NULL OR t.name = $5)) t ON true
  WHERE ${SEEN} AND ($3::text IS NULL OR c.status = $3) AND ($4::text[] IS NULL OR c.slug = ANY($4)) ORDER BY c.slug`);
const OUTLINES = statement<ConnectionOutline>(`
  SELECT ${COLUMNS}, coalesce(t.tools, '[]') AS tools
  FROM connections c LEFT JOIN LATERAL (
    SELECT jsonb_agg(jsonb_build_object('name', t.name, 'access_level', t.access_level, 'hints', t.hints) ORDER BY t.name) AS tools
    FROM connection_tools t WHERE t.connection_id = c.id AND t.gone_at IS NULL) t ON true
  WHERE ${SEEN} ORDER BY c.slug`);
const CALLABLE = `connections c JOIN connection_tools t ON t.connection_id = c.id AND t.gone_at IS NULL WHERE ${SEEN} AND c.status = 'active'`;
const CALLABLE_TOOLS = statement<CallableTool>(
  `SELECT c.slug, t.connection_id, t.name, t.description, t.access_level FROM ${CALLABLE} ORDER BY c.slug, t.name LIMIT $3 OFFSET $4`,
);
const CALLABLE_COUNT = statement<{ n: number }>(`SELECT count(*)::int AS n FROM ${CALLABLE}`);
const EVERY = statement<LabelledConnection>(`
  SELECT c.id, c.slug, c.label, c.status = 'active' AS is_active, (c.scope = 'org' OR coalesce(c.owner_user_id = $2, false)) AS is_seen
  FROM connections c WHERE c.org_id = $1 AND c.deleted_at IS NULL ORDER BY c.slug`);
const named = (condition: string) =>
  statement<{ slug: string }>(
    `SELECT slug FROM connections WHERE org_id = $1 AND slug = ANY($2) AND ${condition} AND deleted_at IS NULL ORDER BY id FOR KEY SHARE`,
  );
const HELD_SLUGS = { shared: named(`scope = 'org'`), any: named('true') };
const LISTED = statement<{ slug: string; name: string }>(`
  SELECT c.slug, t.name FROM connections c JOIN connection_tools t ON t.connection_id = c.id AND t.gone_at IS NULL
  WHERE c.org_id = $1 AND c.deleted_at IS NULL AND (c.slug, t.name) IN (SELECT * FROM unnest($2::text[], $3::text[]))`);

/** Reads connections, each as far as somebody sees it. Never writes. */
@Injectable()
export class ConnectionsQueries {
  constructor(
    private readonly db: Database,
    private readonly dependents: ConnectionDependents,
  ) {}

  /** Those of the organization and the caller's own. Newest first. @param project_id an id, or `none` */
  async list(
    scope: OrgScope,
    { project_id }: { project_id?: string },
    page: Slice,
  ): Promise<{ connections: Listed<ConnectionView>; wildcard_agent_count: number }> {
    const wildcard_agent_count = await this.dependents.wildcards(this.db, scope);
    const rows = await VIEWS.page(this.db, scope, { seen_by: scope.userId, project_id }, page);
    return { connections: await mapListed(rows, (batch) => this.whole(this.db, scope, batch, wildcard_agent_count)), wildcard_agent_count };
  }

  /** @param ref an id in either form @throws DomainError `not_found`, of others' private ones, too */
  get(scope: OrgScope, ref: string, db: Db = this.db): Promise<ConnectionView> {
    const id = connectionUuid(ref);
    if (!id) throw notFound('Connection');
    return this.view(db, scope, id);
  }

  /** @throws DomainError `not_found`, of others' private ones, too */
  async bySlug(scope: OrgScope, slug: string): Promise<ConnectionView> {
    if (isUuid(slug)) throw notFound('Connection');
    return this.view(this.db, scope, slug);
  }

  /** Every connection there is, private ones, too. Newest first. */
  async stewardship(scope: OrgScope, page: Slice): Promise<Listed<StewardedConnection>> {
    const rows = await STEWARDED.page(this.db, scope, {}, page);
    return mapListed(rows, async (batch) => {
      const dependents = await this.dependents.ofEach(this.db, scope, batch);
      return batch.map((row) => ({ ...row, dependent_count: Object.values(dependents.get(row.id)!).flat().length }));
    });
  }

  /** How many connections of each provider the caller sees. */
  async counts(scope: OrgScope): Promise<Map<string, number>> {
    return new Map((await this.db.query(COUNTS, [scope.orgId, scope.userId])).map(({ provider_key, n }) => [provider_key, n]));
  }

  /**
   * Connections with their tools, by slug: the organization's, and those that are private to a user.
   *
   * @param of `userId`: on whose behalf they would be used; null: nobody's, so no private ones. `status`, `slugs`, `tool`: only those
   */
  withTools(
    db: Db,
    scope: OrgScope,
    of: { userId: string | null; status?: Connection['status']; slugs?: readonly string[] | null; tool?: string },
  ): Promise<ConnectionWithTools[]> {
    return db.query(WITH_TOOLS, [scope.orgId, of.userId, of.status ?? null, of.slugs ?? null, of.tool ?? null]);
  }

  /** Those that somebody sees, by slug, with an outline of their tools. @param userId null: those of the organization alone */
  outlines(db: Db, scope: OrgScope, userId: string | null): Promise<ConnectionOutline[]> {
    return db.query(OUTLINES, [scope.orgId, userId]);
  }

  /** The tools of active connections that the caller sees, by slug, and how many there are. */
  async callable(scope: OrgScope, { limit, offset = 0 }: Slice): Promise<{ tools: CallableTool[]; total: number }> {
    const seen = [scope.orgId, scope.userId] as const;
    const [tools, [{ n }]] = await Promise.all([
      this.db.query(CALLABLE_TOOLS, [...seen, limit ?? null, offset]),
      this.db.query(CALLABLE_COUNT, [...seen]),
    ]);
    return { tools, total: n };
  }

  /** Every connection there is, by slug: for what is to be kept for others, too. Of those that the caller does not see nothing is told. */
  every(db: Db, scope: OrgScope): Promise<LabelledConnection[]> {
    return db.query(EVERY, [scope.orgId, scope.userId]);
  }

  /** Those of the slugs that there is a connection of, for everybody or for anybody, held so that none is deleted before the transaction ends. */
  async existing(db: Db, scope: OrgScope, slugs: readonly string[], whose: 'shared' | 'any'): Promise<Set<string>> {
    return new Set(slugs.length ? (await db.query(HELD_SLUGS[whose], [scope.orgId, slugs])).map(({ slug }) => slug) : []);
  }

  /** Slugs of those of the tools that their server lists, whosever the connection is. */
  async existingTools(db: Db, scope: OrgScope, tools: readonly { connection: string; name: string }[]): Promise<Set<string>> {
    const columns = [tools.map(({ connection }) => connection), tools.map(({ name }) => name)];
    const rows = tools.length ? await db.query(LISTED, [scope.orgId, ...columns]) : [];
    return new Set(rows.map(({ slug, name }) => toolSlug(slug, name)));
  }

  /** A row as it is shown to who was let at it; of others' private ones nothing of how they are reached. */
  async shown(db: Db, scope: OrgScope, connection: Connection): Promise<ConnectionView> {
    const view = await this.view(db, scope, connection.id, connection.owner_user_id ?? scope.userId);
    return isVisible(connection, scope) ? view : { ...view, server_url: null, credential_hint: null, headers: {}, last_error: null };
  }

  private async view(db: Db, scope: OrgScope, ref: string, seenBy: string = scope.userId): Promise<ConnectionView> {
    const row = await VIEWS.get(db, scope, ref, { seen_by: seenBy });
    return (await this.whole(db, scope, [row], await this.dependents.wildcards(db, scope)))[0];
  }

  private async whole(
    db: Db,
    scope: OrgScope,
    rows: Omit<ConnectionView, 'dependents' | 'wildcard_agent_count'>[],
    wildcard_agent_count: number,
  ): Promise<ConnectionView[]> {
    const dependents = await this.dependents.ofEach(db, scope, rows);
    return rows.map((row) => ({ ...row, dependents: dependents.get(row.id)!, wildcard_agent_count }));
  }
}
