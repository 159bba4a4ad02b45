import { Injectable } from '@nestjs/common';
import { Maintenance } from '@aps/platform/maintenance';
import { Periods } from '../subscriptions/periods.service';

const BATCH = 100;

/** Closes periods that are over. */
@Injectable()
export class PeriodsJobs {
  constructor(maintenance: Maintenance, periods: Periods) {
    maintenance.register({ name: 'billing_periods', everyS: 60, batch: Infinity, run: () => periods.closeDue(BATCH) });
  }
}
