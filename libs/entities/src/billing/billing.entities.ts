import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn, Unique } from 'typeorm';
import { Organization } from '../orgs/orgs.entities';
import { DatedRow, StampedRow } from '../rows';

/** Credits and money: six digits after the point, decimal texts in code. */
const AMOUNT = { precision: 26, scale: 6 } as const;

/** What can be subscribed to, and what it entitles to. Caps: -1 = unlimited, 0 = none. */
@Entity('plans')
@Unique('plans_code', ['code'])
@Unique('plans_product', ['polar_product_id'])
@Unique('plans_product_annual', ['polar_product_id_annual'])
@Index('plans_order', ['sort_order', 'code'])
export class Plan extends StampedRow {
  @Column('text') code: string;
  @Column('text') name: string;
  @Column('int', { default: 0 }) sort_order: number;
  /** A month's price in `price_currency`, as it is shown. The provider's product decides what is paid. */
  @Column('numeric', { ...AMOUNT, nullable: true }) price_display: string | null;
  @Column('text', { default: 'USD' }) price_currency: string;
  @Column('numeric', { ...AMOUNT, default: 0 }) monthly_credits: string;
  /** Granted with the first month's, once ever per organization. */
  @Column('numeric', { ...AMOUNT, default: 0 }) initial_credits: string;
  /** How far below zero calls may begin, in per cent of `monthly_credits`. */
  @Column('numeric', { ...AMOUNT, default: 0 }) overdraft_pct: string;
  /** Whether its credits come anew each month. One that does not has no period. */
  @Column('boolean', { default: true }) renews: boolean;
  @Column('boolean', { default: false }) is_enterprise: boolean;
  @Column('boolean', { default: false }) audit_log: boolean;
  @Column('boolean', { default: false }) byo_keys: boolean;
  @Column('boolean', { default: false }) decision_log: boolean;
  @Column('boolean', { default: false }) direct_model_choice: boolean;
  @Column('boolean', { default: false }) enforced_idp_sso: boolean;
  @Column('boolean', { default: false }) enforces_credits: boolean;
  @Column('boolean', { default: false }) hitl_routing: boolean;
  @Column('boolean', { default: false }) per_agent_budgets: boolean;
  @Column('boolean', { default: false }) shared_blocks: boolean;
  @Column('int', { default: 0 }) max_agents: number;
  @Column('int', { default: 0 }) max_seats: number;
  @Column('int', { default: 0 }) max_inboxes: number;
  @Column('int', { default: 0 }) max_integrations: number;
  @Column('int', { default: 0 }) max_custom_environments: number;
  @Column('int', { default: 0 }) max_custom_models: number;
  @Column('int', { default: 0 }) max_custom_image_gb: number;
  @Column('int', { default: 0 }) max_concurrent_chats: number;
  @Column('int', { default: 0 }) max_queue_depth: number;
  @Column('int', { default: 0 }) intake_messages_per_day: number;
  @Column('int', { default: 0 }) intake_classifier_calls_per_day: number;
  @Column('int', { default: 0 }) decision_retention_days: number;
  /** The provider's product, paid by the month. Null: not for sale. */
  @Column('uuid', { nullable: true }) polar_product_id: string | null;
  @Column('uuid', { nullable: true }) polar_product_id_annual: string | null;
}

/** Credits that are bought once. */
@Entity('credit_packs')
@Unique('credit_packs_code', ['code'])
@Unique('credit_packs_product', ['polar_product_id'])
@Index('credit_packs_order', ['sort_order', 'code'])
@Check('credit_packs_credits', 'credits > 0')
export class CreditPack extends StampedRow {
  @Column('text') code: string;
  @Column('text') name: string;
  @Column('numeric', AMOUNT) credits: string;
  @Column('numeric', { ...AMOUNT, nullable: true }) price_display: string | null;
  @Column('text', { default: 'USD' }) price_currency: string;
  @Column('boolean', { default: true }) is_active: boolean;
  @Column('int', { default: 0 }) sort_order: number;
  /** Null: not for sale. */
  @Column('uuid', { nullable: true }) polar_product_id: string | null;
}

/** What the seed has made here once, so that what an operator has deleted does not come back. */
@Entity('billing_seeds')
export class BillingSeed {
  /** Kind and code, as `plan:trial`. */
  @PrimaryColumn('text') name: string;
}

/** What calls cost in credits, from a day on. Versions that have begun never change. */
@Entity('rate_cards')
@Unique('rate_cards_from', ['effective_from'])
@Check('rate_cards_credits_per_usd', 'credits_per_usd > 0')
export class RateCard {
  @PrimaryColumn('int') version: number;
  /** A day in UTC, `YYYY-MM-DD`. */
  @Column('date') effective_from: string;
  @Column('numeric', AMOUNT) credits_per_usd: string;
  /** The first that matches a call decides. */
  @Column('jsonb', { default: () => "'[]'" }) rules: unknown[];
  @Column('uuid', { nullable: true }) published_by: string | null;
  @Column('timestamptz', { default: () => 'now()' }) created_at: Date;
}

/** What a US dollar is in other currencies, for showing amounts. One row: setting them replaces them. */
@Entity('credit_display_fx')
@Check('credit_display_fx_one', 'id = 1')
export class CreditDisplayFx {
  @PrimaryColumn('smallint', { default: 1 }) id: number;
  /** Units of the currency for a US dollar, by its ISO 4217 code. */
  @Column('jsonb', { default: () => "'{}'" }) rates: Record<string, string>;
  @Column('uuid', { nullable: true }) updated_by: string | null;
  @Column('timestamptz', { default: () => 'now()' }) updated_at: Date;
}

export type SubscriptionStatus = 'trialing' | 'active' | 'past_due' | 'canceled' | 'expired' | 'unsubscribed';

/** A change of plan that was asked of the provider and is not paid yet. */
export interface PendingChange {
  change_id: string;
  plan_code: string;
  requested_at: string;
  requested_by: string;
  /** The product that was asked for, which says the interval; not shown. */
  product_id?: string;
  /** Those that it has taken the place of, the newest first; not shown. Where the provider refuses it, the newest of them stands again. */
  replaced?: Omit<PendingChange, 'replaced'>[];
}

/** The plan of an organization. What changes it holds its row. */
@Entity('subscriptions')
@Unique('subscriptions_external', ['external_subscription_id'])
@Index('subscriptions_plan', ['plan_id'])
@Index('subscriptions_due', ['period_end'], { where: 'period_end IS NOT NULL' })
@Check('subscriptions_status', `status IN ('trialing', 'active', 'past_due', 'canceled', 'expired', 'unsubscribed')`)
export class Subscription {
  @ForeignKey(() => Organization) @PrimaryColumn('uuid') org_id: string;
  @ForeignKey(() => Plan) @Column('uuid') plan_id: string;
  /** Read by gates and by the period job: entitled while trialing, active or past_due. */
  @Column('text', { default: 'active' }) status: SubscriptionStatus;
  @Column('timestamptz', { nullable: true }) period_start: Date | null;
  /** Null: there are no periods. */
  @Column('timestamptz', { nullable: true }) period_end: Date | null;
  /** Periods end on its day of the month, or on the last of a shorter one. */
  @Column('timestamptz', { nullable: true }) period_anchor: Date | null;
  /** Entitlements that are the organization's own, by name. */
  @Column('jsonb', { default: () => "'{}'" }) overrides: Record<string, boolean | number>;
  @Column('text', { nullable: true }) override_reason: string | null;
  /** The current one at the payment provider. Events of others change nothing here. */
  @Column('text', { nullable: true }) external_subscription_id: string | null;
  @Column('jsonb', { nullable: true }) pending_change: PendingChange | null;
  @Column('timestamptz', { default: () => 'now()' }) created_at: Date;
  @Column('timestamptz', { default: () => 'now()' }) updated_at: Date;
}

/** A subscription at the payment provider, as its newest event tells. */
@Entity('external_subscriptions')
@Index('external_subscriptions_org', ['org_id'])
@Index('external_subscriptions_customer', ['customer_id'])
export class ExternalSubscription {
  @PrimaryColumn('text') id: string;
  @ForeignKey(() => Organization) @Column('uuid') org_id: string;
  /** Who pays. */
  @Column('text', { nullable: true }) customer_id: string | null;
  @Column('text', { nullable: true }) product_id: string | null;
  /** The provider's own word. */
  @Column('text', { nullable: true }) status: string | null;
  @Column('timestamptz', { nullable: true }) current_period_start: Date | null;
  @Column('timestamptz', { nullable: true }) current_period_end: Date | null;
  @Column('boolean', { default: false }) cancel_at_period_end: boolean;
  /** Of the newest event; older ones change nothing. */
  @Column('timestamptz') modified_at: Date;
  /** Set, it beats all orders that are older. */
  @Column('timestamptz', { nullable: true }) revoked_at: Date | null;
  @Column('timestamptz', { default: () => 'now()' }) created_at: Date;
}

/** A paid order that was applied: once, whatever it granted. */
@Entity('billing_orders')
@Index('billing_orders_org', ['org_id', 'paid_at'])
@Index('billing_orders_customer', ['customer_id'])
@Index('billing_orders_plan', ['code'], { where: `kind = 'plan'` })
export class BillingOrder {
  /** The provider's. */
  @PrimaryColumn('text') id: string;
  @ForeignKey(() => Organization) @Column('uuid') org_id: string;
  @Column('text') kind: 'plan' | 'pack';
  /** Of the plan or the pack. */
  @Column('text') code: string;
  @Column('text', { nullable: true }) product_id: string | null;
  @Column('text', { nullable: true }) subscription_id: string | null;
  @Column('text', { nullable: true }) customer_id: string | null;
  @Column('text') billing_reason: string;
  @Column('numeric', { ...AMOUNT, default: 0 }) granted: string;
  @Column('numeric', { ...AMOUNT, default: 0 }) refunded: string;
  @Column('timestamptz') paid_at: Date;
  @Column('timestamptz', { default: () => 'now()' }) applied_at: Date;
}

/** A checkout that was begun here, so that its order can be told from one that merely names an organization. */
@Entity('billing_checkouts')
@Index('billing_checkouts_org', ['org_id'])
@Index('billing_checkouts_payer', ['user_id', 'org_id'])
export class BillingCheckout {
  /** The provider's. */
  @PrimaryColumn('text') id: string;
  @ForeignKey(() => Organization) @Column('uuid') org_id: string;
  @Column('uuid') user_id: string;
  @Column('text') kind: 'plan' | 'pack';
  /** As the provider was told it: what it names may have another by now. */
  @Column('text') code: string;
  /** Of the plan or the pack, which may be gone. */
  @Column('uuid', { nullable: true }) offer_id: string | null;
  /** What its page sells, whatever stands for that by now. */
  @Column('text', { nullable: true }) product_id: string | null;
  @Column('timestamptz', { default: () => 'now()' }) created_at: Date;
}

export type BillingEventStatus = 'received' | 'applied' | 'ignored' | 'unresolved' | 'failed';

/** A delivery of the payment provider, stored before anything is done about it. */
@Entity('billing_events')
@Unique('billing_events_delivery', ['provider', 'delivery_id'])
@Index('billing_events_newest', ['received_at', 'id'])
@Index('billing_events_status', ['status', 'received_at', 'id'])
@Index('billing_events_org', ['org_id', 'received_at', 'id'])
@Index('billing_events_due', ['next_attempt_at'], { where: `status IN ('received', 'failed') AND next_attempt_at IS NOT NULL` })
@Index('billing_events_open', ['status'], { where: `status IN ('failed', 'unresolved') AND settled_at IS NULL` })
@Check('billing_events_statuses', `status IN ('received', 'applied', 'ignored', 'unresolved', 'failed')`)
export class BillingEvent {
  @PrimaryColumn('uuid') id: string;
  @Column('text', { default: 'polar' }) provider: string;
  /** The provider's `webhook-id`. */
  @Column('text') delivery_id: string;
  @Column('text') type: string;
  /** Known once it was applied. */
  @Column('uuid', { nullable: true }) org_id: string | null;
  @Column('text', { default: 'received' }) status: BillingEventStatus;
  @Column('int', { default: 0 }) attempts: number;
  @Column('text', { nullable: true }) error: string | null;
  @Column('jsonb') payload: Record<string, unknown>;
  @Column('timestamptz', { default: () => 'now()' }) received_at: Date;
  @Column('timestamptz', { nullable: true }) applied_at: Date | null;
  /** When what went wrong was made good: by a replay, or by an operator who says so. Its status goes on telling what became of it. */
  @Column('timestamptz', { nullable: true }) settled_at: Date | null;
  /** Null: no more attempts. */
  @Column('timestamptz', { nullable: true, default: () => 'now()' }) next_attempt_at: Date | null;
}

/** What an organization has. Its amounts are moved by rows of the ledger, and by nothing else (a trigger refuses it). */
@Entity('org_credits')
@Check('org_credits_purchased', 'purchased_balance >= 0')
export class OrgCredits {
  @ForeignKey(() => Organization) @PrimaryColumn('uuid') org_id: string;
  /** Granted by plans and operators; the only one that goes below zero. */
  @Column('numeric', { ...AMOUNT, default: 0 }) balance: string;
  /** Bought; it does not expire. */
  @Column('numeric', { ...AMOUNT, default: 0 }) purchased_balance: string;
  /** All that was ever bought. */
  @Column('numeric', { ...AMOUNT, default: 0 }) purchase_total: string;
  /** Of the newest row of the ledger. */
  @Column('bigint', { default: 0 }) ledger_seq: string;
}

/** Who has had the first credits of the plan of new organizations: they are given once to a person. */
@Entity('trial_grants')
export class TrialGrant {
  /** Of the owner. */
  @PrimaryColumn('text') email_canonical: string;
  @Column('uuid') org_id: string;
  @Column('timestamptz', { default: () => 'now()' }) created_at: Date;
}

export type CreditBucket = 'granted' | 'purchased';
export type LedgerKind = 'grant' | 'purchase' | 'burn' | 'expire' | 'adjust' | 'refund' | 'reset';

/** After so many rows of an organization's ledger it is summed up what they come to. */
export const LEDGER_SUMMED_EVERY = 1_000;

/** A movement of credits. Appended, never changed: a trigger and missing rights refuse it. Inserting moves the balance. */
@Entity('credit_ledger')
@Unique('credit_ledger_key', ['key'])
@Unique('credit_ledger_seq', ['org_id', 'seq'])
// Calls write nearly all rows; what else has moved credits is looked for among the others.
@Index('credit_ledger_but_burns', ['org_id', 'seq'], { where: `kind <> 'burn'` })
@Check('credit_ledger_bucket', `bucket IN ('granted', 'purchased')`)
@Check('credit_ledger_kind', `kind IN ('grant', 'purchase', 'burn', 'expire', 'adjust', 'refund', 'reset')`)
@Check('credit_ledger_delta', 'delta <> 0')
export class CreditLedgerRow extends DatedRow {
  @ForeignKey(() => Organization) @Column('uuid') org_id: string;
  /** Counts the rows of an organization, from 1. Set by the trigger that moves the balance. */
  @Column('bigint') seq: string;
  @Column('text') bucket: CreditBucket;
  @Column('numeric', AMOUNT) delta: string;
  @Column('text') kind: LedgerKind;
  /** Says what caused it; a cause moves credits once. What is taken from both buckets has a second row, its key ends in `:purchased`. */
  @Column('text') key: string;
  /** SHA-256 of what was asked: the same key with something else is refused. */
  @Column('bytea') content_hash: Buffer;
  @Column('text', { nullable: true }) ref_type: string | null;
  @Column('text', { nullable: true }) ref_id: string | null;
  @Column('int', { nullable: true }) rate_card_version: number | null;
  @Column('text', { nullable: true }) reason: string | null;
  @Column('uuid', { nullable: true }) actor_id: string | null;
  /** Of its bucket. Set by the trigger that moves the balance. */
  @Column('numeric', AMOUNT) balance_after: string;
  /** The sum of all rows of the organization up to it, so that nobody has to add them all up. Of each thousandth alone; kept by the trigger. */
  @Column('numeric', { ...AMOUNT, nullable: true }) sum_until: string | null;
}

/** A proof of all credits: asked for, or of the night. */
@Entity('ledger_proofs')
@Index('ledger_proofs_checked', ['checked_at'])
export class LedgerProof extends DatedRow {
  /** The operator; null for the one of the night. */
  @Column('uuid', { nullable: true }) requested_by: string | null;
  /** The moment that it is about; null until it is computed. */
  @Column('timestamptz', { nullable: true }) checked_at: Date | null;
  @Column('boolean', { nullable: true }) ok: boolean | null;
  /** How many there are, by the name of the invariant. */
  @Column('jsonb', { nullable: true }) violations: Record<string, number> | null;
}
