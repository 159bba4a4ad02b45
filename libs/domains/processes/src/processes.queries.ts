import { Injectable } from '@nestjs/common';
import type { Dependents, NamedConnection } from '@aps/connections';
import { connectionId } from '@aps/contracts';
import { listTally, NIL_UUID, type Process, type ProcessRunState } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { Database, idOrNone, OrgListing, statement, type Db, type Listed, type Slice } from '@aps/platform/database';

/** A process with what is looked up beside it: what is deployed, and the newest run. */
export interface ProcessView extends Process {
  current_version: number | null;
  current_deployed_at: Date | null;
  last_run_id: string | null;
  last_run_state: ProcessRunState | null;
  last_run_at: Date | null;
}

// In the order of their index: by ids alone PostgreSQL may look through the runs of all processes for the newest of one that has none.
const VIEWS = new OrgListing<ProcessView, { project_id?: string }>({
  key: 'p.id',
  prefixed: true,
  org: 'p.org_id',
  select: `p.*, r.version AS current_version, r.deployed_at AS current_deployed_at, l.id AS last_run_id, l.state AS last_run_state, l.created_at AS last_run_at`,
  from: `processes p
    LEFT JOIN process_revisions r ON r.id = p.current_revision_id
    LEFT JOIN LATERAL (SELECT x.id, x.state, x.created_at FROM process_runs x WHERE x.process_id = p.id ORDER BY x.created_at DESC, x.id DESC LIMIT 1) l ON true`,
  found: 'processes p',
  always: 'p.deleted_at IS NULL',
  where: { project_id: idOrNone('p.project_id') },
  tally: { from: listTally('processes'), where: { project_id: idOrNone('t.of_id', NIL_UUID) } },
  order: 'p.created_at DESC, p.id DESC',
  what: 'Process',
});

const EXISTING = statement<{ slug: string }>('SELECT slug FROM processes WHERE org_id = $1 AND slug = ANY($2) AND deleted_at IS NULL');
const FIRST_BY_SLUG = statement<{ slug: string; name: string }>(
  'SELECT slug, name FROM processes WHERE org_id = $1 AND deleted_at IS NULL ORDER BY slug LIMIT $2',
);

const NAMING_CONNECTIONS = statement<{ connection_id: string; process_id: string }>(`
  SELECT DISTINCT c.id AS connection_id, p.id AS process_id
  FROM process_revisions r JOIN processes p ON p.id = r.process_id AND p.deleted_at IS NULL CROSS JOIN LATERAL jsonb_array_elements(r.tool_snapshot) AS t(tool)
    JOIN unnest($2::uuid[], $3::text[], $4::text[]) AS c(id, slug, shown)
      ON t.tool->>'connection_id' IN (c.id::text, c.shown) OR starts_with(t.tool->>'tool_slug', c.slug || '.')
  WHERE r.org_id = $1 AND r.status = 'deployed' ORDER BY 2`);

/** Reads processes. Never writes. */
@Injectable()
export class ProcessesQueries {
  constructor(private readonly db: Database) {}

  /** Newest first. */
  list(scope: OrgScope, { project_id }: { project_id?: string }, page: Slice): Promise<Listed<ProcessView>> {
    return VIEWS.page(this.db, scope, { project_id }, page);
  }

  /** @throws DomainError `not_found` */
  get(scope: OrgScope, id: string, db: Db = this.db): Promise<ProcessView> {
    return VIEWS.get(db, scope, id, {});
  }

  /** Processes whose deployed revision calls a tool of one of the connections. */
  async callingConnections(db: Db, scope: OrgScope, connections: readonly NamedConnection[]): Promise<Map<string, Partial<Dependents>>> {
    const [ids, slugs] = [connections.map(({ id }) => id), connections.map(({ slug }) => slug)];
    const rows = await db.query(NAMING_CONNECTIONS, [scope.orgId, ids, slugs, ids.map(connectionId)]);
    const processesOf = (id: string) => rows.filter((row) => row.connection_id === id).map(({ process_id }) => process_id);
    return new Map(ids.map((id) => [id, { process_ids: processesOf(id) }]));
  }

  /** Those of the slugs that there is a process of. */
  async existing(db: Db, scope: OrgScope, slugs: readonly string[]): Promise<Set<string>> {
    return new Set((await db.query(EXISTING, [scope.orgId, slugs])).map(({ slug }) => slug));
  }

  /** The first so many, by slug. */
  named(db: Db, scope: OrgScope, limit: number): Promise<{ slug: string; name: string }[]> {
    return db.query(FIRST_BY_SLUG, [scope.orgId, limit]);
  }
}
