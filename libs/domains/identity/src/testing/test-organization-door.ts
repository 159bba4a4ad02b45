import { Global, Injectable, Module } from '@nestjs/common';
import type { Db, Tx } from '@aps/platform/database';
import { canonicalEmail } from '@aps/platform/email';
import { sql } from '@aps/platform/testing';
import { uuidv7 } from 'uuidv7';
import { OrganizationDoor, type MembershipSummary, type SignupWish } from '../organization-door';

/** As much of organizations as identity's specs need, on the real tables. */
@Injectable()
export class TestOrganizationDoor extends OrganizationDoor {
  async isInvited(db: Db, email: string): Promise<boolean> {
    return (
      (
        await db.query(sql(`SELECT 1 FROM invitations WHERE email_canonical = $1 AND state = 'pending' AND expires_at > now()`), [
          canonicalEmail(email),
        ])
      ).length > 0
    );
  }

  async onSignup(tx: Tx, { user, isProven, orgName }: SignupWish): Promise<void> {
    if (!isProven && (await this.isInvited(tx, user.email))) return;
    if (!isProven || !(await this.redeem(tx, user))) await this.makeOrg(tx, user.id, orgName ?? `${user.name}'s organization`);
  }

  async onProof(tx: Tx, user: SignupWish['user']): Promise<void> {
    await this.redeem(tx, user);
  }

  private async redeem(tx: Tx, user: SignupWish['user']): Promise<boolean> {
    const redeemed = await tx.query(
      sql<{ org_id: string; role: string }>(
        `UPDATE invitations SET state = 'accepted', accepted_at = now() WHERE email_canonical = $1 AND state = 'pending' RETURNING org_id, role`,
      ),
      [canonicalEmail(user.email)],
    );
    for (const { org_id, role } of redeemed) await this.join(tx, org_id, user.id, role);
    return redeemed.length > 0;
  }

  membershipsOf(db: Db, userId: string): Promise<MembershipSummary[]> {
    return db.query(
      sql<MembershipSummary>(
        `SELECT o.id AS org_id, o.name AS org_name, o.slug, m.role FROM memberships m JOIN organizations o ON o.id = m.org_id WHERE m.user_id = $1 ORDER BY o.name`,
      ),
      [userId],
    );
  }

  async soleOwnerOf(db: Db, userId: string): Promise<string[]> {
    const rows = await db.query(
      sql<{ org_id: string }>(`SELECT org_id FROM memberships m WHERE role = 'OWNER' AND user_id = $1
       AND NOT EXISTS (SELECT 1 FROM memberships x WHERE x.org_id = m.org_id AND x.role = 'OWNER' AND x.user_id <> $1)`),
      [userId],
    );
    return rows.map((r) => r.org_id);
  }

  async makeOrg(db: Db, ownerId: string, name: string): Promise<string> {
    const id = uuidv7();
    await db.execute(sql('INSERT INTO organizations (id, name, slug, created_by) VALUES ($1, $2, $3, $4)'), [
      id,
      name,
      `org-${id}`,
      ownerId,
    ]);
    await this.join(db, id, ownerId, 'OWNER');
    return id;
  }

  async invite(db: Db, orgId: string, email: string, role = 'MEMBER'): Promise<void> {
    await db.execute(
      sql(
        `INSERT INTO invitations (id, org_id, email, email_canonical, role, token_hash, expires_at) VALUES ($1, $2, $3, $4, $5, $6, now() + interval '1 day')`,
      ),
      [uuidv7(), orgId, email, canonicalEmail(email), role, Buffer.from(uuidv7())],
    );
  }

  private async join(db: Db, orgId: string, userId: string, role: string): Promise<void> {
    await db.execute(sql('INSERT INTO memberships (id, org_id, user_id, role) VALUES ($1, $2, $3, $4)'), [uuidv7(), orgId, userId, role]);
  }
}

@Global()
@Module({
  providers: [TestOrganizationDoor, { provide: OrganizationDoor, useExisting: TestOrganizationDoor }],
  exports: [TestOrganizationDoor, OrganizationDoor],
})
export class TestOrganizationsModule {}
