import { Injectable } from '@nestjs/common';
import type { KnowledgeBase } from '@aps/entities';
import { Database, NO_CALLER, type Tx } from '@aps/platform/database';
import { Maintenance } from '@aps/platform/maintenance';
import { ERASE, ERASE_SYNCS, HOLD_LONG_GONE, LOOSEN, PART } from './deleted-bases.sql';
import { knowledgeConfig } from './knowledge.config';
import { SourceFiles } from './source-files';
import { SourcesRepository } from './sources.repository';
import { SOURCES } from './sources.sql';

/** Erases bases that were deleted `KNOWLEDGE_BASE_ERASURE_DAYS` ago, with all that is in them. What is audited of them stays. */
@Injectable()
export class DeletedBases {
  /** Bases that could not be erased, which keep no other from it: they are tried again when none is left. */
  private readonly failed = new Set<string>();

  constructor(
    maintenance: Maintenance,
    private readonly db: Database,
    private readonly sources: SourcesRepository,
    private readonly files: SourceFiles,
  ) {
    maintenance.register({ name: 'knowledge_deleted_bases', everyS: 300, batch: 1, run: () => this.erase() });
  }

  /** Erases a part of one: some pieces, or some of its sources, and with the last of them itself. @returns 1; 0 where nothing is to be erased */
  async erase(): Promise<number> {
    return this.db.transaction(NO_CALLER, async (tx) => {
      const [base] = await tx.query(HOLD_LONG_GONE, [knowledgeConfig.value.erasureDays, [...this.failed]]);
      if (base) await this.erasePart(tx, base).catch((error: unknown) => this.lookPast(base.id, error));
      else this.failed.clear();
      return base ? 1 : 0;
    });
  }

  private lookPast(id: string, error: unknown): never {
    this.failed.add(id);
    throw error;
  }

  private async erasePart(tx: Tx, { id: kbId, org_id }: Pick<KnowledgeBase, 'id' | 'org_id'>): Promise<void> {
    const ids = (await tx.query(PART, [kbId])).map(({ id }) => id);
    await tx.execute(LOOSEN, [org_id, ids]);
    if (!(await this.sources.erase(tx, { orgId: org_id }, ids))) return;
    await this.files.release(tx, { orgId: org_id }, ids);
    if (ids.length === SOURCES) return;
    await tx.execute(ERASE_SYNCS, [kbId]);
    await tx.execute(ERASE, [kbId]);
  }
}
