import { Injectable } from '@nestjs/common';
import { DomainError, notFound, slugsFor } from '@aps/contracts';
import { Skill } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { Audit } from '@aps/platform/audit';
import {
  advisoryLock,
  changesOf,
  containing,
  Database,
  OrgTable,
  takingSlug,
  type Db,
  type Listed,
  type Slice,
  type Tx,
} from '@aps/platform/database';
import { isSet } from './agents.policy';
import { MOUNTING_SKILL } from './agents.queries';
import { MOUNTING } from './sharing/blocks.sql';
import { refuseUse } from './sharing/use.policy';
import { SkillFiles } from './skill-files';
import { SKILLS, SkillsRepository } from './skills.repository';

export type SkillInput = Pick<Skill, 'name' | 'description' | 'content'> & { files?: { file_id: string; filename?: string | null }[] };

/** An organization's skills, and those of the system, which are nobody's to change. */
@Injectable()
export class SkillsService {
  private readonly own = new OrgTable(Skill);

  constructor(
    private readonly db: Database,
    private readonly skills: SkillsRepository,
    private readonly files: SkillFiles,
    private readonly audit: Audit,
  ) {}

  /** By slug. */
  list(scope: OrgScope, { q, project_id }: { q?: string; project_id?: string }, page: Slice): Promise<Listed<Skill>> {
    return SKILLS.page(this.db, { org_id: scope.orgId, q: q ? containing(q) : undefined, project_id }, page);
  }

  /** @throws DomainError `not_found` */
  async get(scope: OrgScope, slug: string): Promise<Skill> {
    const [skill] = await this.skills.bySlugs(this.db, scope, [slug]);
    if (!skill) throw notFound('Skill');
    return skill;
  }

  /** The skills that an agent mounts, by slug; what no longer exists is left out. */
  bySlugs(db: Db, scope: OrgScope, slugs: readonly string[]): Promise<Skill[]> {
    return this.skills.bySlugs(db, scope, slugs);
  }

  /** @throws DomainError `slug_taken`; 422 `unknown_reference` for a file that the caller may not see */
  async create(scope: OrgScope, input: SkillInput & { slug?: string | null }): Promise<Skill> {
    const columns = columnsOf(input);
    await this.files.check(scope, columns.files);
    return this.db.transaction(scope, async (tx) => {
      await advisoryLock(tx, `skills:${scope.orgId}`);
      const slugs = slugsFor(input.name, input.slug, 'skill');
      // The system's, too: an organization that took one would hide it.
      const taken = await this.skills.bySlugs(tx, scope, slugs);
      const skill = await takingSlug(slugs, taken, (slug) =>
        this.own.insertOrNothing(tx, scope, { slug, created_by: scope.actor.userId, ...columns }),
      );
      await this.files.tie(tx, scope, skill.id, columns.files);
      await this.audit.record(tx, scope, 'skill.created', skill.id, { slug: skill.slug });
      return skill;
    });
  }

  /** @throws DomainError `not_found`, `read_only`; 422 as of {@link create} */
  async replace(scope: OrgScope, slug: string, input: SkillInput): Promise<Skill> {
    const columns = columnsOf(input);
    await this.get(scope, slug);
    await this.files.check(scope, columns.files);
    return this.db.transaction(scope, async (tx) => {
      const before = await this.lockOwn(tx, scope, slug);
      const changes = changesOf<Skill>(before, columns);
      const fields = Object.keys(changes);
      if (!fields.length) return before;
      const { id } = before;
      const skill = (await this.own.update(tx, scope, id, changes))!;
      await this.files.tie(tx, scope, id, columns.files);
      await this.audit.record(tx, scope, 'skill.updated', id, { slug, fields });
      return skill;
    });
  }

  /** @throws DomainError `skill_in_use` while agents, teams or projects mount it */
  async delete(scope: OrgScope, slug: string): Promise<void> {
    await this.db.transaction(scope, async (tx) => {
      const skill = await this.lockOwn(tx, scope, slug);
      const agents = await tx.query(MOUNTING_SKILL, [scope.orgId, slug]);
      refuseUse('skill_in_use', 'this skill', agents, await tx.query(MOUNTING, [scope.orgId, slug]));
      await this.own.delete(tx, scope, skill.id);
      await this.files.release(tx, scope, skill.id);
      await this.audit.record(tx, scope, 'skill.deleted', skill.id, { slug });
    });
  }

  private async lockOwn(tx: Tx, scope: OrgScope, slug: string): Promise<Skill> {
    const own = await this.own.find(tx, scope, { slug }, 'for update');
    if (own) return own;
    if ((await this.skills.bySlugs(tx, scope, [slug])).length)
      throw new DomainError('read_only', 'Skills of the system cannot be changed.');
    throw notFound('Skill');
  }
}

function columnsOf({ name, description, content, files = [] }: SkillInput): Pick<Skill, keyof SkillInput> {
  return { name, description, content, files: files.map(({ file_id, filename }) => ({ file_id, ...(isSet(filename) && { filename }) })) };
}
