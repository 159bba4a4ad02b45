import { Module } from '@nestjs/common';
import { PaymentProvider } from '../provider/payment-provider';
import { PolarProvider } from '../provider/polar.provider';
import { RateCardsModule } from '../rate-cards/rate-cards.module';
import { CreditAccountsQueries } from '../subscriptions/credit-accounts.queries';
import { ExternalBillingQueries } from './external-billing.queries';
import { SelfServeQueries } from './self-serve.queries';
import { SelfServeRepository } from './self-serve.repository';
import { SelfServeService } from './self-serve.service';

const exported = [SelfServeQueries, SelfServeService];

/** What organizations do about their billing by themselves. */
@Module({
  imports: [RateCardsModule],
  providers: [...exported, SelfServeRepository, CreditAccountsQueries, { provide: PaymentProvider, useClass: PolarProvider }],
  exports: exported,
})
export class SelfServeModule {}

/** The same as operators see it. */
@Module({ providers: [CreditAccountsQueries, ExternalBillingQueries, SelfServeRepository], exports: [ExternalBillingQueries] })
export class ExternalBillingModule {}
