import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn, PrimaryGeneratedColumn, Unique } from 'typeorm';
import { Organization } from '../orgs/orgs.entities';
import { DatedOrgRow, StampedRow } from '../rows';

/** An address that models are called at, and the dialect spoken there. With an owner it is one organization's own. */
@Entity('inference_routes')
@Unique('inference_routes_slug', ['slug'])
@Check('inference_routes_dialect', `dialect IN ('dialect_1', 'dialect_2', 'dialect_3')`)
export class InferenceRoute extends StampedRow {
  @Column('text') slug: string;
  @Column('text') label: string;
  @Column('text') dialect: 'dialect_1' | 'dialect_2' | 'dialect_3';
  @Column('text', { nullable: true }) base_url: string | null;
  @Column('boolean', { default: true }) enabled: boolean;
  @Column('int', { default: 0 }) sort_order: number;
  /** The route whose key is spent instead of an own one. */
  @ForeignKey(() => InferenceRoute) @Column('uuid', { nullable: true }) credential_route_id: string | null;
  @Column('text', { nullable: true }) gateway_provider_slug: string | null;
  @ForeignKey(() => Organization) @Column('uuid', { nullable: true }) owner_org_id: string | null;
}

/** The platform's key for a route, encrypted. */
@Entity('route_keys')
export class RouteKey {
  @ForeignKey(() => InferenceRoute, { onDelete: 'CASCADE' }) @PrimaryColumn('uuid') route_id: string;
  @Column('text') api_key: string;
  @Column('uuid', { nullable: true }) updated_by: string | null;
  @Column('timestamptz', { default: () => 'now()' }) updated_at: Date;
}

/** What one organization sets about a route: its own key, another address, on or off. */
@Entity('org_route_settings')
export class OrgRouteSetting {
  @ForeignKey(() => Organization) @PrimaryColumn('uuid') org_id: string;
  @ForeignKey(() => InferenceRoute, { onDelete: 'CASCADE' }) @PrimaryColumn('uuid') route_id: string;
  /** Encrypted. */
  @Column('text', { nullable: true }) api_key: string | null;
  @Column('text', { nullable: true }) credential_source: 'api_key' | 'gateway' | null;
  @Column('text', { nullable: true }) base_url: string | null;
  @Column('boolean', { nullable: true }) enabled: boolean | null;
  @Column('uuid', { nullable: true }) updated_by: string | null;
  @Column('timestamptz', { default: () => 'now()' }) updated_at: Date;
}

/** Prices of calls whose prompt is longer than so many tokens, cached and written ones included; what is null is as for shorter ones. */
export interface PriceTier {
  above_tokens: number;
  input_price_per_1m: string | null;
  output_price_per_1m: string | null;
  cached_input_price_per_1m: string | null;
  cache_write_price_per_1m: string | null;
}

export const MODEL_KINDS = ['chat', 'embedding', 'rerank', 'image'] as const;
export const COST_TIERS = ['free', 'low', 'medium', 'high', 'premium'] as const;

/** A model on a route. A key may stand on several routes; at most one of those rows is enabled (see schema-extras). */
@Entity('model_catalog')
@Unique('model_catalog_key_route', ['key', 'route_id'])
@Index('model_catalog_route', ['route_id'])
export class ModelCatalogEntry extends StampedRow {
  @ForeignKey(() => Organization) @Column('uuid', { nullable: true }) owner_org_id: string | null;
  @Column('text') key: string;
  @ForeignKey(() => InferenceRoute) @Column('uuid') route_id: string;
  @Column('text') label: string;
  @Column('text') provider: string;
  @Column('text', { default: 'chat' }) kind: (typeof MODEL_KINDS)[number];
  /** The provider's name for it; null = the key. */
  @Column('text', { nullable: true }) remote_model_id: string | null;
  @Column('boolean', { default: true }) enabled: boolean;
  @Column('boolean', { default: false }) deprecated: boolean;
  @Column('int', { default: 0 }) sort_order: number;
  @Column('int', { nullable: true }) context_window: number | null;
  @Column('int', { nullable: true }) max_output_tokens: number | null;
  @Column('text', { array: true, default: () => "'{}'" }) allowed_efforts: string[];
  @Column('text', { nullable: true }) cost_tier: (typeof COST_TIERS)[number] | null;
  @Column('boolean', { default: false }) supports_reasoning: boolean;
  @Column('boolean', { default: false }) supports_vision: boolean;
  /** US dollars per million tokens. */
  @Column('numeric', { precision: 20, scale: 6, nullable: true }) input_price_per_1m: string | null;
  @Column('numeric', { precision: 20, scale: 6, nullable: true }) output_price_per_1m: string | null;
  @Column('numeric', { precision: 20, scale: 6, nullable: true }) cached_input_price_per_1m: string | null;
  @Column('numeric', { precision: 20, scale: 6, nullable: true }) cache_write_price_per_1m: string | null;
  /** Credits per thousand tokens of all kinds, where dollar prices are missing. */
  @Column('numeric', { precision: 20, scale: 6, nullable: true }) fallback_credits_per_1k_tokens: string | null;
  /** By rising `above_tokens`. */
  @Column('jsonb', { default: () => "'[]'" }) price_tiers: PriceTier[];
  /** Who takes over when this one is disabled. */
  @ForeignKey(() => ModelCatalogEntry) @Column('uuid', { nullable: true }) replacement_model_id: string | null;
}

/** What a mode (`trivial`, `normal`, …) stands for. */
export interface ModePreset {
  model_key: string;
  reasoning_effort?: string | null;
  max_output_tokens?: number | null;
  thinking_enabled?: boolean | null;
}

/** The platform's own AI settings: one row. Null defers to the environment's defaults. */
@Entity('platform_ai_settings')
@Check('platform_ai_settings_single', 'id = 1')
export class PlatformAiSettings {
  @PrimaryColumn('smallint') id: number;
  @Column('text', { nullable: true }) default_model: string | null;
  @Column('text', { nullable: true }) default_reasoning_effort: string | null;
  @Column('text', { nullable: true }) max_reasoning_effort: string | null;
  @Column('jsonb', { default: () => "'{}'" }) feature_models: Record<string, string>;
  @Column('boolean', { nullable: true }) thinking_enabled: boolean | null;
  @Column('boolean', { nullable: true }) compaction_enabled: boolean | null;
  @Column('numeric', { precision: 4, scale: 3, nullable: true }) compaction_threshold: string | null;
  @Column('jsonb', { nullable: true }) mode_trivial: ModePreset | null;
  @Column('jsonb', { nullable: true }) mode_normal: ModePreset | null;
  @Column('jsonb', { nullable: true }) mode_high_effort: ModePreset | null;
  @Column('jsonb', { nullable: true }) mode_x_high: ModePreset | null;
  /** Slugs of routes that were made with their models once: what an operator deletes of them does not come back. */
  @Column('text', { array: true, default: () => "'{}'" }) seeded_routes: string[];
  @Column('timestamptz', { default: () => 'now()' }) updated_at: Date;
}

/** What one organization sets about models and runs. Null inherits the platform's value; an empty allowlist allows every model. */
@Entity('org_ai_settings')
export class OrgAiSettings {
  @ForeignKey(() => Organization) @PrimaryColumn('uuid') org_id: string;
  @Column('text', { nullable: true }) agent_default_model: string | null;
  @Column('text', { nullable: true }) chat_default_model: string | null;
  @Column('text', { nullable: true }) intake_classifier_default_model: string | null;
  @Column('text', { nullable: true }) process_default_model: string | null;
  @Column('text', { nullable: true }) tool_router_default_model: string | null;
  @Column('text', { array: true, default: () => "'{}'" }) agent_model_allowlist: string[];
  @Column('text', { array: true, default: () => "'{}'" }) chat_model_allowlist: string[];
  @Column('text', { array: true, default: () => "'{}'" }) prompt_model_allowlist: string[];
  @Column('numeric', { precision: 20, scale: 6, nullable: true }) budget_limit_usd: string | null;
  @Column('boolean', { nullable: true }) compaction_enabled: boolean | null;
  @Column('numeric', { precision: 4, scale: 3, nullable: true }) compaction_threshold: string | null;
  @Column('boolean', { nullable: true }) decision_log_enabled: boolean | null;
  @Column('boolean', { nullable: true }) thinking_enabled: boolean | null;
  /** Provider 1 is the platform's route `openai`, provider 2 its route `anthropic`. */
  @Column('text', { nullable: true }) provider_1_enabled: 'true' | 'false' | null;
  @Column('text', { nullable: true }) provider_1_credential_source: 'api_key' | 'gateway' | null;
  /** Encrypted, as is every secret here. */
  @Column('text', { nullable: true }) provider_1_api_key: string | null;
  @Column('text', { nullable: true }) provider_1_base_url: string | null;
  @Column('text', { nullable: true }) provider_2_enabled: 'true' | 'false' | null;
  @Column('text', { nullable: true }) provider_2_credential_source: 'api_key' | 'gateway' | null;
  @Column('text', { nullable: true }) provider_2_api_key: string | null;
  @Column('text', { nullable: true }) provider_2_base_url: string | null;
  @Column('text', { nullable: true }) ai_gateway_mode: 'custom' | 'off' | null;
  @Column('text', { nullable: true }) ai_gateway_account_id: string | null;
  @Column('text', { nullable: true }) ai_gateway_gateway_id: string | null;
  @Column('text', { nullable: true }) ai_gateway_token: string | null;
  @Column('text', { nullable: true }) ai_gateway_log_payloads: 'true' | 'false' | null;
  @Column('timestamptz', { default: () => 'now()' }) updated_at: Date;
}

/** What one model call used and cost. Written once, with the step it belongs to; never changed. */
@Entity('inference_receipts')
@Index('inference_receipts_org', ['org_id', 'created_at'])
@Index('inference_receipts_chat', ['chat_id'], { where: 'chat_id IS NOT NULL' })
@Unique('inference_receipts_step', ['turn_id', 'step_no'])
export class InferenceReceipt extends DatedOrgRow {
  @Column('text') feature: string;
  @Column('uuid', { nullable: true }) chat_id: string | null;
  @Column('uuid', { nullable: true }) turn_id: string | null;
  @Column('int', { nullable: true }) step_no: number | null;
  @Column('uuid', { nullable: true }) agent_id: string | null;
  /** The run of a process that has asked by itself; what its agents ask is their chats'. */
  @Column('uuid', { nullable: true }) run_id: string | null;
  /** The message of an inbox that was judged by it. */
  @Column('uuid', { nullable: true }) message_id: string | null;
  @Column('text', { nullable: true }) requested_model: string | null;
  /** Key of the catalog row that answered. */
  @Column('text') model_key: string;
  @Column('text') resolve_reason: string;
  @Column('uuid') route_id: string;
  @Column('boolean', { default: false }) byo_key: boolean;
  @Column('int') input_tokens: number;
  @Column('int') cached_input_tokens: number;
  @Column('int') cache_write_tokens: number;
  @Column('int') output_tokens: number;
  @Column('int') reasoning_tokens: number;
  /** US dollars per million tokens that the call was charged by; reasoning is charged as output. Null when the model has no dollar price. */
  @Column('numeric', { precision: 20, scale: 6, nullable: true }) input_price_per_1m: string | null;
  @Column('numeric', { precision: 20, scale: 6, nullable: true }) cached_input_price_per_1m: string | null;
  @Column('numeric', { precision: 20, scale: 6, nullable: true }) cache_write_price_per_1m: string | null;
  @Column('numeric', { precision: 20, scale: 6, nullable: true }) output_price_per_1m: string | null;
  /** Null when the model has no price. */
  @Column('numeric', { precision: 20, scale: 6, nullable: true }) usd_cost: string | null;
  /** Credits per 1,000 tokens that the model cost where it has no dollar price; null where it has one. */
  @Column('numeric', { precision: 20, scale: 6, nullable: true }) fallback_credits_per_1k_tokens: string | null;
  /** What the rate card says that it costs. They are taken from the balance where the call is {@link enforced}. */
  @Column('numeric', { precision: 20, scale: 6, default: 0 }) credits: string;
  /** Version of the rate card that was in force when the call was made; null where there was none. */
  @Column('int', { nullable: true }) rate_card_version: number | null;
  /** Of the rule that decided, from 0; null where none matched. */
  @Column('int', { nullable: true }) rule_index: number | null;
  /** Its organization paid in credits when the call was made. */
  @Column('boolean', { default: false }) enforced: boolean;
  @Column('boolean', { default: false }) unpriced: boolean;
  @Column('int') duration_ms: number;
  @Column('int', { nullable: true }) first_token_ms: number | null;
}

/**
 * What a model call that is under way may cost, held against its organization's budget or its credits. It counts until its receipt is
 * there, or until its time is up; the row itself goes some time after that. See docs/adr/0021-budgets-are-reserved.md.
 */
@Entity('call_holds')
@Index('call_holds_org', ['org_id'])
@Check('call_holds_unit', `unit IN ('usd', 'credits')`)
export class CallHold {
  /** What makes the call: it makes one at a time, so whoever takes the work over replaces what was held before. */
  @PrimaryColumn('text') work: string;
  @Column('uuid') org_id: string;
  /** Id that the call's receipt will have. */
  @Column('uuid') receipt_id: string;
  /** The agent that it is made for, if any. */
  @Column('uuid', { nullable: true }) agent_id: string | null;
  /** Dollars of a budget, or credits. */
  @Column('text') unit: 'usd' | 'credits';
  /** 0 for a model without a price. */
  @Column('numeric', { precision: 20, scale: 6 }) amount: string;
  @Column('timestamptz') expires_at: Date;
}

/** What organizations have used, by the hour; see {@link USAGE_TALLY}. */
@Entity('usage_tallies')
@Index('usage_tallies_hour', ['org_id', 'hour'])
@Index('usage_tallies_burned', ['hour'], { where: 'burned_credits <> 0' })
@Index('usage_tallies_appended', ['folded'], { where: 'NOT folded' })
export class UsageTally {
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' }) id: string;
  @Column('uuid') org_id: string;
  /** Its begin, in UTC. */
  @Column('timestamptz') hour: Date;
  @Column('uuid') agent_id: string;
  /** Empty for chats and turns, as is the feature. */
  @Column('text') model_key: string;
  @Column('text') feature: string;
  @Column('int', { default: 0 }) chats: number;
  @Column('int', { default: 0 }) turns: number;
  @Column('int', { default: 0 }) calls: number;
  /** Of all kinds. */
  @Column('bigint', { default: 0 }) tokens: string;
  /** Sums have no bound that one organization's calls could pass: all are folded by one statement. */
  @Column('numeric', { default: 0 }) usd_cost: string;
  /** Of it, what was spent in chats. */
  @Column('numeric', { default: 0 }) chats_usd_cost: string;
  @Column('numeric', { default: 0 }) credits: string;
  /** Of them, what was taken from balances, and the dollars that it cost. */
  @Column('numeric', { default: 0 }) burned_credits: string;
  @Column('numeric', { default: 0 }) burned_usd: string;
  @Column('boolean', { default: false }) folded: boolean;
}
