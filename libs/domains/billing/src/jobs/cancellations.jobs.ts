import { Injectable, Logger } from '@nestjs/common';
import { DomainError, type JobPayload } from '@aps/contracts';
import { Database } from '@aps/platform/database';
import { Outbox } from '@aps/platform/outbox';
import { JobHandler, PutOff, type JobContext } from '@aps/platform/queues';
import { PaymentProvider } from '../provider/payment-provider';
import { SubscriptionsRepository } from '../subscriptions/subscriptions.repository';

/** For a day the provider may be away; then an operator is to look. So many seconds it is left alone at least, and at most. */
const AWAY_FOR_S = 86_400;
const FIRST_WAIT_S = 5;
const LONGEST_WAIT_S = 3_600;

/** Has the provider end what is paid for organizations that are deleted. */
@Injectable()
export class CancellationsJobs {
  private readonly logger = new Logger('Cancellations');

  constructor(
    private readonly db: Database,
    private readonly subscriptions: SubscriptionsRepository,
    private readonly provider: PaymentProvider,
    private readonly outbox: Outbox,
  ) {}

  /**
   * Asked twice it may refuse the second time; it has told of the first by then, or does before the last try.
   *
   * @throws DomainError to be run again later; PutOff while the provider is away, which is no fault of what is asked
   */
  @JobHandler('billing.cancel')
  async cancel({ org_id }: JobPayload<'billing.cancel'>, { jobId }: JobContext): Promise<void> {
    const paid = await this.subscriptions.goingOn(this.db, org_id);
    // Side by side: what cannot be cancelled keeps no other from it.
    const asked = await Promise.allSettled(paid.map(({ id }) => this.provider.setCancelAtPeriodEnd(id, true)));
    const errors = asked.flatMap((one) => (one.status === 'rejected' ? [one.reason as Error] : []));
    const away = errors.find((error) => error instanceof DomainError && error.code === 'upstream_unavailable');
    const age = (away && (await this.outbox.ageOf(this.db, jobId))) ?? Infinity;
    if (away && age < AWAY_FOR_S) {
      // It has waited for as long as it waits now, so each wait is twice the one before.
      const seconds = Math.min(Math.max(age, FIRST_WAIT_S), LONGEST_WAIT_S) * (0.5 + Math.random() / 2);
      this.logger.warn(`What is paid for ${org_id} was not cancelled, and is tried again in ${Math.ceil(seconds)} s: ${away.message}`);
      throw new PutOff(seconds, away.message);
    }
    if (errors.length) throw errors[0];
  }
}
