import { Injectable } from '@nestjs/common';
import { DomainError } from '@aps/contracts';
import { hashPassword, hashToken, needsRehash, newSessionToken, verifyPassword } from '@aps/platform/crypto';
import { Database, type Tx } from '@aps/platform/database';
import { counter } from '@aps/platform/observability';
import { uuidv7 } from 'uuidv7';
import { invalidCredentials, userDeactivated } from './identity.errors';
import { OrganizationDoor, type MembershipSummary } from './organization-door';
import { SessionsRepository } from './sessions.repository';
import { UsersRepository, type UserRow } from './users.repository';

/** A session as its owner gets it, once. */
export interface IssuedSession {
  token: string;
  expires_at: Date;
}

/** What signing in gives. */
export interface SignIn {
  user: UserRow;
  session: IssuedSession;
  memberships: MembershipSummary[];
}

const logins = counter('logins_total', 'Log-ins, by outcome', ['outcome']);

/** Signing in and out. */
@Injectable()
export class SessionsService {
  constructor(
    private readonly db: Database,
    private readonly users: UsersRepository,
    private readonly sessions: SessionsRepository,
    private readonly orgs: OrganizationDoor,
  ) {}

  /**
   * Takes as long for an unknown address as for a wrong password.
   *
   * @throws DomainError 401 `invalid_credentials`; 401 `user_deactivated`, but only with the right password
   */
  async login(email: string, password: string): Promise<SignIn> {
    try {
      const found = await this.users.withHashByEmail(this.db, email);
      const verified = await verifyPassword(found?.password_hash, password);
      if (!found || !verified) throw invalidCredentials();
      const rehashed = needsRehash(found.password_hash) ? await hashPassword(password) : null;
      const signIn = await this.db.transaction(async (tx) => {
        const user = await this.users.lock(tx, found.id);
        // While the password was compared it may have been changed, and all sessions with it: this one must not slip through.
        if (user?.password_hash !== found.password_hash) throw invalidCredentials();
        if (user.deactivated_at) throw userDeactivated();
        if (rehashed) await this.users.setPassword(tx, user.id, rehashed);
        await this.sessions.sweep(tx, user.id);
        return this.signIn(tx, user);
      });
      logins.inc({ outcome: 'ok' });
      return signIn;
    } catch (error) {
      logins.inc({ outcome: error instanceof DomainError ? error.code : 'error' });
      throw error;
    }
  }

  /** Issues a session in the caller's transaction, which holds or has just made the user's row. */
  async signIn(tx: Tx, user: UserRow): Promise<SignIn> {
    const token = newSessionToken();
    const expires_at = await this.sessions.insert(tx, { id: uuidv7(), userId: user.id, tokenHash: hashToken(token) });
    return { user, session: { token, expires_at }, memberships: await this.orgs.membershipsOf(tx, user.id) };
  }

  /**
   * Ends a session and issues another with a full life.
   *
   * @throws DomainError 401 `not_authenticated` when the session has ended meanwhile: of several that refresh it at once, one does
   */
  refresh(sessionId: string, userId: string): Promise<SignIn> {
    return this.db.transaction(async (tx) => {
      const user = await this.users.lock(tx, userId);
      if (!user || user.deactivated_at) throw userDeactivated();
      if (!(await this.sessions.end(tx, sessionId))) throw new DomainError('not_authenticated', 'Not authenticated');
      return this.signIn(tx, user);
    });
  }

  async logout(sessionId: string): Promise<void> {
    await this.db.transaction((tx) => this.sessions.end(tx, sessionId));
  }

  /**
   * The caller and where they are a member.
   *
   * @param orgPin the only organization that the caller's API token is good for
   */
  async me(userId: string, orgPin: string | null): Promise<{ user: UserRow; memberships: MembershipSummary[] }> {
    const user = await this.users.byId(this.db, userId);
    if (!user) throw new DomainError('not_authenticated', 'Not authenticated');
    const memberships = await this.orgs.membershipsOf(this.db, userId);
    return { user, memberships: orgPin === null ? memberships : memberships.filter((m) => m.org_id === orgPin) };
  }
}
