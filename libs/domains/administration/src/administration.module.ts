import { Module } from '@nestjs/common';
import { IdentityModule } from '@aps/identity';
import { OrgOverviewQueries } from './org-overview.queries';
import { SubscriptionBackfill } from './subscription-backfill';
import { UsageModule } from './usage/usage.module';

@Module({
  imports: [IdentityModule, UsageModule],
  providers: [OrgOverviewQueries, SubscriptionBackfill],
  exports: [IdentityModule, UsageModule, OrgOverviewQueries, SubscriptionBackfill],
})
export class AdministrationModule {}
