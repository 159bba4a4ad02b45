import { Injectable } from '@nestjs/common';
import { Database, NO_CALLER } from '@aps/platform/database';
import { Maintenance } from '@aps/platform/maintenance';
import { ERASE, ERASE_SOURCES, ERASE_SYNCS, HOLD_LONG_GONE, LOOSEN, PART } from './deleted-bases.sql';
import { knowledgeConfig } from './knowledge.config';
import { SourceFiles } from './source-files';

/** Erases bases that were deleted `KNOWLEDGE_BASE_ERASURE_DAYS` ago, with all that is in them. What is audited of them stays. */
@Injectable()
export class DeletedBases {
  constructor(
    maintenance: Maintenance,
    private readonly db: Database,
    private readonly files: SourceFiles,
  ) {
    maintenance.register({ name: 'knowledge_deleted_bases', everyS: 300, batch: 1, run: () => this.erase() });
  }

  /** Erases a part of one: some of its sources, or, when it has none any more, itself. @returns 1; 0 where nothing is to be erased */
  async erase(): Promise<number> {
    return this.db.transaction(NO_CALLER, async (tx) => {
      const [base] = await tx.query(HOLD_LONG_GONE, [knowledgeConfig.value.erasureDays]);
      if (!base) return 0;
      const ids = (await tx.query(PART, [base.id])).map(({ id }) => id);
      if (ids.length) {
        await tx.execute(LOOSEN, [base.org_id, ids]);
        await tx.execute(ERASE_SOURCES, [base.org_id, ids]);
        await this.files.release(tx, { orgId: base.org_id }, ids);
      } else {
        await tx.execute(ERASE_SYNCS, [base.id]);
        await tx.execute(ERASE, [base.id]);
      }
      return 1;
    });
  }
}
