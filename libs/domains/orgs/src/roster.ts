import { Injectable } from '@nestjs/common';
import { DomainError } from '@aps/contracts';
import { Membership, Organization } from '@aps/entities';
import { type ActingUser, OrgScope } from '@aps/guards';
import type { By } from '@aps/platform/audit';
import { advisoryLock, Database, OrgTable, Table, type Tx } from '@aps/platform/database';
import { canonicalEmail } from '@aps/platform/email';

/**
 * Serializes what changes the people of one organization: members, and invitations, which hold seats. Only so can "another owner
 * stays", "one seat is left" and "nobody else has invited them" be true when the change is written.
 *
 * Locks are taken in one order, a user's row before their address, that and what an organization is billed for before organizations and those
 * by id, or two changes could wait for each other. A member who acts is asked for last, so who is shut out has their organizations locked before
 * their row.
 */
@Injectable()
export class Roster {
  private readonly organizations = new Table(Organization);
  private readonly members = new OrgTable(Membership);

  constructor(private readonly db: Database) {}

  /**
   * A change by a member, whose role is read under the lock: another owner may just have demoted them. That they may make the change is
   * asked before it is made, because it may be their own leaving.
   *
   * @param first takes what must be locked before: of the address that the change is about, when it may belong to nobody yet; of what makes
   * others change the organization's row, which is shared as soon as the right is asked for
   */
  change<T>(scope: OrgScope, fn: (tx: Tx, actor: Membership) => Promise<T>, first?: (tx: Tx) => Promise<void>): Promise<T> {
    return this.db.transaction(scope, async (tx) => {
      await first?.(tx);
      await this.lock(tx, scope);
      await tx.confirm();
      const live = await this.organizations.find(tx, scope.orgId);
      const self = live && (await this.members.find(tx, scope, { user_id: scope.userId }));
      if (!self) throw new DomainError('not_org_member', 'You are not a member of this organization.');
      return fn(tx, self);
    });
  }

  /**
   * A change by an operator, who may belong to no organization at all.
   *
   * @param email the address that the change is about, when it may belong to nobody yet
   * @throws DomainError `not_found`
   */
  operate<T>(operator: ActingUser, orgId: string, fn: (tx: Tx, scope: OrgScope, by: By) => Promise<T>, email?: string): Promise<T> {
    const scope = OrgScope.system(orgId, 'an operator acts');
    return this.db.transaction(operator, async (tx) => {
      if (email !== undefined) await this.lockAddress(tx, email);
      await this.lock(tx, scope);
      await this.organizations.get(tx, orgId);
      return fn(tx, scope, { orgId, actor: operator });
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
