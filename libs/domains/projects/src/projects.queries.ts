import { Injectable } from '@nestjs/common';
import { idTypeOf, IN_PROJECTS, listTally, NIL_UUID, type Project, type ProjectResource } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { Database, mapListed, OrgListing, statement, type Listed, type Slice } from '@aps/platform/database';

/** A project with how many resources it has, by type; what it has none of is not there. */
export interface ProjectView extends Project {
  counts: Partial<Record<ProjectResource['entity_type'], number>>;
}

/** A resource of a project as it is shown. */
export type ResourceView = Pick<ProjectResource, 'entity_type' | 'entity_id' | 'added_at'> & { name: string; slug: string };

const VIEWS = new OrgListing<Project, object>({
  key: 'b.id',
  org: 'b.org_id',
  select: 'b.*',
  from: 'projects b',
  always: 'b.deleted_at IS NULL',
  tally: { from: listTally('projects'), where: {} },
  order: 'b.display_order, b.id',
  what: 'Project',
});

const SEEN = `split_part(t.facet, ':', 2) IN ('${NIL_UUID}', ($2::uuid)::text)`;
const COUNTS = statement<{ project_id: string; type: keyof ProjectView['counts']; n: number }>(`
  SELECT t.of_id AS project_id, split_part(t.facet, ':', 1) AS type, sum(t.n)::int AS n FROM ${listTally('project_resources')}
  WHERE t.org_id = $1 AND ${SEEN} AND t.of_id = ANY($3::uuid[]) GROUP BY 1, 2`);

/** A column of the resource that a row stands for, whatever its type. */
const ofResource = (column: 'name' | 'slug') =>
  `coalesce(${Object.values(IN_PROJECTS)
    .map((table) => `${table}.${table === 'connections' && column === 'name' ? 'label' : column}`)
    .join(', ')})`;
const RESOURCES = new OrgListing<ResourceView, { project_id: string; seen_by: string }>({
  key: 'r.ref',
  org: 'r.org_id',
  select: `r.entity_type, r.entity_id, r.added_at, ${ofResource('name')} AS name, ${ofResource('slug')} AS slug`,
  from: `project_resources r ${Object.entries(IN_PROJECTS)
    .map(
      ([type, table]) => `LEFT JOIN ${table} ON ${table}.id = CASE r.entity_type WHEN '${type}' THEN r.entity_id::${idTypeOf(table)} END`,
    )
    .join(' ')}`,
  found: 'project_resources r',
  where: { project_id: 'r.project_id = $', seen_by: [`r.private_to = '${NIL_UUID}'`, 'r.private_to = $'] },
  tally: {
    from: listTally('project_resources'),
    where: {
      project_id: 't.of_id = $',
      seen_by: [`split_part(t.facet, ':', 2) = '${NIL_UUID}'`, `split_part(t.facet, ':', 2) = ($::uuid)::text`],
    },
  },
  order: 'r.added_at DESC, r.ref DESC',
});

// Agents are told apart by their team there, connections by who sees them, and both by their project in the facet.
const UNCATEGORIZED = statement<{ n: number }>(`
  SELECT coalesce(sum(n), 0)::int AS n FROM list_tallies
  WHERE org_id = $1 AND ((list = 'agents' AND facet = '') OR (list = 'connections' AND facet = '' AND of_id IN ('${NIL_UUID}', $2))
    OR (list IN (${Object.values(IN_PROJECTS)
      .filter((table) => table !== 'agents' && table !== 'connections')
      .map((table) => `'${table}'`)
      .join(', ')}) AND of_id = '${NIL_UUID}'))`);

/** Reads projects and what is in them. Never writes. */
@Injectable()
export class ProjectsQueries {
  constructor(private readonly db: Database) {}

  /** In the order that members have chosen. */
  async list(scope: OrgScope, page: Slice): Promise<Listed<ProjectView>> {
    return mapListed(await VIEWS.page(this.db, scope, {}, page), (batch) => this.counted(scope, batch));
  }

  /** @throws DomainError `not_found` */
  async get(scope: OrgScope, id: string): Promise<ProjectView> {
    return (await this.counted(scope, [await VIEWS.get(this.db, scope, id, {})]))[0];
  }

  /** How many live resources that the caller sees are in no project; skills of the system aside. */
  async uncategorized(scope: OrgScope): Promise<number> {
    return (await this.db.query(UNCATEGORIZED, [scope.orgId, scope.userId]))[0].n;
  }

  /** What the caller sees of them. Newest first. @throws DomainError `not_found` */
  async resources(scope: OrgScope, id: string, page: Slice): Promise<Listed<ResourceView>> {
    await VIEWS.get(this.db, scope, id, {});
    return RESOURCES.page(this.db, scope, { project_id: id, seen_by: scope.userId }, page);
  }

  private async counted(scope: OrgScope, projects: Project[]): Promise<ProjectView[]> {
    const counts = await this.db.query(COUNTS, [scope.orgId, scope.userId, projects.map(({ id }) => id)]);
    const of = (id: string) => counts.filter(({ project_id }) => project_id === id).map(({ type, n }) => [type, n] as const);
    return projects.map((project) => ({ ...project, counts: Object.fromEntries(of(project.id)) }));
  }
}
