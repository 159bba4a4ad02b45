import type { Db, Tx } from '@aps/platform/database';

/** What a user is in one organization, as login, signup and `me` list it. */
export interface MembershipSummary {
  org_id: string;
  org_name: string;
  slug: string;
  role: 'OWNER' | 'ADMIN' | 'MEMBER';
}

export interface SignupWish {
  user: { id: string; email: string; name: string };
  /** Whether the address is known to be theirs. */
  isProven: boolean;
  /** The secret of an invitation link, when the user came by one. */
  invitationToken?: string;
  /** Name of the organization to make when no invitation waits. */
  orgName?: string;
  requestId?: string;
}

/** What identity must know of organizations, which stand above it: the orgs domain binds this port. */
export abstract class OrganizationPort {
  /** Whether an invitation is pending for the address. */
  abstract isInvited(db: Db, email: string): Promise<boolean>;

  /**
   * Redeems every pending invitation for the new user's address; with none, creates an organization that they own. As long as the address is
   * not proven, nothing is redeemed, and one that is invited gets no organization: it waits for {@link onProof}.
   */
  abstract onSignup(tx: Tx, wish: SignupWish): Promise<void>;

  /** The address of a user who signed up before is proven: redeems every pending invitation; who belonged nowhere until then gets an organization. */
  abstract onProof(tx: Tx, user: SignupWish['user'], requestId?: string): Promise<void>;

  /** A user's live memberships, by name. @param limit at most so many, the first of them */
  abstract membershipsOf(db: Db, userId: string, limit?: number): Promise<MembershipSummary[]>;

  /** Whether all of the organizations want their members to sign in by their identity provider: a password opens none of them. */
  abstract requireSso(db: Db, memberships: readonly MembershipSummary[]): Promise<boolean>;

  /** Serializes with what changes the people of organizations that the user is a member of, until the transaction ends. */
  abstract lockRosters(tx: Tx, userId: string): Promise<void>;

  /** Organizations whose only owner the user is. */
  abstract soleOwnerOf(db: Db, userId: string): Promise<string[]>;
}
