import { Injectable } from '@nestjs/common';
import type { OrgRole, OrgScope } from '@aps/guards';
import { statement, type Db, type Tx } from '@aps/platform/database';
import { uuidv7 } from 'uuidv7';

export interface MembershipRow {
  id: string;
  user_id: string;
  role: OrgRole;
}

const COLUMNS = 'id, user_id, role';

const BY_ID = statement<MembershipRow>(`SELECT ${COLUMNS} FROM memberships WHERE org_id = $1 AND id = $2`);
const OF_USER = statement<MembershipRow>(`SELECT ${COLUMNS} FROM memberships WHERE org_id = $1 AND user_id = $2`);
const OWNERS_BESIDE = statement<{ n: number }>(`
  SELECT count(*)::int AS n FROM memberships m JOIN users u ON u.id = m.user_id
  WHERE m.org_id = $1 AND m.role = 'OWNER' AND m.user_id <> $2 AND u.deactivated_at IS NULL`);
const COUNT = statement<{ n: number }>('SELECT count(*)::int AS n FROM memberships WHERE org_id = $1');
const OWNED = statement<{ n: number }>(`
  SELECT count(*)::int AS n FROM memberships m JOIN organizations o ON o.id = m.org_id WHERE m.user_id = $1 AND m.role = 'OWNER' AND o.deleted_at IS NULL`);
const INSERT = statement<MembershipRow>(`
  INSERT INTO memberships (id, org_id, user_id, role) VALUES ($1, $2, $3, $4) ON CONFLICT (org_id, user_id) DO NOTHING RETURNING ${COLUMNS}`);
const SET_ROLE = statement('UPDATE memberships SET role = $3, updated_at = now() WHERE org_id = $1 AND id = $2');
const DELETE = statement('DELETE FROM memberships WHERE org_id = $1 AND id = $2');

/** Who belongs to an organization. Changes go through the {@link Roster}, one at a time. */
@Injectable()
export class MembersRepository {
  async byId(db: Db, scope: OrgScope, id: string): Promise<MembershipRow | null> {
    return (await db.query(BY_ID, [scope.orgId, id]))[0] ?? null;
  }

  async ofUser(db: Db, scope: OrgScope, userId: string): Promise<MembershipRow | null> {
    return (await db.query(OF_USER, [scope.orgId, userId]))[0] ?? null;
  }

  /** Owners beside the user who can sign in: one who is deactivated cannot care for the organization. */
  async ownersBeside(tx: Tx, scope: OrgScope, userId: string): Promise<number> {
    return (await tx.query(OWNERS_BESIDE, [scope.orgId, userId]))[0].n;
  }

  async count(tx: Tx, scope: OrgScope): Promise<number> {
    return (await tx.query(COUNT, [scope.orgId]))[0].n;
  }

  /** How many live organizations the user owns, alone or with others. */
  async countOwned(tx: Tx, userId: string): Promise<number> {
    return (await tx.query(OWNED, [userId]))[0].n;
  }

  /** @returns null when the user is a member already */
  async insert(tx: Tx, scope: OrgScope, userId: string, role: OrgRole): Promise<MembershipRow | null> {
    return (await tx.query(INSERT, [uuidv7(), scope.orgId, userId, role]))[0] ?? null;
  }

  async setRole(tx: Tx, scope: OrgScope, id: string, role: OrgRole): Promise<void> {
    await tx.execute(SET_ROLE, [scope.orgId, id, role]);
  }

  async remove(tx: Tx, scope: OrgScope, id: string): Promise<void> {
    await tx.execute(DELETE, [scope.orgId, id]);
  }
}
