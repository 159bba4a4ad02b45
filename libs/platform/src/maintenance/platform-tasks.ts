import { Injectable } from '@nestjs/common';
import { EnvelopeCrypto } from '@aps/platform/crypto';
import { Database } from '@aps/platform/database';
import { IdempotencyStore } from '@aps/platform/idempotency';
import { REMOVE_SILENT } from '@aps/platform/queues';
import { Maintenance } from './maintenance';

const BATCH = 500;

/** What the platform's own tables need. */
@Injectable()
export class PlatformTasks {
  constructor(maintenance: Maintenance, db: Database, idempotency: IdempotencyStore, crypto: EnvelopeCrypto) {
    maintenance.register({ name: 'idempotency_keys', everyS: 300, batch: BATCH, run: () => idempotency.purge(BATCH) });
    maintenance.register({ name: 'workers', everyS: 60, batch: Infinity, run: () => db.execute(REMOVE_SILENT) });
    // After a new master key: when nothing is left to wrap again, the old one may go.
    maintenance.register({ name: 'data_keys', everyS: 600, batch: BATCH, run: () => crypto.rewrap(db, BATCH) });
  }
}
