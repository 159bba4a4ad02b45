import { Injectable } from '@nestjs/common';
import { DomainError, MODEL_MODES, type ModelMode } from '@aps/contracts';
import type { OrgScope } from '@aps/guards';
import type { Db, Tx } from '@aps/platform/database';
import { GovernanceRepository } from './governance.repository';
import { InferenceRepository } from '../inference.repository';
import type { PlatformSettings } from '../inference.types';
import { limitsOf, namedModels } from './limits.policy';
import { ModelUsers } from './model-users';

/** As many of each kind are named where a model cannot go; whoever clears them away finds the next ones by trying again. */
const NAMED_AT_MOST = 20;

/** What live configuration names models by their keys: settings of the platform and of organizations, agents, prompt templates, processes and inboxes. */
@Injectable()
export class ModelNames {
  constructor(
    private readonly repository: GovernanceRepository,
    private readonly inference: InferenceRepository,
    private readonly users: ModelUsers,
  ) {}

  /** Keys that anything names. @param keys of these alone */
  async among(db: Db, platform: PlatformSettings, keys?: readonly string[]): Promise<Set<string>> {
    const named = await this.users.named(db, keys);
    for (const key of await this.repository.namedByOrgs(db, keys)) named.add(key);
    for (const { model_key } of namedBySettings(platform)) named.add(model_key);
    return named;
  }

  /**
   * Whoever stores a key holds its row until the commit, so that with the row locked for an update nobody begins to name it.
   *
   * @param platform locked
   * @throws DomainError 409 `model_in_use` with `context.used_by`
   */
  async assertUnnamed(tx: Tx, platform: PlatformSettings, key: string): Promise<void> {
    const settings = namedBySettings(platform).flatMap(({ field, model_key }) =>
      model_key === key ? [{ kind: 'platform_setting', id: field }] : [],
    );
    const orgs = (await this.repository.orgsNaming(tx, key, NAMED_AT_MOST)).map((id) => ({ kind: 'organization', id }));
    const users = (await this.users.naming(tx, [key], NAMED_AT_MOST)).map(({ kind, id, org_id, name }) => ({ kind, id, org_id, name }));
    refuseUsed([...settings, ...orgs, ...users]);
  }

  /** The same within one organization, whose own model it is. @throws DomainError 409 `model_in_use` */
  async assertUnnamedWithin(tx: Tx, scope: OrgScope, key: string): Promise<void> {
    refuseUsed(await this.usersWithin(tx, scope, key));
  }

  /** What of an organization names the key: its settings, agents, prompt templates, processes and inboxes. */
  async usersWithin(db: Db, scope: OrgScope, key: string): Promise<{ kind: string; id: string }[]> {
    const fields = namedModels(limitsOf(await this.inference.settings(db, scope))).flatMap((named) =>
      named.key === key ? [String(named.path[0])] : [],
    );
    const users = await this.users.naming(db, [key], NAMED_AT_MOST, scope.orgId);
    return [...fields.map((id) => ({ kind: 'organization_setting', id })), ...users.map(({ kind, id, name }) => ({ kind, id, name }))];
  }
}

/** @throws DomainError 409 `model_in_use` */
export function refuseUsed(used_by: { kind: string; id: string }[]): void {
  if (used_by.length)
    throw new DomainError('model_in_use', 'Something is set to use this model. Disable it with a replacement instead.', {
      context: { used_by },
    });
}

export interface PresetUse {
  mode: ModelMode;
  model_key: string;
}

export interface FeatureUse {
  feature: string;
  model_key: string;
}

export const presetsOf = (settings: PlatformSettings): PresetUse[] =>
  MODEL_MODES.flatMap((mode) => {
    const preset = settings[`mode_${mode}`];
    return preset ? [{ mode, model_key: preset.model_key }] : [];
  });

export const featuresOf = (settings: PlatformSettings): FeatureUse[] =>
  Object.entries(settings.feature_models).map(([feature, model_key]) => ({ feature, model_key }));

const namedBySettings = (settings: PlatformSettings): { field: string; model_key: string }[] => [
  ...(settings.default_model === null ? [] : [{ field: 'default_model', model_key: settings.default_model }]),
  ...presetsOf(settings).map(({ mode, model_key }) => ({ field: `mode_${mode}`, model_key })),
  ...featuresOf(settings).map(({ feature, model_key }) => ({ field: `feature_models.${feature}`, model_key })),
];
