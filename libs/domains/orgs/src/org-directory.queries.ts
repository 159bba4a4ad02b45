import { Injectable } from '@nestjs/common';
import type { Organization } from '@aps/entities';
import { OrgScope } from '@aps/guards';
import { containing, Database, Listing, type Listed, type Slice } from '@aps/platform/database';
import { MEMBER_INFOS, type OrgMemberInfo } from './members.queries';

/** A row of the operators' list of organizations. */
export interface OrgDirectoryEntry extends Organization {
  member_count: number;
}

export interface OrgDirectoryFilter {
  /** Part of a name or slug, without regard to case. */
  q?: string;
  suspended?: boolean;
}

const LIST = new Listing<OrgDirectoryEntry, OrgDirectoryFilter>({
  key: 'o.id',
  select: 'o.*, (SELECT count(*)::int FROM memberships WHERE org_id = o.id) AS member_count',
  from: 'organizations o',
  always: 'o.deleted_at IS NULL',
  where: { q: 'o.name ILIKE $ OR o.slug ILIKE $', suspended: '(o.suspended_at IS NOT NULL) = $' },
  order: 'o.created_at DESC, o.id DESC',
  what: 'Organization',
});

/** Organizations as operators see them: all live ones, whoever belongs to them. */
@Injectable()
export class OrgDirectoryQueries {
  constructor(private readonly db: Database) {}

  /** Newest first. */
  list({ q, suspended }: OrgDirectoryFilter, slice: Slice): Promise<Listed<OrgDirectoryEntry>> {
    return LIST.page(this.db, { q: q === undefined ? q : containing(q), suspended }, slice);
  }

  /** @throws DomainError `not_found` */
  async get(orgId: string): Promise<OrgDirectoryEntry & { members: OrgMemberInfo[] }> {
    const organization = await LIST.get(this.db, orgId, {});
    return { ...organization, members: await MEMBER_INFOS.list(this.db, OrgScope.system(orgId, 'platform administration'), {}) };
  }
}
