import { REASONING_EFFORTS, type ReasoningEffort } from '@aps/contracts';
import { IntersectionType, PartialType } from '@nestjs/swagger';
import {
  BooleanField,
  DateTimeField,
  DecimalField,
  DecimalString,
  EnumField,
  IntField,
  ListField,
  StringField,
  UuidField,
} from '@aps/platform/http';
import { ModelResponse } from './models.dto';
import { COST_TIER_VALUES, MODEL_KIND_VALUES } from './values';

/** Far above any price, and so low that no call costs more than its receipt can hold. */
const MAX_PRICE = 1_000_000;

const price = (of: string, example: string) => ({
  optional: true,
  nullable: true,
  min: 0,
  max: MAX_PRICE,
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
    pattern: /^[\x21-\x7e]+$/,
    patternMessage: 'Input should be printable characters without spaces',
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

  @IntField({
    optional: true,
    description: 'Place in lists, and in the choice where nobody chose; a new model is the last one where nothing is said.',
    example: 10,
  })
  sort_order?: number;

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
    max: MAX_PRICE,
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
