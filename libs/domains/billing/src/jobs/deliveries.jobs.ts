import { Injectable } from '@nestjs/common';
import type { JobPayload } from '@aps/contracts';
import { gauge } from '@aps/platform/observability';
import { Maintenance } from '@aps/platform/maintenance';
import { JobHandler, type JobContext } from '@aps/platform/queues';
import { BillingEventsQueries } from '../deliveries/billing-events.queries';
import { DeliveriesService } from '../deliveries/deliveries.service';

const SWEEP_S = 30;
const BATCH = 100;

/** Applies deliveries. */
@Injectable()
export class DeliveriesJobs {
  constructor(
    private readonly deliveries: DeliveriesService,
    events: BillingEventsQueries,
    maintenance: Maintenance,
  ) {
    maintenance.register({ name: 'billing_events', everyS: SWEEP_S, batch: BATCH, run: () => deliveries.sweep(BATCH) });
    gauge('billing_events', 'Deliveries of the payment provider that are stored, by status', ['status'], async (g) => {
      for (const [status, n] of Object.entries(await events.counts())) g.set({ status }, n);
    });
    gauge('billing_events_open', 'Deliveries that went wrong and are not settled, by status', ['status'], async (g) => {
      for (const [status, n] of Object.entries(await events.open())) g.set({ status }, n);
    });
  }

  /** @throws Error to be run again later */
  @JobHandler('billing.apply', { ownsRow: true })
  apply({ event_id: id }: JobPayload<'billing.apply'>, { jobId }: JobContext): Promise<void> {
    return this.deliveries.apply(id, jobId);
  }
}
