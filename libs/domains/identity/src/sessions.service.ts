import { Injectable } from '@nestjs/common';
import { DomainError, notFound } from '@aps/contracts';
import { PlatformAdminRow, User, type Session } from '@aps/entities';
import { ssoRequired, userDeactivated, type ActingUser } from '@aps/guards';
import { Audit } from '@aps/platform/audit';
import { hashPassword, needsRehash, verifyPassword } from '@aps/platform/crypto';
import { NO_CALLER, Database, OneByOne, Table, type Listed, type Slice, type Tx } from '@aps/platform/database';
import { canonicalEmail } from '@aps/platform/email';
import { counter } from '@aps/platform/observability';
import { rateLimitConfig } from '@aps/platform/rate-limit';
import { uuidv7 } from 'uuidv7';
import { ofAddress } from './address';
import { invalidCredentials, tooManyAttempts } from './identity.errors';
import { FREE_ATTEMPTS, LoginAttemptsRepository, type LoginAttempt } from './login-attempts.repository';
import { OrganizationPort } from './organization-port';
import {
  BY_PASSWORD,
  KNOWN_FROM,
  LIVE_SESSIONS,
  SessionsRepository,
  type Beginning,
  type IssuedSession,
  type SessionClient,
} from './sessions.repository';
import type { UserInOrgs, UserRow } from './users.service';

/** What signing in gives. */
export interface SignIn extends UserInOrgs {
  session: IssuedSession;
}

const logins = counter('logins_total', 'Log-ins, by outcome', ['outcome']);

/** Signing in and out. */
@Injectable()
export class SessionsService {
  private readonly users = new Table(User);
  private readonly admins = new Table(PlatformAdminRow);
  private readonly byAddress = new OneByOne();

  constructor(
    private readonly db: Database,
    private readonly audit: Audit,
    private readonly sessions: SessionsRepository,
    private readonly attempts: LoginAttemptsRepository,
    private readonly orgs: OrganizationPort,
  ) {}

  /**
   * Takes as long for an unknown address as for a wrong password, and slows down for both alike: after {@link FREE_ATTEMPTS} failures an
   * attempt that comes too early is not looked at, unless it comes from where its user has signed in before.
   *
   * @throws DomainError 401 `invalid_credentials`; 429 `too_many_attempts`; 401 `user_deactivated` and 403 `sso_required`, but
   *   only with the right password
   */
  login(email: string, password: string, client: SessionClient, requestId?: string): Promise<SignIn> {
    // Attempts of the same moment would count as each other's failures, right ones too.
    return this.byAddress.run(canonicalEmail(email) ?? email, () => this.attempt(email, password, client, requestId));
  }

  private async attempt(email: string, password: string, client: SessionClient, requestId?: string): Promise<SignIn> {
    try {
      const found = await this.users.find(this.db, ofAddress(email));
      const attempt = rateLimitConfig.value.enabled ? await this.attempts.begin(this.db, email) : null;
      if (attempt?.refused) await this.requireKnownPlace(email, found?.id ?? null, client, attempt);
      const place = attempt?.refused ? (client.ip ?? '') : '';
      const verified = await this.attempts.compared(this.db, attempt, email, place, verifyPassword(found?.password_hash, password));
      if (!found || !verified) throw await this.failed(attempt, found?.id ?? null, requestId);
      // Whatever is answered from here on, the password was right: what refuses it takes the transaction back, and not this.
      await this.attempts.clear(this.db, email, client.ip ?? '');
      const rehashed = needsRehash(found.password_hash!) ? await hashPassword(password) : null;
      const signIn = await this.db.transaction(NO_CALLER, async (tx) => {
        const user = await this.users.find(tx, found.id, 'for no key update');
        // While the password was compared it may have been changed, and all sessions with it: this one must not slip through.
        if (user?.password_hash !== found.password_hash) throw invalidCredentials();
        if (user.deactivated_at) throw userDeactivated();
        if (rehashed) await this.users.update(tx, user.id, { password_hash: rehashed });
        const signedIn = await this.signIn(tx, user, client);
        // What belongs to no organization, an operator has besides.
        if ((await this.orgs.requireSso(tx, signedIn.memberships)) && !(await this.admins.find(tx, { user_id: user.id })))
          throw ssoRequired();
        return signedIn;
      });
      logins.inc({ outcome: 'ok' });
      return signIn;
    } catch (error) {
      logins.inc({ outcome: error instanceof DomainError ? error.code : 'error' });
      throw error;
    }
  }

  /** What others have failed at does not shut out who has signed in from there before; what fails there counts by itself. */
  private async requireKnownPlace(email: string, userId: string | null, { ip }: SessionClient, attempt: LoginAttempt): Promise<void> {
    if (!(await this.db.query(KNOWN_FROM, [userId, ip])).length) throw tooManyAttempts(attempt.waitS);
    const own = await this.attempts.begin(this.db, email, ip ?? '');
    if (own.refused) throw tooManyAttempts(own.waitS);
  }

  private async failed(attempt: LoginAttempt | null, userId: string | null, requestId?: string): Promise<DomainError> {
    if (!attempt || (!attempt.refused && attempt.failures < FREE_ATTEMPTS)) return invalidCredentials();
    const { failures, refused, waitS } = attempt;
    await this.db.transaction(NO_CALLER, async (tx) => {
      // For nobody a transaction, too: they take their time.
      if (!userId) return this.users.find(tx, uuidv7(), 'for no key update');
      const nobody = { kind: 'system', userId: null, reason: null, requestId } as const;
      return this.audit.record(tx, nobody, 'user.login_slowed', userId, { wait_s: waitS });
    });
    return refused || failures > FREE_ATTEMPTS ? tooManyAttempts(waitS) : invalidCredentials();
  }

  /** Issues a session in the caller's transaction, which holds or has just made the user's row. */
  async signIn(tx: Tx, user: UserRow, client: SessionClient, began = BY_PASSWORD): Promise<SignIn> {
    const session = await this.sessions.issue(tx, user.id, client, began);
    return { user, session, memberships: await this.orgs.membershipsOf(tx, user.id) };
  }

  /**
   * Ends a session and issues another with a full life; where the one began at an identity provider, with what was left of it, so that somebody who
   * is locked out there is so here some day.
   *
   * @throws DomainError 401 `not_authenticated` when the session has ended meanwhile: of several that refresh it at once, one does
   */
  refresh(actor: ActingUser, sessionId: string, client: SessionClient): Promise<SignIn> {
    return this.db.transaction(actor, async (tx) => {
      const user = await this.users.find(tx, actor.userId, 'for no key update');
      if (!user || user.deactivated_at) throw userDeactivated();
      await tx.confirm();
      const ended: Beginning | null = await this.sessions.end(tx, actor.userId, sessionId);
      if (!ended) throw new DomainError('not_authenticated', 'Not authenticated');
      return this.signIn(tx, user, client, ended.provider === null ? BY_PASSWORD : ended);
    });
  }

  async logout(actor: ActingUser, sessionId: string): Promise<void> {
    await this.db.transaction(actor, async (tx) => {
      await this.users.find(tx, actor.userId, 'for no key update');
      await tx.confirm();
      await this.sessions.end(tx, actor.userId, sessionId);
    });
  }

  /** Where a user is signed in, newest first. */
  list(userId: string, page: Slice): Promise<Listed<Session>> {
    return LIVE_SESSIONS.page(this.db, { user_id: userId }, page);
  }

  /**
   * Ends a session of the user, the caller's own or another.
   *
   * @throws DomainError 404 `not_found` for one that has ended, and for another user's
   */
  end(actor: ActingUser, id: string): Promise<void> {
    return this.db.transaction(actor, async (tx) => {
      await this.users.find(tx, actor.userId, 'for no key update');
      await tx.confirm();
      if (!(await this.sessions.end(tx, actor.userId, id))) throw notFound('Session');
      await this.audit.record(tx, actor, 'session.ended', id);
    });
  }

  /** The caller and where they are a member. @param orgPin the only organization that the caller's API token is good for */
  async me(userId: string, orgPin: string | null): Promise<UserInOrgs> {
    const user = await this.users.find(this.db, userId);
    if (!user) throw new DomainError('not_authenticated', 'Not authenticated');
    const memberships = await this.orgs.membershipsOf(this.db, userId);
    return { user, memberships: orgPin === null ? memberships : memberships.filter((m) => m.org_id === orgPin) };
  }
}
