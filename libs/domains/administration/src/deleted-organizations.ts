import { Injectable, Module } from '@nestjs/common';
import { Database } from '@aps/platform/database';
import { Maintenance } from '@aps/platform/maintenance';
import { administrationConfig } from './administration.config';
import { DESTROY_KEYS, FORGET_MODELS, FORGET_ROUTES, LET_FILES_GO } from './deleted-organizations.sql';

const BATCH = 1_000;

/**
 * Erases what organizations leave behind that were deleted `ORGANIZATION_ERASURE_DAYS` ago. Without its data key no secret of an organization can be
 * opened any more, in whatever column it is, nor in any backup that lacks the key; processes forget it within minutes. Rows that tell what was done stay.
 */
@Injectable()
export class DeletedOrganizations {
  constructor(
    maintenance: Maintenance,
    private readonly db: Database,
  ) {
    maintenance.register({ name: 'deleted_organizations', everyS: 3_600, batch: BATCH, run: () => this.erase(BATCH) });
  }

  /** @returns how many files were let go of; fewer than `batch` when no more are left */
  async erase(batch: number): Promise<number> {
    const { erasureDays } = administrationConfig.value;
    for (const erasure of [FORGET_MODELS, FORGET_ROUTES, DESTROY_KEYS]) await this.db.execute(erasure, [erasureDays]);
    return this.db.execute(LET_FILES_GO, [erasureDays, batch]);
  }
}

/** For a worker application. */
@Module({ providers: [DeletedOrganizations] })
export class DeletedOrganizationsModule {}
