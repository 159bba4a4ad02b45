import { Injectable } from '@nestjs/common';
import { idTypeOf, IN_PROJECTS, listTally, NIL_UUID, type Project, type ProjectResource } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { Database, OrgListing, statement, type Listed, type Slice } from '@aps/platform/database';

/** A project with how many resources it has, by type; what it has none of is not there. */
export interface ProjectView extends Project {
  counts: Partial<Record<ProjectResource['entity_type'], number>>;
}

/** A resource of a project as it is shown. */
export type ResourceView = Pick<ProjectResource, 'entity_type' | 'entity_id' | 'added_at'> & { name: string; slug: string };

const VIEWS = new OrgListing<ProjectView, object>({
  key: 'b.id',
  org: 'b.org_id',
  select: `b.*, (SELECT coalesce(json_object_agg(c.facet, c.n), '{}') FROM (
      SELECT t.facet, sum(t.n)::int AS n FROM ${listTally('project_resources')} WHERE t.org_id = b.org_id AND t.of_id = b.id GROUP BY t.facet) c) AS counts`,
  from: 'projects b',
  always: 'b.deleted_at IS NULL',
  tally: { from: listTally('projects'), where: {} },
  order: 'b.display_order, b.id',
  what: 'Project',
});

/** A column of the resource that a row stands for, whatever its type. */
const ofResource = (column: 'name' | 'slug') =>
  `coalesce(${Object.values(IN_PROJECTS)
    .map((table) => `${table}.${column}`)
    .join(', ')})`;
const RESOURCES = new OrgListing<ResourceView, { project_id: string }>({
  key: 'r.ref',
  org: 'r.org_id',
  select: `r.entity_type, r.entity_id, r.added_at, ${ofResource('name')} AS name, ${ofResource('slug')} AS slug`,
  from: `project_resources r ${Object.entries(IN_PROJECTS)
    .map(
      ([type, table]) => `LEFT JOIN ${table} ON ${table}.id = CASE r.entity_type WHEN '${type}' THEN r.entity_id::${idTypeOf(table)} END`,
    )
    .join(' ')}`,
  found: 'project_resources r',
  where: { project_id: 'r.project_id = $' },
  tally: { from: listTally('project_resources'), where: { project_id: 't.of_id = $' } },
  order: 'r.added_at DESC, r.ref DESC',
});

// Agents are told apart by their team there, and by their project in the facet.
const UNCATEGORIZED = statement<{ n: number }>(`
  SELECT coalesce(sum(n), 0)::int AS n FROM list_tallies
  WHERE org_id = $1 AND ((list = 'agents' AND facet = '')
    OR (list IN (${Object.values(IN_PROJECTS)
      .filter((table) => table !== 'agents')
      .map((table) => `'${table}'`)
      .join(', ')}) AND of_id = '${NIL_UUID}'))`);

/** Reads projects and what is in them. Never writes. */
@Injectable()
export class ProjectsQueries {
  constructor(private readonly db: Database) {}

  /** In the order that members have chosen. */
  list(scope: OrgScope, page: Slice): Promise<Listed<ProjectView>> {
    return VIEWS.page(this.db, scope, {}, page);
  }

  /** @throws DomainError `not_found` */
  get(scope: OrgScope, id: string): Promise<ProjectView> {
    return VIEWS.get(this.db, scope, id, {});
  }

  /** How many live resources of the organization are in no project; skills of the system aside. */
  async uncategorized(scope: OrgScope): Promise<number> {
    return (await this.db.query(UNCATEGORIZED, [scope.orgId]))[0].n;
  }

  /** Newest first. @throws DomainError `not_found` */
  async resources(scope: OrgScope, id: string, page: Slice): Promise<Listed<ResourceView>> {
    await this.get(scope, id);
    return RESOURCES.page(this.db, scope, { project_id: id }, page);
  }
}
