import { Injectable } from '@nestjs/common';
import { DomainError } from '@aps/contracts';
import { Membership } from '@aps/entities';
import { ORG_ROLES, type ActingUser, type OrgRole, type OrgScope } from '@aps/guards';
import { Departures, findOwner, type Departure } from '@aps/identity';
import { Audit, type Author, type By } from '@aps/platform/audit';
import { Broadcaster } from '@aps/platform/broadcast';
import { OrgTable, type Tx } from '@aps/platform/database';
import { InvitationsRepository } from './invitations.repository';
import { mayOffer, obey, refuseLosingOwner, refuseRemoval, refuseRoleChange } from './members.policy';
import { MEMBER_INFOS, MembersQueries, type MemberView, type OrgMemberInfo } from './members.queries';
import { Roster } from './roster';

/** Members: what they do to each other, and what operators do to them. Nobody becomes a member here but by an operator. */
@Injectable()
export class MembersService {
  private readonly members = new OrgTable(Membership, 'Member');

  constructor(
    private readonly roster: Roster,
    private readonly queries: MembersQueries,
    private readonly invitations: InvitationsRepository,
    private readonly departures: Departures,
    private readonly audit: Audit,
    private readonly broadcaster: Broadcaster,
  ) {
    // What somebody has offered who is gone goes with them. Nobody offers anything meanwhile who is shut out of the platform: an invitation
    // asks for its author's row at the commit.
    departures.listen((tx, { author, ...who }) => this.withdraw(tx, author, who, ORG_ROLES));
  }

  setRole(scope: OrgScope, memberId: string, role: OrgRole): Promise<MemberView> {
    return this.roster.change(scope, async (tx, actor) => {
      const target = await this.members.get(tx, scope, memberId);
      obey(refuseRoleChange({ actor, target, otherOwners: await this.queries.ownersBeside(tx, scope, target.user_id) }, role));
      await this.changeRole(tx, scope, scope, target, role);
      return this.queries.get(scope, memberId, tx);
    });
  }

  remove(scope: OrgScope, memberId: string): Promise<void> {
    return this.roster.change(scope, async (tx, actor) => {
      const target = await this.members.get(tx, scope, memberId);
      obey(refuseRemoval({ actor, target, otherOwners: await this.queries.ownersBeside(tx, scope, target.user_id) }));
      await this.end(tx, scope, scope, target, 'member.removed');
    });
  }

  leave(scope: OrgScope): Promise<void> {
    return this.roster.change(scope, async (tx, self) => {
      obey(refuseLosingOwner(self.role, null, await this.queries.ownersBeside(tx, scope, self.user_id)));
      await this.end(tx, scope, scope, self, 'member.left');
    });
  }

  /** Adds a registered user; `max_seats` does not bind operators. @throws DomainError `user_not_found`, `already_member` */
  adminAdd(actor: ActingUser, orgId: string, email: string, role: OrgRole): Promise<OrgMemberInfo> {
    return this.roster.operate(
      actor,
      orgId,
      async (tx, scope, by) => {
        const user = await findOwner(tx, email);
        if (!user) throw userNotFound();
        const member = await this.join(tx, scope, by, user, role);
        if (!member) throw alreadyMember();
        return MEMBER_INFOS.get(tx, scope, member.id, {});
      },
      email,
    );
  }

  /** @throws DomainError `last_owner` */
  adminSetRole(actor: ActingUser, orgId: string, userId: string, role: OrgRole): Promise<OrgMemberInfo> {
    return this.roster.operate(actor, orgId, async (tx, scope, by) => {
      const target = await this.members.get(tx, scope, { user_id: userId });
      obey(refuseLosingOwner(target.role, role, await this.queries.ownersBeside(tx, scope, userId)));
      await this.changeRole(tx, scope, by, target, role);
      return MEMBER_INFOS.get(tx, scope, target.id, {});
    });
  }

  /** @throws DomainError `last_owner` */
  adminRemove(actor: ActingUser, orgId: string, userId: string): Promise<void> {
    return this.roster.operate(actor, orgId, async (tx, scope, by) => {
      const target = await this.members.get(tx, scope, { user_id: userId });
      obey(refuseLosingOwner(target.role, null, await this.queries.ownersBeside(tx, scope, userId)));
      await this.end(tx, scope, by, target, 'member.removed');
    });
  }

  /**
   * Makes a user a member, under the roster's lock. An invitation that waits for their address has come to its end with that.
   *
   * @returns null when they are one already
   */
  async join(tx: Tx, scope: OrgScope, by: By, user: { id: string; email: string }, role: OrgRole): Promise<Membership | null> {
    const member = await this.members.insertOrNothing(tx, scope, { user_id: user.id, role });
    if (!member) return null;
    const waiting = await this.invitations.pendingFor(tx, scope, user.email);
    if (waiting) await this.invitations.close(tx, scope, waiting.id, waiting.expired ? 'revoked' : 'accepted');
    await this.audit.record(tx, by, 'member.added', { kind: 'user', id: user.id }, { email: user.email, role });
    return member;
  }

  private async changeRole(tx: Tx, scope: OrgScope, by: By, target: Membership, role: OrgRole): Promise<void> {
    if (role === target.role) return;
    await this.members.update(tx, scope, target.id, { role });
    this.tell(tx, target);
    const beyond = ORG_ROLES.filter((offered) => !mayOffer(role, offered));
    await this.withdraw(tx, authorOf(by), { userId: target.user_id, orgId: scope.orgId }, beyond);
    await this.audit.record(tx, by, 'member.role_changed', { kind: 'user', id: target.user_id }, { from: target.role, to: role });
  }

  private async end(tx: Tx, scope: OrgScope, by: By, target: Membership, action: string): Promise<void> {
    await this.members.delete(tx, scope, target.id);
    await this.departures.tell(tx, { userId: target.user_id, orgId: scope.orgId, author: authorOf(by) });
    this.tell(tx, target);
    await this.audit.record(tx, by, action, { kind: 'user', id: target.user_id }, { role: target.role });
  }

  /** Takes offers back whose author could not make them any more. */
  private async withdraw(tx: Tx, author: Author, { userId, orgId }: Omit<Departure, 'author'>, roles: readonly OrgRole[]): Promise<void> {
    for (const { id, org_id, email } of await this.invitations.withdraw(tx, userId, orgId, roles))
      await this.audit.record(tx, { orgId: org_id, actor: author }, 'invitation.revoked', id, { email });
  }

  private tell(tx: Tx, { user_id }: Membership): void {
    tx.afterCommit(() => this.broadcaster.sent('access.changed', { user_id, org_id: null }));
  }
}

const authorOf = (by: By): Author => ('actor' in by ? by.actor : by);

const userNotFound = () =>
  new DomainError(
    'user_not_found',
    'No user is registered with this address, they have not proven yet that it is theirs, or they are shut out.',
  );
export const alreadyMember = () => new DomainError('already_member', 'This user is a member already.');
