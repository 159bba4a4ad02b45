import { MAX_ORG_NAME } from '@aps/contracts';
import { actingUser, OrgScope } from '@aps/guards';
import { Injectable, OnModuleInit } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { type MembershipSummary, OrganizationPort, type SignupWish } from '@aps/identity';
import { User } from '@aps/entities';
import { Table, type Db, type Tx } from '@aps/platform/database';
import { InvitationsRepository } from './invitations.repository';
import { InvitationsService } from './invitations.service';
import { OrgLimits } from './org-limits';
import { ANY_MEMBERSHIP, MEMBER_OF, SOLE_OWNER_OF, SUMMARIES } from './organizations.queries';
import { OrganizationsService } from './organizations.service';
import { Roster } from './roster';
import { SingleSignOn } from './single-sign-on';

/** What identity sees of organizations: binds its port. */
@Injectable()
export class OrganizationAdapter extends OrganizationPort implements OnModuleInit {
  private readonly users = new Table(User);
  private invitations: InvitationsService;

  constructor(
    private readonly moduleRef: ModuleRef,
    private readonly open: InvitationsRepository,
    private readonly organizations: OrganizationsService,
    private readonly limits: OrgLimits,
    private readonly roster: Roster,
    private readonly signOn: SingleSignOn,
  ) {
    super();
  }

  /** Not injected: it needs services of identity, which need the port. */
  onModuleInit(): void {
    this.invitations = this.moduleRef.get(InvitationsService);
  }

  /** A link adds nothing to it: one is good for its own address only. */
  async isInvited(db: Db, email: string): Promise<boolean> {
    return (await this.open.openFor(db, email)).length > 0;
  }

  async onSignup(tx: Tx, { user, isProven, invitationToken, orgName, requestId }: SignupWish): Promise<void> {
    if (isProven ? (await this.invitations.redeemAll(tx, user, invitationToken, requestId)) > 0 : await this.isInvited(tx, user.email))
      return;
    await this.found(tx, user, orgName, requestId);
  }

  async onProof(tx: Tx, user: SignupWish['user'], requestId?: string): Promise<void> {
    await this.limits.proven(tx, (await this.users.find(tx, user.id))!);
    if ((await this.invitations.redeemAll(tx, user, undefined, requestId)) > 0) return;
    // Who was invited at the signup has none yet; the invitations may have ended since.
    if (!(await tx.query(ANY_MEMBERSHIP, [user.id])).length) await this.found(tx, user, undefined, requestId);
  }

  private async found(tx: Tx, user: SignupWish['user'], name: string | undefined, requestId?: string): Promise<void> {
    await this.organizations.create(tx, actingUser(user.id, { requestId }), { name: name?.trim() || organizationOf(user.name) });
  }

  membershipsOf(db: Db, userId: string, limit?: number): Promise<MembershipSummary[]> {
    return db.query(SUMMARIES, [userId, limit ?? null]);
  }

  async requireSso(db: Db, memberships: readonly MembershipSummary[]): Promise<boolean> {
    for (const { org_id } of memberships) if (!(await this.signOn.isWantedBy(org_id, db))) return false;
    return memberships.length > 0;
  }

  async lockRosters(tx: Tx, userId: string): Promise<void> {
    for (const { org_id } of await tx.query(MEMBER_OF, [userId]))
      await this.roster.lock(tx, OrgScope.system(org_id, 'a member is shut out'));
  }

  async soleOwnerOf(db: Db, userId: string): Promise<string[]> {
    return (await db.query(SOLE_OWNER_OF, [userId])).map(({ id }) => id);
  }
}

/** A name of a person may be longer than one of an organization: it is cut to what fits. */
function organizationOf(name: string): string {
  const of = "'s organization";
  const kept = [...name].slice(0, MAX_ORG_NAME - of.length).join('');
  return `${kept.trimEnd()}${of}`;
}
