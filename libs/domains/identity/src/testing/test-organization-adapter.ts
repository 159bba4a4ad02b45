import { Global, Injectable, Module } from '@nestjs/common';
import { Invitation, Membership, Organization } from '@aps/entities';
import type { Db, Tx } from '@aps/platform/database';
import { canonicalEmail } from '@aps/platform/email';
import { sql } from '@aps/platform/testing';
import { uuidv7 } from 'uuidv7';
import { OrganizationPort, type MembershipSummary, type SignupWish } from '../organization-port';

/** As much of organizations as identity's specs need, on the real tables. */
@Injectable()
export class TestOrganizationAdapter extends OrganizationPort {
  isInvited(db: Db, email: string): Promise<boolean> {
    return db.manager.existsBy(Invitation, { email_canonical: canonicalEmail(email)!, state: 'pending' });
  }

  async onSignup(tx: Tx, { user, orgName }: SignupWish): Promise<void> {
    await this.makeOrg(tx, user.id, orgName ?? `${user.name}'s organization`);
  }

  async onProof(): Promise<void> {}

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

  async lockRosters(): Promise<void> {}

  /** Nobody else owns what this door has made. */
  async soleOwnerOf(db: Db, user_id: string): Promise<string[]> {
    return (await db.manager.findBy(Membership, { user_id, role: 'OWNER' })).map((m) => m.org_id);
  }

  async makeOrg(db: Db, ownerId: string, name: string): Promise<string> {
    const id = uuidv7();
    await db.manager.insert(Organization, { id, name, slug: `org-${id}`, created_by: ownerId });
    await db.manager.insert(Membership, { id: uuidv7(), org_id: id, user_id: ownerId, role: 'OWNER' });
    return id;
  }

  async invite(db: Db, org_id: string, email: string): Promise<void> {
    const secret = { token_hash: Buffer.from(uuidv7()), expires_at: new Date(Date.now() + 86_400_000) };
    await db.manager.insert(Invitation, {
      id: uuidv7(),
      org_id,
      email,
      email_canonical: canonicalEmail(email)!,
      role: 'MEMBER',
      ...secret,
    });
  }
}

@Global()
@Module({
  providers: [TestOrganizationAdapter, { provide: OrganizationPort, useExisting: TestOrganizationAdapter }],
  exports: [TestOrganizationAdapter, OrganizationPort],
})
export class TestOrganizationsModule {}
