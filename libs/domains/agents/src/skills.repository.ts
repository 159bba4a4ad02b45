import { Injectable } from '@nestjs/common';
import { Skill } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { containing, sliceBounds, statement, type Db, type Slice, type Tx } from '@aps/platform/database';

// An organization's own skill comes before one of the system that was given the same slug later.
const VISIBLE = `
  SELECT DISTINCT ON (slug) * FROM skills
  WHERE (org_id = $1 OR org_id IS NULL) AND deleted_at IS NULL`;
const OWN_FIRST = 'ORDER BY slug, org_id NULLS LAST';

const LIST = statement<Skill>(`
  SELECT * FROM (${VISIBLE} ${OWN_FIRST}) s
  WHERE $2::text IS NULL OR name ILIKE $2 OR slug ILIKE $2 OR description ILIKE $2
  ORDER BY slug LIMIT $3 OFFSET $4`);
const COUNT = statement<{ total: number }>(`
  SELECT count(*)::int AS total FROM (${VISIBLE} ${OWN_FIRST}) s
  WHERE $2::text IS NULL OR name ILIKE $2 OR slug ILIKE $2 OR description ILIKE $2`);
const BY_SLUGS = statement<Skill>(`${VISIBLE} AND slug = ANY($2) ${OWN_FIRST}`);
const HOLD = statement<{ slug: string }>(`
  SELECT slug FROM skills WHERE (org_id = $1 OR org_id IS NULL) AND deleted_at IS NULL AND slug = ANY($2)
  ORDER BY id FOR KEY SHARE`);
const LOCK = statement<Skill>('SELECT * FROM skills WHERE org_id = $1 AND slug = $2 AND deleted_at IS NULL FOR UPDATE');
const SEED = statement(`
  INSERT INTO skills (id, org_id, slug, name, description, content) VALUES ($1, NULL, $2, $3, $4, $5)
  ON CONFLICT (slug) WHERE deleted_at IS NULL AND org_id IS NULL
  DO UPDATE SET name = excluded.name, description = excluded.description, content = excluded.content, updated_at = now()
  WHERE (skills.name, skills.description, skills.content) IS DISTINCT FROM (excluded.name, excluded.description, excluded.content)`);

const SLUGS_LIKE = statement<{ slug: string }>(
  'SELECT slug FROM skills WHERE (org_id = $1 OR org_id IS NULL) AND deleted_at IS NULL AND starts_with(slug, $2)',
);

/** The only file that names the table of skills. */
@Injectable()
export class SkillsRepository {
  async list(db: Db, scope: OrgScope, q: string | undefined, page: Slice): Promise<{ items: Skill[]; total: number }> {
    const matches = [scope.orgId, q ? containing(q) : null];
    const items = await db.query(LIST, [...matches, ...sliceBounds(page)]);
    const [{ total }] = await db.query(COUNT, matches);
    return { items, total };
  }

  bySlugs(db: Db, scope: OrgScope, slugs: string[]): Promise<Skill[]> {
    return db.query(BY_SLUGS, [scope.orgId, slugs]);
  }

  /** Those of the slugs that there are skills of, held so that none is deleted before the transaction ends. */
  async holdSlugs(tx: Tx, scope: OrgScope, slugs: string[]): Promise<Set<string>> {
    const rows = await tx.query(HOLD, [scope.orgId, slugs]);
    return new Set(rows.map((r) => r.slug));
  }

  /** The organization's own skill, locked. */
  async lockOwn(tx: Tx, scope: OrgScope, slug: string): Promise<Skill | null> {
    const [row] = await tx.query(LOCK, [scope.orgId, slug]);
    return row ?? null;
  }

  async slugsLike(db: Db, scope: OrgScope, base: string): Promise<Set<string>> {
    const rows = await db.query(SLUGS_LIKE, [scope.orgId, base]);
    return new Set(rows.map((r) => r.slug));
  }

  async insert(tx: Tx, skill: Partial<Skill>): Promise<void> {
    await tx.manager.insert(Skill, skill);
  }

  async update(tx: Tx, scope: OrgScope, id: string, columns: Partial<Skill>): Promise<void> {
    await tx.manager.update(Skill, { org_id: scope.orgId, id }, { ...(columns as object), updated_at: () => 'clock_timestamp()' });
  }

  async seed(db: Db, skill: { id: string; slug: string; name: string; description: string; content: string }): Promise<void> {
    await db.execute(SEED, [skill.id, skill.slug, skill.name, skill.description, skill.content]);
  }
}
