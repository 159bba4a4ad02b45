import { REASONING_EFFORTS, type ReasoningEffort } from '@aps/contracts';
import { IntersectionType, OmitType, PartialType } from '@nestjs/swagger';
import {
  BooleanField,
  DateTimeField,
  DecimalField,
  DecimalString,
  EnumField,
  IntField,
  ListField,
  NestedField,
  SlugField,
  StringField,
  UrlField,
  UuidField,
} from '@aps/platform/http';
import { ModelResponse } from './models.dto';
import { COST_TIER_VALUES, DIALECT_VALUES, MODEL_KIND_VALUES } from './values';

const price = (of: string, example: string) => ({
  optional: true,
  nullable: true,
  min: 0,
  description: `US dollars per million ${of}; null: not known.`,
  example,
});

class DollarPrices {
  @DecimalField(price('input tokens', '2')) input_price_per_1m?: string | null;
  @DecimalField(price('output tokens, reasoning included', '10')) output_price_per_1m?: string | null;
  @DecimalField(price('input tokens that the provider had cached; without it they cost what input does', '0.2'))
  cached_input_price_per_1m?: string | null;
  @DecimalField(price('input tokens that the provider caches; without it they cost what input does', '2.5'))
  cache_write_price_per_1m?: string | null;
}

class TierBound {
  @IntField({ min: 1, description: 'The prompt is longer than so many tokens, cached ones included.', example: 200_000 })
  above_tokens: number;
}

/** What calls with long prompts cost; a price that is null is as for shorter ones. */
export class PriceTierInput extends IntersectionType(TierBound, DollarPrices) {}

export class PriceTierResponse extends TierBound {
  @DecimalString({ nullable: true, description: 'US dollars per million input tokens.', example: '4' }) input_price_per_1m: string | null;
  @DecimalString({ nullable: true, description: 'US dollars per million output tokens.', example: '15' }) output_price_per_1m:
    string | null;
  @DecimalString({ nullable: true, description: 'US dollars per million cached input tokens.', example: '0.4' })
  cached_input_price_per_1m: string | null;
  @DecimalString({ nullable: true, description: 'US dollars per million tokens that are cached.', example: '5' })
  cache_write_price_per_1m: string | null;
}

const EffortsField = () =>
  ListField(REASONING_EFFORTS, {
    optional: true,
    unique: true,
    description: 'Reasoning efforts that it takes; empty with `supports_reasoning`: all.',
    example: ['low', 'medium', 'high'],
  });

class ModelFields extends DollarPrices {
  @StringField({
    min: 1,
    max: 128,
    pattern: /^\S+$/,
    description: 'What agents, messages and settings name it by.',
    example: 'claude-sonnet-5-5',
  })
  key: string;

  @StringField({ min: 1, max: 200, description: 'Its name.', example: 'Claude Sonnet 5.5' }) label: string;
  @StringField({ min: 1, max: 64, description: 'Who made it.', example: 'anthropic' }) provider: string;
  @UuidField({ description: 'The route that it is called by.' }) route_id: string;

  @EnumField(MODEL_KIND_VALUES, { name: 'ModelKind', optional: true, default: 'chat', description: 'What it does.', example: 'chat' })
  kind?: (typeof MODEL_KIND_VALUES)[number];

  @StringField({
    optional: true,
    nullable: true,
    min: 1,
    max: 200,
    description: 'The provider’s name of it; null: its key.',
    example: 'claude-sonnet-5-5-20261001',
  })
  remote_model_id?: string | null;

  @BooleanField({
    optional: true,
    default: true,
    description: 'It may be called. Of a key, one model is enabled at a time.',
    example: true,
  })
  enabled?: boolean;

  @IntField({ optional: true, default: 0, description: 'Place in lists.', example: 10 }) sort_order?: number;

  @IntField({ optional: true, nullable: true, min: 1, description: 'Tokens that fit into one call.', example: 1_000_000 })
  context_window?: number | null;

  @IntField({ optional: true, nullable: true, min: 1, description: 'Tokens that it writes at most.', example: 128_000 })
  max_output_tokens?: number | null;

  @EffortsField() allowed_efforts?: ReasoningEffort[];

  @EnumField(COST_TIER_VALUES, {
    name: 'CostTier',
    optional: true,
    nullable: true,
    description: 'Roughly how expensive it is.',
    example: 'medium',
  })
  cost_tier?: (typeof COST_TIER_VALUES)[number] | null;

  @BooleanField({ optional: true, default: false, description: 'It can think before it answers.', example: true })
  supports_reasoning?: boolean;
  @BooleanField({ optional: true, default: false, description: 'It reads images.', example: true }) supports_vision?: boolean;

  @DecimalField({
    optional: true,
    nullable: true,
    min: 0,
    description: 'Credits per thousand tokens of all kinds, where input or output has no price in dollars.',
    example: '0.5',
  })
  fallback_credits_per_1k_tokens?: string | null;

  @ListField(() => PriceTierInput, { optional: true, max: 10, description: 'Prices of calls with long prompts.' })
  price_tiers?: PriceTierInput[];

  @UuidField({ optional: true, nullable: true, description: 'The model that answers for it while it is disabled.' })
  replacement_model_id?: string | null;
}

export class CreateModelRequest extends ModelFields {}

/** Only what is there changes. */
export class UpdateModelRequest extends PartialType(ModelFields, { skipNullProperties: false }) {
  @BooleanField({ optional: true, description: 'It still answers, but a newer one should be chosen.', example: true }) deprecated?: boolean;
}

/** A model as those see it who govern it. */
export class ModelCatalogEntryResponse extends ModelResponse {
  @UuidField({ description: 'The route that it is called by.' }) route_id: string;

  @StringField({ nullable: true, description: 'The provider’s name of it; null: its key.', example: 'claude-sonnet-5-5-20261001' })
  remote_model_id: string | null;

  @BooleanField({ description: 'It may be called.', example: true }) enabled: boolean;

  @DecimalString({ nullable: true, description: 'Credits per thousand tokens, where dollar prices are missing.', example: null })
  fallback_credits_per_1k_tokens: string | null;

  @ListField(() => PriceTierResponse, { description: 'Prices of calls with long prompts, by rising length.' })
  price_tiers: PriceTierResponse[];
  @UuidField({ nullable: true, description: 'The model that answers for it while it is disabled.' }) replacement_model_id: string | null;

  @BooleanField({ description: 'Live configuration names its key: it can be neither deleted nor renamed.', example: false })
  pinned: boolean;
  @DateTimeField({ description: 'When it was made.' }) created_at: string;
  @DateTimeField({ description: 'When it last changed.' }) updated_at: string;
}

class RouteFields {
  @SlugField({ description: 'What settings name it by; for good.', example: 'my-vllm' }) slug: string;
  @StringField({ min: 1, max: 200, description: 'Its name.', example: 'Our vLLM' }) label: string;

  @EnumField(DIALECT_VALUES, {
    name: 'Dialect',
    description: '`dialect_1` Chat Completions, `dialect_2` Messages, `dialect_3` generateContent.',
    example: 'dialect_1',
  })
  dialect: (typeof DIALECT_VALUES)[number];

  @UrlField({
    optional: true,
    nullable: true,
    description: 'What paths are appended to; null: the address of the vendor whose dialect it is. It may be within the cluster.',
    example: 'https://models.example.com/v1',
  })
  base_url?: string | null;

  @UuidField({ optional: true, nullable: true, description: 'The route whose key is spent instead of one of its own.' })
  credential_route_id?: string | null;

  @BooleanField({ optional: true, default: true, description: 'Calls may take it.', example: true }) enabled?: boolean;

  @StringField({
    optional: true,
    nullable: true,
    min: 1,
    max: 64,
    pattern: /^[A-Za-z0-9._-]+$/,
    description: 'What an AI gateway calls the provider; null: the slug.',
    example: 'openai',
  })
  gateway_provider_slug?: string | null;

  @IntField({ optional: true, default: 0, description: 'Place in lists.', example: 10 }) sort_order?: number;
}

export class CreateRouteRequest extends RouteFields {}

/** Only what is there changes. The slug stays. */
export class UpdateRouteRequest extends PartialType(OmitType(RouteFields, ['slug']), { skipNullProperties: false }) {}

export class InferenceRouteResponse {
  @UuidField({ description: 'The route.' }) id: string;
  @StringField({ description: 'What settings name it by.', example: 'openai' }) slug: string;
  @StringField({ description: 'Its name.', example: 'OpenAI' }) label: string;
  @EnumField(DIALECT_VALUES, { name: 'Dialect', description: 'How it is spoken to.', example: 'dialect_1' })
  dialect: (typeof DIALECT_VALUES)[number];
  @StringField({ nullable: true, description: 'Null: the vendor’s.', example: 'https://api.openai.com/v1' }) base_url: string | null;
  @BooleanField({ description: 'Calls may take it.', example: true }) enabled: boolean;
  @IntField({ description: 'Place in lists.', example: 10 }) sort_order: number;
  @UuidField({ nullable: true, description: 'The route whose key is spent.' }) credential_route_id: string | null;
  @StringField({ nullable: true, description: 'What an AI gateway calls the provider; null: the slug.', example: null })
  gateway_provider_slug: string | null;

  @UuidField({ nullable: true, description: 'The organization whose own route it is; null for routes of the platform.' })
  owner_org_id: string | null;

  @IntField({ description: 'How much is pinned to it.', example: 3 }) pin_count: number;
  @DateTimeField({ description: 'When it was made.' }) created_at: string;
  @DateTimeField({ description: 'When it last changed.' }) updated_at: string;
}

export class PinnedModel {
  @UuidField({ description: 'The model.' }) id: string;
  @StringField({ description: 'Its key.', example: 'claude-sonnet-5-5' }) key: string;
  @StringField({ description: 'Its name.', example: 'Claude Sonnet 5.5' }) label: string;
}

export class PinnedOffering extends PinnedModel {
  @UuidField({ description: 'The organization whose own model it is.' }) owner_org_id: string;
}

export class PinnedTemplate {
  @UuidField({ description: 'The prompt template.' }) id: string;
  @UuidField({ description: 'Its organization.' }) org_id: string;
  @StringField({ description: 'Its name.', example: 'Extract an invoice' }) name: string;
  @StringField({ description: 'The model it names.', example: 'claude-sonnet-5-5' }) model_key: string;
}

export class PinnedMode {
  @StringField({ description: 'The mode.', example: 'high_effort' }) mode: string;
  @StringField({ description: 'The model it names.', example: 'claude-opus-5-5' }) model_key: string;
}

export class PinnedFeature {
  @StringField({ description: 'The side work.', example: 'title' }) feature: string;
  @StringField({ description: 'The model that does it.', example: 'claude-haiku-5' }) model_key: string;
}

/** What is pinned to a route. */
export class RoutePinsResponse {
  @UuidField({ description: 'The route.' }) route_id: string;
  @ListField(() => PinnedModel, { description: 'Its enabled models.' }) catalog: PinnedModel[];

  @ListField(() => PinnedTemplate, {
    description: 'Prompt templates that name one of them; at most a thousand, all of them counted in `total`.',
  })
  prompt_templates: PinnedTemplate[];

  @ListField(() => PinnedMode, { description: 'Modes that stand for one of them.' }) mode_presets: PinnedMode[];
  @ListField(() => PinnedFeature, { description: 'Side work that one of them does.' }) feature_models: PinnedFeature[];
  @ListField(() => PinnedOffering, { description: 'Enabled models of organizations.' }) org_offerings: PinnedOffering[];
  @IntField({ description: 'All of them.', example: 3 }) total: number;
  @BooleanField({ description: 'A repoint would leave nothing pinned; false where organizations have models on it.', example: true })
  repoint_clears: boolean;
}

export class RepointRouteRequest {
  @UuidField({ description: 'An enabled route of the platform, whose dialect serves every model that moves.' }) target_route_id: string;
}

export class RepointedCounts {
  @IntField({ description: 'Models.', example: 2 }) catalog: number;
  @IntField({ description: 'Prompt templates that name one of them.', example: 5 }) prompt_templates: number;
  @IntField({ description: 'Modes that stand for one of them.', example: 1 }) mode_presets: number;
  @IntField({ description: 'Side work that one of them does.', example: 0 }) feature_models: number;
}

export class MergedModel {
  @StringField({ description: 'The key that both routes had.', example: 'claude-sonnet-5-5' }) key: string;
  @UuidField({ description: 'The model that stays: the target’s.' }) id: string;
}

export class RepointLeft {
  @IntField({ description: 'Models of organizations, which stay where they are.', example: 0 }) org_offerings: number;
}

export class RepointRouteResponse {
  @NestedField(() => RepointedCounts, { description: 'What is on the target now.' }) moved: RepointedCounts;
  @ListField(() => MergedModel, { description: 'Keys that the target had already; the models of the source are gone.' })
  merged: MergedModel[];
  @NestedField(() => RepointLeft, { description: 'What stays.' }) left: RepointLeft;
}

const KEY_SOURCE_VALUES = ['stored', 'legacy', 'env', 'borrowed', 'none'] as const;

export class PutRouteKeyRequest {
  @StringField({
    nullable: true,
    max: 4_096,
    description: 'The key, which nobody gets to read again; null or empty clears it.',
    example: 'sk-...',
  })
  api_key: string | null;
}

export class PlatformRouteKey {
  @UuidField({ description: 'The route.' }) route_id: string;
  @StringField({ description: 'Its slug.', example: 'openai' }) slug: string;
  @StringField({ nullable: true, description: 'The key that is spent, masked; null when there is none.', example: 'sk-…4f2a' }) masked:
    string | null;

  @BooleanField({ description: 'A key is stored for the route, even where it cannot be read any more.', example: true }) is_set: boolean;

  @EnumField(KEY_SOURCE_VALUES, {
    name: 'RouteKeySource',
    description: 'Where the key comes from: stored here, the environment under its older name or its name, or another route.',
    example: 'stored',
  })
  source: (typeof KEY_SOURCE_VALUES)[number];

  @StringField({ nullable: true, description: 'Slug of the route whose key is spent.', example: null }) borrowed_from: string | null;
}

export class PlatformRouteKeysResponse {
  @ListField(() => PlatformRouteKey, { description: 'Every route of the platform, in display order.' }) items: PlatformRouteKey[];
}
