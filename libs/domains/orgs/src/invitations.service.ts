import { Injectable } from '@nestjs/common';
import { DomainError, notFound } from '@aps/contracts';
import { Invitation, Membership, Organization, User } from '@aps/entities';
import { actingUser, type ActingUser, type OrgRole, OrgScope } from '@aps/guards';
import { EmailProofsService, findOwner, isOwner, UsersService } from '@aps/identity';
import { Audit } from '@aps/platform/audit';
import { hashToken, newOpaqueToken } from '@aps/platform/crypto';
import { Database, now, OrgTable, Table, type Db, type Listed, type Tx } from '@aps/platform/database';
import { canonicalEmail } from '@aps/platform/email';
import { appLink, Mailer } from '@aps/platform/mail';
import { INVITATION_DAYS, invitationMail } from './invitation.mail';
import { COUNT_OPEN, InvitationsRepository, PENDING, type InvitationView, type PendingInvitation } from './invitations.repository';
import { adminNeeded, obey, refuseInvitationRole } from './members.policy';
import { MembersQueries, type MemberView } from './members.queries';
import { alreadyMember, MembersService } from './members.service';
import { OrgLimits } from './org-limits';
import { OrganizationsQueries, type OrganizationView } from './organizations.queries';
import { Roster } from './roster';

/** What became of an invite: an address with an account is a member at once. */
export type Invited = { member: MemberView } | { invitation: Invitation };

/** Offers of membership, from the invite to the day they are taken up or die. */
@Injectable()
export class InvitationsService {
  private readonly rows = new OrgTable(Invitation);
  private readonly organizations = new Table(Organization);
  private readonly memberships = new OrgTable(Membership);
  private readonly people = new Table(User);

  constructor(
    private readonly db: Database,
    private readonly roster: Roster,
    private readonly invitations: InvitationsRepository,
    private readonly organizationViews: OrganizationsQueries,
    private readonly members: MembersService,
    private readonly memberViews: MembersQueries,
    private readonly proofs: EmailProofsService,
    private readonly users: UsersService,
    private readonly limits: OrgLimits,
    private readonly mailer: Mailer,
    private readonly audit: Audit,
  ) {}

  /** Pending ones, oldest first; those that have expired too, until they are revoked. */
  pending(scope: OrgScope): Promise<Listed<PendingInvitation>> {
    return PENDING.page(this.db, scope, {}, {});
  }

  /**
   * Adds the owner of an address, or invites the address when it has no account that has proven it.
   *
   * Who has not proven their own address lets nobody in: it may be somebody else's, who would have them beside for good.
   *
   * @throws DomainError `email_unproven`, `already_member`, `invitation_pending`, `entitlement_exceeded`, `rate_limited`
   */
  invite(scope: OrgScope, { email, role }: { email: string; role: OrgRole }): Promise<Invited> {
    return this.roster.change(
      scope,
      async (tx, actor) => {
        obey(refuseInvitationRole(actor.role, role));
        if (!isOwner(await this.people.get(tx, scope.userId))) throw emailUnproven();
        const account = await this.users.findByEmail(tx, email);
        if (account && (await this.memberships.find(tx, scope, { user_id: account.id }))) throw alreadyMember();
        const user = account && (await findOwner(tx, email));
        const waiting = await this.invitations.pendingFor(tx, scope, email);
        const open = waiting && !waiting.expired;
        if (waiting?.expired) await this.revokeOne(tx, scope, waiting.id);
        if (open && !user) throw new DomainError('invitation_pending', 'An invitation for this address is pending already.');
        // A user's own open invitation is the seat that they now take.
        if (!open) await this.requireSeat(tx, scope);
        if (!user) return { invitation: await this.offer(tx, scope, email, role) };
        const member = await this.members.join(tx, scope, scope, user, role);
        if (!member) throw alreadyMember();
        return { member: await this.memberViews.get(scope, member.id, tx) };
      },
      async (tx) => {
        await this.invitations.lockAuthor(tx, scope);
        await this.roster.lockAddress(tx, email);
      },
    );
  }

  /** @throws DomainError `not_found` when it is not pending */
  setRole(scope: OrgScope, id: string, role: OrgRole): Promise<Invitation> {
    return this.roster.change(scope, async (tx, actor) => {
      const before = await this.rows.get(tx, scope, { id, state: 'pending' });
      // An offer that stands may be confirmed by an admin, whatever it offers.
      if (role === before.role) return before;
      obey(refuseInvitationRole(actor.role, role));
      // Who offers it from now on: it ends when they could not offer it any more.
      const after = (await this.rows.update(tx, scope, id, { role, invited_by: scope.actor.userId }))!;
      const facts = { email: before.email, from: before.role, to: role };
      await this.audit.record(tx, scope, 'invitation.role_changed', id, facts);
      return after;
    });
  }

  /** @throws DomainError `not_found` when it is not pending */
  revoke(scope: OrgScope, id: string): Promise<void> {
    return this.roster.change(scope, async (tx, actor) => {
      if (actor.role === 'MEMBER') throw adminNeeded();
      await this.revokeOne(tx, scope, id);
    });
  }

  /** What a link leads to. @throws DomainError `not_found`, `invitation_gone` */
  preview(token: string): Promise<InvitationView> {
    return this.linked(this.db, token);
  }

  /**
   * Takes an invitation up for a user who has an account. The link was mailed to their address, so it proves that too, and what else waits for
   * it is theirs.
   *
   * @throws DomainError `not_found`, `invitation_gone`, `invitation_email_mismatch`
   */
  accept(user: ActingUser & { email: string }, token: string): Promise<OrganizationView> {
    return this.db.transaction(user, async (tx) => {
      const found = await this.linkedTo(tx, token, user.email);
      // The proof redeems all that is open; this one has been revoked meanwhile, or is among it.
      if (!(await this.proofs.prove(tx, user, 'invitation')))
        await this.redeem(tx, found, { id: user.userId, email: user.email }, user.requestId);
      else if (!(await this.memberships.find(tx, redeeming(found.org_id), { user_id: user.userId }))) throw gone();
      return this.organizationViews.ofMember(tx, found.org_id, user.userId);
    });
  }

  /**
   * Redeems everything that waits for the address of a new user.
   *
   * @param token of the link that the user came by, which must be good
   * @returns into how many organizations that led
   */
  async redeemAll(tx: Tx, user: { id: string; email: string }, token?: string, requestId?: string): Promise<number> {
    await this.roster.lockAddress(tx, user.email);
    // Under the locks of their organizations none can be revoked any more: what is open then is redeemed.
    for (const { org_id } of await this.invitations.openFor(tx, user.email)) await this.roster.lock(tx, redeeming(org_id));
    if (token !== undefined) await this.linkedTo(tx, token, user.email);
    const open = await this.invitations.openFor(tx, user.email);
    for (const invitation of open) await this.redeem(tx, invitation, user, requestId);
    return open.length;
  }

  private async redeem(tx: Tx, { id, org_id }: InvitationView, user: { id: string; email: string }, requestId?: string): Promise<void> {
    const scope = redeeming(org_id, requestId);
    await this.roster.lock(tx, scope);
    // Between the look and the lock it may have been revoked, or the organization deleted, which revokes it as well.
    const accepted = await this.invitations.close(tx, scope, id, 'accepted');
    if (!accepted) throw gone();
    const by = { orgId: org_id, actor: actingUser(user.id, { requestId }) };
    await this.audit.record(tx, by, 'invitation.accepted', id, { email: accepted.email, role: accepted.role });
    await this.members.join(tx, scope, by, user, accepted.role);
  }

  private async offer(tx: Tx, scope: OrgScope, email: string, role: OrgRole): Promise<Invitation> {
    const waits = [
      ['This address was invited too often within an hour.', await this.invitations.waitS(tx, email)],
      ['This organization has invited as many within an hour as it may.', await this.invitations.waitOfOrgS(tx, scope)],
      ['You have invited as many within an hour as one may, in all organizations.', await this.invitations.waitOfAuthorS(tx, scope)],
    ] as const;
    for (const [why, retryAfterS] of waits) if (retryAfterS > 0) throw new DomainError('rate_limited', why, { retryAfterS });
    const token = newOpaqueToken();
    const invitation = await this.rows.insert(tx, scope, {
      email,
      email_canonical: canonicalEmail(email)!,
      role,
      token_hash: hashToken(token),
      invited_by: scope.actor.userId,
      expires_at: () => `${now()} + interval '${INVITATION_DAYS} days'`,
    });
    const { name } = await this.organizations.get(tx, scope.orgId);
    await this.mailer.send(tx, { to: email, ...invitationMail(appLink('/invite/', token), name) }, { requestId: scope.requestId });
    await this.audit.record(tx, scope, 'invitation.created', invitation.id, { email, role });
    return invitation;
  }

  private async revokeOne(tx: Tx, scope: OrgScope, id: string): Promise<void> {
    const revoked = await this.invitations.close(tx, scope, id, 'revoked');
    if (!revoked) throw notFound('Invitation');
    await this.audit.record(tx, scope, 'invitation.revoked', id, { email: revoked.email });
  }

  /** Members and open invitations hold a seat each; the roster's lock keeps the count true until the commit. */
  private async requireSeat(tx: Tx, scope: OrgScope): Promise<void> {
    const [open] = await tx.query(COUNT_OPEN, [scope.orgId]);
    await this.limits.requireRoom(scope.orgId, 'max_seats', (await this.memberships.count(tx, scope)) + open.n, tx);
  }

  private async linked(db: Db, token: string): Promise<InvitationView> {
    const found = await this.invitations.byTokenHash(db, hashToken(token));
    if (!found) throw notFound('Invitation');
    if (found.state !== 'pending' || found.expired) throw gone();
    return found;
  }

  private async linkedTo(db: Db, token: string, email: string): Promise<InvitationView> {
    const found = await this.linked(db, token);
    if (canonicalEmail(found.email) !== canonicalEmail(email))
      throw new DomainError('invitation_email_mismatch', 'This invitation is for another address.');
    return found;
  }
}

const redeeming = (orgId: string, requestId?: string) => OrgScope.system(orgId, 'an invitation is redeemed', { requestId });
const emailUnproven = () =>
  new DomainError('email_unproven', 'Prove your own address before you invite others; we have mailed you a link.');
const gone = () => new DomainError('invitation_gone', 'This invitation is no longer good: it was used, revoked, or is too old.');
