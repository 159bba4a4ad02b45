import { Injectable } from '@nestjs/common';
import { Maintenance } from '@aps/platform/maintenance';
import { Staleness } from './staleness';

const BATCH = 20;
const EVERY_S = 60;

/** Looks at every process once a day, and within a minute at those that {@link Staleness.recheck} names. Needs the tools that steps may call. */
@Injectable()
export class StaleProcesses {
  constructor(maintenance: Maintenance, staleness: Staleness) {
    maintenance.register({ name: 'stale_processes', everyS: EVERY_S, batch: BATCH, run: () => staleness.checkDue(BATCH) });
  }
}
