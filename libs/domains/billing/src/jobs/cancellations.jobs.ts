import { Injectable } from '@nestjs/common';
import type { JobPayload } from '@aps/contracts';
import { Database } from '@aps/platform/database';
import { JobHandler } from '@aps/platform/queues';
import { PaymentProvider } from '../provider/payment-provider';
import { SubscriptionsRepository } from '../subscriptions/subscriptions.repository';

/** Has the provider end what is paid for organizations that are deleted. */
@Injectable()
export class CancellationsJobs {
  constructor(
    private readonly db: Database,
    private readonly subscriptions: SubscriptionsRepository,
    private readonly provider: PaymentProvider,
  ) {}

  /**
   * Asked twice it may refuse the second time; it has told of the first by then, or does before the last try.
   *
   * @throws DomainError to be run again later
   */
  @JobHandler('billing.cancel')
  async cancel({ org_id }: JobPayload<'billing.cancel'>): Promise<void> {
    const paid = await this.subscriptions.goingOn(this.db, org_id);
    // Side by side: what cannot be cancelled keeps no other from it.
    await Promise.all(paid.map(({ id }) => this.provider.setCancelAtPeriodEnd(id, true)));
  }
}
