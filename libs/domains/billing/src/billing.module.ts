import { Global, Module } from '@nestjs/common';
import { Entitlements } from './entitlements';
import { Ledger } from './ledger/ledger.repository';
import { OrgPlans } from './org-plans';
import { PlanBroadcasts } from './plans/plan.broadcasts';
import { PlanEntitlements } from './plans/plan-entitlements';
import { SubscribedPlanRepository } from './plans/subscribed-plan.repository';
import { AccountStampsQueries } from './subscriptions/account-stamps.queries';
import { Grants } from './subscriptions/grants';
import { PaidOrders } from './subscriptions/paid-orders.service';
import { Periods } from './subscriptions/periods.service';
import { SubscriptionsRepository } from './subscriptions/subscriptions.repository';
import { Subscriptions } from './subscriptions/subscriptions.service';

const exported = [
  AccountStampsQueries,
  Grants,
  Ledger,
  OrgPlans,
  PaidOrders,
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
