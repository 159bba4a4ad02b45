import { Injectable } from '@nestjs/common';
import { Skill } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import {
  containing,
  listed,
  OrgTable,
  sliceBounds,
  statement,
  type Columns,
  type Db,
  type Listed,
  type Slice,
  type Tx,
} from '@aps/platform/database';
import { refusingTakenSlug } from './agents.errors';

// An organization's own skill comes before one of the system that was given the same slug later.
const VISIBLE = `
  SELECT DISTINCT ON (slug) * FROM skills
  WHERE (org_id = $1 OR org_id IS NULL) AND deleted_at IS NULL`;
const OWN_FIRST = 'ORDER BY slug, org_id NULLS LAST';

const FOUND = `(${VISIBLE} ${OWN_FIRST}) s WHERE $2::text IS NULL OR name ILIKE $2 OR slug ILIKE $2 OR description ILIKE $2`;
const LIST = statement<Skill>(`SELECT * FROM ${FOUND} ORDER BY slug LIMIT $3 OFFSET $4`);
const COUNT = statement<{ total: number }>(`SELECT count(*)::int AS total FROM ${FOUND}`);
const BY_SLUGS = statement<Skill>(`${VISIBLE} AND slug = ANY($2) ${OWN_FIRST}`);
const HOLD = statement<{ slug: string }>(`
  SELECT slug FROM skills WHERE (org_id = $1 OR org_id IS NULL) AND deleted_at IS NULL AND slug = ANY($2)
  ORDER BY id FOR KEY SHARE`);
const SEED = statement(`
  INSERT INTO skills (id, org_id, slug, name, description, content) VALUES ($1, NULL, $2, $3, $4, $5)
  ON CONFLICT (slug) WHERE deleted_at IS NULL AND org_id IS NULL
  DO UPDATE SET name = excluded.name, description = excluded.description, content = excluded.content, updated_at = now()
  WHERE (skills.name, skills.description, skills.content) IS DISTINCT FROM (excluded.name, excluded.description, excluded.content)`);

const SLUGS_LIKE = statement<{ slug: string }>(
  'SELECT slug FROM skills WHERE (org_id = $1 OR org_id IS NULL) AND deleted_at IS NULL AND starts_with(slug, $2)',
);

/** Skills: the organization's own and those of the system. */
@Injectable()
export class SkillsRepository {
  private readonly own = new OrgTable(Skill);

  list(db: Db, scope: OrgScope, q: string | undefined, page: Slice): Promise<Listed<Skill>> {
    const matches = [scope.orgId, q ? containing(q) : null];
    const rows = db.query(LIST, [...matches, ...sliceBounds(page)]);
    return listed(page, rows, async () => (await db.query(COUNT, matches))[0].total);
  }

  /** What no longer exists is left out. */
  async bySlugs(db: Db, scope: OrgScope, slugs: readonly string[]): Promise<Skill[]> {
    return slugs.length ? db.query(BY_SLUGS, [scope.orgId, slugs]) : [];
  }

  /** Those of the slugs that there are skills of, held so that none is deleted before the transaction ends. */
  async holdSlugs(tx: Tx, scope: OrgScope, slugs: string[]): Promise<Set<string>> {
    const rows = await tx.query(HOLD, [scope.orgId, slugs]);
    return new Set(rows.map((r) => r.slug));
  }

  /** The organization's own skill, locked. */
  lockOwn(tx: Tx, scope: OrgScope, slug: string): Promise<Skill | null> {
    return this.own.find(tx, scope, { slug }, 'for update');
  }

  async slugsLike(db: Db, scope: OrgScope, base: string): Promise<Set<string>> {
    const rows = await db.query(SLUGS_LIKE, [scope.orgId, base]);
    return new Set(rows.map((r) => r.slug));
  }

  /** @throws DomainError `slug_taken` */
  insert(tx: Tx, scope: OrgScope, skill: Columns<Skill>): Promise<Skill> {
    return refusingTakenSlug('skills_slug', this.own.insert(tx, scope, skill));
  }

  async update(tx: Tx, scope: OrgScope, id: string, columns: Columns<Skill>): Promise<Skill> {
    return (await this.own.update(tx, scope, id, columns))!;
  }

  async delete(tx: Tx, scope: OrgScope, id: string): Promise<void> {
    await this.own.delete(tx, scope, id);
  }

  async seed(db: Db, skill: { id: string; slug: string; name: string; description: string; content: string }): Promise<void> {
    await db.execute(SEED, [skill.id, skill.slug, skill.name, skill.description, skill.content]);
  }
}
