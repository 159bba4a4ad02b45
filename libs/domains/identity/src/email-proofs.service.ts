import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { User } from '@aps/entities';
import { actingUser, type ActingUser } from '@aps/guards';
import { Audit } from '@aps/platform/audit';
import { NO_CALLER, Database, now, Table, type Tx } from '@aps/platform/database';
import { Mailer } from '@aps/platform/mail';
import { ofAddress } from './address';
import { verificationInvalid } from './identity.errors';
import { verificationMail } from './identity.mails';
import { MailedLinksRepository } from './mailed-links.repository';
import { OrganizationPort } from './organization-port';
import { PlatformAdminsService } from './platform-admins.service';
import type { UserInOrgs, UserRow } from './users.service';

/** {@link EmailProofsService.resend} takes this long for any address: writing a mail must not show in the time. */
const RESEND_MS = 100;

/**
 * Whether an address belongs to the user who signed up with it. What waits for an address (invitations, the role of the first administrator)
 * is given when that is proven, by a mailed link: anybody can type an address.
 */
@Injectable()
export class EmailProofsService {
  private readonly users = new Table(User);

  constructor(
    private readonly db: Database,
    private readonly audit: Audit,
    private readonly mailer: Mailer,
    private readonly links: MailedLinksRepository,
    private readonly admins: PlatformAdminsService,
    private readonly orgs: OrganizationPort,
  ) {}

  /** Mails a link that proves the address, with the caller's transaction. */
  async ask(tx: Tx, user: UserRow, requestId?: string): Promise<void> {
    const token = await this.links.issue(tx, 'email_proof', user.id);
    await this.mailer.send(tx, { to: user.email, ...verificationMail(token) }, { requestId });
  }

  /** Mails another link to an address that is not proven yet. Neither answer nor time tells whether there was a need. */
  async resend(whose: { email: string } | { userId: string }): Promise<void> {
    const asking = this.db.transaction(NO_CALLER, async (tx) => {
      const user = await this.users.find(tx, 'email' in whose ? ofAddress(whose.email) : whose.userId, 'for no key update');
      if (!user || user.email_verified_at || user.deactivated_at || !(await this.links.mayAsk(tx, 'email_proof', user.id))) return;
      await this.ask(tx, user);
    });
    await Promise.all([asking, sleep(RESEND_MS)]);
  }

  /** Proves an address by the token of a mailed link, which is used up. @throws DomainError 422 `verification_invalid` */
  verify(token: string, requestId?: string): Promise<UserInOrgs> {
    return this.db.transaction(NO_CALLER, async (tx) => {
      const userId = await this.links.ownerOf(tx, 'email_proof', token);
      const user = userId && (await this.users.find(tx, userId, 'for no key update'));
      if (!user || user.deactivated_at || !(await this.links.take(tx, 'email_proof', token))) throw verificationInvalid();
      await this.prove(tx, actingUser(user.id, { requestId }), 'link');
      return { user: (await this.users.find(tx, user.id)) ?? user, memberships: await this.orgs.membershipsOf(tx, user.id) };
    });
  }

  /**
   * Takes an address for its user's own and gives them what waits for it, in the caller's transaction. Locks the user, then the address,
   * then organizations, in the order of a signup.
   *
   * @param how by which mailed link, or on whose word
   * @returns false when it was proven already
   */
  async prove(tx: Tx, actor: ActingUser, how: 'link' | 'invitation' | 'provider'): Promise<boolean> {
    const { userId, requestId } = actor;
    if ((await this.users.find(tx, userId))?.email_verified_at) return false;
    const user = await this.users.find(tx, userId, 'for no key update');
    if (!user || user.email_verified_at) return false;
    // No change of the profile.
    await this.users.update(tx, userId, { email_verified_at: now, updated_at: () => 'updated_at' });
    await this.links.voidAllOf(tx, 'email_proof', userId);
    await this.admins.onProof(tx, user, requestId);
    await this.orgs.onProof(tx, { id: user.id, email: user.email, name: user.name }, requestId);
    await this.audit.record(tx, actor, 'user.email_verified', userId, { by: how });
    return true;
  }
}
