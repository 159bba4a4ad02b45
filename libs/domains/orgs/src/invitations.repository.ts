import { Injectable } from '@nestjs/common';
import type { OrgRole, OrgScope } from '@aps/guards';
import { statement, type Db, type Tx } from '@aps/platform/database';
import { canonicalEmail } from '@aps/platform/email';
import { uuidv7 } from 'uuidv7';
import type { InvitationView } from './orgs.types';

/** An invitation as its link finds it. */
export interface LinkedInvitation extends InvitationView {
  org_id: string;
  org_name: string;
  expired: boolean;
}

const COLUMNS = 'id, email, role, state, invited_by, expires_at, accepted_at, revoked_at, created_at, updated_at';
export const INVITATION_DAYS = 14;

const PENDING = statement<InvitationView>(
  `SELECT ${COLUMNS} FROM invitations WHERE org_id = $1 AND state = 'pending' ORDER BY created_at, id`,
);
const INSERT = statement<InvitationView>(`
  INSERT INTO invitations (id, org_id, email, email_canonical, role, token_hash, invited_by, expires_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, now() + interval '${INVITATION_DAYS} days') RETURNING ${COLUMNS}`);
const PENDING_FOR_ADDRESS = statement<InvitationView & { expired: boolean }>(`
  SELECT ${COLUMNS}, expires_at <= now() AS expired FROM invitations WHERE org_id = $1 AND email_canonical = $2 AND state = 'pending'`);
const COUNT_OPEN = statement<{ n: number }>(
  `SELECT count(*)::int AS n FROM invitations WHERE org_id = $1 AND state = 'pending' AND expires_at > now()`,
);
const BY_ID = statement<InvitationView>(`SELECT ${COLUMNS} FROM invitations WHERE org_id = $1 AND id = $2 AND state = 'pending'`);
const SET_ROLE = statement<InvitationView>(
  `UPDATE invitations SET role = $3, updated_at = now() WHERE org_id = $1 AND id = $2 AND state = 'pending' RETURNING ${COLUMNS}`,
);
const REVOKE = statement<InvitationView>(`
  UPDATE invitations SET state = 'revoked', revoked_at = now(), updated_at = now() WHERE org_id = $1 AND id = $2 AND state = 'pending' RETURNING ${COLUMNS}`);
const REVOKE_ALL = statement(
  `UPDATE invitations SET state = 'revoked', revoked_at = now(), updated_at = now() WHERE org_id = $1 AND state = 'pending'`,
);
const ACCEPT = statement<InvitationView>(`
  UPDATE invitations SET state = 'accepted', accepted_at = now(), updated_at = now()
  WHERE org_id = $1 AND id = $2 AND state = 'pending' AND expires_at > now() RETURNING ${COLUMNS}`);
const BY_TOKEN = statement<LinkedInvitation>(`
  SELECT ${COLUMNS.split(', ')
    .map((c) => `i.${c}`)
    .join(', ')}, i.org_id, o.name AS org_name, i.expires_at <= now() AS expired
  FROM invitations i JOIN organizations o ON o.id = i.org_id WHERE i.token_hash = $1`);
const OPEN_FOR_ADDRESS = statement<{ id: string; org_id: string }>(`
  SELECT i.id, i.org_id FROM invitations i JOIN organizations o ON o.id = i.org_id
  WHERE i.email_canonical = $1 AND i.state = 'pending' AND i.expires_at > now() AND o.deleted_at IS NULL ORDER BY i.org_id`);

/** Offers of membership. An offer is open while it is pending and not expired. */
@Injectable()
export class InvitationsRepository {
  async pending(db: Db, scope: OrgScope): Promise<InvitationView[]> {
    return db.query(PENDING, [scope.orgId]);
  }

  async pendingFor(tx: Tx, scope: OrgScope, email: string): Promise<(InvitationView & { expired: boolean }) | null> {
    return (await tx.query(PENDING_FOR_ADDRESS, [scope.orgId, canonicalEmail(email)]))[0] ?? null;
  }

  async pendingById(tx: Tx, scope: OrgScope, id: string): Promise<InvitationView | null> {
    return (await tx.query(BY_ID, [scope.orgId, id]))[0] ?? null;
  }

  async countOpen(tx: Tx, scope: OrgScope): Promise<number> {
    return (await tx.query(COUNT_OPEN, [scope.orgId]))[0].n;
  }

  async insert(tx: Tx, scope: OrgScope, row: { email: string; role: OrgRole; tokenHash: Buffer }): Promise<InvitationView> {
    return (
      await tx.query(INSERT, [uuidv7(), scope.orgId, row.email, canonicalEmail(row.email), row.role, row.tokenHash, scope.actor.userId])
    )[0];
  }

  async setRole(tx: Tx, scope: OrgScope, id: string, role: OrgRole): Promise<InvitationView | null> {
    return (await tx.query(SET_ROLE, [scope.orgId, id, role]))[0] ?? null;
  }

  /** @returns null when it is not pending */
  async revoke(tx: Tx, scope: OrgScope, id: string): Promise<InvitationView | null> {
    return (await tx.query(REVOKE, [scope.orgId, id]))[0] ?? null;
  }

  async revokeAll(tx: Tx, scope: OrgScope): Promise<number> {
    return tx.execute(REVOKE_ALL, [scope.orgId]);
  }

  /** @returns null when it is not open */
  async accept(tx: Tx, scope: OrgScope, id: string): Promise<InvitationView | null> {
    return (await tx.query(ACCEPT, [scope.orgId, id]))[0] ?? null;
  }

  /** Of any organization: who holds the link needs no scope. */
  async byTokenHash(db: Db, tokenHash: Buffer): Promise<LinkedInvitation | null> {
    return (await db.query(BY_TOKEN, [tokenHash]))[0] ?? null;
  }

  /** Open invitations of an address in all organizations, by organization: whoever locks several takes them in this order. */
  async openFor(db: Db, email: string): Promise<{ id: string; org_id: string }[]> {
    return db.query(OPEN_FOR_ADDRESS, [canonicalEmail(email)]);
  }
}
