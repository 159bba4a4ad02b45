import { Global, Module } from '@nestjs/common';
import { Entitlements } from './entitlements';
import { Ledger } from './ledger/ledger.repository';
import { OrgPlans } from './org-plans';
import { PlanBroadcasts } from './plans/plan.broadcasts';
import { PlanEntitlements } from './plans/plan-entitlements';
import { SubscribedPlanRepository } from './plans/subscribed-plan.repository';
import { AccountStampsQueries } from './subscriptions/account-stamps.queries';
import { Periods } from './subscriptions/periods.service';
import { SubscriptionsRepository } from './subscriptions/subscriptions.repository';
import { Subscriptions } from './subscriptions/subscriptions.service';

const exported = [
  AccountStampsQueries,
  Ledger,
  OrgPlans,
  Periods,
  PlanEntitlements,
  SubscribedPlanRepository,
  Subscriptions,
  SubscriptionsRepository,
];

/** What every app asks of plans, and what happens to them. */
@Global()
@Module({
  controllers: [PlanBroadcasts],
  providers: [...exported, { provide: Entitlements, useExisting: PlanEntitlements }],
  exports: [...exported, Entitlements],
})
export class BillingModule {}
