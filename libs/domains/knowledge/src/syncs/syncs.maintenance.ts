import { Injectable } from '@nestjs/common';
import { Database } from '@aps/platform/database';
import { Maintenance, RowByRow } from '@aps/platform/maintenance';
import { SyncsRepository } from './syncs.repository';

const AT_ONCE = 50;

/** Begins synchronisations whose time has come, and ends the deletion of those whose deleter died over it, or left it to others. */
@Injectable()
export class SyncsMaintenance {
  private readonly forgetting: RowByRow;

  constructor(
    db: Database,
    maintenance: Maintenance,
    private readonly syncs: SyncsRepository,
  ) {
    this.forgetting = new RowByRow(db, 'knowledge_syncs_left');
    maintenance.register({ name: 'knowledge_syncs', everyS: 30, batch: AT_ONCE, run: () => syncs.beginDue(AT_ONCE) });
    maintenance.register({ name: 'knowledge_syncs_left', everyS: 60, batch: 1, run: () => this.forgetLeft() });
  }

  /** Deletes a part of what came by one that was left. @returns 1; 0 where there is none, or others are at it */
  forgetLeft(): Promise<number> {
    return this.forgetting.pass(
      1,
      (most, but) => this.syncs.left(most, but),
      (tx, { id }) => this.syncs.forgetPart(tx, id),
    );
  }
}
