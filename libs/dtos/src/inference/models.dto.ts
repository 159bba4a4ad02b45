import { MODEL_MODES, REASONING_EFFORTS, type ModelMode, type ReasoningEffort } from '@aps/contracts';
import { ApiProperty } from '@nestjs/swagger';
import {
  BooleanField,
  DecimalString,
  EnumField,
  IntField,
  ListField,
  NestedField,
  PageQuery,
  StringField,
  UuidField,
} from '@aps/platform/http';
import { COST_TIER_VALUES, MODEL_KIND_VALUES } from './values';

/** Scopes with an allowlist. */
const LISTED_SCOPE_VALUES = ['agent', 'chat', 'prompt'] as const;

export class RouteRef {
  @UuidField({ description: 'The route.' }) id: string;
  @StringField({ description: 'Its slug.', example: 'anthropic' }) slug: string;
}

/** A model that can be chosen. */
export class ModelResponse {
  @UuidField({ description: 'The catalog entry.' }) id: string;
  @StringField({ description: 'What agents, messages and settings name it by.', example: 'claude-sonnet-5-5' }) key: string;
  @StringField({ description: 'Its name.', example: 'Claude Sonnet 5.5' }) label: string;
  @StringField({ description: 'Who made it.', example: 'anthropic' }) provider: string;

  @EnumField(MODEL_KIND_VALUES, { name: 'ModelKind', description: 'What it does.', example: 'chat' })
  kind: (typeof MODEL_KIND_VALUES)[number];

  @NestedField(() => RouteRef, { description: 'The route that it is called by.' }) route: RouteRef;

  @UuidField({ nullable: true, description: 'The organization whose own model it is; null for models of the platform.' })
  owner_org_id: string | null;

  @BooleanField({ description: 'It still answers, but a newer one should be chosen.', example: false }) deprecated: boolean;
  @IntField({ description: 'Place in lists.', example: 10 }) sort_order: number;
  @IntField({ nullable: true, description: 'Tokens that fit into one call.', example: 1_000_000 }) context_window: number | null;
  @IntField({ nullable: true, description: 'Tokens that it writes at most.', example: 128_000 }) max_output_tokens: number | null;

  @ListField(REASONING_EFFORTS, {
    description: 'Reasoning efforts that it takes; empty with `supports_reasoning`: all.',
    example: ['low', 'medium', 'high'],
  })
  allowed_efforts: ReasoningEffort[];

  @EnumField(COST_TIER_VALUES, { name: 'CostTier', nullable: true, description: 'Roughly how expensive it is.', example: 'medium' })
  cost_tier: (typeof COST_TIER_VALUES)[number] | null;

  @BooleanField({ description: 'It can think before it answers.', example: true }) supports_reasoning: boolean;
  @BooleanField({ description: 'It reads images.', example: true }) supports_vision: boolean;

  @DecimalString({
    nullable: true,
    description: 'US dollars per million input tokens. Prices are null where the caller pays in credits, and where they are not known.',
    example: '2',
  })
  input_price_per_1m: string | null;

  @DecimalString({ nullable: true, description: 'US dollars per million output tokens, reasoning included.', example: '10' })
  output_price_per_1m: string | null;

  @DecimalString({
    nullable: true,
    description: 'US dollars per million input tokens that the provider had cached; null: the input price.',
    example: '0.2',
  })
  cached_input_price_per_1m: string | null;

  @DecimalString({
    nullable: true,
    description: 'US dollars per million input tokens that the provider caches; null: the input price.',
    example: '2.5',
  })
  cache_write_price_per_1m: string | null;
}

/** A model that an organization can choose. */
export class OrgModelResponse extends ModelResponse {
  @BooleanField({ description: 'It can be chosen. Only models of the organization’s own are listed when they are off.', example: true })
  enabled: boolean;

  @BooleanField({ description: 'A call could be made now: its route has a key, or needs none.', example: true }) available: boolean;

  @ListField(LISTED_SCOPE_VALUES, {
    description: 'Where the allowlists of the organization let it be chosen.',
    example: ['agent', 'chat', 'prompt'],
  })
  scopes: (typeof LISTED_SCOPE_VALUES)[number][];
}

export class OrgModelsQuery extends PageQuery {
  @EnumField(LISTED_SCOPE_VALUES, {
    name: 'ModelListScope',
    optional: true,
    description: 'Only the chat models that may be chosen there.',
    example: 'chat',
  })
  scope?: (typeof LISTED_SCOPE_VALUES)[number];
}

export class ModelModeItem {
  @EnumField(MODEL_MODES, { name: 'ModelMode', description: 'The mode.', example: 'normal' }) mode: ModelMode;
  @StringField({ description: 'Its name.', example: 'Normal' }) label: string;
  @StringField({ description: 'What it is good for.', example: 'The everyday balance of quality and cost.' }) description: string;

  @DecimalString({
    nullable: true,
    description: 'What a call costs compared with the mode `normal`; null where prices are missing.',
    example: '1',
  })
  credit_ratio: string | null;

  @BooleanField({ description: 'The organization could use it now.', example: true }) available: boolean;
}

export class ModelModesResponse {
  @ListField(() => ModelModeItem, { description: 'From the least to the most expensive.' }) items: ModelModeItem[];

  @EnumField(MODEL_MODES, { name: 'ModelMode', description: 'The mode where nobody chose one.', example: 'normal' })
  default: ModelMode;
}

export class ModelScopeConfig {
  @ListField('string', { description: 'Models that may be chosen; empty: all.', example: ['claude-sonnet-5-5'] }) allowlist: string[];

  @StringField({
    nullable: true,
    description: 'The model that is taken where nobody chose one; null when there is none.',
    example: 'claude-sonnet-5-5',
  })
  default: string | null;

  @ListField('string', { description: 'Models to offer.', example: ['claude-sonnet-5-5'] }) models: string[];
}

export class ModelScopes {
  @NestedField(() => ModelScopeConfig, { description: 'For agents.' }) agent: ModelScopeConfig;
  @NestedField(() => ModelScopeConfig, { description: 'For messages in chats.' }) chat: ModelScopeConfig;
  @NestedField(() => ModelScopeConfig, { description: 'For prompt templates.' }) prompt: ModelScopeConfig;
  @NestedField(() => ModelScopeConfig, { description: 'For steps of processes.' }) process: ModelScopeConfig;
  @NestedField(() => ModelScopeConfig, { description: 'For classifying what comes in.' }) intake_classifier: ModelScopeConfig;
  @NestedField(() => ModelScopeConfig, { description: 'For choosing tools.' }) tool_router: ModelScopeConfig;
}

export class ModelConfigResponse {
  @NestedField(() => ModelScopes, { description: 'What to offer where.' }) scopes: ModelScopes;

  @ListField('string', {
    description: 'Slugs of routes that the organization switched off, themselves or by their provider; empty without `byo_keys`.',
    example: [],
  })
  disabled_providers: string[];

  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'string' },
    nullable: true,
    description: 'Route slug by model key; null without `byo_keys`.',
    example: { 'claude-sonnet-5-5': 'anthropic' },
  })
  model_routes: Record<string, string> | null;
}
