import { Injectable } from '@nestjs/common';
import { listTally, type Membership, type User } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { Database, OrgListing, statement, type Db, type Listed, type Slice, type Tx } from '@aps/platform/database';

/** A member as the organization's own members see one. */
export interface MemberView extends Membership, Pick<User, 'email' | 'name' | 'avatar_url'> {
  last_active_at: Date | null;
}

/** A member as operators see one. */
export interface OrgMemberInfo extends Pick<Membership, 'user_id' | 'role'>, Pick<User, 'email' | 'name'> {
  joined_at: Date;
  deactivated: boolean;
}

const MEMBERS = {
  key: 'm.id',
  org: 'm.org_id',
  from: 'memberships m JOIN users u ON u.id = m.user_id',
  found: 'memberships m',
  tally: { from: listTally('memberships'), where: {} },
  what: 'Member',
};
const OLDEST_FIRST = 'm.created_at, m.id';

// Last use is that of sessions and of the API tokens that are good for this organization.
const VIEWS = new OrgListing<MemberView, object>({
  ...MEMBERS,
  select: `m.*, u.email, u.name, u.avatar_url,
    greatest((SELECT max(last_used_at) FROM sessions WHERE user_id = m.user_id),
             (SELECT max(last_used_at) FROM api_tokens WHERE user_id = m.user_id AND (org_id IS NULL OR org_id = m.org_id))) AS last_active_at`,
  order: OLDEST_FIRST,
});
/** Everybody, the oldest membership first. */
export const MEMBER_INFOS = new OrgListing<OrgMemberInfo, object>({
  ...MEMBERS,
  select: 'm.user_id, u.email, u.name, m.role, m.created_at AS joined_at, u.deactivated_at IS NOT NULL AS deactivated',
  order: OLDEST_FIRST,
});

const OWNERS_BESIDE = statement<{ n: number }>(`
  SELECT count(*)::int AS n FROM memberships m JOIN users u ON u.id = m.user_id
  WHERE m.org_id = $1 AND m.role = 'OWNER' AND m.user_id <> $2 AND u.deactivated_at IS NULL`);
/** How many live organizations a user has made and owns, alone or with others. What others make them an owner of takes nobody's room. */
export const COUNT_OWNED = statement<{ n: number }>(`
  SELECT count(*)::int AS n FROM memberships m JOIN organizations o ON o.id = m.org_id
  WHERE m.user_id = $1 AND m.role = 'OWNER' AND o.created_by = $1 AND o.deleted_at IS NULL`);

/** Reads who belongs to an organization. Changes go through the {@link Roster}, one at a time. */
@Injectable()
export class MembersQueries {
  constructor(private readonly db: Database) {}

  /** Oldest membership first. */
  list(scope: OrgScope, slice: Slice): Promise<Listed<MemberView>> {
    return VIEWS.page(this.db, scope, {}, slice);
  }

  /** @throws DomainError `not_found` */
  get(scope: OrgScope, id: string, db: Db = this.db): Promise<MemberView> {
    return VIEWS.get(db, scope, id, {});
  }

  /** Owners beside the user who can sign in: one who is deactivated cannot care for the organization. */
  async ownersBeside(tx: Tx, scope: OrgScope, userId: string): Promise<number> {
    return (await tx.query(OWNERS_BESIDE, [scope.orgId, userId]))[0].n;
  }
}
