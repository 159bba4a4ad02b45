import { Injectable } from '@nestjs/common';
import { notFound } from '@aps/contracts';
import type { OrgScope } from '@aps/guards';
import type { MembershipSummary } from '@aps/identity';
import { Database, sliceBounds, statement, type Db, type Listed, type Slice } from '@aps/platform/database';
import type { OrganizationView } from './orgs.types';

const SELECT = `
  SELECT o.id, o.name, o.slug, o.suspended_at, o.created_at, o.updated_at, m.role AS my_role,
         (SELECT count(*)::int FROM memberships WHERE org_id = o.id) AS member_count
  FROM memberships m JOIN organizations o ON o.id = m.org_id`;
const MINE = `m.user_id = $1 AND o.deleted_at IS NULL AND ($2::uuid IS NULL OR o.id = $2)`;

const LIST = statement<OrganizationView>(`${SELECT} WHERE ${MINE} ORDER BY lower(o.name), o.id LIMIT $3 OFFSET $4`);
const COUNT = statement<{ n: number }>(
  `SELECT count(*)::int AS n FROM memberships m JOIN organizations o ON o.id = m.org_id WHERE ${MINE}`,
);
const ONE = statement<OrganizationView>(`${SELECT} WHERE ${MINE}`);
const SUMMARIES = statement<MembershipSummary>(`
  SELECT o.id AS org_id, o.name AS org_name, o.slug, m.role FROM memberships m JOIN organizations o ON o.id = m.org_id
  WHERE m.user_id = $1 AND o.deleted_at IS NULL ORDER BY lower(o.name), o.id`);
const ANY = statement('SELECT 1 FROM memberships WHERE user_id = $1 LIMIT 1');
const SOLE_OWNER_OF = statement<{ id: string }>(`
  SELECT o.id FROM memberships m JOIN organizations o ON o.id = m.org_id
  WHERE m.user_id = $1 AND m.role = 'OWNER' AND o.deleted_at IS NULL AND NOT EXISTS (
    SELECT 1 FROM memberships other JOIN users u ON u.id = other.user_id
    WHERE other.org_id = o.id AND other.role = 'OWNER' AND other.user_id <> m.user_id AND u.deactivated_at IS NULL)
  ORDER BY o.id`);

/** Organizations as their members see them. */
@Injectable()
export class OrganizationsQueries {
  constructor(private readonly db: Database) {}

  /**
   * A user's organizations by name, suspended ones too.
   *
   * @param onlyOrgId the organization that the caller's token is confined to
   */
  async listOf(userId: string, onlyOrgId: string | null, slice: Slice): Promise<Listed<OrganizationView>> {
    const [items, [{ n }]] = await Promise.all([
      this.db.query(LIST, [userId, onlyOrgId, ...sliceBounds(slice)]),
      this.db.query(COUNT, [userId, onlyOrgId]),
    ]);
    return { items, total: n };
  }

  async get(scope: OrgScope): Promise<OrganizationView> {
    return this.ofMember(this.db, scope.orgId, scope.userId);
  }

  /** @throws DomainError `not_found` when the user is no member of such an organization */
  async ofMember(db: Db, orgId: string, userId: string): Promise<OrganizationView> {
    const [row] = await db.query(ONE, [userId, orgId]);
    if (!row) throw notFound('Organization');
    return row;
  }

  async summariesOf(db: Db, userId: string): Promise<MembershipSummary[]> {
    return db.query(SUMMARIES, [userId]);
  }

  /** Whether the user is a member of any organization, be it a deleted one. */
  async belongedAnywhere(db: Db, userId: string): Promise<boolean> {
    return (await db.query(ANY, [userId])).length > 0;
  }

  /** Organizations that would have no owner who can sign in without this one. */
  async soleOwnerOf(db: Db, userId: string): Promise<string[]> {
    return (await db.query(SOLE_OWNER_OF, [userId])).map((row) => row.id);
  }
}
