import { Injectable } from '@nestjs/common';
import type { Connection } from '@aps/entities';
import { OrgScope } from '@aps/guards';
import { Database, type Db, type Tx } from '@aps/platform/database';
import { NotSent } from '@aps/tools';
import { appOf, type App } from './catalog/apps';
import { consents, isManaged } from './catalog/methods';
import { ConnectionSecrets, type SealedPlace } from './connection-secrets';
import { ConnectionsRepository } from './connections.repository';
import { AccessTokens } from './consents/access-tokens';
import { authorizing, type Secrets } from './credentials.policy';
import { ServerFailed, Unauthorized, type ServerAddress, type ServerResult } from './mcp/tool-server';

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
  async open(connection: Meant & Pick<Connection, 'secrets'>, db: Db = this.db): Promise<Secrets> {
    if (connection.secrets === null) return { credentials: {}, headers: {}, query: '' };
    return this.secrets.open<Secrets>(secretsPlace(connection), connection.secrets, db);
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
   * @param ask is given the address with its headers, and the version of the credentials among them
   * @throws Unauthorized; ServerFailed where there is nothing to ask it with; whatever `ask` throws
   */
  async asking<T>({ id, org_id }: Meant, ask: (server: ServerAddress, version: number) => Promise<T>): Promise<T> {
    const connection = await this.connections.find(this.db, OrgScope.system(org_id, 'its server is asked'), id);
    if (!connection) throw new ServerFailed('There is no such connection any more.');
    if (isManaged(connection)) return this.askingAccount(connection, ask);
    const reached = await this.reachedBy(connection);
    const askBy = (proof: Record<string, string>, version: number) => {
      const server = addressOf(reached, proof);
      return told(ask(server, version), secretsIn(reached, server.headers));
    };
    if (!consents(connection.method))
      return askBy(authorizing(reached.app, connection.method, reached.credentials), connection.token_version);
    const token = await this.tokens.tokenOf(connection);
    try {
      return await askBy(bearer(token.value), token.version);
    } catch (error) {
      if (!(error instanceof Unauthorized)) throw error;
      const { value, version } = await this.tokens.tokenOf(connection, token.value);
      return askBy(bearer(value), version);
    }
  }

  /** An account that its provider does not call with any more is over: only who signs in again can change that. */
  private async askingAccount<T>(connection: Connection, ask: (server: ServerAddress, version: number) => Promise<T>): Promise<T> {
    const account = await this.tokens.accountOf(connection);
    try {
      return await ask({ url: '', headers: {}, account }, connection.token_version);
    } catch (error) {
      if (!(error instanceof Unauthorized)) throw error;
      await this.tokens.over(connection, error.message);
      throw new ServerFailed(error.message);
    }
  }
}

/** Shorter ones stand in any sentence, and say nothing. */
const LEAST_SECRET = 6;

/** What of a request nobody may read, in whatever form it is sent. */
function secretsIn({ url, credentials: { header: _name, ...credentials } }: Reached, headers: Record<string, string>): string[] {
  const { search, searchParams } = new URL(url);
  const asWritten = search.split(/[?&]/).map((pair) => pair.slice(pair.indexOf('=') + 1));
  const withoutScheme = Object.values(headers).map((value) => value.replace(/^\w+ /, ''));
  const all = [...withoutScheme, ...Object.values(credentials), ...searchParams.values(), ...asWritten];
  // One may be a part of another.
  return all.filter(({ length }) => length >= LEAST_SECRET).sort((a, b) => b.length - a.length);
}

const isRefused = (answer: unknown): answer is ServerResult =>
  typeof answer === 'object' && answer !== null && 'isError' in answer && answer.isError === true;

/** Servers may repeat in an error what they were sent, and its sentence is shown and kept. What a call was refused for is left readable. */
async function told<T>(asked: Promise<T>, secrets: readonly string[]): Promise<T> {
  try {
    const answer = await asked;
    if (!isRefused(answer)) return answer;
    return { ...answer, content: secrets.reduce((content, secret) => content.replaceAll(secret, '…'), answer.content) };
  } catch (error) {
    if (!(error instanceof ServerFailed || error instanceof NotSent)) throw error;
    if (!secrets.some((secret) => error.message.includes(secret))) throw error;
    const message = 'The server answered with an error.';
    throw error instanceof NotSent ? new NotSent(message) : new ServerFailed(message);
  }
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

const addressOf = ({ app, url, headers }: Reached, proof: Record<string, string>): ServerAddress => ({
  url,
  headers: { ...headers, ...proof },
  ...(app.trusted && { trusted: true }),
});
