import { Injectable } from '@nestjs/common';
import { Entitlements } from '@aps/billing';
import type { OrgScope } from '@aps/guards';
import { Audit } from '@aps/platform/audit';
import { EnvelopeCrypto, mask } from '@aps/platform/crypto';
import { advisoryLock, changesOf, Database, type Tx } from '@aps/platform/database';
import { Egress } from '@aps/platform/egress';
import { MOCK_ROUTE, mockRouteEnabled } from '../inference.config';
import { InferenceRepository } from '../inference.repository';
import { InferenceSettings, orgKeyPlace } from '../inference.settings';
import type { Route, RouteSetting } from '../inference.types';
import { applyPatch, assertApplicable, assertOwnKeys, readRoutePatches, setsAnything, type RoutePatch } from './route-settings.policy';
import { tenantBaseUrl } from './tenant-base-url';

/** One route as an organization's administrators see it. */
export interface RouteSettingView {
  route: Route;
  platform_enabled: boolean;
  setting: Omit<RouteSetting, 'api_key'>;
  /** Masked. */
  api_key: string | null;
  is_set: boolean;
  /** Slug of the route whose key is spent. */
  borrows_from: string | null;
}

/** An organization's own keys, addresses and switches for routes. */
@Injectable()
export class OrgRoutesService {
  constructor(
    private readonly db: Database,
    private readonly repository: InferenceRepository,
    private readonly settings: InferenceSettings,
    private readonly entitlements: Entitlements,
    private readonly crypto: EnvelopeCrypto,
    private readonly egress: Egress,
    private readonly audit: Audit,
  ) {}

  /** Every route of the platform, also unconfigured and disabled ones, and the organization's own. */
  async list(scope: OrgScope): Promise<RouteSettingView[]> {
    const [routes, settings] = await Promise.all([this.repository.routes(this.db, scope), this.repository.routeSettings(this.db, scope)]);
    const slugs = new Map(routes.map((r) => [r.id, r.slug]));
    return Promise.all(
      routes.map(async (route) => {
        const { api_key: sealed, ...setting } = settings.get(route.id) ?? applyPatch(route, undefined, {});
        const key = sealed === null ? null : await this.settings.open(orgKeyPlace(scope.orgId, route.id), sealed);
        return {
          route,
          platform_enabled: route.enabled && (route.slug !== MOCK_ROUTE || mockRouteEnabled()),
          setting,
          // What cannot be opened any more is still set, and shows nothing of itself.
          api_key: sealed === null ? null : mask(key ?? ''),
          is_set: sealed !== null,
          borrows_from: route.credential_route_id ? (slugs.get(route.credential_route_id) ?? null) : null,
        };
      }),
    );
  }

  /**
   * Changes the listed routes and of them the fields that are there; all of it or nothing.
   *
   * @throws DomainError 422 `validation_error`, `unknown_reference`, `masked_secret`, `route_borrows_key`, `base_url_needs_own_key`;
   *   403 `entitlement_required` for setting (never for clearing) without `byo_keys`
   */
  async update(scope: OrgScope, body: Record<string, unknown>): Promise<RouteSettingView[]> {
    const patches = readRoutePatches(body);
    if (setsAnything(patches.values())) await this.entitlements.require(scope.orgId, 'byo_keys');
    const routes = new Map((await this.repository.routes(this.db, scope)).map((r) => [r.slug, r]));
    assertApplicable(patches, routes);
    // Resolves names, so it stays outside of the transaction.
    await Promise.all(
      [...patches].map(async ([slug, patch]) => {
        if (patch.base_url) patch.base_url = await tenantBaseUrl(this.egress, patch.base_url, ['routes', slug, 'base_url']);
      }),
    );
    const touched = new Map([...patches].filter(([, patch]) => Object.keys(patch).length));
    if (touched.size) await this.db.transaction(scope, (tx) => this.store(tx, scope, touched, routes));
    return this.list(scope);
  }

  private async store(tx: Tx, scope: OrgScope, patches: Map<string, RoutePatch>, routes: Map<string, Route>): Promise<void> {
    // Rows may not be there yet, so there is nothing else to lock; without it two requests could leave an address without its key.
    await advisoryLock(tx, `org-route-settings:${scope.orgId}`);
    const stored = await this.repository.routeSettings(tx, scope);
    const after = new Map<string, RouteSetting>();
    const changes = new Map<string, Partial<RouteSetting>>();
    for (const [slug, patch] of patches) {
      const route = routes.get(slug)!;
      const before = applyPatch(route, stored.get(route.id), {});
      const setting = applyPatch(route, before, await this.withoutKnownKey(tx, scope, before, patch));
      const changed = changesOf(before, setting);
      after.set(slug, setting);
      if (Object.keys(changed).length) changes.set(slug, changed);
    }
    assertOwnKeys(after);
    if (!changes.size) return;
    for (const [slug, { api_key: fresh }] of changes) {
      const setting = after.get(slug)!;
      if (fresh) setting.api_key = await this.crypto.encrypt(tx, orgKeyPlace(scope.orgId, setting.route_id), fresh);
      await this.repository.saveRouteSetting(tx, scope, setting);
    }
    await this.audit.record(
      tx,
      scope,
      'settings.routes_updated',
      { kind: 'organization', id: scope.orgId },
      { routes: Object.fromEntries([...changes].map(([slug, changed]) => [slug, facts(changed)])) },
    );
    this.settings.announce(tx, 'route.changed', scope.orgId);
  }

  /** A key that is sent again as it is stored changes nothing. */
  private async withoutKnownKey(tx: Tx, scope: OrgScope, before: RouteSetting, patch: RoutePatch): Promise<RoutePatch> {
    if (!patch.api_key || before.api_key === null) return patch;
    const { api_key, ...rest } = patch;
    return (await this.settings.open(orgKeyPlace(scope.orgId, before.route_id), before.api_key, tx)) === api_key ? rest : patch;
  }
}

/** Changes as the audit log keeps them: of a key only whether it was set or cleared. */
function facts({ api_key, ...rest }: Partial<RouteSetting>): Record<string, unknown> {
  return { ...rest, ...(api_key !== undefined && { api_key: api_key === null ? 'cleared' : 'set' }) };
}
