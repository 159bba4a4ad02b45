import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { refuseField } from '@aps/contracts';
import { Audit } from '@aps/platform/audit';
import { hashPassword, hashToken, newOpaqueToken, verifyPassword } from '@aps/platform/crypto';
import { NO_CALLER, Database, type Tx } from '@aps/platform/database';
import { Mailer } from '@aps/platform/mail';
import { uuidv7 } from 'uuidv7';
import { actingUser, type ActingUser } from '@aps/guards';
import { ApiTokensRepository } from './api-tokens.repository';
import { resetTokenInvalid } from './identity.errors';
import { passwordChangedMail, passwordResetMail } from './identity.mails';
import { LoginAttemptsRepository } from './login-attempts.repository';
import { MailedLinksRepository } from './mailed-links.repository';
import { SessionsRepository } from './sessions.repository';
import { UsersRepository, type UserRow } from './users.repository';

/** Nobody's mailbox is flooded by asking often. */
const RESETS_PER_HOUR = 5;
/** {@link PasswordsService.forgot} takes this long for any address: writing a mail must not show in the time. */
const FORGOT_MS = 100;

/** How a password is replaced. */
interface Replacing {
  /** API tokens end, too. */
  revokeTokens?: boolean;
  requestId?: string;
}

/** Losing, finding and changing passwords. */
@Injectable()
export class PasswordsService {
  constructor(
    private readonly db: Database,
    private readonly audit: Audit,
    private readonly mailer: Mailer,
    private readonly users: UsersRepository,
    private readonly sessions: SessionsRepository,
    private readonly links: MailedLinksRepository,
    private readonly tokens: ApiTokensRepository,
    private readonly attempts: LoginAttemptsRepository,
  ) {}

  /** Mails a link if the address has an account. Neither answer nor time tells whether it has. */
  async forgot(email: string): Promise<void> {
    await Promise.all([this.mailLink(email), sleep(FORGOT_MS)]);
  }

  private async mailLink(email: string): Promise<void> {
    const found = await this.users.byEmail(this.db, email);
    if (!found) return;
    await this.db.transaction(NO_CALLER, async (tx) => {
      const user = await this.users.lock(tx, found.id);
      if (!user || user.deactivated_at || (await this.links.askedInLastHour(tx, 'password_reset', user.id)) >= RESETS_PER_HOUR) return;
      const token = newOpaqueToken();
      await this.links.insert(tx, 'password_reset', { id: uuidv7(), userId: user.id, tokenHash: hashToken(token) });
      // To the address on record, not to the one that was typed.
      await this.mailer.send(tx, { to: user.email, ...passwordResetMail(token) });
    });
  }

  /**
   * Sets a new password with the token of a mailed link, which is used up, and ends all sessions. Where the address was not proven, it
   * ends the API tokens, too: who signed up with it may be somebody else than who has the mailbox, and must keep no way in.
   *
   * @throws DomainError 422 `reset_token_invalid`
   */
  async reset(token: string, password: string, how: Replacing = {}): Promise<void> {
    const tokenHash = hashToken(token);
    const userId = await this.links.ownerOf(this.db, 'password_reset', tokenHash);
    // Guessing must not cost a password hash.
    if (!userId) throw resetTokenInvalid();
    const passwordHash = await hashPassword(password);
    await this.db.transaction(NO_CALLER, async (tx) => {
      const user = await this.users.lock(tx, userId);
      if (!user || user.deactivated_at || !(await this.links.take(tx, 'password_reset', tokenHash))) throw resetTokenInvalid();
      // Whoever has failed at the old one does not delay who has the mailbox.
      await this.attempts.clear(tx, user.email);
      await this.replace(tx, user, passwordHash, {
        ...how,
        revokeTokens: how.revokeTokens || !user.email_verified_at,
        action: 'user.password_reset',
      });
    });
  }

  /**
   * Replaces the password of somebody who knows it, and ends all sessions but the one that asks.
   *
   * @throws DomainError 422 `password_incorrect`
   */
  async change(
    actor: ActingUser,
    sessionId: string,
    current: string,
    password: string,
    how: Omit<Replacing, 'requestId'> = {},
  ): Promise<void> {
    const incorrect = () => refuseField('password_incorrect', ['current_password'], 'This is not your password.');
    const found = await this.users.withHashById(this.db, actor.userId);
    if (!(await verifyPassword(found?.password_hash, current))) throw incorrect();
    const passwordHash = await hashPassword(password);
    await this.db.transaction(actor, async (tx) => {
      const user = await this.users.lock(tx, actor.userId);
      // Somebody else was faster, with a reset perhaps; theirs stands.
      if (!user || user.password_hash !== found?.password_hash) throw incorrect();
      await this.replace(tx, user, passwordHash, {
        ...how,
        requestId: actor.requestId,
        action: 'user.password_changed',
        exceptSession: sessionId,
      });
    });
  }

  private async replace(
    tx: Tx,
    user: UserRow,
    passwordHash: string,
    how: Replacing & { action: string; exceptSession?: string },
  ): Promise<void> {
    await this.users.setPassword(tx, user.id, passwordHash);
    await this.sessions.endAllOf(tx, user.id, how.exceptSession);
    await this.links.voidAllOf(tx, 'password_reset', user.id);
    const revoked = how.revokeTokens ? await this.tokens.revokeAllOf(tx, user.id) : 0;
    await this.mailer.send(tx, { to: user.email, ...passwordChangedMail({ revoked, live: await this.tokens.countLive(tx, user.id) }) });
    const metadata = how.revokeTokens ? { revoked_tokens: revoked } : undefined;
    await this.audit.record(tx, actingUser(user.id, { requestId: how.requestId }), how.action, { kind: 'user', id: user.id }, metadata);
  }
}
