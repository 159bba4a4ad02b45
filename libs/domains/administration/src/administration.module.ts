import { Module } from '@nestjs/common';
import { IdentityModule } from '@aps/identity';
import { OrgOverviewQueries } from './org-overview.queries';
import { SubscriptionBackfill } from './subscriptions/subscription-backfill';
import { WithoutSubscriptions } from './subscriptions/without-subscriptions';
import { UsageModule } from './usage/usage.module';

@Module({
  imports: [IdentityModule, UsageModule],
  providers: [OrgOverviewQueries, { provide: SubscriptionBackfill, useClass: WithoutSubscriptions }],
  exports: [IdentityModule, UsageModule, OrgOverviewQueries, SubscriptionBackfill],
})
export class AdministrationModule {}
