import { Injectable } from '@nestjs/common';
import { Maintenance } from '@aps/platform/maintenance';
import { Subscriptions } from '../subscriptions/subscriptions.service';

const BATCH = 100;

/** Closes periods that are over. */
@Injectable()
export class PeriodsJobs {
  constructor(maintenance: Maintenance, subscriptions: Subscriptions) {
    maintenance.register({ name: 'billing_periods', everyS: 60, batch: BATCH, run: () => subscriptions.closeDue(BATCH) });
  }
}
