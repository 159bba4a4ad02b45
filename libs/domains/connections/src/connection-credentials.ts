import { Injectable } from '@nestjs/common';
import type { Connection } from '@aps/entities';
import { OrgScope } from '@aps/guards';
import { Database, type Tx } from '@aps/platform/database';
import { appOf, type App } from './catalog/apps';
import { consents } from './catalog/methods';
import { ConnectionSecrets, type SealedPlace } from './connection-secrets';
import { ConnectionsRepository } from './connections.repository';
import { AccessTokens } from './consents/access-tokens';
import { authorizing, type Secrets } from './credentials.policy';
import { ServerFailed, Unauthorized, type ServerAddress } from './mcp/tool-server';

/** Says which connection is meant. */
export type Meant = Pick<Connection, 'id' | 'org_id'>;

/** How the server of a connection is reached, before it is asked for anything. */
interface Reached extends Omit<Secrets, 'query'> {
  app: App;
  url: string;
}

const secretsPlace = ({ org_id, id }: Meant): SealedPlace => ({ orgId: org_id, table: 'connections', column: 'secrets', rowId: id });

/** Keeps what connections prove themselves with, and opens it where their servers are asked. */
@Injectable()
export class ConnectionCredentials {
  constructor(
    private readonly db: Database,
    private readonly connections: ConnectionsRepository,
    private readonly secrets: ConnectionSecrets,
    private readonly tokens: AccessTokens,
  ) {}

  /** @returns the column `secrets` */
  seal(tx: Tx, connection: Meant, secrets: Secrets): Promise<string> {
    return this.secrets.seal(tx, secretsPlace(connection), secrets);
  }

  /** @throws ServerFailed where they cannot be opened any more */
  async open(connection: Meant & Pick<Connection, 'secrets'>): Promise<Secrets> {
    if (connection.secrets === null) return { credentials: {}, headers: {}, query: '' };
    return this.secrets.open<Secrets>(secretsPlace(connection), connection.secrets);
  }

  /** @throws ServerFailed where its app is no longer there, or its secrets cannot be opened */
  async reachedBy(connection: Connection): Promise<Reached> {
    const app = appOf(connection.app_key);
    const url = connection.server_url ?? app?.server_url;
    if (!app || !url) throw new ServerFailed('This app cannot be connected here any more.');
    const { query, ...secrets } = await this.open(connection);
    return { app, url: `${url}${query}`, ...secrets };
  }

  /**
   * Asks the server of a connection, with its credentials as they are now. Where it takes its access token for over, it is asked once more
   * with a new one: a server that answers 401 has done nothing.
   *
   * @param ask is given the address with its headers
   * @throws Unauthorized; ServerFailed where there is nothing to ask it with; whatever `ask` throws
   */
  async asking<T>({ id, org_id }: Meant, ask: (server: ServerAddress) => Promise<T>): Promise<T> {
    const connection = await this.connections.find(this.db, OrgScope.system(org_id, 'its server is asked'), id);
    if (!connection) throw new ServerFailed('There is no such connection any more.');
    const reached = await this.reachedBy(connection);
    if (!consents(connection.method))
      return told(ask, addressOf(reached, authorizing(reached.app, connection.method, reached.credentials)));
    const token = await this.tokens.tokenOf(connection);
    try {
      return await told(ask, addressOf(reached, bearer(token)));
    } catch (error) {
      if (!(error instanceof Unauthorized)) throw error;
      return told(ask, addressOf(reached, bearer(await this.tokens.tokenOf(connection, token))));
    }
  }
}

/** Shorter ones stand in any sentence, and say nothing. */
const LEAST_SECRET = 6;

/** Servers may repeat in an error what they were sent, and its sentence is shown and kept. */
async function told<T>(ask: (server: ServerAddress) => Promise<T>, server: ServerAddress): Promise<T> {
  try {
    return await ask(server);
  } catch (error) {
    if (!(error instanceof ServerFailed)) throw error;
    const sent = [
      ...Object.values(server.headers).map((value) => value.replace(/^\w+ /, '')),
      ...new URL(server.url).searchParams.values(),
    ];
    if (!sent.some((secret) => secret.length >= LEAST_SECRET && error.message.includes(secret))) throw error;
    throw new ServerFailed('The server answered with an error.');
  }
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

const addressOf = ({ app, url, headers }: Reached, proof: Record<string, string>): ServerAddress => ({
  url,
  headers: { ...headers, ...proof },
  ...(app.trusted && { trusted: true }),
});
