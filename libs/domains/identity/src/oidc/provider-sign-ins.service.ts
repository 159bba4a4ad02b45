import { Injectable, Logger } from '@nestjs/common';
import { DomainError } from '@aps/contracts';
import { User } from '@aps/entities';
import { actingUser, userDeactivated } from '@aps/guards';
import { Audit } from '@aps/platform/audit';
import { Database, NO_CALLER, Table, type Tx } from '@aps/platform/database';
import { Mailer } from '@aps/platform/mail';
import { cookieOf, OAuthFailed, type BrowserCookie } from '@aps/platform/oauth';
import { counter } from '@aps/platform/observability';
import { ofAddress } from '../address';
import { REVOKE_LIVE } from '../api-tokens.sql';
import { EmailProofsService } from '../email-proofs.service';
import { identityConfig } from '../identity.config';
import { emailTaken, invalidState, providerAway, providerRefused } from '../identity.errors';
import { providerLinkedMail } from '../identity.mails';
import { MailedLinksRepository } from '../mailed-links.repository';
import { SessionsRepository, type SessionClient } from '../sessions.repository';
import { SessionsService, type SignIn } from '../sessions.service';
import { SignupService } from '../signup.service';
import type { UserRow } from '../users.service';
import { IdentitiesRepository } from './identities.repository';
import { IdentityProviders } from './identity-providers';
import type { Identity, OidcClient } from './oidc-client';
import type { Provider } from './oidc.config';

/** What somebody comes back with. */
export interface SignedInThere {
  state: string;
  code: string;
  iss?: string;
}

const signIns = counter('provider_sign_ins_total', 'Sign-ins by identity providers, by outcome', ['provider', 'outcome']);

/** Signing in by an identity provider. */
@Injectable()
export class ProviderSignIns {
  private readonly logger = new Logger('ProviderSignIns');
  private readonly users = new Table(User);

  constructor(
    private readonly db: Database,
    private readonly audit: Audit,
    private readonly mailer: Mailer,
    private readonly providers: IdentityProviders,
    private readonly identities: IdentitiesRepository,
    private readonly signups: SignupService,
    private readonly sessions: SessionsService,
    private readonly issued: SessionsRepository,
    private readonly proofs: EmailProofsService,
    private readonly links: MailedLinksRepository,
  ) {}

  /**
   * Where somebody is sent, and what their browser is known by when it comes back.
   *
   * @throws DomainError `not_found`; 502 `upstream_unavailable`
   */
  async begin(name: string): Promise<{ url: string; browser: BrowserCookie }> {
    const { provider, client } = this.providers.get(name);
    const { authorizeUrl, state, verifier } = await this.asking(provider, () => client.begin());
    await this.db.transaction(NO_CALLER, (tx) => this.identities.send(tx, name, { state, browser: verifier }));
    return { url: authorizeUrl, browser: { name: cookieOf(state), value: verifier } };
  }

  /**
   * Signs in whom a provider has signed in: the user whom it has spoken of before, else the one whose address it says is theirs, else a new one, who
   * must be let in as by a signup.
   *
   * @param cookie what their browser has kept under a name
   * @throws DomainError `not_found`; 400 `invalid_state`; 401 `provider_sign_in_failed`, `user_deactivated`; 403 `registration_not_allowed`;
   *   409 `email_taken` where the address has somebody else's account; 502 `upstream_unavailable`
   */
  async complete(
    name: string,
    back: SignedInThere,
    cookie: (name: string) => string | undefined,
    client: SessionClient,
    requestId?: string,
  ): Promise<SignIn> {
    const { provider, client: there } = this.providers.get(name);
    try {
      const identity = await this.identify(provider, there, back, cookie(cookieOf(back.state)));
      const enter = () => this.db.transaction(NO_CALLER, (tx) => this.enter(tx, provider, identity, client, requestId));
      // Whoever signs up at the same moment, from another tab perhaps, is found the second time.
      const signIn = await enter().catch((error: unknown) => {
        if (error instanceof DomainError && error.code === 'email_taken') return enter();
        throw error;
      });
      signIns.inc({ provider: name, outcome: 'ok' });
      return signIn;
    } catch (error) {
      signIns.inc({ provider: name, outcome: error instanceof DomainError ? error.code : 'error' });
      throw error;
    }
  }

  private async identify(provider: Provider, there: OidcClient, back: SignedInThere, verifier?: string): Promise<Identity> {
    const taken = verifier !== undefined && (await this.identities.take(this.db, provider.name, { state: back.state, browser: verifier }));
    if (!taken) throw invalidState();
    return this.asking(provider, () => there.identify({ ...back, verifier }, this.db.now()));
  }

  private async enter(
    tx: Tx,
    { name, label = name }: Provider,
    identity: Identity,
    client: SessionClient,
    requestId?: string,
  ): Promise<SignIn> {
    const known = await this.identities.ownerOf(tx, identity);
    const user = known
      ? await this.users.find(tx, known, 'for no key update')
      : await this.userOf(tx, { name, label }, identity, requestId);
    if (!user || user.deactivated_at) throw userDeactivated();
    await this.audit.record(tx, actingUser(user.id, { requestId }), 'user.signed_in', user.id, { provider: name });
    return this.sessions.signIn(tx, user, client, { provider: name });
  }

  /** Whom a provider speaks of for the first time. */
  private async userOf(
    tx: Tx,
    { name, label }: Required<Pick<Provider, 'name' | 'label'>>,
    identity: Identity,
    requestId?: string,
  ): Promise<UserRow> {
    const { email } = identity;
    if (email === null) {
      this.logger.warn(
        `Signing in by ${name} has failed. It calls no address of the user verified, and they have not signed in by it before.`,
      );
      throw providerRefused('The identity provider does not say that an address is yours.');
    }
    const found = await this.users.find(tx, ofAddress(email), 'for no key update');
    if (found?.deactivated_at) throw userDeactivated();
    const user =
      found ??
      (await this.signups.register(tx, { email, name: identity.name }, { password_hash: null, proven: true, provider: name }, requestId));
    if (!(await this.identities.link(tx, user.id, identity))) {
      // Who comes second of two that link at once has waited for the first, at the user's row.
      if ((await this.identities.ownerOf(tx, identity)) === user.id) return user;
      throw emailTaken();
    }
    if (!found) return user;
    const actor = actingUser(user.id, { requestId });
    // With proofs off an address is believed of whoever has typed it.
    const isTakenOver = found.email_verified_at === null || identityConfig.value.emailProof === 'off';
    if (isTakenOver) await this.takeOver(tx, found.id);
    await this.audit.record(tx, actor, 'user.identity_linked', user.id, { provider: name, issuer: identity.issuer });
    if (isTakenOver) await this.proofs.prove(tx, actor, 'provider');
    await this.mailer.send(tx, { to: user.email, ...providerLinkedMail(label, isTakenOver) }, { requestId });
    return (await this.users.find(tx, user.id)) ?? user;
  }

  /** Who has signed up with the address, and never proven it, may be somebody else than who has it, and keeps no way in. */
  private async takeOver(tx: Tx, userId: string): Promise<void> {
    await this.users.update(tx, userId, { password_hash: null });
    await this.issued.endAllOf(tx, userId);
    await tx.execute(REVOKE_LIVE, [userId]);
    await this.links.voidAllOf(tx, 'password_reset', userId);
  }

  /** Asks a provider. Why that fails is told to operators, and in general terms to who signs in. */
  private async asking<T>(provider: Provider, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof OAuthFailed)) throw error;
      this.logger.warn(`Signing in by ${provider.name} has failed. ${error.message}`);
      throw error.isAway
        ? providerAway(error)
        : providerRefused('The identity provider has not said in a way that can be trusted who you are.', error);
    }
  }
}
