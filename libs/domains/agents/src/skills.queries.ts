import { Injectable } from '@nestjs/common';
import { notFound } from '@aps/contracts';
import type { Skill } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { Database, type Db, type Slice } from '@aps/platform/database';
import { SkillsRepository } from './skills.repository';

/** Reads skills: the organization's own and those of the system. */
@Injectable()
export class SkillsQueries {
  constructor(
    private readonly db: Database,
    private readonly skills: SkillsRepository,
  ) {}

  list(scope: OrgScope, q: string | undefined, page: Slice): Promise<{ items: Skill[]; total: number }> {
    return this.skills.list(this.db, scope, q, page);
  }

  async get(scope: OrgScope, slug: string): Promise<Skill> {
    const [skill] = await this.skills.bySlugs(this.db, scope, [slug]);
    if (!skill) throw notFound('Skill');
    return skill;
  }

  /** The skills that an agent mounts, by slug; what no longer exists is left out. */
  bySlugs(db: Db, scope: OrgScope, slugs: readonly string[]): Promise<Skill[]> {
    return slugs.length ? this.skills.bySlugs(db, scope, [...slugs]) : Promise.resolve([]);
  }
}
