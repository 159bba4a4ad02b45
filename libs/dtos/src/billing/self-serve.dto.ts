import { PickType } from '@nestjs/swagger';
import {
  BooleanField,
  DateTimeField,
  DecimalString,
  EnumField,
  ListField,
  NestedField,
  ObjectField,
  StringField,
  UuidField,
} from '@aps/platform/http';
import { OrgCreditsResponse, PendingPlanChange, SubscriptionResponse } from './credits.dto';
import { EntitlementFields } from './entitlements.dto';

const INTERVALS = ['monthly', 'annual'] as const;
type Interval = (typeof INTERVALS)[number];
const INTERVAL = { name: 'BillingInterval', example: 'monthly' };

export class BillingCredits extends PickType(OrgCreditsResponse, [
  'balance',
  'purchased_balance',
  'credits_overdraft',
  'credits_remaining',
  'purchase_total',
  'open_holds',
]) {}

export class PlanOffer {
  @StringField({ description: 'What `plan_code` takes.', example: 'starter' }) code: string;
  @StringField({ description: 'Its name.', example: 'Starter' }) name: string;
  @DecimalString({ nullable: true, description: 'A month’s price as it is shown.', example: '29' }) price_display: string | null;
  @StringField({ description: 'What the price is in, by ISO 4217.', example: 'USD' }) price_currency: string;
  @ListField(INTERVALS, { description: 'How it can be paid.', example: ['monthly', 'annual'] }) intervals: Interval[];
  @DecimalString({ description: 'Credits of each month.', example: '3000' }) monthly_credits: string;
  @DecimalString({ description: 'Credits beside those of the first month, once ever.', example: '0' }) initial_credits: string;
  @NestedField(() => EntitlementFields, { description: 'What it includes.' }) entitlements: EntitlementFields;
}

export class PackOffer {
  @StringField({ description: 'What `pack_code` takes.', example: 'pack_1k' }) code: string;
  @StringField({ description: 'Its name.', example: '1,000 credits' }) name: string;
  @DecimalString({ description: 'Credits that it brings. They do not expire.', example: '1000' }) credits: string;
  @DecimalString({ nullable: true, description: 'Its price as it is shown.', example: '12' }) price_display: string | null;
  @StringField({ description: 'What the price is in, by ISO 4217.', example: 'USD' }) price_currency: string;
}

export class BillingResponse {
  @BooleanField({ description: 'Whether the caller may buy and change.', example: true }) can_manage: boolean;
  @NestedField(() => SubscriptionResponse, { nullable: true, description: 'Null where there never was one.' })
  subscription: SubscriptionResponse | null;
  @NestedField(() => BillingCredits, { description: 'What there is to spend.' }) credits: BillingCredits;
  @NestedField(() => EntitlementFields, { description: 'What the organization may do.' }) entitlements: EntitlementFields;
  @ListField(() => PlanOffer, { description: 'Plans that can be bought.' }) plans: PlanOffer[];
  @ListField(() => PackOffer, { description: 'Packs that can be bought.' }) packs: PackOffer[];
  @ObjectField({ description: 'Units of each currency for a US dollar; amounts are shown by them.', example: { EUR: '0.92' } })
  display_fx: Record<string, string>;
}

export class CheckoutRequest {
  @StringField({ optional: true, nullable: true, max: 64, description: 'Code of a plan.', example: 'starter' }) plan_code?: string | null;
  @StringField({ optional: true, nullable: true, max: 64, description: 'Code of a pack.' }) pack_code?: string | null;
  @EnumField(INTERVALS, { ...INTERVAL, optional: true, default: 'monthly', description: 'How a plan is paid.' }) interval?: Interval;
}

export class CheckoutResponse {
  @StringField({ format: 'uri', description: 'Where it is paid.', example: 'https://polar.sh/checkout/polar_c_2x' }) url: string;
  @StringField({ description: 'The provider’s name for it.' }) checkout_id: string;
  @DateTimeField({ description: 'Until when it can be paid.' }) expires_at: string;
}

export class ChangePlanRequest {
  @StringField({ min: 1, max: 64, description: 'Code of the plan to be on.', example: 'team' }) plan_code: string;
  @EnumField(INTERVALS, { ...INTERVAL, optional: true, description: 'How it is paid; omitted: as now, where the plan is sold so.' })
  interval?: Interval;
}

export class ChangePlanResponse {
  @UuidField({ description: 'Names the change.' }) change_id: string;
  @StringField({ description: 'The plan that was asked for.', example: 'team' }) plan_code: string;
  @NestedField(() => PendingPlanChange, { description: 'What is waited for.' }) pending_change: PendingPlanChange;
}

export class CancellationRequest {
  @BooleanField({ description: 'true: it ends with what is paid; false: it goes on.', example: true }) cancel_at_period_end: boolean;
}

export class CancellationResponse {
  @BooleanField({ description: 'What the provider was asked for.', example: true }) requested: boolean;
  @BooleanField({ description: 'What is known here; it follows when the provider tells.', example: false }) cancel_at_period_end: boolean;
}

export class PortalResponse {
  @EnumField(['ready', 'no_customer'], {
    name: 'PortalState',
    description: '`no_customer`: nobody has paid for this organization yet, so there is no page.',
    example: 'ready',
  })
  state: 'ready' | 'no_customer';

  @StringField({ nullable: true, format: 'uri', credential: true, description: 'The page. Lets in whoever has it.' }) url: string | null;
  @DateTimeField({ nullable: true, description: 'Until when it can be opened.' }) expires_at: string | null;
}

export class ExternalSubscriptionView {
  @StringField({ description: 'The provider’s name for it.' }) subscription_id: string;
  @StringField({ nullable: true, description: 'The provider’s own word.', example: 'active' }) status: string | null;
  @StringField({ nullable: true, description: 'What is paid.' }) product_id: string | null;
  @DateTimeField({ nullable: true, description: 'Until when it is paid.' }) current_period_end: string | null;
  @BooleanField({ description: 'Whether it ends then.', example: false }) cancel_at_period_end: boolean;
}

export class LocalSubscriptionView extends PickType(SubscriptionResponse, [
  'plan_code',
  'status',
  'cancel_at_period_end',
  'period_end',
  'pending_change',
]) {}

export class BillingDifference {
  @EnumField(['subscription', 'status', 'plan', 'period_end'], {
    name: 'BillingDifferenceField',
    description: 'What differs. `subscription`: another one is paid than the current one.',
    example: 'status',
  })
  field: 'subscription' | 'status' | 'plan' | 'period_end';

  @StringField({ nullable: true, description: 'What it would be by what the provider has told.', example: 'past_due' }) external:
    string | null;
  @StringField({ nullable: true, description: 'What it is here.', example: 'active' }) local: string | null;
}

export class OrgBillingResponse {
  @UuidField({ description: 'The organization.' }) org_id: string;
  @StringField({ nullable: true, description: 'The provider’s customer who pays; null without one.' }) customer_id: string | null;
  @NestedField(() => ExternalSubscriptionView, {
    nullable: true,
    description: 'The subscription as the provider has last told of it; null without one.',
  })
  external: ExternalSubscriptionView | null;
  @NestedField(() => LocalSubscriptionView, { nullable: true, description: 'The subscription as it holds here.' })
  local: LocalSubscriptionView | null;
  @BooleanField({ description: 'Nothing differs.', example: true }) in_sync: boolean;
  @ListField(() => BillingDifference, { description: 'What differs between the two.' }) differences: BillingDifference[];
}
