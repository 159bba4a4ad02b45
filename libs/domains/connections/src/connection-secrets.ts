import { Injectable, Logger } from '@nestjs/common';
import { DecryptionError, EnvelopeCrypto, type SecretPlace } from '@aps/platform/crypto';
import { Database, type Db, type Tx } from '@aps/platform/database';
import { ServerFailed } from './mcp/tool-server';

/** A column of a row of connections that is sealed, and the organization whose key seals it. */
export type SealedPlace = SecretPlace & { orgId: string; table: 'connections' | 'connection_consents' };

/** Seals what of connections nobody may read, as JSON. */
@Injectable()
export class ConnectionSecrets {
  private readonly logger = new Logger('ConnectionSecrets');

  constructor(
    private readonly db: Database,
    private readonly crypto: EnvelopeCrypto,
  ) {}

  seal(tx: Tx, place: SealedPlace, value: object): Promise<string> {
    return this.crypto.encrypt(tx, place, JSON.stringify(value));
  }

  /** @throws ServerFailed where it cannot be opened any more */
  async open<T>(place: SealedPlace, sealed: string, db: Db = this.db): Promise<T> {
    try {
      return JSON.parse(await this.crypto.decrypt(db, place, sealed)) as T;
    } catch (error) {
      if (!(error instanceof DecryptionError)) throw error;
      const { orgId: org_id, table, rowId: row_id } = place;
      this.logger.warn({ msg: 'Credentials cannot be opened', org_id, table, row_id, error: error.message });
      throw new ServerFailed('The stored credentials cannot be read any more. Reconnect with new ones.');
    }
  }
}
