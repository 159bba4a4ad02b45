import { Injectable } from '@nestjs/common';
import { listTally, NIL_UUID, type Skill } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { idOrNone, Listing, statement, type Db, type Tx } from '@aps/platform/database';

const SHADOWED = (rows: string) =>
  `EXISTS (SELECT 1 FROM skills own WHERE own.org_id = $ AND own.slug = ${rows}.slug AND own.deleted_at IS NULL)`;

/** By slug. Those of the system are in no project, and none of those that could be. */
export const SKILLS = new Listing<Skill, { org_id: string; q?: string; project_id?: string }>({
  key: 's.id',
  select: 's.*',
  from: 'skills s',
  always: 's.deleted_at IS NULL',
  where: {
    org_id: ['s.org_id = $', `s.org_id IS NULL AND NOT ${SHADOWED('s')}`],
    q: 's.name ILIKE $ OR s.slug ILIKE $ OR s.description ILIKE $',
    project_id: { id: 's.project_id = $', none: 's.project_id IS NULL AND s.org_id IS NOT NULL' },
  },
  tally: {
    from: `(SELECT org_id, of_id, '' AS slug, n FROM ${listTally('skills')} UNION ALL SELECT org_id, NULL, slug, 1 FROM skills WHERE org_id IS NULL AND deleted_at IS NULL) t`,
    where: {
      org_id: ['t.org_id = $', `t.org_id IS NULL AND NOT ${SHADOWED('t')}`],
      project_id: idOrNone('t.of_id', NIL_UUID),
    },
  },
  order: 's.slug',
});
const LIVE_BY_SLUG = 'FROM skills WHERE (org_id = $1 OR org_id IS NULL) AND deleted_at IS NULL AND slug = ANY($2)';
// An organization's own skill comes before one of the system that was given the same slug later.
const BY_SLUGS = statement<Skill>(`SELECT DISTINCT ON (slug) * ${LIVE_BY_SLUG} ORDER BY slug, org_id NULLS LAST`);
const TOLD = statement<ToldSkill>(`
  SELECT DISTINCT ON (array_position($2, slug)) slug, name, description ${LIVE_BY_SLUG} ORDER BY array_position($2, slug), org_id NULLS LAST`);
const HOLD = statement<{ slug: string }>(`SELECT slug ${LIVE_BY_SLUG} ORDER BY id FOR KEY SHARE`);
/** One of the system, as it is to be. Values: an id for where it is new, slug, name, description, content. */
export const SEED_SKILL = statement(`
  INSERT INTO skills (id, org_id, slug, name, description, content) VALUES ($1, NULL, $2, $3, $4, $5)
  ON CONFLICT (slug) WHERE deleted_at IS NULL AND org_id IS NULL
  DO UPDATE SET name = excluded.name, description = excluded.description, content = excluded.content, updated_at = now()
  WHERE (skills.name, skills.description, skills.content) IS DISTINCT FROM (excluded.name, excluded.description, excluded.content)`);

/** What a model is told of a skill before it reads it. */
export type ToldSkill = Pick<Skill, 'slug' | 'name' | 'description'>;

/** Skills: the organization's own and those of the system. */
@Injectable()
export class SkillsRepository {
  /** What no longer exists is left out. */
  async bySlugs(db: Db, scope: OrgScope, slugs: readonly string[]): Promise<Skill[]> {
    return slugs.length ? db.query(BY_SLUGS, [scope.orgId, slugs]) : [];
  }

  /** The same in the order of the slugs, without what they say. */
  async told(db: Db, scope: OrgScope, slugs: readonly string[]): Promise<ToldSkill[]> {
    return slugs.length ? db.query(TOLD, [scope.orgId, slugs]) : [];
  }

  /** Those of the slugs that there are skills of, held so that none is deleted before the transaction ends. */
  async hold(tx: Tx, scope: OrgScope, slugs: readonly string[]): Promise<Set<string>> {
    const rows = slugs.length ? await tx.query(HOLD, [scope.orgId, slugs]) : [];
    return new Set(rows.map((r) => r.slug));
  }
}
