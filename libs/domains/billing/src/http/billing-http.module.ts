import { Module } from '@nestjs/common';
import { RateCardsModule } from '../rate-cards/rate-cards.module';
import { RateCardsService } from '../rate-cards/rate-cards.service';
import { CreditAccountsQueries } from '../subscriptions/credit-accounts.queries';
import { CreditAccountsService } from '../subscriptions/credit-accounts.service';
import { AdminCreditRateCardController } from './credit-rate-card.controller';
import { AdminOrgCreditsController } from './org-credits.controller';

/** What operators do about plans and credits; served by admin-api. */
@Module({
  imports: [RateCardsModule],
  providers: [CreditAccountsQueries, CreditAccountsService, RateCardsService],
  controllers: [AdminCreditRateCardController, AdminOrgCreditsController],
})
export class BillingAdminHttpModule {}
