import { Module } from '@nestjs/common';
import { BillingEventsModule } from '../deliveries/deliveries.module';
import { ProofsModule } from '../ledger/proofs.module';
import { CreditReceiptsQueries } from '../ledger/receipts.queries';
import { PlansModule } from '../plans/plans.module';
import { RateCardsModule } from '../rate-cards/rate-cards.module';
import { RateCardsService } from '../rate-cards/rate-cards.service';
import { CreditAccountsQueries } from '../subscriptions/credit-accounts.queries';
import { CreditAccountsService } from '../subscriptions/credit-accounts.service';
import { ExternalBillingModule } from '../self-serve/self-serve.module';
import { AdminBillingEventsController } from './billing-events.controller';
import { AdminCreditRateCardController } from './credit-rate-card.controller';
import { AdminOrgBillingController } from './org-billing.controller';
import { AdminOrgCreditsController } from './org-credits.controller';
import { AdminProofController } from './proof.controller';
import { AdminCatalogController, AdminCreditPacksController, AdminPlansController } from './plans.controller';

/** What operators do about plans and credits; served by admin-api. */
@Module({
  imports: [BillingEventsModule, ExternalBillingModule, PlansModule, ProofsModule, RateCardsModule],
  providers: [CreditAccountsQueries, CreditAccountsService, CreditReceiptsQueries, RateCardsService],
  controllers: [
    AdminBillingEventsController,
    AdminCatalogController,
    AdminCreditPacksController,
    AdminCreditRateCardController,
    AdminOrgBillingController,
    AdminOrgCreditsController,
    AdminPlansController,
    AdminProofController,
  ],
})
export class BillingAdminHttpModule {}
