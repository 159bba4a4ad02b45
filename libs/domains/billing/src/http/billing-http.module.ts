import { Module } from '@nestjs/common';
import { CreditAccountsQueries } from '../subscriptions/credit-accounts.queries';
import { CreditAccountsService } from '../subscriptions/credit-accounts.service';
import { AdminOrgCreditsController } from './org-credits.controller';

/** What operators do about plans and credits; served by admin-api. */
@Module({
  providers: [CreditAccountsQueries, CreditAccountsService],
  controllers: [AdminOrgCreditsController],
})
export class BillingAdminHttpModule {}
