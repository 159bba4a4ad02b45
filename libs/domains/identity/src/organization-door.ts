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
  /** The secret of an invitation link, when the user came by one. */
  invitationToken?: string;
  /** Name of the organization to make when no invitation waits. */
  orgName?: string;
  requestId?: string;
}

/**
 * What identity must know of organizations, which stand above it: the orgs domain binds this port.
 */
export abstract class OrganizationDoor {
  /** Whether an invitation is pending for the address, or the given invitation token is good for it. */
  abstract isInvited(db: Db, email: string, invitationToken?: string): Promise<boolean>;

  /** Redeems every pending invitation for the new user's address; with none, creates an organization that they own. */
  abstract onSignup(tx: Tx, wish: SignupWish): Promise<void>;

  /** A user's live memberships, by name. */
  abstract membershipsOf(db: Db, userId: string): Promise<MembershipSummary[]>;

  /** Organizations whose only owner the user is. */
  abstract soleOwnerOf(db: Db, userId: string): Promise<string[]>;
}
