import { EnumField, StringField } from '@aps/platform/http';
import { PartialType } from '@nestjs/swagger';

const SWITCH_VALUES = ['', 'true', 'false'] as const;
const SOURCE_VALUES = ['', 'api_key', 'gateway'] as const;
const MODE_VALUES = ['', 'custom', 'off'] as const;

type Setting<Values extends readonly string[]> = Values[number] | null;

const SwitchField = (description: string) =>
  EnumField(SWITCH_VALUES, { name: 'SettingSwitch', nullable: true, description, example: 'true' });
const SourceField = (provider: string) =>
  EnumField(SOURCE_VALUES, {
    name: 'ProviderCredentialSource',
    nullable: true,
    description: `Where calls of ${provider} get their key where the route itself says nothing: an own key or the one behind it, or the AI gateway, which then is the way of those calls.`,
    example: 'api_key',
  });
const SecretField = (what: string, example: string) =>
  StringField({ nullable: true, max: 4_096, description: `${what}; answers have it masked.`, example });
const AddressField = (provider: string) =>
  StringField({
    nullable: true,
    max: 2_048,
    description: `Instead of the address of ${provider}. Needs the own key of this provider, and goes with it.`,
    example: 'https://models.example.com/v1',
  });
const GatewayField = (description: string, example: string) =>
  StringField({
    nullable: true,
    max: 64,
    pattern: /^[A-Za-z0-9_-]*$/,
    patternMessage: 'Input should be letters, digits, hyphens and underscores',
    description,
    example,
  });

/** What is null inherits, or is not set. Provider 1 is the platform's route `openai`, provider 2 its route `anthropic`. */
export class AIProviderSettingsResponse {
  @SwitchField('`false` switches provider 1 off for the organization, on every plan.') provider_1_enabled: Setting<typeof SWITCH_VALUES>;
  @SourceField('provider 1') provider_1_credential_source: Setting<typeof SOURCE_VALUES>;
  @SecretField('The own key of provider 1', 'sk-…4f2a') provider_1_api_key: string | null;
  @AddressField('provider 1') provider_1_base_url: string | null;
  @SwitchField('`false` switches provider 2 off for the organization, on every plan.') provider_2_enabled: Setting<typeof SWITCH_VALUES>;
  @SourceField('provider 2') provider_2_credential_source: Setting<typeof SOURCE_VALUES>;
  @SecretField('The own key of provider 2', 'sk-…4f2a') provider_2_api_key: string | null;
  @AddressField('provider 2') provider_2_base_url: string | null;

  @EnumField(MODE_VALUES, {
    name: 'AIGatewayMode',
    nullable: true,
    description: '`custom`: the own AI gateway, which needs account, gateway and token; `off`: none, whatever else is set.',
    example: 'custom',
  })
  ai_gateway_mode: Setting<typeof MODE_VALUES>;

  @GatewayField('The account at the AI gateway.', '0123456789abcdef') ai_gateway_account_id: string | null;
  @GatewayField('The gateway of that account.', 'agents') ai_gateway_gateway_id: string | null;
  @SecretField('What opens the AI gateway', 'cf-…4f2a') ai_gateway_token: string | null;

  @SwitchField('Whether the AI gateway logs what is sent and answered; null: as it is set up there.')
  ai_gateway_log_payloads: Setting<typeof SWITCH_VALUES>;
}

/** Only what is there changes; null and the empty text clear. Setting needs `byo_keys`, clearing and switching providers does not. */
export class UpdateAIProviderSettingsRequest extends PartialType(AIProviderSettingsResponse, { skipNullProperties: false }) {}
