import { Injectable } from '@nestjs/common';
import { listTally, type Organization } from '@aps/entities';
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

/** Of the organization `o`. */
export const MEMBER_COUNT = `(SELECT coalesce(sum(t.n), 0)::int FROM ${listTally('memberships')} WHERE t.org_id = o.id)`;

const LIST = new Listing<OrgDirectoryEntry, Pick<OrgDirectoryFilter, 'q'> & { suspended?: boolean; active?: boolean }>({
  key: 'o.id',
  select: `o.*, ${MEMBER_COUNT} AS member_count`,
  from: 'organizations o',
  always: 'o.deleted_at IS NULL',
  where: { q: 'o.name ILIKE $ OR o.slug ILIKE $', suspended: 'o.suspended_at IS NOT NULL', active: 'o.suspended_at IS NULL' },
  tally: { from: listTally('organizations'), where: { suspended: `t.facet = 'suspended'`, active: `t.facet = ''` } },
  order: 'o.created_at DESC, o.id DESC',
  what: 'Organization',
});

/** Organizations as operators see them: all live ones, whoever belongs to them. */
@Injectable()
export class OrgDirectoryQueries {
  constructor(private readonly db: Database) {}

  /** Newest first. */
  list({ q, suspended }: OrgDirectoryFilter, slice: Slice): Promise<Listed<OrgDirectoryEntry>> {
    return LIST.page(this.db, { q: q === undefined ? q : containing(q), suspended, active: suspended === false }, slice);
  }

  /** @throws DomainError `not_found` */
  async get(orgId: string): Promise<OrgDirectoryEntry & { members: OrgMemberInfo[] }> {
    const organization = await LIST.get(this.db, orgId, {});
    return { ...organization, members: await MEMBER_INFOS.list(this.db, OrgScope.system(orgId, 'platform administration'), {}) };
  }
}
