import { OmitType, PartialType } from '@nestjs/swagger';
import {
  BooleanField,
  DateTimeField,
  EnumField,
  IntField,
  ListField,
  NestedField,
  SlugField,
  StringField,
  UrlField,
  UuidField,
} from '@aps/platform/http';
import { DIALECT_VALUES } from './values';

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
    pattern: /^[A-Za-z0-9._-]+(\/[A-Za-z0-9._-]+)*$/,
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
