import { Injectable } from '@nestjs/common';
import { RateCards } from '@aps/billing';
import type { ReasoningEffort } from '@aps/contracts';
import type { ModePreset } from '@aps/entities';
import type { ActingUser } from '@aps/guards';
import { Audit } from '@aps/platform/audit';
import { changesOf, Database } from '@aps/platform/database';
import { CatalogView, NO_ORG_SETTINGS } from '../choice/catalog-view';
import { asEffort } from '../choice/effort.policy';
import { inferenceConfig } from '../inference.config';
import { InferenceRepository } from '../inference.repository';
import { InferenceSettings } from '../inference.settings';
import type { PlatformSettings } from '../inference.types';
import { defaultsOf, type RuntimeDefaults } from './org-runtime.service';
import {
  assertModelsKnown,
  previewModes,
  wishedBy,
  type ModePresets,
  type PresetField,
  type ModePreview,
  type PlatformSettingsPatch,
} from './platform-settings.policy';

/** What holds where nobody set anything, the environment included. */
export interface EffectiveSettings extends Omit<RuntimeDefaults, 'decision_log_enabled'> {
  default_model: string | null;
  default_reasoning_effort: ReasoningEffort | null;
  max_reasoning_effort: ReasoningEffort | null;
}

type Preset = Omit<ModePreset, 'reasoning_effort'> & { reasoning_effort: ReasoningEffort | null };

/** As stored: null defers to the environment. */
export interface PlatformSettingsView
  extends
    Pick<PlatformSettings, 'default_model' | 'feature_models' | 'thinking_enabled' | 'compaction_enabled'>,
    Record<PresetField, Preset | null> {
  default_reasoning_effort: ReasoningEffort | null;
  max_reasoning_effort: ReasoningEffort | null;
  compaction_threshold: number | null;
  effective: EffectiveSettings;
}

/** The platform's settings about models, for operators. Turns read them anew when they start. */
@Injectable()
export class PlatformSettingsService {
  constructor(
    private readonly db: Database,
    private readonly repository: InferenceRepository,
    private readonly settings: InferenceSettings,
    private readonly audit: Audit,
    private readonly cards: RateCards,
  ) {}

  async get(): Promise<PlatformSettingsView> {
    return viewOf((await this.repository.platform(this.db)).settings);
  }

  /**
   * Changes what differs; without any difference nothing is written, not even to the audit log.
   *
   * @throws DomainError 422 `model_unknown`
   */
  async update(operator: ActingUser, patch: PlatformSettingsPatch): Promise<PlatformSettingsView> {
    await this.db.transaction(operator, async (tx) => {
      const before = await this.repository.lockPlatformSettings(tx);
      assertModelsKnown(await this.repository.platformEntries(tx), patch);
      const changes = changesOf(before, wishedBy(before, patch));
      if (!Object.keys(changes).length) return;
      await this.repository.savePlatformSettings(tx, changes);
      await this.audit.record(tx, operator, 'platform.ai_settings_updated', null, { changes });
      this.settings.announce(tx, 'settings.changed', null);
    });
    return this.get();
  }

  /** What the modes would cost; nothing is saved. @throws DomainError 422 `model_unknown` */
  async preview(presets: ModePresets): Promise<{ items: ModePreview[]; baseline: string | null }> {
    const platform = await this.repository.platform(this.db);
    assertModelsKnown(platform.entries, presets);
    const view = new CatalogView(platform, {
      orgId: '',
      settings: NO_ORG_SETTINGS,
      routeSettings: new Map(),
      routes: new Map(),
      entries: [],
    });
    return previewModes(
      view,
      { ...platform.settings, ...presets },
      effectiveOf(platform.settings).default_model,
      await this.cards.current(),
    );
  }
}

const presetOf = (preset: ModePreset | null): Preset | null => preset && { ...preset, reasoning_effort: asEffort(preset.reasoning_effort) };

const viewOf = (settings: PlatformSettings): PlatformSettingsView => ({
  ...settings,
  default_reasoning_effort: asEffort(settings.default_reasoning_effort),
  max_reasoning_effort: asEffort(settings.max_reasoning_effort),
  compaction_threshold: settings.compaction_threshold === null ? null : Number(settings.compaction_threshold),
  mode_trivial: presetOf(settings.mode_trivial),
  mode_normal: presetOf(settings.mode_normal),
  mode_high_effort: presetOf(settings.mode_high_effort),
  mode_x_high: presetOf(settings.mode_x_high),
  effective: effectiveOf(settings),
});

function effectiveOf(settings: PlatformSettings): EffectiveSettings {
  const { defaultModel, defaultReasoningEffort, maxReasoningEffort } = inferenceConfig.value;
  const { decision_log_enabled: _, ...runtime } = defaultsOf(settings);
  return {
    default_model: settings.default_model ?? defaultModel ?? null,
    default_reasoning_effort: asEffort(settings.default_reasoning_effort) ?? defaultReasoningEffort ?? null,
    max_reasoning_effort: asEffort(settings.max_reasoning_effort) ?? maxReasoningEffort ?? null,
    ...runtime,
  };
}
