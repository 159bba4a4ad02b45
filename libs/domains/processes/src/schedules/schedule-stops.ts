import { Injectable } from '@nestjs/common';
import { Deletions } from '@aps/platform/database';
import { STOP } from './schedules.sql';

/** Ends the schedules of what is deleted, in the transaction that deletes it. They say why, and stay. */
@Injectable()
export class ScheduleStops {
  constructor(deletions: Deletions) {
    deletions.listen(async (tx, { kind, orgId, id }) => {
      if (kind === 'agent' || kind === 'process') await tx.execute(STOP, [orgId, kind, id]);
    });
  }
}
