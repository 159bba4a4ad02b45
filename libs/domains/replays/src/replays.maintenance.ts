import { Injectable } from '@nestjs/common';
import { Maintenance } from '@aps/platform/maintenance';
import { ReplaysRepository } from './replays.repository';

const DAYS = 30;
const BATCH = 100;

/** Removes replays that are older than 30 days. */
@Injectable()
export class ReplayRetention {
  constructor(maintenance: Maintenance, replays: ReplaysRepository) {
    maintenance.register({ name: 'replays', everyS: 3_600, batch: BATCH, run: () => replays.purge(DAYS, BATCH) });
  }
}
