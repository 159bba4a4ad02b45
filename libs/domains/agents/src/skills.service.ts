import { Injectable } from '@nestjs/common';
import { notFound } from '@aps/contracts';
import type { Skill } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { advisoryLock, Database, isUniqueViolation, type Tx } from '@aps/platform/database';
import { uuidv7 } from 'uuidv7';
import { skillInUse, slugTaken, systemSkillReadOnly } from './agents.errors';
import { AgentsRepository } from './agents.repository';
import { Audit } from '@aps/platform/audit';
import { SkillsRepository } from './skills.repository';
import { freeSlug, slugFrom } from './slugs';
import { isSet } from './values';

export interface SkillInput {
  name: string;
  description: string;
  content: string;
  files?: { file_id: string; filename?: string | null }[];
}

/** Makes, replaces and deletes an organization's skills. Those of the system are nobody's to change. */
@Injectable()
export class SkillsService {
  constructor(
    private readonly db: Database,
    private readonly skills: SkillsRepository,
    private readonly agents: AgentsRepository,
    private readonly audit: Audit,
  ) {}

  create(scope: OrgScope, input: SkillInput & { slug?: string | null }): Promise<Skill> {
    return this.db.transaction(scope, async (tx) => {
      await advisoryLock(tx, `skills:${scope.orgId}`);
      const slug = await this.slugFor(tx, scope, input);
      const id = uuidv7();
      try {
        await this.skills.insert(tx, { id, org_id: scope.orgId, slug, created_by: scope.actor.userId, ...columnsOf(input) });
      } catch (error) {
        throw isUniqueViolation(error, 'skills_slug') ? slugTaken() : error;
      }
      await this.audit.record(tx, scope, 'skill.created', { kind: 'skill', id }, { slug });
      return this.read(tx, scope, slug);
    });
  }

  replace(scope: OrgScope, slug: string, input: SkillInput): Promise<Skill> {
    return this.db.transaction(scope, async (tx) => {
      const skill = await this.lockOwn(tx, scope, slug);
      await this.skills.update(tx, scope, skill.id, columnsOf(input));
      await this.audit.record(tx, scope, 'skill.updated', { kind: 'skill', id: skill.id }, { slug });
      return this.read(tx, scope, slug);
    });
  }

  /** @throws DomainError `skill_in_use` while agents mount it */
  async delete(scope: OrgScope, slug: string): Promise<void> {
    await this.db.transaction(scope, async (tx) => {
      const skill = await this.lockOwn(tx, scope, slug);
      const mounting = await this.agents.mountingSkill(tx, scope, slug);
      if (mounting.length) throw skillInUse(mounting);
      await this.skills.update(tx, scope, skill.id, { deleted_at: this.db.now() });
      await this.audit.record(tx, scope, 'skill.deleted', { kind: 'skill', id: skill.id }, { slug });
    });
  }

  private async lockOwn(tx: Tx, scope: OrgScope, slug: string): Promise<Skill> {
    const own = await this.skills.lockOwn(tx, scope, slug);
    if (own) return own;
    if ((await this.skills.bySlugs(tx, scope, [slug])).length) throw systemSkillReadOnly();
    throw notFound('Skill');
  }

  private async slugFor(tx: Tx, scope: OrgScope, { name, slug }: { name: string; slug?: string | null }): Promise<string> {
    const base = slug ?? slugFrom(name, 'skill');
    const taken = await this.skills.slugsLike(tx, scope, base.slice(0, 50));
    if (!isSet(slug)) return freeSlug(base, taken);
    if (taken.has(slug)) throw slugTaken();
    return slug;
  }

  private async read(tx: Tx, scope: OrgScope, slug: string): Promise<Skill> {
    return (await this.skills.bySlugs(tx, scope, [slug]))[0];
  }
}

function columnsOf({ name, description, content, files = [] }: SkillInput): Partial<Skill> {
  return { name, description, content, files: files.map(({ file_id, filename }) => ({ file_id, ...(isSet(filename) && { filename }) })) };
}
