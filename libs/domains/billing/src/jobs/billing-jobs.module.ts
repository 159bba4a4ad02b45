import { Module } from '@nestjs/common';
import { DeliveriesModule } from '../deliveries/deliveries.module';
import { ProofsModule } from '../ledger/proofs.module';
import { PaymentProvider } from '../provider/payment-provider';
import { PolarProvider } from '../provider/polar.provider';
import { CancellationsJobs } from './cancellations.jobs';
import { DeliveriesJobs } from './deliveries.jobs';
import { LedgerJobs } from './ledger.jobs';
import { PeriodsJobs } from './periods.jobs';

/** For the worker of the queue `billing`, which also closes periods and proves credits. */
@Module({
  imports: [DeliveriesModule, ProofsModule],
  providers: [CancellationsJobs, DeliveriesJobs, LedgerJobs, PeriodsJobs, { provide: PaymentProvider, useClass: PolarProvider }],
})
export class BillingJobsModule {}
