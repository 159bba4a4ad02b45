import { Injectable } from '@nestjs/common';
import { connectionUuid, DomainError, notFound } from '@aps/contracts';
import type { Connection, ConnectionConsent } from '@aps/entities';
import { actingUser, OrgScope } from '@aps/guards';
import { Audit } from '@aps/platform/audit';
import { hashToken, newOpaqueToken } from '@aps/platform/crypto';
import { Database, NO_CALLER } from '@aps/platform/database';
import { uuidv7 } from 'uuidv7';
import { consents } from '../catalog/methods';
import { ConnectionCredentials } from '../connection-credentials';
import { ConnectionSecrets, type SealedPlace } from '../connection-secrets';
import { mayDecide, requireSteward } from '../connections.policy';
import { ConnectionsRepository } from '../connections.repository';
import { ConnectionListings } from '../listing/connection-listings';
import { ServerFailed } from '../mcp/tool-server';
import { OAuthClient, OAuthFailed, type ConsentRequest } from '../oauth/oauth-client';
import { AccessTokens } from './access-tokens';
import { ConsentsRepository } from './consents.repository';

/** For so long somebody can consent, and come back. */
export const CONSENT_S = 600;
/** How long authorization servers have, milliseconds. */
const ASK_MS = 10_000;

/** Where somebody goes to consent. */
export interface Asked {
  authorizeUrl: string;
  expiresAt: Date;
  /** What tells the browser that asked from any other. */
  browser: { name: string; value: string };
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

/** What is kept of what was asked. */
type Request = Omit<ConsentRequest, 'authorizeUrl' | 'state'> & { back?: { code: string; iss?: string } };

const invalidState = () => new DomainError('invalid_state', 'This is unknown, used or too old. Begin anew.');

const requestPlace = ({ org_id, id }: Pick<ConnectionConsent, 'org_id' | 'id'>): SealedPlace => ({
  orgId: org_id,
  table: 'connection_consents',
  column: 'request',
  rowId: id,
});

/** The cookie of a state: several may be on their way in one browser. */
export const cookieOf = (state: string): string => `aps_consent_${hashToken(state).toString('hex').slice(0, 16)}`;

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
      const { url, credentials } = await this.credentials.reachedBy(connection);
      const { client_id, client_secret } = credentials;
      const client = client_id ? { client_id, client_secret } : undefined;
      const request = await this.oauth.begin({ serverUrl: url, credentials: client }, AbortSignal.timeout(ASK_MS));
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
    if (back.code === undefined || back.error !== undefined) {
      await this.note(scope, connectionId, 'The consent was refused.');
      return { connectionId, status: 'error' };
    }
    const answer = { code: back.code, iss: back.iss };
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

  private async asked(scope: OrgScope, { id, org_id }: Connection, { authorizeUrl, state, ...request }: ConsentRequest): Promise<Asked> {
    const value = newOpaqueToken();
    const expiresAt = new Date(this.db.now().getTime() + CONSENT_S * 1_000);
    await this.db.transaction(scope, async (tx) => {
      const consent = { id: uuidv7(), org_id };
      await this.rows.add(tx, scope, {
        ...{ id: consent.id, connection_id: id, user_id: scope.userId, expires_at: expiresAt },
        state_hash: hashToken(state),
        browser_hash: hashToken(value),
        request: await this.secrets.seal(tx, requestPlace(consent), request),
      });
    });
    return { authorizeUrl, expiresAt, browser: { name: cookieOf(state), value } };
  }

  /** Under a state of its own: the one before is known to whoever has sent somebody here. */
  private async unconfirmed(scope: OrgScope, consent: ConnectionConsent, back: Request['back']): Promise<string> {
    const state = newOpaqueToken();
    const request = { ...(await this.open(consent)), back };
    await this.db.transaction(NO_CALLER, async (tx) => {
      const columns = { ...consent, state_hash: hashToken(state), browser_hash: null };
      await this.rows.add(tx, scope, { ...columns, request: await this.secrets.seal(tx, requestPlace(consent), request) });
    });
    return state;
  }

  /** @returns what became of the connection */
  private async complete(scope: OrgScope, consent: ConnectionConsent, back: NonNullable<Request['back']>): Promise<Connection['status']> {
    const request = await this.open(consent);
    try {
      const { accessToken, refreshToken, expiresAt } = await this.oauth.exchange(request, back, AbortSignal.timeout(ASK_MS));
      const { issuer, client } = request;
      const connection = await this.db.transaction(NO_CALLER, async (tx) => {
        // Before the connection, as of whoever ends a membership.
        const decider = await this.rows.decider(tx, scope, consent.user_id);
        const before = await this.connections.lock(tx, scope, consent.connection_id);
        if (!decider || !mayDecide(before, { userId: consent.user_id, isAdmin: decider.is_admin })) throw notFound('Connection');
        const kept = await this.tokens.keep(tx, scope, before, { issuer, client, accessToken, refreshToken }, expiresAt);
        await this.audit.record(tx, { orgId: scope.orgId, actor: actingUser(consent.user_id) }, 'connection.authorized', { kind: 'connection', id: before.id }, { slug: before.slug, issuer: issuer.issuer }); // prettier-ignore
        return this.connections.update(tx, scope, kept.id, { last_error: null, ...(before.status !== 'disabled' && { status: 'active' }) });
      });
      await this.listings.refresh(scope, connection);
      return (await this.connections.find(this.db, scope, connection.id))?.status ?? 'error';
    } catch (error) {
      await this.note(scope, consent.connection_id, sentenceOf(error));
      return 'error';
    }
  }

  private async note(scope: OrgScope, id: string, last_error: string): Promise<void> {
    await this.db.transaction(NO_CALLER, (tx) => this.connections.update(tx, scope, id, { last_error }));
  }

  private open(consent: ConnectionConsent): Promise<Request> {
    return this.secrets.open<Request>(requestPlace(consent), consent.request);
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
