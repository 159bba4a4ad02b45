import { Injectable, Logger } from '@nestjs/common';
import type { Connection } from '@aps/entities';
import { DecryptionError, EnvelopeCrypto, type SecretPlace } from '@aps/platform/crypto';
import { Database, type Tx } from '@aps/platform/database';
import { appOf } from './catalog/apps';
import { authorizing, type Secrets } from './credentials.policy';
import { ServerFailed, type ServerAddress } from './mcp/tool-server';

/** What of a connection says where its server is, and how it is asked. */
export type Addressed = Pick<Connection, 'id' | 'org_id' | 'app_key' | 'method' | 'server_url' | 'secrets'>;

const secretsPlace = ({ org_id, id }: Pick<Connection, 'org_id' | 'id'>): SecretPlace => ({
  orgId: org_id,
  table: 'connections',
  column: 'secrets',
  rowId: id,
});

/** Seals what a connection proves itself with, and opens it where its server is asked. */
@Injectable()
export class ConnectionCredentials {
  private readonly logger = new Logger('ConnectionCredentials');

  constructor(
    private readonly db: Database,
    private readonly crypto: EnvelopeCrypto,
  ) {}

  /** @returns the column `secrets` */
  seal(tx: Tx, connection: Pick<Connection, 'org_id' | 'id'>, secrets: Secrets): Promise<string> {
    return this.crypto.encrypt(tx, secretsPlace(connection), JSON.stringify(secrets));
  }

  /** @throws ServerFailed where they cannot be opened any more */
  async open(connection: Pick<Connection, 'org_id' | 'id' | 'secrets'>): Promise<Secrets> {
    if (connection.secrets === null) return { credentials: {}, headers: {}, query: '' };
    try {
      return JSON.parse(await this.crypto.decrypt(this.db, secretsPlace(connection), connection.secrets)) as Secrets;
    } catch (error) {
      if (!(error instanceof DecryptionError)) throw error;
      this.logger.warn({ msg: 'Credentials cannot be opened', org_id: connection.org_id, row_id: connection.id, error: error.message });
      throw new ServerFailed('The stored credentials cannot be read any more. Reconnect with new ones.');
    }
  }

  /**
   * Where the server of a connection is, and with which headers it is asked.
   *
   * @throws ServerFailed where that cannot be told any more
   */
  async addressOf(connection: Addressed): Promise<ServerAddress> {
    const app = appOf(connection.app_key);
    const url = connection.server_url ?? app?.server_url;
    if (!app || !url) throw new ServerFailed('This app cannot be connected here any more.');
    const { credentials, headers, query } = await this.open(connection);
    return {
      url: `${url}${query}`,
      headers: { ...headers, ...authorizing(app, connection.method, credentials) },
      ...(app.trusted && { trusted: true }),
    };
  }
}
