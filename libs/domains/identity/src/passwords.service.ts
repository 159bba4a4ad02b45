import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { refuseField } from '@aps/contracts';
import { User } from '@aps/entities';
import { actingUser, type ActingUser } from '@aps/guards';
import { Audit } from '@aps/platform/audit';
import { hashPassword, verifyPassword } from '@aps/platform/crypto';
import { NO_CALLER, Database, Table, type Tx } from '@aps/platform/database';
import { Mailer } from '@aps/platform/mail';
import { rateLimitConfig } from '@aps/platform/rate-limit';
import { ofAddress } from './address';
import { COUNT_LIVE, REVOKE_LIVE } from './api-tokens.sql';
import { resetTokenInvalid, tooManyAttempts } from './identity.errors';
import { passwordChangedMail, passwordResetMail } from './identity.mails';
import { LoginAttemptsRepository } from './login-attempts.repository';
import { MailedLinksRepository } from './mailed-links.repository';
import { SessionsRepository } from './sessions.repository';

/** {@link PasswordsService.forgot} takes this long for any address: writing a mail must not show in the time. */
const FORGOT_MS = 100;

/** Under this attempts count that begin within a session: neither do others' log-ins keep its user from it, nor does it those. */
const WITHIN_SESSION = 'password change';

/** How a password is replaced. */
interface Replacing {
  /** API tokens are revoked, too. */
  revokeTokens?: boolean;
  requestId?: string;
}

/** Losing, finding and changing passwords. */
@Injectable()
export class PasswordsService {
  private readonly users = new Table(User);

  constructor(
    private readonly db: Database,
    private readonly audit: Audit,
    private readonly mailer: Mailer,
    private readonly sessions: SessionsRepository,
    private readonly links: MailedLinksRepository,
    private readonly attempts: LoginAttemptsRepository,
  ) {}

  /** Mails a link if the address has an account. Neither answer nor time tells whether it has. */
  async forgot(email: string): Promise<void> {
    const mailing = this.db.transaction(NO_CALLER, async (tx) => {
      const user = await this.users.find(tx, ofAddress(email), 'for no key update');
      if (!user || user.deactivated_at || !(await this.links.mayAsk(tx, 'password_reset', user.id))) return;
      const token = await this.links.issue(tx, 'password_reset', user.id);
      // To the address on record, not to the one that was typed.
      await this.mailer.send(tx, { to: user.email, ...passwordResetMail(token) });
    });
    await Promise.all([mailing, sleep(FORGOT_MS)]);
  }

  /**
   * Sets a new password with the token of a mailed link, which is used up, and ends all sessions. Where the address was not proven, it
   * ends the API tokens, too: who signed up with it may be somebody else than who has the mailbox, and must keep no way in.
   *
   * @throws DomainError 422 `reset_token_invalid`
   */
  async reset(token: string, password: string, { revokeTokens, requestId }: Replacing = {}): Promise<void> {
    const userId = await this.links.ownerOf(this.db, 'password_reset', token);
    // Guessing must not cost a password hash.
    if (!userId) throw resetTokenInvalid();
    const passwordHash = await hashPassword(password);
    await this.db.transaction(NO_CALLER, async (tx) => {
      const user = await this.users.find(tx, userId, 'for no key update');
      if (!user || user.deactivated_at || !(await this.links.take(tx, 'password_reset', token))) throw resetTokenInvalid();
      // Whoever has failed at the old one does not delay who has the mailbox.
      await this.attempts.clear(tx, user.email);
      await this.replace(tx, actingUser(user.id, { requestId }), user, passwordHash, {
        action: 'user.password_reset',
        revokeTokens: revokeTokens || !user.email_verified_at,
      });
    });
  }

  /**
   * Replaces the password of somebody who knows it, and ends all sessions but the one that asks. Whoever has but the session, and guesses, is
   * slowed down as at a log-in, from however many addresses.
   *
   * @throws DomainError 422 `password_incorrect`; 429 `too_many_attempts`
   */
  async change(actor: ActingUser, sessionId: string, current: string, password: string, { revokeTokens }: Replacing = {}): Promise<void> {
    const incorrect = () => refuseField('password_incorrect', ['current_password'], 'This is not your password.');
    const found = await this.users.find(this.db, actor.userId);
    if (!found) throw incorrect();
    const attempt = rateLimitConfig.value.enabled ? await this.attempts.begin(this.db, found.email, WITHIN_SESSION) : null;
    if (attempt?.refused) throw tooManyAttempts(attempt.waitS);
    const comparing = verifyPassword(found.password_hash, current);
    if (!(await this.attempts.compared(this.db, attempt, found.email, WITHIN_SESSION, comparing))) throw incorrect();
    await this.attempts.clear(this.db, found.email, WITHIN_SESSION);
    const passwordHash = await hashPassword(password);
    await this.db.transaction(actor, async (tx) => {
      const user = await this.users.find(tx, actor.userId, 'for no key update');
      // Somebody else was faster, with a reset perhaps; theirs stands.
      if (!user || user.password_hash !== found.password_hash) throw incorrect();
      await this.replace(tx, actor, user, passwordHash, { action: 'user.password_changed', revokeTokens, exceptSession: sessionId });
    });
  }

  private async replace(
    tx: Tx,
    actor: ActingUser,
    { id, email }: User,
    password_hash: string,
    { action, revokeTokens, exceptSession }: { action: string; revokeTokens?: boolean; exceptSession?: string },
  ): Promise<void> {
    await this.users.update(tx, id, { password_hash });
    await this.sessions.endAllOf(tx, id, exceptSession);
    await this.links.voidAllOf(tx, 'password_reset', id);
    const revoked = revokeTokens ? await tx.execute(REVOKE_LIVE, [id]) : 0;
    const [{ n: live }] = await tx.query(COUNT_LIVE, [id]);
    await this.mailer.send(tx, { to: email, ...passwordChangedMail({ revoked, live }) });
    await this.audit.record(tx, actor, action, id, revokeTokens ? { revoked_tokens: revoked } : {});
  }
}
