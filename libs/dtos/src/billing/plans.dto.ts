import { IntersectionType, PartialType, PickType } from '@nestjs/swagger';
import {
  BooleanField,
  DateTimeField,
  DecimalField,
  DecimalString,
  IntField,
  ListField,
  NestedField,
  PageOf,
  StringField,
  UuidField,
} from '@aps/platform/http';
import { NameField } from '../identity/names';
import { EntitlementFields } from './entitlements.dto';
import { PackProductRow } from './packs.dto';
import { CodeField, CurrencyField } from './values';

class PlanNames {
  @CodeField({ description: 'What it is named by, in settings too.', example: 'growth' }) code: string;
  @NameField({ description: 'Its name.', example: 'Starter' }) name: string;
}

class PlanTerms extends EntitlementFields {
  @IntField({ default: 0, description: 'Place in lists.', example: 20 }) sort_order: number;
  @DecimalField({ nullable: true, min: 0, description: 'A month’s price as it is shown; null shows none.', example: '29' })
  price_display: string | null;
  @CurrencyField({ default: 'USD', description: 'What the price is in.' }) price_currency: string;
  @DecimalField({ min: 0, default: '0', description: 'Credits of each month.', example: '3000' }) monthly_credits: string;
  @DecimalField({ min: 0, default: '0', description: 'Credits beside those of the first month, once ever.', example: '0' })
  initial_credits: string;
  @DecimalField({
    min: 0,
    max: 1_000,
    default: '0',
    description: 'How far below zero calls may begin, in per cent of the monthly credits.',
    example: '5',
  })
  overdraft_pct: string;
  @BooleanField({ default: true, description: 'Credits come anew each month.', example: true }) renews: boolean;
  @BooleanField({ default: false, description: 'Sold by people, and not by a page.', example: false }) is_enterprise: boolean;
  @UuidField({ nullable: true, description: 'Product of the payment provider, paid by the month; null: not for sale.' })
  polar_product_id: string | null;
  @UuidField({ nullable: true, description: 'Product of the payment provider, paid by the year; null: not for sale.' })
  polar_product_id_annual: string | null;
}

/** A plan as a whole: what is left out has its default. */
export class PutPlanRequest extends IntersectionType(PlanNames, PartialType(PlanTerms, { skipNullProperties: false })) {}

export class PlanMargin {
  @IntField({ description: 'So many days until now.', example: 30 }) window_days: number;
  @DecimalString({ description: 'Credits that calls have burned.', example: '12000' }) credits: string;
  @DecimalString({ description: 'What the calls have cost that burned them, in US dollars.', example: '84' }) usd_cost: string;
  @DecimalString({ description: 'What the credits are worth by the rate card of today, in US dollars.', example: '120' }) usd_value: string;
  @DecimalString({ nullable: true, description: 'Share of the value that the calls have not cost; null where it is 0.', example: '0.3' })
  ratio: string | null;
}

export class PlanResponse extends EntitlementFields {
  @UuidField({ description: 'The plan.' }) id: string;
  @StringField({ description: 'What it is named by.', example: 'starter' }) code: string;
  @StringField({ description: 'Its name.', example: 'Starter' }) name: string;
  @IntField({ description: 'Place in lists.', example: 20 }) sort_order: number;
  @DecimalString({ nullable: true, description: 'A month’s price as it is shown.', example: '29' }) price_display: string | null;
  @StringField({ description: 'What the price is in, by ISO 4217.', example: 'USD' }) price_currency: string;
  @DecimalString({ description: 'Credits of each month.', example: '3000' }) monthly_credits: string;
  @DecimalString({ description: 'Credits beside those of the first month, once ever.', example: '0' }) initial_credits: string;
  @DecimalString({ description: 'How far below zero calls may begin, in per cent of the monthly credits.', example: '5' })
  overdraft_pct: string;
  @BooleanField({ description: 'Credits come anew each month.', example: true }) renews: boolean;
  @BooleanField({ description: 'Sold by people, and not by a page.', example: false }) is_enterprise: boolean;
  @UuidField({ nullable: true, description: 'Product of the payment provider, paid by the month; null: not for sale.' })
  polar_product_id: string | null;
  @UuidField({ nullable: true, description: 'Product of the payment provider, paid by the year; null: not for sale.' })
  polar_product_id_annual: string | null;
  @IntField({ description: 'Organizations that are subscribed to it, in whatever state.', example: 12 }) subscriber_count: number;
  @DecimalString({
    nullable: true,
    description: 'What 1,000 of its monthly credits cost, in its currency; null without a price or monthly credits.',
    example: '9.666667',
  })
  price_point: string | null;
  @NestedField(() => PlanMargin, {
    nullable: true,
    description:
      'What the calls of its subscribers have cost beside what their credits are worth; null where nothing was called, no rate card holds, or the plan is not paid in credits.',
  })
  margin: PlanMargin | null;
  @DateTimeField({ description: 'When it was made.' }) created_at: string;
  @DateTimeField({ description: 'When it last changed.' }) updated_at: string;
}

export class PlanListResponse extends PageOf(PlanResponse) {
  @ListField('string', {
    description: 'The fields of a plan that entitle. All but `is_enterprise` can be overridden.',
    example: ['audit_log'],
  })
  entitlement_fields: string[];
}

/** Both as a whole: one that is left out is null. */
export class PutPlanProductsRequest extends PartialType(PickType(PlanTerms, ['polar_product_id', 'polar_product_id_annual']), {
  skipNullProperties: false,
}) {}

export class CatalogPlan {
  @UuidField({ description: 'The plan.' }) id: string;
  @StringField({ description: 'Its code.', example: 'starter' }) code: string;
  @StringField({ description: 'Its name.', example: 'Starter' }) name: string;
  @UuidField({ nullable: true, description: 'Product that is paid by the month; null: not for sale.' }) polar_product_id: string | null;
  @UuidField({ nullable: true, description: 'Product that is paid by the year; null: not for sale.' }) polar_product_id_annual:
    string | null;
}

export class ProductCollision {
  @UuidField({ description: 'The product.' }) product_id: string;
  @ListField('string', { description: 'What it stands for.', example: ['plan starter', 'pack pack_1k'] }) names: string[];
}

export class BillingCatalogResponse {
  @ListField(() => CatalogPlan, { description: 'Every plan, in display order.' }) plans: CatalogPlan[];
  @ListField(() => PackProductRow, { description: 'Every pack, in display order.' }) packs: PackProductRow[];
  @ListField(() => ProductCollision, {
    description:
      'Products that stand for a plan and for a pack. Nothing refuses it; who subscribes to one gets the plan, who purchases it once the pack.',
  })
  collisions: ProductCollision[];
}
