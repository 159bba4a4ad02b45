import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, OnModuleInit } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { Audit } from '@aps/platform/audit';
import { hashToken, newOpaqueToken } from '@aps/platform/crypto';
import { NO_CALLER, Database, type Tx } from '@aps/platform/database';
import { Mailer } from '@aps/platform/mail';
import { uuidv7 } from 'uuidv7';
import { actingUser, type ActingUser } from '@aps/guards';
import { verificationInvalid } from './identity.errors';
import { verificationMail } from './identity.mails';
import { MailedLinksRepository } from './mailed-links.repository';
import { type MembershipSummary, OrganizationDoor } from './organization-door';
import { PlatformAdminsService } from './platform-admins.service';
import { UsersRepository, type UserRow } from './users.repository';

/** Nobody's mailbox is flooded by asking often. */
const RESENT_PER_HOUR = 3;
/** {@link EmailProofsService.resend} takes this long for any address: writing a mail must not show in the time. */
const RESEND_MS = 100;

/**
 * Whether an address belongs to the user who signed up with it. What waits for an address (invitations, the role of the first administrator)
 * is given when that is proven, by a mailed link: anybody can type an address.
 */
@Injectable()
export class EmailProofsService implements OnModuleInit {
  private orgs: OrganizationDoor;

  constructor(
    private readonly db: Database,
    private readonly audit: Audit,
    private readonly mailer: Mailer,
    private readonly moduleRef: ModuleRef,
    private readonly users: UsersRepository,
    private readonly links: MailedLinksRepository,
    private readonly admins: PlatformAdminsService,
  ) {}

  /** Not injected: what stands behind the door needs this service itself. */
  onModuleInit(): void {
    this.orgs = this.moduleRef.get(OrganizationDoor, { strict: false });
  }

  /** Mails a link that proves the address, with the caller's transaction. */
  async ask(tx: Tx, user: UserRow, requestId?: string): Promise<void> {
    const token = newOpaqueToken();
    await this.links.insert(tx, 'email_proof', { id: uuidv7(), userId: user.id, tokenHash: hashToken(token) });
    await this.mailer.send(tx, { to: user.email, ...verificationMail(token) }, { requestId });
  }

  /** Mails another link to an address that is not proven yet. Neither answer nor time tells whether there was a need. */
  async resend(whose: { email: string } | { userId: string }): Promise<void> {
    await Promise.all([this.askAgain(whose), sleep(RESEND_MS)]);
  }

  private async askAgain(whose: { email: string } | { userId: string }): Promise<void> {
    const found = await ('email' in whose ? this.users.byEmail(this.db, whose.email) : this.users.byId(this.db, whose.userId));
    if (!found || found.email_verified_at) return;
    await this.db.transaction(NO_CALLER, async (tx) => {
      const user = await this.users.lock(tx, found.id);
      if (
        !user ||
        user.email_verified_at ||
        user.deactivated_at ||
        (await this.links.askedInLastHour(tx, 'email_proof', user.id)) >= RESENT_PER_HOUR
      )
        return;
      await this.ask(tx, user);
    });
  }

  /**
   * Proves an address by the token of a mailed link, which is used up.
   *
   * @throws DomainError 422 `verification_invalid`
   */
  verify(token: string, requestId?: string): Promise<{ user: UserRow; memberships: MembershipSummary[] }> {
    const tokenHash = hashToken(token);
    return this.db.transaction(NO_CALLER, async (tx) => {
      const userId = await this.links.ownerOf(tx, 'email_proof', tokenHash);
      const user = userId === null ? null : await this.users.lock(tx, userId);
      if (!user || user.deactivated_at || !(await this.links.take(tx, 'email_proof', tokenHash))) throw verificationInvalid();
      await this.prove(tx, actingUser(user.id, { requestId }), 'link');
      return { user: (await this.users.byId(tx, user.id)) ?? user, memberships: await this.orgs.membershipsOf(tx, user.id) };
    });
  }

  /**
   * Takes an address for its user's own and gives them what waits for it, in the caller's transaction. Locks the user, then the address,
   * then organizations, in the order of a signup.
   *
   * @param how by which mailed link
   * @returns false when it was proven already
   */
  async prove(tx: Tx, actor: ActingUser, how: 'link' | 'invitation'): Promise<boolean> {
    const { userId, requestId } = actor;
    if ((await this.users.byId(tx, userId))?.email_verified_at) return false;
    const user = await this.users.lock(tx, userId);
    if (!user || user.email_verified_at) return false;
    await this.users.setVerified(tx, userId);
    await this.links.voidAllOf(tx, 'email_proof', userId);
    await this.admins.onProof(tx, user, requestId);
    await this.orgs.onProof(tx, { id: user.id, email: user.email, name: user.name }, requestId);
    await this.audit.record(tx, actor, 'user.email_verified', { kind: 'user', id: userId }, { by: how });
    return true;
  }
}
