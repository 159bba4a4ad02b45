import { Injectable } from '@nestjs/common';
import { AgentTeam, IN_PROJECTS, Project, type SharedBlock } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { advisoryLock, OrgTable, statement, type Db, type Tx } from '@aps/platform/database';

/** Teams, or projects: what tells them apart, and nothing else. */
export interface BlockKind<B extends SharedBlock> {
  kind: 'team' | 'project';
  rows: OrgTable<B>;
  /** The unique index of their slugs. */
  slugs: string;
}

export const TEAMS: BlockKind<AgentTeam> = { kind: 'team', rows: new OrgTable(AgentTeam, 'Team'), slugs: 'agent_teams_slug' };
export const PROJECTS: BlockKind<Project> = { kind: 'project', rows: new OrgTable(Project, 'Project'), slugs: 'projects_slug' };

const TABLES = { team: 'agent_teams', project: 'projects' };
const ofEach = <S>(make: (table: string) => S) => ({ team: make(TABLES.team), project: make(TABLES.project) });

const HOLD = ofEach((table) =>
  statement<{ id: string }>(`SELECT id FROM ${table} WHERE org_id = $1 AND id = $2 AND deleted_at IS NULL FOR KEY SHARE`),
);
const LAST = ofEach((table) =>
  statement<{ place: number }>(
    `SELECT coalesce(max(display_order), -1)::int AS place FROM ${table} WHERE org_id = $1 AND deleted_at IS NULL`,
  ),
);
const REORDER = ofEach((table) =>
  statement(`
  WITH wanted AS (SELECT id, min(place) AS place FROM unnest($2::uuid[]) WITH ORDINALITY AS named(id, place) GROUP BY id),
  placed AS (
    SELECT b.id, row_number() OVER (ORDER BY w.place NULLS LAST, b.display_order, b.id) - 1 AS place
    FROM ${table} b LEFT JOIN wanted w ON w.id = b.id WHERE b.org_id = $1 AND b.deleted_at IS NULL)
  UPDATE ${table} b SET display_order = p.place FROM placed p WHERE b.id = p.id AND b.display_order <> p.place`),
);
const emptying = (table: string, column: 'team_id' | 'project_id') =>
  statement(`UPDATE ${table} SET ${column} = NULL, updated_at = now() WHERE org_id = $1 AND ${column} = $2 AND deleted_at IS NULL`);
const EMPTY = {
  team: [emptying('agents', 'team_id')],
  project: Object.values(IN_PROJECTS).map((table) => emptying(table, 'project_id')),
};
const FORGET = statement(`DELETE FROM memories WHERE org_id = $1 AND owner_kind = $2 AND owner_id = $3`);

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
const GRANTING = NAMING('shared_allowed_tools');
const MOUNTING = NAMING('shared_mounted_skills');

/** Rows of teams and projects, under the locks that their changes need. */
@Injectable()
export class BlocksRepository {
  /** Nobody else takes a slug, or a place in the order, before the transaction ends. */
  lockOrder(tx: Tx, scope: OrgScope, { kind }: Pick<NamingBlock, 'kind'>): Promise<void> {
    return advisoryLock(tx, `${kind}s:${scope.orgId}`);
  }

  /** The place after all others. */
  async nextPlace(tx: Tx, scope: OrgScope, { kind }: Pick<NamingBlock, 'kind'>): Promise<number> {
    return (await tx.query(LAST[kind], [scope.orgId]))[0].place + 1;
  }

  /** The named first, in that order, then the others in theirs. What is no live row of the organization is passed over. */
  async reorder(tx: Tx, scope: OrgScope, { kind }: Pick<NamingBlock, 'kind'>, ids: readonly string[]): Promise<void> {
    await tx.execute(REORDER[kind], [scope.orgId, ids]);
  }

  /** Whether there is such a row; if so, it is not deleted before the transaction ends. */
  async hold(tx: Tx, scope: OrgScope, { kind, id }: NamingBlock): Promise<boolean> {
    return (await tx.query(HOLD[kind], [scope.orgId, id])).length > 0;
  }

  /** Takes out what is in it, which stays. */
  async empty(tx: Tx, scope: OrgScope, { kind, id }: NamingBlock): Promise<void> {
    for (const emptied of EMPTY[kind]) await tx.execute(emptied, [scope.orgId, id]);
  }

  /** Deletes what it remembers. */
  async forget(tx: Tx, scope: OrgScope, { kind, id }: NamingBlock): Promise<void> {
    await tx.execute(FORGET, [scope.orgId, kind, id]);
  }

  /** Live teams and projects that share a tool scope. */
  granting(db: Db, scope: OrgScope, tool: string): Promise<NamingBlock[]> {
    return db.query(GRANTING, [scope.orgId, tool]);
  }

  /** Live teams and projects that share a skill. */
  mounting(db: Db, scope: OrgScope, skill: string): Promise<NamingBlock[]> {
    return db.query(MOUNTING, [scope.orgId, skill]);
  }
}
