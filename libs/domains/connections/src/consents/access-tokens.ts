import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { Connection } from '@aps/entities';
import { OrgScope } from '@aps/guards';
import { Database, type Db, type Tx } from '@aps/platform/database';
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
/** How long a refresh may take, seconds. */
const REFRESH_S = 15;
const LOOK_MS = 100;

const consentPlace = ({ org_id, id }: Pick<Connection, 'org_id' | 'id'>): SealedPlace => ({
  orgId: org_id,
  table: 'connections',
  column: 'consent',
  rowId: id,
});

/** The access tokens of connections that somebody has consented to: kept, handed out, and refreshed, each time by one alone. */
@Injectable()
export class AccessTokens {
  constructor(
    private readonly db: Database,
    private readonly connections: ConnectionsRepository,
    private readonly consents: ConsentsRepository,
    private readonly oauth: OAuthClient,
    private readonly secrets: ConnectionSecrets,
    private readonly mailer: Mailer,
    private readonly outbox: Outbox,
  ) {}

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
    const version = await this.db.transaction(scope, async (tx) => {
      const current = await this.connections.lock(tx, scope, connection.id);
      // What was given meanwhile is newer than this.
      if (current.token_version !== connection.token_version) return connection.token_version;
      if ('accessToken' in renewed)
        return (await this.keep(tx, scope, current, { ...consent, ...only(renewed) }, renewed.expiresAt)).token_version;
      if (renewed instanceof GrantInvalid) await this.expire(tx, scope, current, renewed.message);
      else await this.connections.update(tx, scope, current.id, { last_error: renewed.message, refreshing_until: null });
      return current.token_version;
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
      return await this.oauth.refresh(issuer, client, refreshToken, AbortSignal.timeout(REFRESH_S * 1_000 - 3_000));
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
