import { Injectable } from '@nestjs/common';
import { connectionUuid, DomainError, notFound } from '@aps/contracts';
import type { Connection, ConnectionConsent } from '@aps/entities';
import { actingUser, OrgScope } from '@aps/guards';
import { Audit } from '@aps/platform/audit';
import { hashToken, newOpaqueToken } from '@aps/platform/crypto';
import { Database, NO_CALLER, type Tx } from '@aps/platform/database';
import { AWAY_S, cookieOf, OAuthFailed, type BrowserCookie, type ConsentRequest } from '@aps/platform/oauth';
import { uuidv7 } from 'uuidv7';
import { consents, isManaged } from '../catalog/methods';
import { ConnectionCredentials } from '../connection-credentials';
import { ConnectionSecrets, type SealedPlace } from '../connection-secrets';
import { mayDecide, requireSteward } from '../connections.policy';
import { ConnectionsRepository } from '../connections.repository';
import { ConnectionListings } from '../listing/connection-listings';
import { ManagedApps } from '../managed/managed-apps';
import { ServerFailed, type ManagedAccount } from '../mcp/tool-server';
import { OAuthClient } from '../oauth/oauth-client';
import { AccessTokens, type Consent } from './access-tokens';
import { ConsentsRepository } from './consents.repository';

/** How long authorization servers have, milliseconds. */
const ASK_MS = 10_000;
/** Who comes back at the last moment is done by then, milliseconds. */
const DONE_MS = 60_000;

/** Where somebody goes to consent. */
export interface Asked {
  authorizeUrl: string;
  expiresAt: Date;
  /** What tells the browser that asked from any other. */
  browser: BrowserCookie;
}

/** What somebody comes back with. */
export interface ComeBack {
  state?: string;
  code?: string;
  iss?: string;
  error?: string;
}

/** Where somebody who has come back is led to. */
export interface Landed {
  connectionId: string;
  status: Connection['status'] | 'confirm';
  /** What they confirm it by. */
  state?: string;
}

/** What was asked of an authorization server, or of the provider of managed apps. */
type Request = Omit<ConsentRequest, 'authorizeUrl' | 'state'> | { account: ManagedAccount };
/** What somebody has come back with from an authorization server; from a provider nothing that counts: it is asked. */
type Back = { code: string; iss?: string };
/** What is kept of it. */
type Kept = Request & { back?: Back };
/** Where somebody is sent, and what they bring back. */
type Sent = Pick<ConsentRequest, 'authorizeUrl' | 'state'>;

const invalidState = () => new DomainError('invalid_state', 'This is unknown, used or too old. Begin anew.');

const requestPlace = ({ org_id, id }: Pick<ConnectionConsent, 'org_id' | 'id'>): SealedPlace => ({
  orgId: org_id,
  table: 'connection_consents',
  column: 'request',
  rowId: id,
});

/**
 * Has people consent at the servers of connections. Who has begun it is who has to come back: by their browser, or by confirming. Otherwise
 * somebody could be led to consent to what is another's connection.
 */
@Injectable()
export class ConnectionConsents {
  constructor(
    private readonly db: Database,
    private readonly connections: ConnectionsRepository,
    private readonly rows: ConsentsRepository,
    private readonly credentials: ConnectionCredentials,
    private readonly tokens: AccessTokens,
    private readonly listings: ConnectionListings,
    private readonly oauth: OAuthClient,
    private readonly managed: ManagedApps,
    private readonly secrets: ConnectionSecrets,
    private readonly audit: Audit,
  ) {}

  /**
   * Asks for a consent.
   *
   * @throws DomainError `not_found`; 403 `insufficient_role`; 422 `unknown_method` where none is needed, `authorization_failed`
   */
  async authorize(scope: OrgScope, ref: string): Promise<Asked> {
    const id = connectionUuid(ref);
    const connection = id && (await this.connections.find(this.db, scope, id));
    if (!connection) throw notFound('Connection');
    requireSteward(connection, scope);
    if (!consents(connection.method)) throw new DomainError('unknown_method', 'Nobody has to consent to this connection.');
    const asked = await this.begin(scope, connection);
    if ('error' in asked) throw new DomainError('authorization_failed', asked.error);
    return asked;
  }

  /** The same of a connection that the caller may decide on; why it cannot be asked for is kept with the connection. */
  async begin(scope: OrgScope, connection: Connection): Promise<Asked | { error: string }> {
    try {
      const request = await (isManaged(connection) ? this.linked(connection) : this.requested(connection));
      return await this.asked(scope, connection, request);
    } catch (error) {
      const message = sentenceOf(error);
      await this.note(scope, connection.id, message);
      return { error: message };
    }
  }

  /**
   * Takes in somebody who comes back from an authorization server, whoever that is.
   *
   * @param cookie what their browser has kept under a name
   * @throws DomainError 400 `invalid_state`
   */
  async land(back: ComeBack, cookie: (name: string) => string | undefined): Promise<Landed> {
    const { state } = back;
    const consent = state && (await this.db.transaction(NO_CALLER, (tx) => this.rows.take(tx, hashToken(state))));
    if (!consent) throw invalidState();
    const { connection_id: connectionId } = consent;
    const scope = scopeOf(consent);
    const request = await this.open(consent);
    const account = 'account' in request ? request.account : null;
    // Of a link nothing that comes back tells whether anybody has signed in. Who has not, has nothing to confirm: else whoever began it could
    // come back first, have somebody else sign in, and confirm that as their own.
    const isGiven = account ? await this.isSignedIn(account) : back.code !== undefined;
    if (!isGiven || back.error !== undefined) {
      await this.failed(scope, consent, request, 'The consent was refused.');
      return { connectionId, status: 'error' };
    }
    const answer = { code: back.code ?? '', iss: back.iss };
    const kept = cookie(cookieOf(state));
    if (kept !== undefined && consent.browser_hash?.equals(hashToken(kept)))
      return { connectionId, status: await this.complete(scope, consent, answer) };
    return { connectionId, status: 'confirm', state: await this.unconfirmed(scope, consent, answer) };
  }

  /**
   * Completes what has come back without the browser that had begun it.
   *
   * @throws DomainError `not_found`; 400 `invalid_state`
   */
  async confirm(scope: OrgScope, ref: string, state: string): Promise<void> {
    const id = connectionUuid(ref);
    const connection = id && (await this.connections.find(this.db, scope, id));
    if (!connection) throw notFound('Connection');
    requireSteward(connection, scope);
    const consent = await this.db.transaction(scope, (tx) => this.rows.takeConfirmed(tx, scope, connection.id, hashToken(state)));
    if (!consent) throw invalidState();
    const { back } = await this.open(consent);
    await this.complete(scopeOf(consent), consent, back!);
  }

  private isSignedIn(account: ManagedAccount): Promise<boolean> {
    return this.managed.isActive(account, AbortSignal.timeout(ASK_MS)).catch((error: unknown) => {
      if (error instanceof ServerFailed) return false;
      throw error;
    });
  }

  private async requested(connection: Connection): Promise<ConsentRequest> {
    const { url, credentials } = await this.credentials.reachedBy(connection);
    const { client_id, client_secret } = credentials;
    const client = client_id ? { client_id, client_secret } : undefined;
    return this.oauth.begin({ serverUrl: url, credentials: client }, AbortSignal.timeout(ASK_MS));
  }

  /** At the provider, accounts are their owner's within one organization, or the organization's. */
  private async linked({ app_key, org_id, scope, owner_user_id }: Connection): Promise<Sent & { account: ManagedAccount }> {
    const state = newOpaqueToken();
    const user = scope === 'org' || owner_user_id === null ? `org:${org_id}` : `org:${org_id}:user:${owner_user_id}`;
    const { url, account } = await this.managed.link(
      app_key,
      user,
      `${this.oauth.redirectUri}?${new URLSearchParams({ state }).toString()}`,
    );
    return { authorizeUrl: url, state, account };
  }

  private async asked(scope: OrgScope, { id, org_id }: Connection, { authorizeUrl, state, ...request }: Sent & Request): Promise<Asked> {
    const value = newOpaqueToken();
    const expiresAt = new Date(this.db.now().getTime() + AWAY_S * 1_000);
    await this.db.transaction(scope, async (tx) => {
      const consent = { id: uuidv7(), org_id };
      await this.rows.add(tx, scope, {
        ...{ id: consent.id, connection_id: id, user_id: scope.userId, expires_at: expiresAt },
        state_hash: hashToken(state),
        browser_hash: hashToken(value),
        request: await this.secrets.seal(tx, requestPlace(consent), request),
      });
      // Whether anybody signs in or not: what nobody has completed by then is nobody's.
      if ('account' in request)
        await this.tokens.forget(tx, { id, org_id }, request.account, {
          id: consent.id,
          notBefore: new Date(expiresAt.getTime() + DONE_MS),
        });
    });
    return { authorizeUrl, expiresAt, browser: { name: cookieOf(state), value } };
  }

  /** Under a state of its own: the one before is known to whoever has sent somebody here. */
  private async unconfirmed(scope: OrgScope, consent: ConnectionConsent, back: Back): Promise<string> {
    const state = newOpaqueToken();
    const request = { ...(await this.open(consent)), back };
    await this.db.transaction(NO_CALLER, async (tx) => {
      const columns = { ...consent, state_hash: hashToken(state), browser_hash: null };
      await this.rows.add(tx, scope, { ...columns, request: await this.secrets.seal(tx, requestPlace(consent), request) });
    });
    return state;
  }

  /** @returns what became of the connection */
  private async complete(scope: OrgScope, consent: ConnectionConsent, back: Back): Promise<Connection['status']> {
    const request = await this.open(consent);
    try {
      const { given, expiresAt, facts } = await this.given(request, back);
      const write = async (tx: Tx) => {
        // Before the connection, as of whoever ends a membership.
        const decider = await this.rows.decider(tx, scope, consent.user_id);
        const before = await this.connections.lock(tx, scope, consent.connection_id);
        if (!decider || !mayDecide(before, { userId: consent.user_id, isAdmin: decider.is_admin })) throw notFound('Connection');
        await this.tokens.letGo(tx, before);
        const kept = await this.tokens.keep(tx, scope, before, given, expiresAt);
        await this.audit.record(tx, { orgId: scope.orgId, actor: actingUser(consent.user_id) }, 'connection.authorized', before.id, { slug: before.slug, ...facts }); // prettier-ignore
        return this.connections.update(tx, scope, kept.id, { last_error: null, ...(before.status !== 'disabled' && { status: 'active' }) });
      };
      const connection = await this.tokens
        .insist(() => this.db.transaction(NO_CALLER, write))
        .catch((error: unknown) => {
          // Who has failed has an account forgotten.
          if (!('accessToken' in given)) throw error;
          return this.tokens.lose(scope, consent.connection_id, given, error);
        });
      await this.listings.refresh(scope, connection);
      return (await this.connections.find(this.db, scope, connection.id))?.status ?? 'error';
    } catch (error) {
      await this.failed(scope, consent, request, sentenceOf(error));
      return 'error';
    }
  }

  /** What somebody has consented to. @throws OAuthFailed, ServerFailed */
  private async given(request: Request, back: Back): Promise<{ given: Consent | ManagedAccount; expiresAt: Date | null; facts: object }> {
    if ('account' in request) {
      const { account } = request;
      if (!(await this.managed.isActive(account))) throw new ServerFailed('The consent was refused.');
      return { given: account, expiresAt: null, facts: { account: account.id } };
    }
    const { accessToken, refreshToken, expiresAt } = await this.oauth.exchange(request, back, AbortSignal.timeout(ASK_MS));
    const { issuer, client } = request;
    return { given: { issuer, client, accessToken, refreshToken }, expiresAt, facts: { issuer: issuer.issuer } };
  }

  /** Says why, and has the account that nobody has here forgotten at once. */
  private async failed(
    scope: OrgScope,
    { id, org_id, connection_id }: ConnectionConsent,
    request: Request,
    last_error: string,
  ): Promise<void> {
    await this.db.transaction(NO_CALLER, async (tx) => {
      await this.connections.update(tx, scope, connection_id, { last_error });
      if ('account' in request) await this.tokens.forget(tx, { org_id, id: connection_id }, request.account, { id });
    });
  }

  private async note(scope: OrgScope, id: string, last_error: string): Promise<void> {
    await this.db.transaction(NO_CALLER, (tx) => this.connections.update(tx, scope, id, { last_error }));
  }

  private open(consent: ConnectionConsent): Promise<Kept> {
    return this.secrets.open<Kept>(requestPlace(consent), consent.request);
  }
}

/** Nobody is signed in where people come back to; what they may is asked for anew. */
const scopeOf = ({ org_id }: ConnectionConsent): OrgScope => OrgScope.system(org_id, 'somebody has consented');

/** @throws what is no failure of the other side */
function sentenceOf(error: unknown): string {
  if (error instanceof OAuthFailed || error instanceof ServerFailed) return error.message;
  if (error instanceof DomainError && error.code === 'not_found') return 'Who has consented may not decide on the connection any more.';
  throw error;
}
