import {
  BooleanField,
  DateTimeField,
  DecimalField,
  DecimalString,
  EnumField,
  IntField,
  ListField,
  NestedField,
  ObjectField,
  StringField,
  UuidField,
} from '@aps/platform/http';
import { EntitlementFields, EntitlementOverrides } from './entitlements.dto';

export const SUBSCRIPTION_STATUSES = ['trialing', 'active', 'past_due', 'canceled', 'expired', 'unsubscribed'] as const;
const LEDGER_KINDS = ['grant', 'purchase', 'burn', 'expire', 'adjust', 'refund', 'reset'] as const;

export class PendingPlanChange {
  @UuidField({ description: 'Names the change. The order that pays it carries it.' }) change_id: string;
  @StringField({ description: 'Code of the plan that was asked for.', example: 'team' }) plan_code: string;
  @DateTimeField({ description: 'When.' }) requested_at: string;
  @UuidField({ description: 'By whom.' }) requested_by: string;
}

export class SubscriptionResponse {
  @StringField({ description: 'Code of the plan.', example: 'starter' }) plan_code: string;

  @EnumField(SUBSCRIPTION_STATUSES, {
    name: 'SubscriptionStatus',
    description: 'What gates and the period job go by: entitled while trialing, active or past_due.',
    example: 'active',
  })
  status: string;

  @StringField({ nullable: true, description: 'The payment provider’s own word; null where nobody pays.', example: 'active' })
  external_status: string | null;

  @BooleanField({ description: 'Whether it ends with what is paid.', example: false }) cancel_at_period_end: boolean;
  @DateTimeField({ nullable: true, description: 'When the period began; null where the plan has none.' }) period_start: string | null;
  @DateTimeField({ nullable: true, description: 'When the period ends, and the next credits come.' }) period_end: string | null;
  @DateTimeField({ nullable: true, description: 'Until when a year is paid; null where each month is.' }) paid_until: string | null;

  @NestedField(() => PendingPlanChange, {
    nullable: true,
    description: 'A change that the provider was asked for and that is not paid yet. After a day it is stale, and nothing more.',
  })
  pending_change: PendingPlanChange | null;
}

export class OrgCreditsResponse {
  @DecimalString({ description: 'Granted credits; the only ones below zero.', example: '3000' }) balance: string;
  @DecimalString({ description: 'Bought credits. They do not expire.', example: '1000' }) purchased_balance: string;
  @DecimalString({ description: 'How far below zero calls may begin.', example: '150' }) credits_overdraft: string;
  @DecimalString({ description: 'Both balances and the overdraft.', example: '4150' }) credits_remaining: string;
  @DecimalString({ description: 'All that was ever bought.', example: '1000' }) purchase_total: string;
  @BooleanField({
    description: 'Both balances are the sum of every row of the ledger, of which each thousandth keeps what it and all before it come to.',
    example: true,
  })
  reconciled: boolean;
  @DecimalString({ description: 'What model calls under way may cost.', example: '0' }) open_holds: string;
  @NestedField(() => SubscriptionResponse, { nullable: true, description: 'Null where there never was one.' })
  subscription: SubscriptionResponse | null;
  @NestedField(() => EntitlementFields, { description: 'What the organization may do.' }) entitlements: EntitlementFields;
  @ObjectField({ shape: EntitlementOverrides, description: 'Entitlements of its own, instead of the plan’s.', example: { max_agents: 10 } })
  overrides: object;
  @StringField({ nullable: true, description: 'Why it has them.', example: 'Pilot until March' }) override_reason: string | null;
}

export class AdjustCreditsRequest {
  @DecimalField({ description: 'Credits to add; negative takes them. At most 6 digits after the point, not zero.', example: '-12.5' })
  delta: string;
  @StringField({ min: 1, max: 1_000, description: 'Why. It stands in the ledger and in the audit log.', example: 'Goodwill' })
  reason: string;
}

export class AdjustCreditsResponse {
  @UuidField({ description: 'The row of the ledger; of two, the one of granted credits.' }) ledger_id: string;
  @DecimalString({ description: 'What was posted.', example: '-12.5' }) delta: string;
  @DecimalString({ description: 'Granted credits now.', example: '2987.5' }) balance: string;
  @DecimalString({ description: 'Bought credits now.', example: '1000' }) purchased_balance: string;
  @DecimalString({ description: 'Both, and the overdraft.', example: '4137.5' }) credits_remaining: string;
}

export class UpdateSubscriptionRequest {
  @StringField({ optional: true, min: 1, max: 64, description: 'Code of another plan.', example: 'team' }) plan_code?: string;

  @EnumField(SUBSCRIPTION_STATUSES, { optional: true, name: 'SubscriptionStatus', description: 'Another state.', example: 'active' })
  status?: (typeof SUBSCRIPTION_STATUSES)[number];

  @DateTimeField({ optional: true, nullable: true, description: 'Another end of the period; null: none.' }) period_end?: string | null;

  @ObjectField({
    shape: EntitlementOverrides,
    optional: true,
    description:
      'Entitlements of its own: one that is absent stays, null inherits from the plan, a value sets. An unknown name is refused.',
    example: { max_agents: 10, audit_log: null },
  })
  overrides?: Record<string, unknown>;

  @StringField({ optional: true, nullable: true, max: 1_000, description: 'Why it has them.', example: 'Pilot until March' })
  override_reason?: string | null;
}

export class ResetBaselineRequest {
  @StringField({ min: 1, max: 64, description: 'Code of the plan.', example: 'starter' }) plan_code: string;

  @StringField({ optional: true, nullable: true, max: 1_000, description: 'Why. It stands in the ledger and in the audit log.' })
  reason?: string | null;
}

export class ResetBaselineResponse {
  @StringField({ description: 'Code of the plan.', example: 'starter' }) plan_code: string;
  @DecimalString({ description: 'Granted credits now.', example: '3000' }) balance: string;
  @BooleanField({ description: 'Whether credits had to be moved.', example: true }) ledger_written: boolean;
  @DateTimeField({ nullable: true, description: 'When the period began.' }) period_start: string | null;
  @DateTimeField({ nullable: true, description: 'When it ends.' }) period_end: string | null;
}

export class RollPeriodRequest {
  @BooleanField({ optional: true, description: 'End it now, whenever it would end.', example: false }) force?: boolean;
}

export class RollPeriodResponse {
  @BooleanField({ description: 'Whether a period was closed.', example: true }) rolled: boolean;

  @EnumField(['rolled', 'not_due', 'no_period', 'unsubscribed', 'waiting_for_payment'], {
    name: 'PeriodRollReason',
    description: 'Why, or why not.',
    example: 'rolled',
  })
  reason: string;

  @DateTimeField({ nullable: true, description: 'When the period began that holds now.' }) period_start: string | null;
  @DateTimeField({ nullable: true, description: 'When it ends.' }) period_end: string | null;
  @DecimalString({ description: 'Credits that expired.', example: '120.5' }) expired: string;
  @DecimalString({ description: 'Credits that were granted.', example: '3000' }) granted: string;
}

export class LedgerRow {
  @UuidField({ description: 'The row.' }) id: string;
  @IntField({ description: 'Counts the rows of the organization, from 1.', example: 12 }) seq: number;
  @EnumField(['granted', 'purchased'], { name: 'CreditBucket', description: 'Which balance it moved.', example: 'granted' }) bucket: string;
  @DecimalString({ description: 'By how much.', example: '-1.5' }) delta: string;
  @EnumField(LEDGER_KINDS, { name: 'LedgerKind', description: 'Why.', example: 'burn' }) kind: string;
  @StringField({ description: 'What caused it: a cause moves credits once.', example: 'adjust:0193488e-8a8c-7cc2-b7a5-1f0c4d1d2a12' })
  key: string;
  @StringField({ nullable: true, description: 'What `ref_id` names.', example: 'receipt' }) ref_type: string | null;
  @StringField({ nullable: true, description: 'The receipt, or the order.' }) ref_id: string | null;
  @IntField({ nullable: true, description: 'Version of the rate card that a call was charged by.', example: 1 }) rate_card_version:
    number | null;
  @StringField({ nullable: true, description: 'What an operator wrote.', example: 'Goodwill' }) reason: string | null;
  @UuidField({ nullable: true, description: 'The operator.' }) actor_id: string | null;
  @DecimalString({ description: 'What its balance was then.', example: '2998.5' }) balance_after: string;
  @DateTimeField({ description: 'When.' }) created_at: string;
}

export class ProofQuery {
  @UuidField({ optional: true, description: 'One organization; without it, every one.' }) org_id?: string;
}

export class ProofInvariant {
  @StringField({ description: 'What must hold.', example: 'balance_is_ledger_sum' }) name: string;
  @BooleanField({ description: 'Whether it does.', example: true }) ok: boolean;
  @IntField({ description: 'How many things were looked at.', example: 2 }) checked: number;
  @IntField({ description: 'How many of them break it.', example: 0 }) violations: number;
  @DecimalString({ description: 'By how much, all in all: credits, or rows.', example: '0' }) difference: string;
  @ListField('object', { description: 'The first five of them, by the ids of their rows.' }) sample: object[];
}

export class ProofResponse {
  @BooleanField({ description: 'Whether everything holds.', example: true }) ok: boolean;
  @DateTimeField({ description: 'The moment that it is about.' }) checked_at: string;
  @IntField({ description: 'How many organizations have credits.', example: 1 }) organizations: number;
  @ListField(() => ProofInvariant, { description: 'Each invariant, by name.' }) invariants: ProofInvariant[];
}

export class ForensicsQuery {
  @IntField({ optional: true, min: 1, max: 366, default: 30, description: 'How far back it looks from now.' }) days: number = 30;
}

export class ForensicsKey {
  @StringField({ description: 'What the calls were for.', example: 'turn' }) feature: string;
  @StringField({ description: 'The model.', example: 'mock' }) model_key: string;
  @StringField({ description: 'The day in UTC.', example: '2026-11-20' }) day: string;
}

export class ForensicsBucketResponse {
  @NestedField(() => ForensicsKey, { description: 'What it is the sum of.' }) key: ForensicsKey;
  @DecimalString({ description: 'What was burned.', example: '12.5' }) credits: string;
  @DecimalString({ description: 'What it cost in US dollars.', example: '0.125' }) usd: string;
  @IntField({ description: 'Calls.', example: 12 }) calls: number;
  @IntField({ description: 'Tokens of all kinds.', example: 48_000 }) tokens: number;
}

export class ForensicsResponse {
  @IntField({ description: 'How far back it looks.', example: 30 }) days: number;
  @DateTimeField({ description: 'Begin of the window.' }) from: string;
  @DateTimeField({ description: 'Its end: now.' }) to: string;
  @ListField(() => ForensicsBucketResponse, {
    description: 'By feature, model and day, from the receipts of calls that burned credits; newest day first.',
  })
  buckets: ForensicsBucketResponse[];
  @DecimalString({ description: 'The sum of every row of the ledger, of all time.', example: '2987.5' }) ledger_total: string;
  @BooleanField({ description: 'Whether both balances are that sum.', example: true }) reconciled: boolean;
  @IntField({ description: 'Burns without a receipt, of all time; there is none.', example: 0 }) unreceipted_burns: number;
}

export class ReceiptTokens {
  @IntField({ description: 'Read anew.', example: 1_200 }) input: number;
  @IntField({ description: 'Read from a cache.', example: 0 }) cached_input: number;
  @IntField({ description: 'Written to a cache.', example: 0 }) cache_write: number;
  @IntField({ description: 'Written.', example: 300 }) output: number;
  @IntField({ description: 'Thought.', example: 0 }) reasoning: number;
}

export class CreditReceiptResponse {
  @UuidField({ description: 'The receipt.' }) id: string;
  @UuidField({ description: 'The organization.' }) org_id: string;
  @StringField({ description: 'What the call was for.', example: 'turn' }) feature: string;
  @UuidField({ nullable: true, description: 'The chat that it was made for.' }) chat_id: string | null;
  @UuidField({ nullable: true, description: 'The run of a process that it was made for by a step.' }) run_id: string | null;
  @UuidField({ nullable: true, description: 'The message of an inbox that it was made for.' }) message_id: string | null;
  @UuidField({ nullable: true, description: 'The agent that it was made for.' }) agent_id: string | null;
  @StringField({ description: 'The model that answered.', example: 'mock' }) model_key: string;
  @UuidField({ description: 'The route over which it was called.' }) route_id: string;
  @BooleanField({ description: 'With a key of the organization’s own, or on a route of its own.', example: false }) byo_key: boolean;
  @NestedField(() => ReceiptTokens, { description: 'What it used; the counts are disjoint.' }) tokens: ReceiptTokens;
  @DecimalString({ nullable: true, description: 'US dollars; null without a price.', example: '0.0018' }) usd_cost: string | null;
  @DecimalString({ description: 'What it costs by the rate card.', example: '0.18' }) credits: string;
  @BooleanField({ description: 'Whether they were burned: the organization paid in credits.', example: true }) enforced: boolean;
  @BooleanField({ description: 'The model had no price.', example: false }) unpriced: boolean;
  @IntField({ nullable: true, description: 'Version of the rate card.', example: 1 }) rate_card_version: number | null;
  @IntField({ nullable: true, description: 'The rule that decided, from 0; null where none matched.', example: 0 }) rule_index:
    number | null;
  @DateTimeField({ description: 'When.' }) created_at: string;
}

export class ProofRequestResponse {
  @UuidField({ description: 'The proof that will be computed.' }) proof_id: string;
}
