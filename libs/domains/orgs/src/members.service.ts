import { Injectable } from '@nestjs/common';
import { DomainError, notFound } from '@aps/contracts';
import { type ActingUser, type OrgRole, OrgScope } from '@aps/guards';
import { UsersService } from '@aps/identity';
import { Audit, type By } from '@aps/platform/audit';
import { Database, type Tx } from '@aps/platform/database';
import { InvitationsRepository } from './invitations.repository';
import { refuseLosingOwner, refuseRemoval, refuseRoleChange, type RosterAct } from './members.policy';
import { MembersQueries } from './members.queries';
import { MembersRepository, type MembershipRow } from './members.repository';
import { OrgDirectoryQueries } from './org-directory.queries';
import { OrganizationsRepository } from './organizations.repository';
import type { MemberView, OrgMemberInfo } from './orgs.types';
import { requireAdmin, Roster, type RosterActor } from './roster';

/** Members: what they do to each other, and what operators do to them. Nobody becomes a member here but by an operator. */
@Injectable()
export class MembersService {
  constructor(
    private readonly db: Database,
    private readonly roster: Roster,
    private readonly organizations: OrganizationsRepository,
    private readonly members: MembersRepository,
    private readonly invitations: InvitationsRepository,
    private readonly queries: MembersQueries,
    private readonly directory: OrgDirectoryQueries,
    private readonly users: UsersService,
    private readonly audit: Audit,
  ) {}

  setRole(scope: OrgScope, memberId: string, role: OrgRole): Promise<MemberView> {
    return this.roster.change(scope, async (tx, actor) => {
      const target = await this.target(tx, scope, memberId);
      obey(refuseRoleChange(await this.actOn(tx, scope, actor, target), role));
      await this.changeRole(tx, scope, scope, target, role);
      return this.queries.get(scope, memberId, tx);
    });
  }

  remove(scope: OrgScope, memberId: string): Promise<void> {
    return this.roster.change(scope, async (tx, actor) => {
      const target = await this.target(tx, scope, memberId);
      obey(refuseRemoval(await this.actOn(tx, scope, actor, target)));
      await this.end(tx, scope, scope, target, 'member.removed');
    });
  }

  leave(scope: OrgScope): Promise<void> {
    return this.roster.change(scope, async (tx, { userId, role }) => {
      obey(refuseLosingOwner(role, null, await this.members.ownersBeside(tx, scope, userId)));
      const self = await this.members.ofUser(tx, scope, userId);
      if (self) await this.end(tx, scope, scope, self, 'member.left');
    });
  }

  /**
   * Adds a registered user; `max_seats` does not bind operators.
   *
   * @throws DomainError `user_not_found`, `already_member`
   */
  adminAdd(actor: ActingUser, orgId: string, email: string, role: OrgRole): Promise<OrgMemberInfo> {
    return this.byOperator(
      actor,
      orgId,
      async (tx, scope, by) => {
        const user = await this.users.findOwner(tx, email);
        if (!user)
          throw new DomainError(
            'user_not_found',
            'No user is registered with this address, or they have not proven yet that it is theirs.',
          );
        if (!(await this.join(tx, scope, by, user, role))) throw alreadyMember();
        return this.directory.memberInfo(tx, orgId, user.id);
      },
      email,
    );
  }

  /** @throws DomainError `last_owner` */
  adminSetRole(actor: ActingUser, orgId: string, userId: string, role: OrgRole): Promise<OrgMemberInfo> {
    return this.byOperator(actor, orgId, async (tx, scope, by) => {
      const target = await this.targetUser(tx, scope, userId);
      obey(refuseLosingOwner(target.role, role, await this.members.ownersBeside(tx, scope, userId)));
      await this.changeRole(tx, scope, by, target, role);
      return this.directory.memberInfo(tx, orgId, userId);
    });
  }

  /** @throws DomainError `last_owner` */
  adminRemove(actor: ActingUser, orgId: string, userId: string): Promise<void> {
    return this.byOperator(actor, orgId, async (tx, scope, by) => {
      const target = await this.targetUser(tx, scope, userId);
      obey(refuseLosingOwner(target.role, null, await this.members.ownersBeside(tx, scope, userId)));
      await this.end(tx, scope, by, target, 'member.removed');
    });
  }

  /**
   * Makes a user a member, under the roster's lock. An invitation that waits for their address has come to its end with that.
   *
   * @returns null when they are one already
   */
  async join(tx: Tx, scope: OrgScope, by: By, user: { id: string; email: string }, role: OrgRole): Promise<MembershipRow | null> {
    const member = await this.members.insert(tx, scope, user.id, role);
    if (!member) return null;
    const waiting = await this.invitations.pendingFor(tx, scope, user.email);
    if (waiting) await (waiting.expired ? this.invitations.revoke(tx, scope, waiting.id) : this.invitations.accept(tx, scope, waiting.id));
    await this.audit.record(tx, by, 'member.added', { kind: 'user', id: user.id }, { email: user.email, role });
    return member;
  }

  /** One operator's change of a roster at a time, like those of its members. */
  private byOperator<T>(
    operator: ActingUser,
    orgId: string,
    fn: (tx: Tx, scope: OrgScope, by: By) => Promise<T>,
    email?: string,
  ): Promise<T> {
    const scope = OrgScope.system(orgId, 'an operator acts');
    return this.db.transaction(operator, async (tx) => {
      if (email !== undefined) await this.roster.lockAddress(tx, email);
      await this.roster.lock(tx, scope);
      if (!(await this.organizations.find(tx, scope))) throw notFound('Organization');
      return fn(tx, scope, { orgId, actor: operator });
    });
  }

  private async target(tx: Tx, scope: OrgScope, memberId: string): Promise<MembershipRow> {
    const target = await this.members.byId(tx, scope, memberId);
    if (!target) throw notFound('Member');
    return target;
  }

  private async targetUser(tx: Tx, scope: OrgScope, userId: string): Promise<MembershipRow> {
    const target = await this.members.ofUser(tx, scope, userId);
    if (!target) throw notFound('Member');
    return target;
  }

  private async actOn(tx: Tx, scope: OrgScope, actor: RosterActor, target: MembershipRow): Promise<RosterAct> {
    requireAdmin(actor.role);
    return {
      actor,
      target: { userId: target.user_id, role: target.role },
      otherOwners: await this.members.ownersBeside(tx, scope, target.user_id),
    };
  }

  private async changeRole(tx: Tx, scope: OrgScope, by: By, target: MembershipRow, role: OrgRole): Promise<void> {
    if (role === target.role) return;
    await this.members.setRole(tx, scope, target.id, role);
    await this.audit.record(tx, by, 'member.role_changed', { kind: 'user', id: target.user_id }, { from: target.role, to: role });
  }

  private async end(tx: Tx, scope: OrgScope, by: By, target: MembershipRow, action: string): Promise<void> {
    await this.members.remove(tx, scope, target.id);
    await this.audit.record(tx, by, action, { kind: 'user', id: target.user_id }, { role: target.role });
  }
}

export const alreadyMember = () => new DomainError('already_member', 'This user is a member already.');

function obey(refusal: DomainError | null): void {
  if (refusal) throw refusal;
}
