import { Injectable } from '@nestjs/common';
import { Entitlements } from '@aps/billing';
import type { OrgScope } from '@aps/guards';
import { Audit } from '@aps/platform/audit';
import { EnvelopeCrypto, mask } from '@aps/platform/crypto';
import { changesOf, Database, type Tx } from '@aps/platform/database';
import { Egress } from '@aps/platform/egress';
import { InferenceRepository } from '../inference.repository';
import { InferenceSettings, settingPlace } from '../inference.settings';
import {
  assertNoMasks,
  assertWhole,
  providerSettingsOf,
  readProviderPatch,
  SECRET_SETTINGS,
  setsOwnKeys,
  withPatch,
  type ProviderPatch,
  type ProviderSettings,
} from './provider-settings.policy';
import { tenantBaseUrl } from './tenant-base-url';

/** An organization's own keys for providers, and its AI gateway. */
@Injectable()
export class OrgProvidersService {
  constructor(
    private readonly db: Database,
    private readonly repository: InferenceRepository,
    private readonly settings: InferenceSettings,
    private readonly entitlements: Entitlements,
    private readonly crypto: EnvelopeCrypto,
    private readonly egress: Egress,
    private readonly audit: Audit,
  ) {}

  /** As stored, even where the plan would refuse it now; secrets are masked. */
  async get(scope: OrgScope): Promise<ProviderSettings> {
    const shown = providerSettingsOf(await this.repository.settings(this.db, scope));
    for (const field of SECRET_SETTINGS) {
      const sealed = shown[field];
      // What cannot be opened any more is still set, and shows nothing of itself.
      if (sealed !== null) shown[field] = mask((await this.settings.open(settingPlace(scope.orgId, field), sealed)) ?? '');
    }
    return shown;
  }

  /**
   * @throws DomainError 422 `validation_error`, `masked_secret`, `base_url_needs_own_key`, `gateway_incomplete`; 403
   *   `entitlement_required` for setting (never for clearing) without `byo_keys`
   */
  async update(scope: OrgScope, wish: ProviderPatch): Promise<ProviderSettings> {
    const patch = readProviderPatch(wish);
    if (setsOwnKeys(patch)) await this.entitlements.require(scope.orgId, 'byo_keys');
    assertNoMasks(patch);
    for (const field of ['provider_1_base_url', 'provider_2_base_url'] as const)
      if (patch[field]) patch[field] = await tenantBaseUrl(this.egress, patch[field], [field]);
    if (Object.keys(patch).length) await this.db.transaction(scope, (tx) => this.store(tx, scope, patch));
    return this.get(scope);
  }

  private async store(tx: Tx, scope: OrgScope, patch: Partial<ProviderSettings>): Promise<void> {
    const before = providerSettingsOf(await this.repository.lockSettings(tx, scope));
    const after = withPatch(before, await this.withoutKnownSecrets(tx, scope, before, patch));
    assertWhole(after);
    const changes = changesOf(before, after);
    if (!Object.keys(changes).length) return;
    const secrets = SECRET_SETTINGS.filter((field) => changes[field] !== undefined);
    const facts = Object.fromEntries(secrets.map((field) => [field, changes[field] === null ? 'cleared' : 'set']));
    await this.audit.record(
      tx,
      scope,
      'settings.providers_updated',
      { kind: 'organization', id: scope.orgId },
      { changes: { ...changes, ...facts } },
    );
    for (const field of secrets)
      if (changes[field]) changes[field] = await this.crypto.encrypt(tx, settingPlace(scope.orgId, field), changes[field]);
    await this.repository.saveSettings(tx, scope, changes);
    this.settings.announce(tx, 'settings.changed', scope.orgId);
  }

  /** A secret that is sent again as it is stored changes nothing. */
  private async withoutKnownSecrets(
    tx: Tx,
    scope: OrgScope,
    before: ProviderSettings,
    patch: Partial<ProviderSettings>,
  ): Promise<Partial<ProviderSettings>> {
    const fresh = { ...patch };
    for (const field of SECRET_SETTINGS) {
      const sealed = before[field];
      if (fresh[field] && sealed && (await this.settings.open(settingPlace(scope.orgId, field), sealed, tx)) === fresh[field])
        delete fresh[field];
    }
    return fresh;
  }
}
