import { BillingCredits, BillingResponse, EntitlementFields, PackOffer, PlanOffer, SubscriptionResponse } from '@aps/dtos';
import { answer } from '@aps/platform/http';
import type { BillingView } from '../self-serve/self-serve.queries';

export const toBilling = ({ can_manage, account, plans, packs, display_fx }: BillingView): BillingResponse => ({
  can_manage,
  subscription: account.subscription && answer(SubscriptionResponse, account.subscription),
  credits: answer(BillingCredits, account),
  entitlements: account.entitlements,
  plans: plans.map((plan) =>
    answer(PlanOffer, plan, {
      intervals: [...(plan.polar_product_id ? ['monthly' as const] : []), ...(plan.polar_product_id_annual ? ['annual' as const] : [])],
      entitlements: answer(EntitlementFields, plan),
    }),
  ),
  packs: packs.map((pack) => answer(PackOffer, pack)),
  display_fx,
});
