import { DomainError, type ErrorCode } from '@aps/contracts';
import type { OrgSettings } from '../inference.types';
import { keyProblem, maskedProblem } from './route-settings.policy';

export const SECRET_SETTINGS = [
  'provider_1_api_key',
  'provider_2_api_key',
  'ai_gateway_token',
] as const satisfies readonly (keyof OrgSettings)[];
export type SecretSetting = (typeof SECRET_SETTINGS)[number];

/** What an organization sets about its providers and its AI gateway. */
export const PROVIDER_SETTINGS = [
  'provider_1_enabled',
  'provider_1_credential_source',
  'provider_1_base_url',
  'provider_2_enabled',
  'provider_2_credential_source',
  'provider_2_base_url',
  'ai_gateway_mode',
  'ai_gateway_account_id',
  'ai_gateway_gateway_id',
  'ai_gateway_log_payloads',
  ...SECRET_SETTINGS,
] as const satisfies readonly (keyof OrgSettings)[];

export type ProviderSettings = Pick<OrgSettings, (typeof PROVIDER_SETTINGS)[number]>;
/** A field that is absent stays; null and the empty text clear it. */
export type ProviderPatch = { [K in keyof ProviderSettings]?: ProviderSettings[K] | '' };

const PROVIDERS = ['provider_1', 'provider_2'] as const;

export const providerSettingsOf = (settings: OrgSettings): ProviderSettings =>
  Object.fromEntries(PROVIDER_SETTINGS.map((field) => [field, settings[field]])) as unknown as ProviderSettings;

/**
 * The patch as it is stored, its secrets still in the clear.
 *
 * @throws DomainError 422 `validation_error` for keys that no header carries
 */
export function readProviderPatch(wish: ProviderPatch): Partial<ProviderSettings> {
  refuse('validation_error', (field) => wish[field] && keyProblem(wish[field])?.msg);
  const sent = PROVIDER_SETTINGS.filter((field) => wish[field] !== undefined);
  return Object.fromEntries(sent.map((field) => [field, wish[field] || null]));
}

/** Whether the patch sets (and does not only clear) what is for own keys. Switching a provider off is not. */
export const setsOwnKeys = (patch: Partial<ProviderSettings>): boolean =>
  Object.entries(patch).some(([field, value]) => value !== null && !field.endsWith('_enabled'));

/** @throws DomainError 422 `masked_secret` */
export const assertNoMasks = (patch: Partial<ProviderSettings>): void => refuse('masked_secret', (field) => maskedProblem(patch[field]));

/** The settings after a patch. An address goes with the key that it was for: clearing a key must always be possible. */
export function withPatch(before: ProviderSettings, patch: Partial<ProviderSettings>): ProviderSettings {
  const after = { ...before, ...patch };
  for (const provider of PROVIDERS)
    if (after[`${provider}_api_key`] === null && patch[`${provider}_base_url`] === undefined) after[`${provider}_base_url`] = null;
  return after;
}

/**
 * What only the settings as a whole can be wrong in.
 *
 * @throws DomainError 422 `base_url_needs_own_key`: a platform key never leaves for an address that an organization chose;
 *   `gateway_incomplete`
 */
export function assertWhole(after: ProviderSettings): void {
  const alone = PROVIDERS.filter((provider) => after[`${provider}_base_url`] !== null && after[`${provider}_api_key`] === null);
  refuseAll(
    'base_url_needs_own_key',
    alone.map((provider) => ({ field: `${provider}_base_url`, msg: 'Another address needs a key of your own for this provider.' })),
  );
  if (after.ai_gateway_mode !== 'custom') return;
  const missing = GATEWAY_PARTS.filter((field) => after[field] === null);
  refuseAll(
    'gateway_incomplete',
    missing.map((field) => ({ field, msg: 'An AI gateway of your own needs its account, its gateway and its token.' })),
  );
}

export const GATEWAY_PARTS = ['ai_gateway_account_id', 'ai_gateway_gateway_id', 'ai_gateway_token'] as const;

const refuse = (code: ErrorCode, problemOf: (field: SecretSetting) => string | null | undefined): void =>
  refuseAll(
    code,
    SECRET_SETTINGS.flatMap((field) => {
      const msg = problemOf(field);
      return msg ? [{ field, msg }] : [];
    }),
  );

function refuseAll(code: ErrorCode, found: { field: string; msg: string }[]): void {
  if (!found.length) return;
  const type = code === 'validation_error' ? 'value_error' : `semantic.${code}`;
  throw new DomainError(code, found[0].msg, { problems: found.map(({ field, msg }) => ({ loc: ['body', field], msg, type })) });
}
