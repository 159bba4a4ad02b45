import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import { DomainError } from '@aps/contracts';
import type { Connection } from '@aps/entities';
import { OrgScope } from '@aps/guards';
import { Database, insist, type Db, type Tx } from '@aps/platform/database';
import { Mailer } from '@aps/platform/mail';
import { Outbox, type EnqueueOptions } from '@aps/platform/outbox';
import { isManaged } from '../catalog/methods';
import { expiredMail } from '../connection.mails';
import { ConnectionSecrets, type SealedPlace } from '../connection-secrets';
import { ConnectionsRepository } from '../connections.repository';
import { ServerFailed, type ManagedAccount } from '../mcp/tool-server';
import { GrantInvalid, OAuthFailed, type OAuthIdentity, type OAuthIssuer, type Tokens } from '@aps/platform/oauth';
import { OAuthClient } from '../oauth/oauth-client';
import { ConsentsRepository } from './consents.repository';

/** What somebody has consented to. */
export interface Consent {
  issuer: OAuthIssuer;
  client: OAuthIdentity;
  accessToken: string;
  refreshToken: string | null;
}

/** What is sent to a server, and of which version of the connection's credentials it is. */
export interface AccessToken {
  value: string;
  version: number;
}

/** A token is refreshed so long before it is over, milliseconds. */
const BEFORE_MS = 60_000;
/** How long a server has to renew tokens, milliseconds. */
const RENEW_MS = 12_000;
/** How long a refresh may take, seconds: tokens are renewed in it, and written down, which is insisted on. */
const REFRESH_S = 20;
const LOOK_MS = 100;
/** After its deletion no server is asked again to revoke what a connection had, milliseconds. */
const REVOKE_MS = 60 * 60 * 1_000;
/** How long a server has to revoke both tokens, milliseconds. */
const REVOKED_MS = 5_000;

const consentPlace = ({ org_id, id }: Pick<Connection, 'org_id' | 'id'>): SealedPlace => ({
  orgId: org_id,
  table: 'connections',
  column: 'consent',
  rowId: id,
});

/** The access tokens of connections that somebody has consented to: kept, handed out, and refreshed, each time by one alone. */
@Injectable()
export class AccessTokens {
  private readonly logger = new Logger('AccessTokens');

  constructor(
    private readonly db: Database,
    private readonly connections: ConnectionsRepository,
    private readonly consents: ConsentsRepository,
    private readonly oauth: OAuthClient,
    private readonly secrets: ConnectionSecrets,
    private readonly mailer: Mailer,
    private readonly outbox: Outbox,
  ) {}

  /**
   * Writes down what has come: the tokens before are spent by then, so it is done again where it fails.
   *
   * @throws DomainError `not_found` and the like, at once
   */
  insist<T>(write: () => Promise<T>): Promise<T> {
    return insist(write, undefined, (error) => !(error instanceof DomainError));
  }

  /** Keeps what a new consent has given. Of a row that is locked. */
  async keep(
    tx: Tx,
    scope: OrgScope,
    connection: Connection,
    consent: Consent | ManagedAccount,
    expiresAt: Date | null,
  ): Promise<Connection> {
    return this.connections.update(tx, scope, connection.id, {
      consent: await this.secrets.seal(tx, consentPlace(connection), consent),
      token_version: connection.token_version + 1,
      expires_at: expiresAt,
      refreshing_until: null,
    });
  }

  /** The account of a managed connection. @throws ServerFailed where nobody has connected one, or it is over */
  async accountOf({ status, consent, ...connection }: Connection, db: Db = this.db): Promise<ManagedAccount> {
    if (consent === null || status === 'expired') throw new ServerFailed('Somebody has to sign in again.');
    return this.secrets.open<ManagedAccount>(consentPlace(connection), consent, db);
  }

  /** The same, be it over or not; null where it has none. @throws ServerFailed where it cannot be read */
  async heldBy(connection: Connection, db: Db = this.db): Promise<ManagedAccount | null> {
    if (!isManaged(connection) || connection.consent === null) return null;
    return this.accountOf({ ...connection, status: 'active' }, db);
  }

  /** Has the provider forget the account that a managed connection is about to lose, where it can be read: whoever lets go waits here. Of a row that is locked. */
  async letGo(tx: Tx, connection: Connection): Promise<void> {
    const held = await this.heldBy(connection, tx).catch((error: unknown) => {
      if (error instanceof ServerFailed) return null;
      throw error;
    });
    if (held) await this.forget(tx, connection, held);
  }

  /**
   * Has what somebody has consented to end where it is from, for a connection that is about to be deleted. Of a row that is locked.
   *
   * @returns whether its tokens are to be kept until then
   */
  async end(tx: Tx, connection: Connection): Promise<boolean> {
    if (isManaged(connection)) {
      await this.letGo(tx, connection);
      return false;
    }
    if (connection.consent === null) return false;
    await this.outbox.enqueue(tx, 'connection.revoke', { org_id: connection.org_id, connection_id: connection.id });
    return true;
  }

  /**
   * Has the tokens of a connection that is deleted revoked (RFC 7009), where their server has a way to, and forgets them. Best effort: a server
   * that refuses, or is away for too long, has had its chance. Doing it twice does no harm.
   *
   * @throws OAuthFailed where the server is away, and is to be asked again
   */
  async revoke(orgId: string, connectionId: string): Promise<void> {
    const connection = await this.consents.left(this.db, orgId, connectionId);
    if (!connection) return;
    const isLate = this.db.now().getTime() - connection.deleted_at!.getTime() > REVOKE_MS;
    try {
      await this.revokeAll(await this.secrets.open<Consent>(consentPlace(connection), connection.consent!));
    } catch (error) {
      if (error instanceof OAuthFailed && error.isAway && !isLate) throw error;
      if (!(error instanceof OAuthFailed || error instanceof ServerFailed)) throw error;
      this.notRevoked(orgId, connectionId, error);
    }
    await this.consents.dropLeft(this.db, orgId, connectionId);
  }

  /**
   * What has just come could not be kept. Where its connection was deleted meanwhile, it is revoked here: the job of the deletion knows only
   * what was kept before. Best effort.
   *
   * @throws error why it could not be kept
   */
  async lose(scope: OrgScope, connectionId: string, consent: Consent, error: unknown): Promise<never> {
    if (!(await this.connections.find(this.db, scope, connectionId)))
      await this.revokeAll(consent).catch((failure: Error) => this.notRevoked(scope.orgId, connectionId, failure));
    throw error;
  }

  private notRevoked(org_id: string, connection_id: string, { message }: Error): void {
    this.logger.warn({ msg: 'Tokens were not revoked', org_id, connection_id, error: message });
  }

  /** The one that others are made of first. One that is refused keeps no other. @throws OAuthFailed */
  private async revokeAll({ issuer, client, refreshToken, accessToken }: Consent): Promise<void> {
    const signal = AbortSignal.timeout(REVOKED_MS);
    const tokens = [['refresh_token', refreshToken] as const, ['access_token', accessToken] as const];
    const failures: unknown[] = [];
    for (const [hint, token] of tokens)
      if (token !== null) await this.oauth.revoke(issuer, client, { token, hint }, signal).catch((error: unknown) => failures.push(error));
    if (failures.length) throw failures.find((error) => error instanceof OAuthFailed && error.isAway) ?? failures[0];
  }

  /** Has the provider forget an account, unless the connection has it by then. @param options of the job that does it */
  async forget(
    tx: Tx,
    { org_id, id }: Pick<Connection, 'org_id' | 'id'>,
    account: ManagedAccount,
    options?: EnqueueOptions,
  ): Promise<void> {
    await this.outbox.enqueue(tx, 'connection.forget_account', { org_id, connection_id: id, account_id: account.id }, options);
  }

  /** Its provider takes the account of a managed connection for over, unless it has another one by now. */
  async over(connection: Connection, message: string): Promise<void> {
    const scope = OrgScope.system(connection.org_id, 'its account is over');
    await this.db.transaction(scope, async (tx) => {
      const current = await this.connections.lock(tx, scope, connection.id);
      if (current.token_version === connection.token_version && current.status !== 'expired' && current.consent !== null)
        await this.expire(tx, scope, current, message);
    });
  }

  /**
   * A token that is good for another minute, as far as is known.
   *
   * @param rejected one that the server has refused: it gets another, or an error
   * @throws ServerFailed where there is none
   */
  async tokenOf(connection: Connection, rejected?: string): Promise<AccessToken> {
    const scope = OrgScope.system(connection.org_id, 'its access token is over');
    const until = performance.now() + REFRESH_S * 1_000;
    for (;;) {
      const current = await this.connections.find(this.db, scope, connection.id);
      if (!current || current.consent === null || current.status === 'expired')
        throw new ServerFailed('Somebody has to sign in at the server.');
      const consent = await this.secrets.open<Consent>(consentPlace(current), current.consent);
      // What cannot be renewed is used until its server does not take it any more.
      const isDue =
        consent.refreshToken !== null && current.expires_at !== null && current.expires_at.getTime() - BEFORE_MS <= this.db.now().getTime();
      if (consent.accessToken !== rejected && !isDue) return { value: consent.accessToken, version: current.token_version };
      if (await this.consents.beginRefresh(this.db, current, REFRESH_S)) return this.refresh(scope, current, consent, rejected);
      // Somebody else is at it.
      if (performance.now() > until) throw new ServerFailed('The access token could not be renewed in time.');
      await sleep(LOOK_MS);
    }
  }

  private async refresh(scope: OrgScope, connection: Connection, consent: Consent, rejected?: string): Promise<AccessToken> {
    const renewed = await this.renew(consent);
    const write = async (tx: Tx) => {
      const current = await this.connections.lock(tx, scope, connection.id);
      // What was consented to meanwhile is newer than this. Other headers make another version, too, but leave the consent, which is spent now.
      if (current.token_version !== connection.token_version && current.consent !== connection.consent) return connection.token_version;
      if ('accessToken' in renewed)
        return (await this.keep(tx, scope, current, { ...consent, ...only(renewed) }, renewed.expiresAt)).token_version;
      if (renewed instanceof GrantInvalid) await this.expire(tx, scope, current, renewed.message);
      else await this.connections.update(tx, scope, current.id, { last_error: renewed.message, refreshing_until: null });
      return current.token_version;
    };
    const version = await this.insist(() => this.db.transaction(scope, write)).catch((error: unknown) => {
      if (!('accessToken' in renewed)) throw error;
      return this.lose(scope, connection.id, { ...consent, ...only(renewed) }, error);
    });
    if ('accessToken' in renewed) return { value: renewed.accessToken, version };
    const isStillGood =
      consent.accessToken !== rejected && connection.expires_at !== null && connection.expires_at.getTime() > this.db.now().getTime();
    if (isStillGood && !(renewed instanceof GrantInvalid)) return { value: consent.accessToken, version };
    throw new ServerFailed(renewed.message);
  }

  private async renew({ issuer, client, refreshToken }: Consent): Promise<Tokens | OAuthFailed> {
    if (refreshToken === null) return new GrantInvalid('The consent is over, and cannot be renewed.');
    try {
      return await this.oauth.refresh(issuer, client, refreshToken, AbortSignal.timeout(RENEW_MS));
    } catch (error) {
      if (error instanceof OAuthFailed) return error;
      throw error;
    }
  }

  /** Only a new consent helps. One that is switched off stays so, nobody needs to know of it yet, and it is asked for no more. */
  private async expire(tx: Tx, scope: OrgScope, connection: Connection, last_error: string): Promise<void> {
    const isOff = connection.status === 'disabled';
    const over = isOff ? { consent: null } : { status: 'expired' as const };
    if (isOff) await this.letGo(tx, connection);
    await this.connections.update(tx, scope, connection.id, { last_error, refreshing_until: null, ...over });
    if (isOff) return;
    const to = connection.owner_user_id && (await this.connections.emailOf(tx, connection.owner_user_id));
    if (to) await this.mailer.send(tx, { to, ...expiredMail(connection) });
  }
}

const only = ({ accessToken, refreshToken }: Tokens): Pick<Consent, 'accessToken' | 'refreshToken'> => ({ accessToken, refreshToken });
