import { Inject, Injectable, Logger } from '@nestjs/common';
import { Broadcaster } from '@aps/platform/broadcast';
import { DecryptionError, EnvelopeCrypto, type SecretPlace } from '@aps/platform/crypto';
import { Database, type Db, type Tx } from '@aps/platform/database';
import { CatalogView, type OrgData, type PlatformData } from './choice/catalog-view';
import { MOCK_ROUTE, mockRouteEnabled } from './inference.config';
import { InferenceRepository } from './inference.repository';
import type { SecretSetting } from './governance/provider-settings.policy';
import type { KeySource, StoredKey } from './choice/route-access.policy';
import { ViewCache } from '@aps/platform/cache';

/** How long a view is believed when no broadcast says that it changed. */
const TTL_MS = 10_000;
/** A view of an organization is a few kilobytes. */
const MAX_ORGS = 5_000;

/** Where an organization's key of a route is stored. */
export const orgKeyPlace = (orgId: string, routeId: string): SecretPlace => ({
  orgId,
  table: 'org_route_settings',
  column: 'api_key',
  rowId: routeId,
});
/** Where a secret among an organization's settings is stored. */
export const settingPlace = (orgId: string, setting: SecretSetting): SecretPlace => ({
  orgId,
  table: 'org_ai_settings',
  column: setting,
  rowId: orgId,
});
/** Where the platform's key of a route is stored. */
export const platformKeyPlace = (routeId: string): SecretPlace => ({ orgId: null, table: 'route_keys', column: 'api_key', rowId: routeId });

/**
 * What a turn must know of settings, routes and models, held in memory: in the common case choosing a model asks no database. The
 * views are dropped when something is announced, and by themselves after ten seconds.
 */
@Injectable()
export class InferenceSettings {
  private readonly logger = new Logger('InferenceSettings');
  private readonly platform: ViewCache<'platform', PlatformData>;
  private readonly orgs: ViewCache<string, OrgData>;
  /** Opened keys by view, so that they are forgotten with it. */
  private readonly opened = new WeakMap<PlatformData | OrgData, Map<string, Promise<string | null>>>();

  constructor(
    private readonly db: Database,
    private readonly repository: InferenceRepository,
    private readonly crypto: EnvelopeCrypto,
    @Inject(Broadcaster) private readonly broadcaster: Pick<Broadcaster, 'send'>,
  ) {
    this.platform = new ViewCache(TTL_MS, 1, async () => withoutMock(await this.repository.platform(this.db)));
    this.orgs = new ViewCache(TTL_MS, MAX_ORGS, (orgId) => this.repository.organization(this.db, orgId));
  }

  async view(orgId: string): Promise<CatalogView> {
    const [platform, org] = await Promise.all([this.platform.get('platform'), this.orgs.get(orgId)]);
    return new CatalogView(platform, org);
  }

  /** The budget as far as is known here, null without one; what it is by now, and what is left of it, its row tells. */
  async budgetLimit(orgId: string): Promise<string | null> {
    return (await this.orgs.get(orgId)).settings.budget_limit_usd;
  }

  platformData(): Promise<PlatformData> {
    return this.platform.get('platform');
  }

  /** Opens a key; null when the stored one cannot be opened. */
  async key(view: CatalogView, source: KeySource): Promise<string | null> {
    if (source.from === 'environment') return source.value;
    const holder = source.from === 'platform' ? view.platform : view.org;
    const name = source.from === 'settings' ? source.setting : source.routeId;
    let opened = this.opened.get(holder);
    if (!opened) this.opened.set(holder, (opened = new Map<string, Promise<string | null>>()));
    let secret = opened.get(name);
    if (!secret) {
      opened.set(name, (secret = this.open(placeOf(view.org.orgId, source), source.sealed)));
      // The database was away: the next call tries again.
      secret.catch(() => opened.delete(name));
    }
    return secret;
  }

  /** Opens a stored key; null, and a line in the log, when it cannot be opened. */
  async open(place: SecretPlace, sealed: string, db: Db = this.db): Promise<string | null> {
    try {
      return await this.crypto.decrypt(db, place, sealed);
    } catch (error) {
      if (!(error instanceof DecryptionError)) throw error;
      this.logger.warn({
        msg: 'A stored key cannot be opened',
        org_id: place.orgId,
        table: place.table,
        row_id: place.rowId,
        error: error.message,
      });
      return null;
    }
  }

  /** Drops what is held of an organization or, with null, of the platform. */
  drop(orgId: string | null): void {
    if (orgId === null) this.platform.clear();
    else this.orgs.drop(orgId);
  }

  /** After the commit: drops what this process holds, and tells the others to. */
  announce(tx: Tx, name: 'settings.changed' | 'route.changed', orgId: string | null): void {
    tx.afterCommit(() => {
      this.drop(orgId);
      this.broadcaster.send(name, { org_id: orgId });
    });
  }
}

function placeOf(orgId: string, source: StoredKey): SecretPlace {
  if (source.from === 'settings') return settingPlace(orgId, source.setting);
  return source.from === 'organization' ? orgKeyPlace(orgId, source.routeId) : platformKeyPlace(source.routeId);
}

/** Where the mock is switched off by the environment its route counts as disabled, whatever its row says. */
function withoutMock(data: PlatformData): PlatformData {
  if (mockRouteEnabled()) return data;
  const routes = [...data.routes].map(([id, route]) => [id, route.slug === MOCK_ROUTE ? { ...route, enabled: false } : route] as const);
  return { ...data, routes: new Map(routes) };
}
