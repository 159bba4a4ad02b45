import type { CatalogView } from './catalog-view';
import { environmentKeys, MOCK_ROUTE, VENDOR_ROUTES } from './inference.config';
import type { Route } from './inference.types';

/** Where a key comes from. Stored ones are still sealed. */
export type KeySource = { from: 'organization' | 'platform'; routeId: string; sealed: string } | { from: 'environment'; value: string };

/** How a route is reached for one organization. */
export interface RouteAccess {
  baseUrl: string;
  /** The organization chose the address: it is reached through the guard only. */
  tenantAddress: boolean;
  /** The keys to try, in their order. An organization's key stands alone: where it cannot be read, nobody else's is spent for it. */
  keys: KeySource[];
  /** False: no call can succeed. */
  usable: boolean;
}

const VENDOR_BASE: Record<Route['dialect'], string> = {
  dialect_1: 'https://api.openai.com/v1',
  dialect_2: 'https://api.anthropic.com/v1',
  dialect_3: 'https://generativelanguage.googleapis.com/v1beta',
};

/**
 * Whether an organization's calls may take the route.
 *
 * @param byoKeys without it, what the organization set about routes has no effect
 */
export function isRouteOn(view: CatalogView, route: Route, byoKeys: boolean): boolean {
  return route.enabled && !(byoKeys && view.org.routeSettings.get(route.id)?.enabled === false);
}

/**
 * Decides address and key: the organization's own key for the route, the platform's stored key, the environment's. A route that
 * borrows spends the key of its lender, even when the lender is switched off.
 *
 * A platform key never goes to an address that an organization chose: an override of the address counts only together with a key of
 * their own, and their own routes know no other key than theirs.
 */
export function accessTo(
  view: CatalogView,
  route: Route,
  byoKeys: boolean,
  fromEnvironment: (slug: string) => string[] = environmentKeys,
): RouteAccess {
  const own = route.owner_org_id !== null;
  const lender = !own && route.credential_route_id ? view.platform.routes.get(route.credential_route_id) : route;
  const setting = byoKeys && lender ? view.org.routeSettings.get(lender.id) : undefined;
  const orgKey: KeySource[] = setting?.api_key && lender ? [{ from: 'organization', routeId: lender.id, sealed: setting.api_key }] : [];
  const override = orgKey.length && lender?.id === route.id ? (setting?.base_url ?? null) : null;
  const baseUrl = override ?? route.base_url ?? VENDOR_BASE[route.dialect];
  // Not seeded with an address yet: its calls must not end up at a vendor.
  if (route.slug === MOCK_ROUTE && !override && !route.base_url) return { baseUrl, tenantAddress: false, keys: [], usable: false };
  if (own) return { baseUrl, tenantAddress: true, keys: orgKey, usable: byoKeys };

  const keys = orgKey.length || !lender ? orgKey : platformKeys(view, lender, fromEnvironment);
  // Self-hosted servers and the mock often take no key; vendors always do, and whoever borrows one means to spend it.
  const needsKey = VENDOR_ROUTES.includes(route.slug) || route.credential_route_id !== null;
  return { baseUrl, tenantAddress: override !== null, keys, usable: keys.length > 0 || !needsKey };
}

function platformKeys(view: CatalogView, lender: Route, fromEnvironment: (slug: string) => string[]): KeySource[] {
  const sealed = view.platform.keys.get(lender.id);
  const stored: KeySource[] = sealed ? [{ from: 'platform', routeId: lender.id, sealed }] : [];
  return [...stored, ...fromEnvironment(lender.slug).map((value): KeySource => ({ from: 'environment', value }))];
}

/** Order of the automatic choice: routes with a key, then those that need none, the mock last. */
export function automaticRank(route: Route, access: RouteAccess): number {
  return route.slug === MOCK_ROUTE ? 2 : access.keys.length ? 0 : 1;
}
