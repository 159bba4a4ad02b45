import { DomainError, MODEL_MODES, type ModelMode, type ReasoningEffort } from '@aps/contracts';
import type { Card } from '@aps/billing';
import type { ModePreset } from '@aps/entities';
import type { CatalogView } from '../choice/catalog-view';
import { asEffort, MODE_EFFORT } from '../choice/effort.policy';
import { FEATURES, type CatalogEntry, type InferenceFeature, type ModelKind, type PlatformSettings } from '../inference.types';
import { burnRatio, creditsPer1k } from '../charge';
import { followReplacement } from '../choice/replacement.policy';
import { kindOf } from '../choice/resolution.policy';

export type PresetField = `mode_${ModelMode}`;
export type ModePresets = { [F in PresetField]?: ModePreset | null };
/** A field that is absent stays; null defers to the environment, and of `feature_models` removes the one. */
export type PlatformSettingsPatch = ModePresets &
  Partial<
    Pick<
      PlatformSettings,
      'default_model' | 'default_reasoning_effort' | 'max_reasoning_effort' | 'thinking_enabled' | 'compaction_enabled'
    >
  > & {
    compaction_threshold?: number | null;
    feature_models?: { [F in InferenceFeature]?: string | null };
  };

export interface ModePreview {
  mode: ModelMode;
  model_key: string | null;
  reasoning_effort: ReasoningEffort | null;
  burn_ratio: string | null;
  credits_per_1k_input: string | null;
  credits_per_1k_output: string | null;
}

/** What the patch wishes, in the form in which it is stored. */
export function wishedBy(
  before: PlatformSettings,
  { feature_models, compaction_threshold, ...rest }: PlatformSettingsPatch,
): Partial<PlatformSettings> {
  const models = Object.entries({ ...before.feature_models, ...feature_models }).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  const presets = MODEL_MODES.map((mode) => [`mode_${mode}`, complete(rest[`mode_${mode}`])]);
  return {
    ...rest,
    ...(Object.fromEntries(presets) as ModePresets),
    feature_models: feature_models && Object.fromEntries(models),
    // With the digits of its column.
    compaction_threshold: typeof compaction_threshold === 'number' ? compaction_threshold.toFixed(3) : compaction_threshold,
  };
}

/** With every field. */
const complete = (preset: ModePreset | null | undefined): ModePreset | null | undefined =>
  preset && {
    model_key: preset.model_key,
    reasoning_effort: preset.reasoning_effort ?? null,
    max_output_tokens: preset.max_output_tokens ?? null,
    thinking_enabled: preset.thinking_enabled ?? null,
  };

/** Every model that a patch names: where, and of which kind it has to be. */
function namedIn({
  default_model,
  feature_models = {},
  ...rest
}: PlatformSettingsPatch): { path: string[]; key: string; kind: ModelKind }[] {
  const named = (path: string[], key: string | null | undefined, kind: ModelKind) => (typeof key === 'string' ? [{ path, key, kind }] : []);
  return [
    ...named(['default_model'], default_model, 'chat'),
    ...FEATURES.flatMap((feature) => named(['feature_models', feature], feature_models[feature], kindOf(feature))),
    ...MODEL_MODES.flatMap((mode) => named([`mode_${mode}`, 'model_key'], rest[`mode_${mode}`]?.model_key, 'chat')),
  ];
}

/**
 * A disabled model with a successor still answers, so it may still be named.
 *
 * @throws DomainError 422 `model_unknown`; its context has, by field, the keys that would be known
 */
export function assertModelsKnown(entries: readonly CatalogEntry[], patch: PlatformSettingsPatch): void {
  const known = (kind: ModelKind) => [
    ...new Set(entries.filter((e) => e.kind === kind && (e.enabled || e.replacement_model_id !== null)).map((e) => e.key)),
  ];
  const unknown = namedIn(patch).filter(({ key, kind }) => !known(kind).includes(key));
  if (!unknown.length) return;
  throw new DomainError('model_unknown', 'There is no such model of the platform.', {
    context: { valid: Object.fromEntries(unknown.map(({ path, kind }) => [path.join('.'), known(kind)])) },
    problems: unknown.map(({ path, kind }) => ({
      loc: ['body', ...path],
      msg: `There is no such ${kind} model. There are: ${known(kind).join(', ') || 'none'}.`,
      type: 'semantic.model_unknown',
    })),
  });
}

/**
 * What each mode would cost. A mode without a preset takes the default model.
 *
 * @param view of the platform alone
 * @param card in force; without one, modes are compared by their dollars
 */
export function previewModes(
  view: CatalogView,
  presets: ModePresets,
  defaultModel: string | null,
  card: Card | null,
): { items: ModePreview[]; baseline: string | null } {
  const entryOf = (key: string | null | undefined): CatalogEntry | undefined => {
    const row = key ? view.named(key, 'chat') : undefined;
    return row && followReplacement(row, (id) => view.entry(id));
  };
  const normal = entryOf(presets.mode_normal?.model_key ?? defaultModel);
  const items = MODEL_MODES.map((mode): ModePreview => {
    const preset = presets[`mode_${mode}`];
    const entry = entryOf(preset?.model_key ?? defaultModel);
    return {
      mode,
      model_key: entry?.key ?? null,
      reasoning_effort: asEffort(preset?.reasoning_effort) ?? MODE_EFFORT[mode],
      burn_ratio: entry && normal ? burnRatio(card, { entry, mode }, { entry: normal, mode: 'normal' }) : null,
      credits_per_1k_input: entry ? creditsPer1k(card, entry, mode, 'input') : null,
      credits_per_1k_output: entry ? creditsPer1k(card, entry, mode, 'output') : null,
    };
  });
  return { items, baseline: normal?.key ?? null };
}
