import { Injectable } from '@nestjs/common';
import { Entitlements } from '@aps/billing';
import { connectionUuid, notFound, refuseField, requireValid, slugsFor } from '@aps/contracts';
import { Connection, type ConnectionMethod } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { Audit } from '@aps/platform/audit';
import { advisoryLock, changesOf, Database, OrgTable, takingSlug, type Db, type Tx } from '@aps/platform/database';
import { Egress } from '@aps/platform/egress';
import { Mailer } from '@aps/platform/mail';
import { In } from 'typeorm';
import { uuidv7 } from 'uuidv7';
import type { App } from './catalog/apps';
import { Catalog } from './catalog/catalog';
import { consents, isManaged } from './catalog/methods';
import { ConnectionCredentials } from './connection-credentials';
import { changedMail, deletedMail, givenAwayMail } from './connection.mails';
import { mustProve, requireDeletable, requireGivable, requireMayShare, requireSteward, requireVisible } from './connections.policy';
import { ConnectionsQueries, type ConnectionView } from './connections.queries';
import { ConnectionsRepository } from './connections.repository';
import { headersOf, hintOf, masked, readCredentials, readHeaders, refuseMasked, type Secrets } from './credentials.policy';
import { AccessTokens } from './consents/access-tokens';
import { ConnectionConsents, type Asked } from './consents/connection-consents';
import { ConnectionDependents } from './dependents';
import { ConnectionListings } from './listing/connection-listings';
import { ServerFailed } from './mcp/tool-server';

export interface NewConnection {
  app_key: string;
  method: ConnectionMethod;
  label?: string | null;
  /** Default: private. */
  scope?: Connection['scope'];
  /** Default: off. */
  decision_mode?: Connection['decision_mode'];
  credentials?: Record<string, unknown>;
  server_url?: string | null;
  headers?: Record<string, unknown>;
}

/** A connection, and where somebody goes to consent to it; null where nobody has to, or its server did not say. */
export interface Connected {
  connection: ConnectionView;
  asked: Asked | null;
}

/** What came of connecting anew. */
export interface Reconnected {
  ok: boolean;
  message: string;
  asked: Asked | null;
}

/** What a caller changes of a connection. Absent leaves it as it is. */
export type ConnectionChange = Partial<Pick<Connection, 'label' | 'decision_mode'> & { status: 'active' | 'disabled' }>;

/** What a connection is reached by, with its secrets in the clear: never stored so, and never logged. */
type Reached = Pick<Connection, 'server_url' | 'credential_hint' | 'headers'> & { secrets: Secrets };

const idOf = (ref: string): string => {
  const id = connectionUuid(ref);
  if (!id) throw notFound('Connection');
  return id;
};

/** Connects tool servers, and changes and deletes what is connected. */
@Injectable()
export class ConnectionsService {
  private readonly rows = new OrgTable(Connection, 'Connection');

  constructor(
    private readonly db: Database,
    private readonly catalog: Catalog,
    private readonly connections: ConnectionsRepository,
    private readonly queries: ConnectionsQueries,
    private readonly credentials: ConnectionCredentials,
    private readonly consents: ConnectionConsents,
    private readonly tokens: AccessTokens,
    private readonly listings: ConnectionListings,
    private readonly dependents: ConnectionDependents,
    private readonly entitlements: Entitlements,
    private readonly egress: Egress,
    private readonly mailer: Mailer,
    private readonly audit: Audit,
  ) {}

  /**
   * Makes a connection, and asks its server for its tools where nobody has to consent first. One whose server does not answer is made, too,
   * and says why.
   *
   * @throws DomainError 403 `insufficient_role`, `entitlement_exceeded`; 409 `slug_taken`; 422 `unknown_app`, `unknown_method`, `masked_secret`,
   *   `validation_error` with every problem; 502 `upstream_unavailable` for what may be a managed app while nobody says so
   */
  async create(scope: OrgScope, input: NewConnection): Promise<Connected> {
    const app = await this.appFor(input);
    const { app_key, method, scope: whose = 'private', decision_mode = 'off' } = input;
    requireMayShare(whose, scope);
    const { secrets, ...reached } = await this.reachedBy(app, input);
    const label = input.label ?? app.name;
    const made = await this.db.transaction(scope, async (tx) => {
      await advisoryLock(tx, `cap:max_integrations:${scope.orgId}`);
      await this.entitlements.requireRoom(scope.orgId, 'max_integrations', await this.rows.count(tx, scope), tx);
      const id = uuidv7();
      const sealed = await this.credentials.seal(tx, { id, org_id: scope.orgId }, secrets);
      const slugs = slugsFor(label, null, 'connection').filter((slug) => !RESERVED.has(slug));
      const taken = await this.rows.list(tx, scope, { slug: In(slugs) }, {});
      const connection = await takingSlug(slugs, taken, async (slug) => {
        // What names one that is gone was written for another server: who connects for everybody may mean it again, and nobody else.
        if (whose !== 'org' && (await this.dependents.of(tx, scope, { id, slug }))) return null;
        return this.rows.insertOrNothing(tx, scope, {
          ...{ id, slug, label, app_key, method, decision_mode, scope: whose, provider_key: app_key },
          ...reached,
          secrets: sealed,
          // Until its server has answered.
          ...(consents(method) ? { status: 'initiated' } : { status: 'error', last_error: 'The server has not been asked yet.' }),
          owner_user_id: scope.userId,
          created_by: scope.userId,
        });
      });
      const facts = { slug: connection.slug, app_key, method, scope: whose };
      await this.audit.record(tx, scope, 'connection.created', id, facts);
      return connection;
    });
    const asked = consents(method)
      ? await this.consents.begin(scope, made)
      : await this.listings.refresh(scope, made, { acceptChanges: true });
    return { connection: await this.queries.get(scope, made.id), asked: 'authorizeUrl' in asked ? asked : null };
  }

  /**
   * Label, decision mode, and whether it may be used. One that shall be active again, and has failed before, has to answer first.
   *
   * @throws DomainError `not_found`; 422 `reconnect_required`, and nothing is changed
   */
  async update(scope: OrgScope, ref: string, { status, ...change }: ConnectionChange): Promise<ConnectionView> {
    const id = idOf(ref);
    const before = await this.seen(scope, id);
    if (status === 'active' && before.status !== 'active' && mustProve(before)) await this.prove(scope, before);
    return this.db.transaction(scope, async (tx) => {
      const connection = await this.connections.lock(tx, scope, id);
      requireVisible(connection, scope);
      const changes = changesOf<Partial<Connection>>(connection, { ...change, status });
      // What failed again meanwhile has not proven itself.
      if (changes.status === 'active' && mustProve(connection)) throw reconnectRequired('The connection has failed again.');
      const fields = Object.keys(status === 'active' && before.status !== 'active' ? { ...changes, status } : changes);
      if (fields.length) {
        await this.connections.update(tx, scope, id, changes);
        await this.audit.record(tx, scope, 'connection.updated', id, {
          slug: connection.slug,
          changes: { ...changes, ...(status && { status }) },
        });
        await this.tellOwner(tx, scope, connection, changedMail(connection, fields));
      }
      return this.queries.get(scope, id, tx);
    });
  }

  /**
   * Its credentials are gone with it, and its slug is free. What names it loses its tools. Tokens that somebody has consented to are revoked
   * afterwards, where their server has a way to.
   *
   * @throws DomainError `not_found`; 409 `has_dependents` unless they are acknowledged
   */
  async delete(scope: OrgScope, ref: string, acknowledged: boolean): Promise<void> {
    const id = idOf(ref);
    await this.db.transaction(scope, async (tx) => {
      const connection = await this.connections.lockIdentity(tx, scope, id);
      requireDeletable(connection, scope);
      if (!acknowledged) await this.dependents.refuseUsed(tx, scope, connection);
      const keepsConsent = await this.tokens.end(tx, connection);
      await this.connections.delete(tx, scope, id, { keepsConsent });
      await this.audit.record(tx, scope, 'connection.deleted', id, { slug: connection.slug, scope: connection.scope });
      await this.tellOwner(tx, scope, connection, deletedMail(connection));
    });
  }

  /**
   * Gives a connection to another member, with its credentials as they are.
   *
   * @throws DomainError `not_found`; 403 `insufficient_role`; 422 `not_a_member`
   */
  async setOwner(scope: OrgScope, ref: string, userId: string): Promise<ConnectionView> {
    const id = idOf(ref);
    return this.db.transaction(scope, async (tx) => {
      // Before the connection, as of whoever ends a membership.
      const member = await this.connections.holdMember(tx, scope, userId);
      const before = await this.connections.lock(tx, scope, id);
      requireGivable(before, scope);
      if (!member) throw refuseField('not_a_member', ['owner_user_id'], 'The user is no active member of the organization.');
      if (before.owner_user_id === userId) return this.queries.shown(tx, scope, before);
      const after = await this.connections.update(tx, scope, id, { owner_user_id: userId });
      const facts = { slug: before.slug, from: before.owner_user_id, to: userId };
      await this.audit.record(tx, scope, 'connection.owner_changed', id, facts);
      const former = before.owner_user_id && (await this.connections.emailOf(tx, before.owner_user_id));
      if (former) await this.mailer.send(tx, { to: former, ...givenAwayMail(before) }, { requestId: scope.requestId });
      return this.queries.shown(tx, scope, after);
    });
  }

  /**
   * Shares a connection with the organization, or makes it its owner's alone; of one without an owner, that of who does it.
   *
   * @throws DomainError `not_found`; 403 `insufficient_role`; 409 `has_dependents` where it becomes private, unless they are acknowledged
   */
  async setScope(scope: OrgScope, ref: string, to: Connection['scope'], acknowledged: boolean): Promise<ConnectionView> {
    const id = idOf(ref);
    return this.db.transaction(scope, async (tx) => {
      const before = await this.connections.lockIdentity(tx, scope, id);
      requireSteward(before, scope);
      if (before.scope === to) return this.queries.shown(tx, scope, before);
      if (to === 'private' && !acknowledged) await this.dependents.refuseUsed(tx, scope, before);
      const owner_user_id = before.owner_user_id ?? scope.userId;
      const after = await this.connections.update(tx, scope, id, { scope: to, owner_user_id });
      const facts = { slug: before.slug, from: before.scope, to, ...(before.owner_user_id === null && { owner: owner_user_id }) };
      await this.audit.record(tx, scope, 'connection.scope_changed', id, facts);
      await this.tellOwner(tx, scope, before, changedMail(before, ['scope']));
      return this.queries.shown(tx, scope, after);
    });
  }

  /** Asks the server for its tools, and changes nothing. @throws DomainError `not_found` */
  async test(scope: OrgScope, ref: string): Promise<{ ok: boolean; message: string }> {
    const id = idOf(ref);
    // Nothing is written, but nobody is asked for who may not any more.
    const connection = await this.db.transaction(scope, (tx) => this.seen(scope, id, tx));
    if (connection.status === 'initiated') return { ok: false, message: 'Nobody has signed in at the server yet.' };
    const dialed = await this.listings.dial(connection);
    return 'error' in dialed ? { ok: false, message: dialed.error } : { ok: true, message: answered(dialed.listing.tools.length) };
  }

  /**
   * Takes other credentials and headers, where some are given, and asks the server. One that answers is active; where it does not, and somebody
   * can consent, it says where.
   *
   * @throws DomainError `not_found`; 403 `insufficient_role`; 422 `masked_secret`, `validation_error`
   */
  async reconnect(scope: OrgScope, ref: string, given: Partial<Pick<NewConnection, 'credentials' | 'headers'>>): Promise<Reconnected> {
    const before = await this.seen(scope, idOf(ref));
    requireSteward(before, scope);
    const connection = await this.reproved(scope, before, given);
    // Another client, or none that somebody has consented to, has nothing yet to ask with. Other headers go with the consent that is there.
    const isUseless =
      consents(connection.method) && (Boolean(given.credentials) || connection.consent === null || connection.status === 'expired');
    const refreshed = isUseless ? null : await this.listings.refresh(scope, connection, { enable: true });
    if (refreshed?.ok) return { ok: true, message: answered(refreshed.tool_count), asked: null };
    if (refreshed && !consents(connection.method)) return { ok: false, message: refreshed.error, asked: null };
    const asked = await this.consents.begin(scope, connection);
    return 'error' in asked ? { ok: false, message: asked.error, asked: null } : { ok: false, message: 'Sign in at the server.', asked };
  }

  private async reproved(
    scope: OrgScope,
    before: Connection,
    given: Partial<Pick<NewConnection, 'credentials' | 'headers'>>,
  ): Promise<Connection> {
    if (!given.credentials && !given.headers) return before;
    const app = await this.appFor(before);
    return this.db.transaction(scope, async (tx) => {
      const current = await this.connections.lock(tx, scope, before.id);
      requireSteward(current, scope);
      const old = await this.credentials.open(current, tx).catch((error: unknown) => {
        // What cannot be read any more is what somebody reconnects for.
        if (error instanceof ServerFailed) return NO_SECRETS;
        throw error;
      });
      const { secrets, credential_hint, headers } = readSecrets(app, before.method, {
        credentials: given.credentials ?? old.credentials,
        headers: given.headers ?? old.headers,
        query: old.query,
      });
      const sealed = await this.credentials.seal(tx, before, secrets);
      await this.audit.record(tx, scope, 'connection.reconnected', before.id, { slug: before.slug, fields: Object.keys(given) });
      // Of what a server still says of the old ones nothing holds.
      const token_version = current.token_version + 1;
      return this.connections.update(tx, scope, before.id, { secrets: sealed, credential_hint, headers, token_version });
    });
  }

  private async seen(scope: OrgScope, id: string, db: Db = this.db): Promise<Connection> {
    const connection = await this.connections.find(db, scope, id);
    if (!connection) throw notFound('Connection');
    requireVisible(connection, scope);
    return connection;
  }

  private async prove(scope: OrgScope, connection: Connection): Promise<void> {
    if (connection.status === 'initiated') throw reconnectRequired('Nobody has signed in at the server yet.');
    const refreshed = await this.listings.refresh(scope, connection, { enable: true });
    if (!refreshed.ok) throw reconnectRequired(refreshed.error);
  }

  /** @throws DomainError 422 `unknown_app`, `unknown_method`; 502 `upstream_unavailable` */
  private async appFor({ app_key, method }: Pick<NewConnection, 'app_key' | 'method'>): Promise<App> {
    const app = await this.catalog.find(app_key);
    if (!app) throw refuseField('unknown_app', ['app_key'], 'There is no such app in the catalog.');
    if (!app.methods.includes(method))
      throw refuseField('unknown_method', ['method'], 'The app cannot be connected in this way.', { methods: app.methods });
    return app;
  }

  private async reachedBy(app: App, input: NewConnection): Promise<Reached> {
    const isCustom = app.server_url === null && !isManaged(input);
    const missing = isCustom && !input.server_url;
    const address = isCustom && input.server_url ? input.server_url : null;
    const read = readSecrets(app, input.method, { ...input, query: '' }, missing ? [SERVER_URL_MISSING] : []);
    if (address === null) return { ...read, server_url: null };
    const url = await this.egress.assertPublicUrl(address, { field: 'server_url' });
    return { ...read, server_url: `${url.origin}${url.pathname}`, secrets: { ...read.secrets, query: url.search } };
  }

  /** Where somebody else has changed what is theirs. */
  private async tellOwner(tx: Tx, scope: OrgScope, { owner_user_id }: Connection, mail: { subject: string; text: string }): Promise<void> {
    if (owner_user_id === null || owner_user_id === scope.actor.userId) return;
    const to = await this.connections.emailOf(tx, owner_user_id);
    if (to) await this.mailer.send(tx, { to, ...mail }, { requestId: scope.requestId });
  }
}

/** What tools of ours are called by begins with these. */
const RESERVED = new Set(['core', 'system']);
const NO_SECRETS: Secrets = { credentials: {}, headers: {}, query: '' };
const SERVER_URL_MISSING = { loc: ['body', 'server_url'], msg: 'Field required', type: 'missing' };

const answered = (tools: number) => `The server answers. It has ${tools} ${tools === 1 ? 'tool' : 'tools'}.`;
const reconnectRequired = (why: string) => refuseField('reconnect_required', ['status'], why);

/** @throws DomainError 422 `validation_error` with every problem, `masked_secret` */
function readSecrets(
  app: App,
  method: ConnectionMethod,
  sent: Pick<NewConnection, 'credentials' | 'headers'> & { query: string },
  problems: Parameters<typeof requireValid>[0] = [],
): Omit<Reached, 'server_url'> {
  const credentials = readCredentials(app, method, sent.credentials ?? {});
  const headers = readHeaders(sent.headers ?? {}, headersOf(app, method, credentials.values));
  requireValid([...problems, ...credentials.problems, ...headers.problems]);
  refuseMasked('credentials', credentials.values);
  refuseMasked('headers', headers.values);
  return {
    credential_hint: hintOf(credentials.values),
    headers: masked(headers.values),
    secrets: { credentials: credentials.values, headers: headers.values, query: sent.query },
  };
}
