import { Injectable } from '@nestjs/common';
import { Entitlements } from '@aps/billing';
import type { ActingUser, OrgScope } from '@aps/guards';
import { Audit, type By } from '@aps/platform/audit';
import { changesOf, Database, type Tx } from '@aps/platform/database';
import { inferenceConfig } from '../inference.config';
import { InferenceRepository } from '../inference.repository';
import { InferenceSettings } from '../inference.settings';
import type { OrgSettings, PlatformSettings } from '../inference.types';

export const RUNTIME = ['compaction_enabled', 'compaction_threshold', 'decision_log_enabled', 'thinking_enabled'] as const;

export interface RuntimeSettings {
  compaction_enabled: boolean | null;
  compaction_threshold: number | null;
  decision_log_enabled: boolean | null;
  thinking_enabled: boolean | null;
}
/** What holds where a setting is null. */
export type RuntimeDefaults = { [K in keyof RuntimeSettings]: NonNullable<RuntimeSettings[K]> };
export type RuntimePatch = Partial<RuntimeSettings>;

export interface RuntimeView extends RuntimeSettings {
  platform_defaults: RuntimeDefaults;
}

/** How an organization's turns run. Read anew at the start of each. */
@Injectable()
export class OrgRuntimeService {
  constructor(
    private readonly db: Database,
    private readonly repository: InferenceRepository,
    private readonly settings: InferenceSettings,
    private readonly entitlements: Entitlements,
    private readonly audit: Audit,
  ) {}

  async get(scope: OrgScope): Promise<RuntimeView> {
    const [stored, platform] = await Promise.all([this.repository.settings(this.db, scope), this.settings.platformData()]);
    return { ...runtimeOf(stored), platform_defaults: defaultsOf(platform.settings) };
  }

  /** What holds for the organization now, for those who run its turns. In the common case no database is asked. */
  async effective(orgId: string): Promise<RuntimeDefaults> {
    const { org, platform } = await this.settings.view(orgId);
    const set = Object.fromEntries(
      Object.entries(runtimeOf(org.settings)).filter(([, value]) => value !== null),
    ) as Partial<RuntimeDefaults>;
    return { ...defaultsOf(platform.settings), ...set };
  }

  /** @throws DomainError 403 `entitlement_required` for setting (never for clearing) `thinking_enabled` without `direct_model_choice` */
  async update(scope: OrgScope, patch: RuntimePatch): Promise<RuntimeView> {
    if (typeof patch.thinking_enabled === 'boolean') await this.entitlements.require(scope.orgId, 'direct_model_choice');
    await this.db.transaction(scope, (tx) => this.store(tx, scope, patch, scope));
    return this.get(scope);
  }

  /** No plan binds operators. */
  async operate(operator: ActingUser, scope: OrgScope, patch: RuntimePatch): Promise<RuntimeView> {
    await this.db.transaction(operator, (tx) => this.store(tx, scope, patch, { orgId: scope.orgId, actor: operator }));
    return this.get(scope);
  }

  /** Without any difference nothing is written, not even to the audit log. */
  private async store(tx: Tx, scope: OrgScope, patch: RuntimePatch, by: By): Promise<void> {
    if (RUNTIME.every((field) => patch[field] === undefined)) return;
    const before = runtimeOf(await this.repository.lockSettings(tx, scope));
    const changes = changesOf(before, Object.fromEntries(RUNTIME.map((field) => [field, patch[field]])) as RuntimePatch);
    if (!Object.keys(changes).length) return;
    const { compaction_threshold: threshold, ...rest } = changes;
    await this.repository.saveSettings(tx, scope, {
      ...rest,
      ...(threshold !== undefined && { compaction_threshold: threshold === null ? null : String(threshold) }),
    });
    await this.audit.record(tx, by, 'settings.runtime_updated', { kind: 'organization', id: scope.orgId }, { changes });
    this.settings.announce(tx, 'settings.changed', scope.orgId);
  }
}

const runtimeOf = (s: OrgSettings): RuntimeSettings => ({
  compaction_enabled: s.compaction_enabled,
  compaction_threshold: s.compaction_threshold === null ? null : Number(s.compaction_threshold),
  decision_log_enabled: s.decision_log_enabled,
  thinking_enabled: s.thinking_enabled,
});

export function defaultsOf(p: PlatformSettings): RuntimeDefaults {
  const c = inferenceConfig.value;
  return {
    compaction_enabled: p.compaction_enabled ?? c.compactionEnabled,
    compaction_threshold: p.compaction_threshold === null ? c.compactionThreshold : Number(p.compaction_threshold),
    // The platform has no switch of its own for it: the plan's feature is the switch.
    decision_log_enabled: true,
    thinking_enabled: p.thinking_enabled ?? c.thinkingEnabled,
  };
}
