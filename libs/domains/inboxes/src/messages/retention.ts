import { Injectable } from '@nestjs/common';
import { FilesService } from '@aps/files';
import { Database, NO_CALLER } from '@aps/platform/database';
import { Maintenance } from '@aps/platform/maintenance';
import { MESSAGE_FILES } from '../intake/message-files.queries';
import { EXPIRE, FORGET } from './retention.sql';

const EVERY_S = 300;
const BATCH = 500;
/** Forgets what messages say when their inbox does not keep it any longer: the row, its trace and the beginning of its text stay. */
@Injectable()
export class Retention {
  constructor(
    private readonly db: Database,
    private readonly files: FilesService,
    maintenance: Maintenance,
  ) {
    maintenance.register({ name: 'inbox_retention', everyS: EVERY_S, batch: BATCH, run: () => this.forgetExpired(BATCH) });
  }

  /** Files that a chat refers to as well stay. @returns how many messages were forgotten */
  forgetExpired(limit: number): Promise<number> {
    return this.db.transaction(NO_CALLER, async (tx) => {
      const expired = await tx.query(EXPIRE, [limit]);
      await tx.execute(FORGET, [expired.map(({ id }) => id)]);
      for (const orgId of new Set(expired.map(({ org_id }) => org_id)))
        await this.files.unlink(tx, orgId, {
          kind: MESSAGE_FILES,
          ids: expired.flatMap(({ id, org_id }) => (org_id === orgId ? [id] : [])),
        });
      return expired.length;
    });
  }
}
