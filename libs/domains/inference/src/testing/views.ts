import { uuidv7 } from 'uuidv7';
import { byOrder, CatalogView, NO_ORG_SETTINGS, NO_PLATFORM_SETTINGS } from '../choice/catalog-view';
import type { CatalogEntry, OrgSettings, PlatformSettings, Route, RouteSetting } from '../inference.types';

/** Made by slug or key, so that specs can name ids without looking them up. */
const ids = new Map<string, string>();
export function idOf(name: string): string {
  if (!ids.has(name)) ids.set(name, uuidv7());
  return ids.get(name)!;
}

export function aRoute(slug: string, over: Partial<Route> = {}): Route {
  return {
    id: idOf(`route:${slug}`),
    slug,
    label: slug,
    dialect: 'dialect_1',
    base_url: `https://${slug}.example/v1`,
    enabled: true,
    sort_order: 0,
    credential_route_id: null,
    gateway_provider_slug: null,
    owner_org_id: null,
    ...over,
  };
}

/** @param route slug of the route it stands on */
export function aModel(key: string, route: string, over: Partial<CatalogEntry> = {}): CatalogEntry {
  return {
    id: idOf(`model:${key}`),
    owner_org_id: null,
    key,
    route_id: idOf(`route:${route}`),
    label: key,
    provider: route,
    kind: 'chat',
    remote_model_id: null,
    enabled: true,
    deprecated: false,
    sort_order: 0,
    context_window: 128_000,
    max_output_tokens: null,
    allowed_efforts: [],
    cost_tier: null,
    supports_reasoning: true,
    supports_vision: false,
    input_price_per_1m: '1',
    output_price_per_1m: '2',
    cached_input_price_per_1m: null,
    cache_write_price_per_1m: null,
    fallback_credits_per_1k_tokens: null,
    price_tiers: [],
    replacement_model_id: null,
    ...over,
  };
}

export interface ViewParts {
  orgId?: string;
  platform?: Partial<PlatformSettings>;
  org?: Partial<OrgSettings>;
  routes?: Route[];
  models?: CatalogEntry[];
  /** Sealed platform keys by route slug. */
  keys?: Record<string, string>;
  /** What the organization set, by route slug. */
  settings?: Record<string, Partial<RouteSetting>>;
}

export function aView(parts: ViewParts = {}): CatalogView {
  const orgId = parts.orgId ?? idOf('org');
  const routes = parts.routes ?? [];
  const models = [...(parts.models ?? [])].sort(byOrder);
  const byId = (list: Route[]) => new Map(list.map((r) => [r.id, r]));
  const routeSettings = Object.entries(parts.settings ?? {}).map(([slug, s]): RouteSetting => ({
    route_id: idOf(`route:${slug}`),
    api_key: null,
    credential_source: null,
    base_url: null,
    enabled: null,
    ...s,
  }));
  return new CatalogView(
    {
      settings: { ...NO_PLATFORM_SETTINGS, ...parts.platform },
      routes: byId(routes.filter((r) => r.owner_org_id === null)),
      entries: models.filter((m) => m.owner_org_id === null),
      keys: new Map(Object.entries(parts.keys ?? {}).map(([slug, key]) => [idOf(`route:${slug}`), key])),
    },
    {
      orgId,
      settings: { ...NO_ORG_SETTINGS, ...parts.org },
      routeSettings: new Map(routeSettings.map((s) => [s.route_id, s])),
      routes: byId(routes.filter((r) => r.owner_org_id !== null)),
      entries: models.filter((m) => m.owner_org_id !== null),
    },
  );
}
