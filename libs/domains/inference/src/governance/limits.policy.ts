import { refuseField } from '@aps/contracts';
import type { OrgSettings } from '../inference.types';

/** The settings of the limits page. */
export const LIMITS = [
  'agent_default_model',
  'agent_model_allowlist',
  'budget_limit_usd',
  'chat_default_model',
  'chat_model_allowlist',
  'intake_classifier_default_model',
  'process_default_model',
  'prompt_model_allowlist',
  'tool_router_default_model',
] as const satisfies readonly (keyof OrgSettings)[];

export type OrgLimits = Pick<OrgSettings, (typeof LIMITS)[number]>;
/** A field that is absent stays; null clears it, an allowlist as well. */
export type LimitsPatch = { [K in keyof OrgLimits]?: OrgLimits[K] | null };

export function limitsOf(settings: OrgSettings): OrgLimits {
  const entries: [string, unknown][] = LIMITS.map((f) => [f, settings[f]]);
  return Object.fromEntries(entries) as OrgLimits;
}

const isAllowlist = (field: string): boolean => field.endsWith('_allowlist');

/** The patch as it is stored: without what was not sent, a cleared allowlist empty. */
export function normalizeLimits(patch: LimitsPatch): Partial<OrgLimits> {
  const sent = LIMITS.filter((f) => patch[f] !== undefined);
  return Object.fromEntries(sent.map((f) => [f, isAllowlist(f) ? (patch[f] ?? []) : patch[f]])) as Partial<OrgLimits>;
}

/** Whether the patch sets (and does not only clear) something about models. */
export function setsModels(patch: Partial<OrgLimits>): boolean {
  return Object.entries(patch).some(
    ([field, value]) => field !== 'budget_limit_usd' && (Array.isArray(value) ? value.length > 0 : value !== null),
  );
}

/** Every model that the patch names, and where. */
export function namedModels(patch: Partial<OrgLimits>): { key: string; path: (string | number)[] }[] {
  return Object.entries(patch).flatMap(([field, value]) => {
    if (Array.isArray(value)) return value.map((key, i) => ({ key, path: [field, i] }));
    return field !== 'budget_limit_usd' && typeof value === 'string' ? [{ key: value, path: [field] }] : [];
  });
}

/**
 * Who restricts models says which one remains: an allowlist with entries needs a default that is on it. Only the scopes that the
 * patch touches are looked at, so that an older state never blocks an unrelated change.
 *
 * @throws DomainError 422 `allowlist_needs_default`
 */
export function assertDefaultsAllowed(after: OrgLimits, patch: Partial<OrgLimits>): void {
  for (const scope of ['agent', 'chat'] as const) {
    const [list, fallback] = [`${scope}_model_allowlist`, `${scope}_default_model`] as const;
    if (patch[list] === undefined && patch[fallback] === undefined) continue;
    const named = after[fallback];
    if (after[list].length && (named === null || !after[list].includes(named))) {
      throw refuseField(
        'allowlist_needs_default',
        [patch[list] === undefined ? fallback : list],
        `A non-empty ${list} needs a ${fallback} that is on it.`,
      );
    }
  }
}
