import { AgentTeam, IN_PROJECTS, Project, type SharedBlock } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { OrgTable, statement, type Tx } from '@aps/platform/database';

/** Teams, or projects: what tells them apart, and nothing else. */
export interface BlockKind<B extends SharedBlock> {
  kind: 'team' | 'project';
  rows: OrgTable<B>;
  /** The unique index of their slugs. */
  slugs: string;
}

export const TEAMS: BlockKind<AgentTeam> = { kind: 'team', rows: new OrgTable(AgentTeam, 'Team'), slugs: 'agent_teams_slug' };
export const PROJECTS: BlockKind<Project> = { kind: 'project', rows: new OrgTable(Project, 'Project'), slugs: 'projects_slug' };

/** Whether there is such a row; if so, it is not deleted before the transaction ends. */
export const isHeld = async (tx: Tx, scope: OrgScope, kind: 'team' | 'project', id: string): Promise<boolean> =>
  (await (kind === 'team' ? TEAMS : PROJECTS).rows.find(tx, scope, id, 'for key share')) !== null;

const TABLES = { team: 'agent_teams', project: 'projects' };
const ofEach = <S>(make: (table: string) => S) => ({ team: make(TABLES.team), project: make(TABLES.project) });

/** The place after all others. */
export const NEXT_PLACE = ofEach((table) =>
  statement<{ place: number }>(
    `SELECT coalesce(max(display_order) + 1, 0)::int AS place FROM ${table} WHERE org_id = $1 AND deleted_at IS NULL`,
  ),
);
/** The named first, in that order, then the others in theirs. What is no live row of the organization is passed over. */
export const REORDER = ofEach((table) =>
  statement(`
  WITH wanted AS (SELECT id, min(place) AS place FROM unnest($2::uuid[]) WITH ORDINALITY AS named(id, place) GROUP BY id),
  placed AS (
    SELECT b.id, row_number() OVER (ORDER BY w.place NULLS LAST, b.display_order, b.id) - 1 AS place
    FROM ${table} b LEFT JOIN wanted w ON w.id = b.id WHERE b.org_id = $1 AND b.deleted_at IS NULL)
  UPDATE ${table} b SET display_order = p.place FROM placed p WHERE b.id = p.id AND b.display_order <> p.place`),
);
const emptying = (table: string, column: 'team_id' | 'project_id') =>
  statement(`UPDATE ${table} SET ${column} = NULL, updated_at = now() WHERE org_id = $1 AND ${column} = $2 AND deleted_at IS NULL`);
/** Takes out what is in it, which stays. */
export const EMPTY = {
  team: [emptying('agents', 'team_id')],
  project: Object.values(IN_PROJECTS).map((table) => emptying(table, 'project_id')),
};
/** Deletes what it remembers. Values: the organization, its kind, its id. */
export const FORGET = statement(`DELETE FROM memories WHERE org_id = $1 AND owner_kind = $2 AND owner_id = $3`);

/** A team or a project that names something. */
export interface NamingBlock {
  kind: 'team' | 'project';
  id: string;
}
const NAMING = (column: keyof SharedBlock) =>
  statement<NamingBlock>(
    Object.entries(TABLES)
      .map(([kind, table]) => `SELECT '${kind}' AS kind, id FROM ${table} WHERE org_id = $1 AND deleted_at IS NULL AND $2 = ANY(${column})`)
      .join(' UNION ALL '),
  );
/** Live teams and projects that share a tool scope. */
export const GRANTING = NAMING('shared_allowed_tools');
/** Live teams and projects that share a skill. */
export const MOUNTING = NAMING('shared_mounted_skills');
