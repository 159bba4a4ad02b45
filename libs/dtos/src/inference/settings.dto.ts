import { PartialType } from '@nestjs/swagger';
import {
  BooleanField,
  DateTimeField,
  DecimalField,
  DecimalString,
  EnumField,
  ListField,
  NestedField,
  NumberField,
  ObjectField,
  StringField,
  UuidField,
} from '@aps/platform/http';
import { modelKey } from './model-key';
import { DIALECT_VALUES } from './values';

const CREDENTIAL_SOURCE_VALUES = ['api_key', 'gateway'] as const;

const allowlist = (where: string, needs = '') => ({
  optional: true,
  nullable: true,
  max: 500,
  unique: true,
  item: { min: 1, max: 128 },
  description: `Models that may be chosen ${where}; empty or null: all.${needs}`,
  example: ['claude-sonnet-5-5'],
});

/** Only what is there changes. */
export class UpdateOrgLimitsRequest {
  @StringField(modelKey('that agents take which name none')) agent_default_model?: string | null;

  @ListField('string', allowlist('for agents', ' With entries, `agent_default_model` must be one of them.'))
  agent_model_allowlist?: string[] | null;

  @DecimalField({
    optional: true,
    nullable: true,
    min: 0,
    description: 'Dollars that chats may spend in a calendar month (UTC); null: no limit.',
    example: '500',
  })
  budget_limit_usd?: string | null;

  @StringField(modelKey('that chats take')) chat_default_model?: string | null;

  @ListField('string', allowlist('for messages', ' With entries, `chat_default_model` must be one of them.'))
  chat_model_allowlist?: string[] | null;

  @StringField(modelKey('that classifies what comes in')) intake_classifier_default_model?: string | null;
  @StringField(modelKey('that steps of processes take')) process_default_model?: string | null;
  @ListField('string', allowlist('for prompt templates')) prompt_model_allowlist?: string[] | null;
  @StringField(modelKey('that chooses tools')) tool_router_default_model?: string | null;
}

export class AffectedAgent {
  @UuidField({ description: 'The agent.' }) id: string;
  @StringField({ description: 'Its name.', example: 'Support' }) name: string;

  @StringField({
    description: 'The model it names, which the allowlist leaves out; it runs on the default for agents.',
    example: 'claude-opus-5-5',
  })
  model: string;
}

export class OrgLimitsResponse {
  @StringField({ nullable: true, description: 'Model of agents that name none.', example: 'claude-sonnet-5-5' })
  agent_default_model: string | null;

  @ListField('string', { description: 'Models that agents may name; empty: all.', example: [] }) agent_model_allowlist: string[];

  @DecimalString({ nullable: true, description: 'Dollars that chats may spend in a calendar month (UTC).', example: '500' })
  budget_limit_usd: string | null;

  @StringField({ nullable: true, description: 'Model of chats.', example: 'claude-sonnet-5-5' }) chat_default_model: string | null;
  @ListField('string', { description: 'Models that messages may name; empty: all.', example: [] }) chat_model_allowlist: string[];

  @StringField({ nullable: true, description: 'Model that classifies what comes in.', example: null })
  intake_classifier_default_model: string | null;

  @StringField({ nullable: true, description: 'Model of process steps.', example: null }) process_default_model: string | null;
  @ListField('string', { description: 'Models that prompt templates may name; empty: all.', example: [] }) prompt_model_allowlist: string[];
  @StringField({ nullable: true, description: 'Model that chooses tools.', example: null }) tool_router_default_model: string | null;
  @ListField(() => AffectedAgent, { description: 'Agents outside the allowlist for agents.' }) affected_agents: AffectedAgent[];
}

export class OrgLimitsUsageResponse {
  @DateTimeField({ description: 'Begin of the month, UTC.', example: '2026-11-01T00:00:00.000Z' }) period_start: string;
  @DateTimeField({ description: 'Begin of the next month.', example: '2026-12-01T00:00:00.000Z' }) period_end: string;

  @DecimalString({
    nullable: true,
    description: 'What chats have spent: what the limit is about. Null for an organization that pays in credits.',
    example: '12.5',
  })
  spend_usd: string | null;

  @DecimalString({ nullable: true, description: 'What all model calls have cost, also those outside of chats.', example: '13.25' })
  metered_spend_usd: string | null;

  @DecimalString({ nullable: true, description: 'The limit as stored.', example: '500' }) budget_limit_usd: string | null;

  @DecimalString({ nullable: true, description: 'What is left of the limit; null without one.', example: '487.5' })
  remaining_usd: string | null;
}

const threshold = 'Share of the context window at which a chat is compacted';

export class RuntimeDefaults {
  @BooleanField({ description: 'Whether long chats are compacted.', example: true }) compaction_enabled: boolean;
  @NumberField({ description: `${threshold}.`, example: 0.8 }) compaction_threshold: number;
  @BooleanField({ description: 'Whether decisions of agents are recorded and asked for.', example: true }) decision_log_enabled: boolean;
  @BooleanField({ description: 'Whether models may think before they answer.', example: true }) thinking_enabled: boolean;
}

/** Null inherits the platform's value. */
class OrgRuntimeSettings {
  @BooleanField({ nullable: true, description: 'Whether long chats are compacted; null inherits, as everywhere here.', example: null })
  compaction_enabled: boolean | null;

  @NumberField({ nullable: true, min: 0.1, max: 0.95, description: `${threshold}.`, example: null }) compaction_threshold: number | null;

  @BooleanField({ nullable: true, description: 'Whether decisions of agents are recorded and asked for.', example: null })
  decision_log_enabled: boolean | null;

  @BooleanField({
    nullable: true,
    description: 'Whether models may think before they answer. Setting it needs `direct_model_choice`.',
    example: null,
  })
  thinking_enabled: boolean | null;
}

/** Only what is there changes. */
export class UpdateOrgRuntimeRequest extends PartialType(OrgRuntimeSettings, { skipNullProperties: false }) {}

export class OrgRuntimeSettingsResponse extends OrgRuntimeSettings {
  @NestedField(() => RuntimeDefaults, { description: 'What holds where a setting is null.' }) platform_defaults: RuntimeDefaults;
}

/** Only what is there changes; null clears. */
export class OrgRouteChange {
  @StringField({
    optional: true,
    nullable: true,
    max: 4_096,
    description: 'The own key, which nobody gets to read again; empty clears it, too.',
    example: 'sk-...',
  })
  api_key?: string | null;

  @EnumField(CREDENTIAL_SOURCE_VALUES, {
    name: 'CredentialSource',
    optional: true,
    nullable: true,
    description: 'Where the credential comes from.',
    example: 'api_key',
  })
  credential_source?: (typeof CREDENTIAL_SOURCE_VALUES)[number] | null;

  @StringField({
    optional: true,
    nullable: true,
    max: 2_048,
    description: 'Instead of the route’s address. Needs a key of your own for the route, and goes with it; empty clears it, too.',
    example: 'https://models.example.com/v1',
  })
  base_url?: string | null;

  @BooleanField({ optional: true, nullable: true, description: 'The switch of the organization.', example: true }) enabled?: boolean | null;
}

export class UpdateOrgRoutesRequest {
  @ObjectField({
    values: OrgRouteChange,
    description: 'By route slug. Only listed routes change. Setting needs `byo_keys`, clearing does not.',
    example: { openai: { api_key: 'sk-...', enabled: true }, google: { enabled: false } },
  })
  routes: Record<string, unknown>;
}

export class OrgRouteSetting {
  @StringField({ description: 'The route.', example: 'openai' }) slug: string;
  @UuidField({ description: 'Its id.' }) route_id: string;
  @StringField({ description: 'Its name.', example: 'OpenAI' }) label: string;

  @EnumField(DIALECT_VALUES, {
    name: 'Dialect',
    description: 'The dialect spoken there: 1 Chat Completions, 2 Messages, 3 generateContent.',
    example: 'dialect_1',
  })
  dialect: (typeof DIALECT_VALUES)[number];

  @BooleanField({ description: 'Whether the route is on at all.', example: true }) platform_enabled: boolean;

  @BooleanField({ nullable: true, description: 'The switch of the organization; null: as the platform says.', example: null })
  enabled: boolean | null;

  @EnumField(CREDENTIAL_SOURCE_VALUES, {
    name: 'CredentialSource',
    nullable: true,
    description: 'Where the credential comes from; null inherits.',
    example: null,
  })
  credential_source: (typeof CREDENTIAL_SOURCE_VALUES)[number] | null;

  @StringField({ nullable: true, description: 'The own key, masked.', example: 'sk-…4f2a' }) api_key: string | null;
  @BooleanField({ description: 'Whether there is an own key.', example: true }) is_set: boolean;

  @StringField({ nullable: true, description: 'The address that the organization uses instead of the route’s.', example: null })
  base_url: string | null;

  @StringField({
    nullable: true,
    description: 'Slug of the route whose key is spent; such a route takes no key of its own.',
    example: null,
  })
  borrows_from: string | null;

  @BooleanField({ description: 'The route belongs to the organization.', example: false }) owned: boolean;
}

export class OrgRouteSettingsResponse {
  @ListField(() => OrgRouteSetting, { description: 'Every route, in display order, also unconfigured and disabled ones.' })
  items: OrgRouteSetting[];
}
