import { Module } from '@nestjs/common';
import { ProofQueries } from '../ledger/proof.queries';
import { CreditReceiptsQueries } from '../ledger/receipts.queries';
import { PlansModule } from '../plans/plans.module';
import { RateCardsModule } from '../rate-cards/rate-cards.module';
import { RateCardsService } from '../rate-cards/rate-cards.service';
import { CreditAccountsQueries } from '../subscriptions/credit-accounts.queries';
import { CreditAccountsService } from '../subscriptions/credit-accounts.service';
import { AdminCreditRateCardController } from './credit-rate-card.controller';
import { AdminOrgCreditsController } from './org-credits.controller';
import { AdminProofController } from './proof.controller';
import { AdminCatalogController, AdminCreditPacksController, AdminPlansController } from './plans.controller';

/** What operators do about plans and credits; served by admin-api. */
@Module({
  imports: [PlansModule, RateCardsModule],
  providers: [CreditAccountsQueries, CreditAccountsService, CreditReceiptsQueries, ProofQueries, RateCardsService],
  controllers: [
    AdminCatalogController,
    AdminCreditPacksController,
    AdminCreditRateCardController,
    AdminOrgCreditsController,
    AdminPlansController,
    AdminProofController,
  ],
})
export class BillingAdminHttpModule {}
