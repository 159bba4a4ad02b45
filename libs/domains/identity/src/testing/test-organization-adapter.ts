import { Global, Injectable, Module } from '@nestjs/common';
import { Invitation, Membership, Organization } from '@aps/entities';
import type { Db, Tx } from '@aps/platform/database';
import { canonicalEmail } from '@aps/platform/email';
import { sql } from '@aps/platform/testing';
import { uuidv7 } from 'uuidv7';
import { OrganizationPort, type MembershipSummary, type SignupWish } from '../organization-port';

type Role = Membership['role'];

/** As much of organizations as identity's specs need, on the real tables. */
@Injectable()
export class TestOrganizationAdapter extends OrganizationPort {
  async isInvited(db: Db, email: string): Promise<boolean> {
    return (await this.open(db, email)).length > 0;
  }

  async onSignup(tx: Tx, { user, isProven, orgName }: SignupWish): Promise<void> {
    if (!isProven && (await this.isInvited(tx, user.email))) return;
    if (!isProven || !(await this.redeem(tx, user))) await this.makeOrg(tx, user.id, orgName ?? `${user.name}'s organization`);
  }

  async onProof(tx: Tx, user: SignupWish['user']): Promise<void> {
    await this.redeem(tx, user);
  }

  membershipsOf(db: Db, userId: string): Promise<MembershipSummary[]> {
    return db.query(
      sql<MembershipSummary>(
        `SELECT o.id AS org_id, o.name AS org_name, o.slug, m.role FROM memberships m JOIN organizations o ON o.id = m.org_id WHERE m.user_id = $1 ORDER BY o.name`,
      ),
      [userId],
    );
  }

  requireSso(): Promise<boolean> {
    return Promise.resolve(false);
  }

  /** Nobody else owns what this door has made. */
  async soleOwnerOf(db: Db, user_id: string): Promise<string[]> {
    return (await db.manager.findBy(Membership, { user_id, role: 'OWNER' })).map((m) => m.org_id);
  }

  async makeOrg(db: Db, ownerId: string, name: string): Promise<string> {
    const id = uuidv7();
    await db.manager.insert(Organization, { id, name, slug: `org-${id}`, created_by: ownerId });
    await this.join(db, id, ownerId, 'OWNER');
    return id;
  }

  async invite(db: Db, orgId: string, email: string, role: Role): Promise<void> {
    const secret = { token_hash: Buffer.from(uuidv7()), expires_at: new Date(Date.now() + 86_400_000) };
    await db.manager.insert(Invitation, { id: uuidv7(), org_id: orgId, email, email_canonical: canonicalEmail(email)!, role, ...secret });
  }

  private async redeem(tx: Tx, user: SignupWish['user']): Promise<boolean> {
    const invitations = await this.open(tx, user.email);
    for (const { id, org_id, role } of invitations) {
      await tx.manager.update(Invitation, id, { state: 'accepted', accepted_at: new Date() });
      await this.join(tx, org_id, user.id, role);
    }
    return invitations.length > 0;
  }

  private open(db: Db, email: string): Promise<Invitation[]> {
    return db.manager.findBy(Invitation, { email_canonical: canonicalEmail(email)!, state: 'pending' });
  }

  private async join(db: Db, orgId: string, userId: string, role: Role): Promise<void> {
    await db.manager.insert(Membership, { id: uuidv7(), org_id: orgId, user_id: userId, role });
  }
}

@Global()
@Module({
  providers: [TestOrganizationAdapter, { provide: OrganizationPort, useExisting: TestOrganizationAdapter }],
  exports: [TestOrganizationAdapter, OrganizationPort],
})
export class TestOrganizationsModule {}
