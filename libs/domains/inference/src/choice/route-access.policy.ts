import type { CatalogView } from './catalog-view';
import { environmentKeys, inferenceConfig, MOCK_ROUTE, VENDOR_ROUTES } from '../inference.config';
import type { OrgSettings, Route } from '../inference.types';
import type { SecretSetting } from '../governance/provider-settings.policy';

/** A key that is stored, still sealed: what an organization or the platform set for a route, or an organization's settings hold. */
export type StoredKey =
  { from: 'organization' | 'platform'; routeId: string; sealed: string } | { from: 'settings'; setting: SecretSetting; sealed: string };

/** Where a key comes from. */
export type KeySource = StoredKey | { from: 'environment'; value: string };

/** How a route is reached for one organization. */
export interface RouteAccess {
  baseUrl: string;
  /** The organization chose the address: it is reached through the guard only. */
  tenantAddress: boolean;
  /** The keys to try, in their order. An organization's key stands alone: where it cannot be read, nobody else's is spent for it. */
  keys: KeySource[];
  /** Through the organization's AI gateway, which the key opens; no provider's key is sent. */
  gateway: boolean;
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
  return route.enabled && !isSwitchedOff(view, route, byoKeys);
}

/** Whether the organization itself has switched the route off, or the provider behind it; for the latter no plan is asked. */
export function isSwitchedOff(view: CatalogView, route: Route, byoKeys: boolean): boolean {
  const provider = providerOf(route);
  if (provider && view.org.settings[`${provider}_enabled`] === 'false') return true;
  return byoKeys && view.org.routeSettings.get(route.id)?.enabled === false;
}

/** The routes of the platform that the settings of an organization call provider 1 and 2. */
const PROVIDERS: Record<string, 'provider_1' | 'provider_2'> = { openai: 'provider_1', anthropic: 'provider_2' };

const providerOf = (route: Route) =>
  route.owner_org_id === null && Object.hasOwn(PROVIDERS, route.slug) ? PROVIDERS[route.slug] : undefined;

/**
 * Decides address and key: the organization's own key for the route, its key for the provider, the platform's stored key, the
 * environment's. A route that borrows spends the key of its lender, even when the lender is switched off. Where the credential is said
 * to come from the AI gateway, the gateway is the address, and no key but the gateway's is spent.
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
  if (byoKeys && lender && credentialSource(view, lender) === 'gateway') return throughGateway(view.org.settings, route);
  const orgKey = byoKeys && lender ? ownKey(view, lender) : undefined;
  const override = lender?.id === route.id ? (orgKey?.baseUrl ?? null) : null;
  const baseUrl = override ?? route.base_url ?? VENDOR_BASE[route.dialect];
  // Not seeded with an address yet: its calls must not end up at a vendor.
  if (route.slug === MOCK_ROUTE && !override && !route.base_url)
    return { baseUrl, tenantAddress: false, keys: [], gateway: false, usable: false };
  if (own) return { baseUrl, tenantAddress: true, keys: orgKey ? [orgKey.source] : [], gateway: false, usable: byoKeys };

  const keys = orgKey ? [orgKey.source] : lender ? platformKeys(view, lender, fromEnvironment) : [];
  // Self-hosted servers and the mock often take no key; vendors always do, and whoever borrows one means to spend it.
  const needsKey = VENDOR_ROUTES.includes(route.slug) || route.credential_route_id !== null;
  return { baseUrl, tenantAddress: override !== null, keys, gateway: false, usable: keys.length > 0 || !needsKey };
}

/** Where the organization wants the credential of a route to come from; what it says of the route goes before what it says of the provider. */
function credentialSource(view: CatalogView, route: Route): 'api_key' | 'gateway' | null {
  const provider = providerOf(route);
  return view.org.routeSettings.get(route.id)?.credential_source ?? (provider ? view.org.settings[`${provider}_credential_source`] : null);
}

/** The organization's own key for a route, and the address that goes with it. */
function ownKey(view: CatalogView, route: Route): { source: StoredKey; baseUrl: string | null } | undefined {
  const setting = view.org.routeSettings.get(route.id);
  if (setting?.api_key) return { source: { from: 'organization', routeId: route.id, sealed: setting.api_key }, baseUrl: setting.base_url };
  const provider = providerOf(route);
  const sealed = provider && view.org.settings[`${provider}_api_key`];
  if (!sealed) return undefined;
  return {
    source: { from: 'settings', setting: `${provider}_api_key`, sealed },
    baseUrl: view.org.settings[`${provider}_base_url`],
  };
}

/** The operator says where gateways answer, so the address is none that an organization chose. */
function throughGateway(settings: OrgSettings, route: Route): RouteAccess {
  const { ai_gateway_account_id: account, ai_gateway_gateway_id: gateway, ai_gateway_token: sealed } = settings;
  const isSet = settings.ai_gateway_mode === 'custom' && account && gateway && sealed;
  const path = [account, gateway].map((part) => encodeURIComponent(part ?? '')).join('/');
  return {
    baseUrl: `${inferenceConfig.value.aiGatewayBaseUrl}/${path}/${route.gateway_provider_slug ?? route.slug}`,
    tenantAddress: false,
    keys: isSet ? [{ from: 'settings', setting: 'ai_gateway_token', sealed }] : [],
    gateway: true,
    usable: !!isSet,
  };
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
