import { Injectable } from '@nestjs/common';
import { DomainError } from '@aps/contracts';
import type { OrgRole, OrgScope } from '@aps/guards';
import { advisoryLock, Database, type Tx } from '@aps/platform/database';
import { canonicalEmail } from '@aps/platform/email';
import { MembersRepository } from './members.repository';
import { OrganizationsRepository } from './organizations.repository';

/** The acting member, as the locked roster has them. */
export interface RosterActor {
  userId: string;
  role: OrgRole;
}

/**
 * Serializes what changes the people of one organization: members, and invitations, which hold seats. Only so can "another owner
 * stays", "one seat is left" and "nobody else has invited them" be true when the change is written.
 *
 * Locks are taken in one order, a user's row before their address, that before organizations and those by id, or two changes could wait for
 * each other.
 */
@Injectable()
export class Roster {
  constructor(
    private readonly db: Database,
    private readonly organizations: OrganizationsRepository,
    private readonly members: MembersRepository,
  ) {}

  /**
   * A change by a member, whose role is read under the lock: another owner may just have demoted them. That they may make the change is
   * asked before it is made, because it may be their own leaving.
   *
   * @param email the address that the change is about, when it may belong to nobody yet
   */
  change<T>(scope: OrgScope, fn: (tx: Tx, actor: RosterActor) => Promise<T>, email?: string): Promise<T> {
    return this.db.transaction(scope, async (tx) => {
      if (email !== undefined) await this.lockAddress(tx, email);
      await this.lock(tx, scope);
      await tx.confirm();
      const live = await this.organizations.find(tx, scope);
      const self = live && (await this.members.ofUser(tx, scope, scope.userId));
      if (!self) throw new DomainError('not_org_member', 'You are not a member of this organization.');
      return fn(tx, { userId: self.user_id, role: self.role });
    });
  }

  async lock(tx: Tx, scope: OrgScope): Promise<void> {
    await advisoryLock(tx, `roster:${scope.orgId}`);
  }

  /** Serializes inviting an address with its signing up: whoever comes second sees what the first has done. */
  async lockAddress(tx: Tx, email: string): Promise<void> {
    await advisoryLock(tx, `address:${canonicalEmail(email)}`);
  }
}

/** Role of an actor who must be at least an admin now. */
export function requireAdmin(role: OrgRole): void {
  if (role === 'MEMBER')
    throw new DomainError('insufficient_role', 'Your role does not allow this.', { context: { required: ['ADMIN', 'OWNER'] } });
}
