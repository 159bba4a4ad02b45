import { Injectable } from '@nestjs/common';
import { Invitation } from '@aps/entities';
import type { OrgRole, OrgScope } from '@aps/guards';
import { advisoryLock, Listing, now, OrgListing, OrgTable, statement, type Db, type Tx } from '@aps/platform/database';
import { canonicalEmail } from '@aps/platform/email';
import { rateLimitConfig } from '@aps/platform/rate-limit';
import { orgsConfig } from './orgs.config';

/** An invitation, with what its organization and the clock say. */
export interface InvitationView extends Invitation {
  org_name: string;
  expired: boolean;
}

const VIEWS = new Listing<InvitationView, { token_hash?: Buffer; email?: string | null; org_id?: string; pending?: true; open?: true }>({
  key: 'i.id',
  select: 'i.*, o.name AS org_name, i.expires_at <= now() AS expired',
  from: 'invitations i JOIN organizations o ON o.id = i.org_id',
  where: {
    token_hash: 'i.token_hash = $',
    email: 'i.email_canonical = $',
    org_id: 'i.org_id = $',
    pending: `i.state = 'pending'`,
    open: `i.state = 'pending' AND i.expires_at > now() AND o.deleted_at IS NULL`,
  },
  order: 'i.org_id',
});
/** What is shown of an invitation, without the hash of its token. */
export type PendingInvitation = Omit<Invitation, 'email_canonical' | 'token_hash'>;

/** Oldest first. */
export const PENDING = new OrgListing<PendingInvitation, object>({
  org: 'i.org_id',
  key: 'i.id',
  select: 'i.id, i.org_id, i.email, i.role, i.state, i.invited_by, i.expires_at, i.accepted_at, i.revoked_at, i.created_at, i.updated_at',
  from: 'invitations i',
  always: `i.state = 'pending'`,
  order: 'i.created_at, i.id',
});

/** Who has no account cannot stop what is mailed to them, whichever organizations invite them. */
const MAILS_PER_HOUR = 3;

export const COUNT_OPEN = statement<{ n: number }>(
  `SELECT count(*)::int AS n FROM invitations WHERE org_id = $1 AND state = 'pending' AND expires_at > now()`,
);
// What was revoked was mailed, too. The oldest of those that use the hour up is the first to leave it.
const waitStatement = (whose: 'email_canonical' | 'org_id' | 'invited_by') =>
  statement<{ s: number }>(`
    SELECT ceil(extract(epoch FROM created_at + interval '1 hour' - now()))::int AS s
    FROM invitations WHERE ${whose} = $1 AND created_at > now() - interval '1 hour' ORDER BY created_at DESC OFFSET $2::int - 1 LIMIT 1`);
const WAIT = waitStatement('email_canonical');
const WAIT_OF_ORG = waitStatement('org_id');
const WAIT_OF_AUTHOR = waitStatement('invited_by');
export const REVOKE_PENDING = statement(
  `UPDATE invitations SET state = 'revoked', revoked_at = now(), updated_at = now() WHERE org_id = $1 AND state = 'pending'`,
);

const WITHDRAW = statement<Pick<Invitation, 'id' | 'org_id' | 'email'>>(`
  UPDATE invitations SET state = 'revoked', revoked_at = now(), updated_at = now()
  WHERE org_id IN (SELECT $2::uuid UNION ALL SELECT m.org_id FROM memberships m WHERE m.user_id = $1 AND $2 IS NULL)
    AND state = 'pending' AND invited_by = $1 AND role = ANY ($3) RETURNING id, org_id, email`);

/** Offers of membership. An offer is open while it is pending and not expired. */
@Injectable()
export class InvitationsRepository {
  private readonly invitations = new OrgTable(Invitation);

  async pendingFor(tx: Tx, scope: OrgScope, email: string): Promise<InvitationView | null> {
    return (await VIEWS.list(tx, { org_id: scope.orgId, email: canonicalEmail(email), pending: true }))[0] ?? null;
  }

  /** Open invitations of an address in all organizations, by organization: whoever locks several takes them in this order. */
  openFor(db: Db, email: string): Promise<InvitationView[]> {
    return VIEWS.list(db, { email: canonicalEmail(email), open: true });
  }

  /** Of any organization: who holds the link needs no scope. */
  async byTokenHash(db: Db, token_hash: Buffer): Promise<InvitationView | null> {
    return (await VIEWS.list(db, { token_hash }))[0] ?? null;
  }

  /**
   * For how many seconds an address is mailed no further invitation, by no organization. Under the lock of the address: of several who invite at
   * once, each counts those before.
   */
  async waitS(tx: Tx, email: string): Promise<number> {
    return (await tx.query(WAIT, [canonicalEmail(email), MAILS_PER_HOUR]))[0]?.s ?? 0;
  }

  /** For how many seconds an organization invites nobody further. Under the lock of its roster. */
  waitOfOrgS(tx: Tx, { orgId }: OrgScope): Promise<number> {
    return this.boundedWaitS(tx, WAIT_OF_ORG, orgId);
  }

  /** The same of who invites, whichever organizations they make for it. Under {@link lockAuthor}. */
  waitOfAuthorS(tx: Tx, { userId }: OrgScope): Promise<number> {
    return this.boundedWaitS(tx, WAIT_OF_AUTHOR, userId);
  }

  /** Serializes what one user invites. To be taken before the lock of an address. */
  async lockAuthor(tx: Tx, { userId }: OrgScope): Promise<void> {
    await advisoryLock(tx, `invites:${userId}`);
  }

  private async boundedWaitS(tx: Tx, wait: typeof WAIT, of: string | null): Promise<number> {
    const perHour = rateLimitConfig.value.enabled && orgsConfig.value.invitationsPerHour;
    return perHour ? ((await tx.query(wait, [of, perHour]))[0]?.s ?? 0) : 0;
  }

  /** Revokes what somebody offers in an organization; null: wherever they are a member. */
  withdraw(
    tx: Tx,
    invitedBy: string,
    orgId: string | null,
    roles: readonly OrgRole[],
  ): Promise<Pick<Invitation, 'id' | 'org_id' | 'email'>[]> {
    return tx.query(WITHDRAW, [invitedBy, orgId, roles]);
  }

  /** @returns null when it is not pending */
  close(tx: Tx, scope: OrgScope, id: string, state: 'accepted' | 'revoked'): Promise<Invitation | null> {
    const columns = state === 'accepted' ? { state, accepted_at: now } : { state, revoked_at: now };
    return this.invitations.update(tx, scope, { id, state: 'pending' }, columns);
  }
}
