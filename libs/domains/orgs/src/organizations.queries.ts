import { Injectable } from '@nestjs/common';
import { notFound } from '@aps/contracts';
import { listTally, type Organization } from '@aps/entities';
import type { OrgRole } from '@aps/guards';
import type { MembershipSummary } from '@aps/identity';
import { Database, Listing, mapListed, statement, type Db, type Listed, type Slice } from '@aps/platform/database';
import { MEMBER_COUNT } from './org-directory.queries';
import { OrgLimits } from './org-limits';

/** An organization in the eyes of one of its members. */
export interface OrganizationView extends Organization {
  member_count: number;
  my_role: OrgRole;
  /** Null without a subscription. */
  plan_code: string | null;
}

type Row = Omit<OrganizationView, 'plan_code'>;

const VIEWS = new Listing<Row, { user_id: string; org_id?: string }>({
  key: 'm.id',
  select: `o.*, m.role AS my_role, ${MEMBER_COUNT} AS member_count`,
  from: 'memberships m JOIN organizations o ON o.id = m.org_id',
  found: 'memberships m',
  always: 'm.sort_name IS NOT NULL',
  where: { user_id: 'm.user_id = $', org_id: 'm.org_id = $' },
  tally: { from: listTally('organizations_of_users'), where: { user_id: 't.of_id = $' } },
  order: 'm.sort_name, m.org_id',
});
/** A user's, by name. Values: the user, how many. */
export const SUMMARIES = statement<MembershipSummary>(`
  SELECT o.id AS org_id, o.name AS org_name, o.slug, m.role FROM memberships m JOIN organizations o ON o.id = m.org_id
  WHERE m.user_id = $1 AND m.sort_name IS NOT NULL ORDER BY m.sort_name, m.org_id LIMIT $2`);
/** What a user is a member of, be it a deleted one. */
export const ANY_MEMBERSHIP = statement('SELECT 1 FROM memberships WHERE user_id = $1 LIMIT 1');
/** In the order in which they are locked. */
export const MEMBER_OF = statement<{ org_id: string }>('SELECT org_id FROM memberships WHERE user_id = $1 ORDER BY org_id');
/** Those that would have no owner who can sign in without this one. */
export const SOLE_OWNER_OF = statement<{ id: string }>(`
  SELECT o.id FROM memberships m JOIN organizations o ON o.id = m.org_id
  WHERE m.user_id = $1 AND m.role = 'OWNER' AND o.deleted_at IS NULL AND NOT EXISTS (
    SELECT 1 FROM memberships other JOIN users u ON u.id = other.user_id
    WHERE other.org_id = o.id AND other.role = 'OWNER' AND other.user_id <> m.user_id AND u.deactivated_at IS NULL)
  ORDER BY o.id`);

/** Organizations as their members see them. */
@Injectable()
export class OrganizationsQueries {
  constructor(
    private readonly db: Database,
    private readonly limits: OrgLimits,
  ) {}

  /** A user's organizations by name, suspended ones too. @param onlyOrgId the organization that the caller's token is confined to */
  async listOf(userId: string, onlyOrgId: string | null, slice: Slice): Promise<Listed<OrganizationView>> {
    const rows = await VIEWS.page(this.db, { user_id: userId, org_id: onlyOrgId ?? undefined }, slice);
    return mapListed(rows, (batch) => this.withPlans(this.db, batch));
  }

  /** @throws DomainError `not_found` when the user is no member of such an organization */
  async ofMember(db: Db, orgId: string, userId: string): Promise<OrganizationView> {
    const rows = await VIEWS.list(db, { user_id: userId, org_id: orgId });
    if (!rows.length) throw notFound('Organization');
    return (await this.withPlans(db, rows))[0];
  }

  private async withPlans(db: Db, rows: Row[]): Promise<OrganizationView[]> {
    const ids = rows.map(({ id }) => id);
    const plans = await this.limits.plansOf(db, ids);
    return rows.map((row) => ({ ...row, plan_code: plans.get(row.id) ?? null }));
  }
}
