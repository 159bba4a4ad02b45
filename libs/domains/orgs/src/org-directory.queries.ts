import { Injectable } from '@nestjs/common';
import { notFound } from '@aps/contracts';
import { listTally, NIL_UUID, type Organization } from '@aps/entities';
import { OrgScope } from '@aps/guards';
import { containing, Database, Listing, statement, type Listed, type Slice } from '@aps/platform/database';
import { MEMBER_INFOS, type OrgMemberInfo } from './members.queries';

/** A row of the operators' list of organizations. */
export interface OrgDirectoryEntry extends Organization {
  member_count: number;
}

export interface OrgDirectoryFilter {
  /** Part of a name or slug, without regard to case. */
  q?: string;
  suspended?: boolean;
  /** The plan that they are subscribed to; null: none. */
  plan_id?: string | null;
}

/** Of the organization `o`. */
export const MEMBER_COUNT = `(SELECT coalesce(sum(t.n), 0)::int FROM ${listTally('memberships')} WHERE t.org_id = o.id)`;

const LIST = new Listing<
  OrgDirectoryEntry,
  { q?: string; suspended?: boolean; active?: boolean; plan_id?: string; unsubscribed?: boolean }
>({
  key: 'o.id',
  select: `o.*, ${MEMBER_COUNT} AS member_count`,
  from: 'organizations o',
  always: 'o.deleted_at IS NULL',
  where: {
    q: 'o.name ILIKE $ OR o.slug ILIKE $',
    suspended: 'o.suspended_at IS NOT NULL',
    active: 'o.suspended_at IS NULL',
    plan_id: 'o.plan_id = $',
    unsubscribed: 'o.plan_id IS NULL',
  },
  tally: {
    from: listTally('organizations'),
    where: { suspended: `t.facet = 'suspended'`, active: `t.facet = ''`, plan_id: 't.of_id = $', unsubscribed: `t.of_id = '${NIL_UUID}'` },
  },
  order: 'o.created_at DESC, o.id DESC',
  what: 'Organization',
});

const UNSUBSCRIBED = statement<{ id: string }>(
  'SELECT id FROM organizations WHERE deleted_at IS NULL AND plan_id IS NULL ORDER BY created_at, id',
);

const KNOWN = statement<{ id: string }>('SELECT id FROM organizations WHERE id = $1');

/** Organizations as operators see them: all live ones, whoever belongs to them. */
@Injectable()
export class OrgDirectoryQueries {
  constructor(private readonly db: Database) {}

  /** Newest first. */
  list({ q, suspended, plan_id }: OrgDirectoryFilter, slice: Slice): Promise<Listed<OrgDirectoryEntry>> {
    const plan = { plan_id: plan_id ?? undefined, unsubscribed: plan_id === null };
    return LIST.page(this.db, { q: q === undefined ? q : containing(q), suspended, active: suspended === false, ...plan }, slice);
  }

  /** Ids of the live ones without a subscription. */
  async unsubscribed(): Promise<string[]> {
    return (await this.db.query(UNSUBSCRIBED)).map(({ id }) => id);
  }

  /** There is such an organization, or was. @throws DomainError `not_found` */
  async assertKnown({ orgId }: OrgScope): Promise<void> {
    if (!(await this.db.query(KNOWN, [orgId])).length) throw notFound('Organization');
  }

  /** @throws DomainError `not_found` */
  async get(orgId: string): Promise<OrgDirectoryEntry & { members: OrgMemberInfo[] }> {
    const organization = await LIST.get(this.db, orgId, {});
    return { ...organization, members: await MEMBER_INFOS.list(this.db, OrgScope.system(orgId, 'platform administration'), {}) };
  }
}
