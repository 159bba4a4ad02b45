import { loadConfig } from '@aps/platform/config';
import { environmentKeys, mockRouteEnabled, routeKeyVariable } from '../inference.config';
import { accessTo, isRouteOn } from './route-access.policy';
import { aRoute, aView, idOf, type ViewParts } from '../testing/views';

const env = (slug: string) => (slug === 'openai' ? ['from-env'] : []);
const access = (slug: string, parts: ViewParts, byoKeys = true) => {
  const view = aView(parts);
  const route = view.routes().find((r) => r.slug === slug)!;
  return accessTo(view, route, byoKeys, env);
};
const openai = aRoute('openai', { base_url: 'https://api.openai.com/v1' });
const lent = aRoute('lent', { credential_route_id: openai.id });
const own = aRoute('mine', { owner_org_id: idOf('org'), base_url: 'https://llm.tenant.example/v1' });

describe('accessTo', () => {
  it('spends the organization’s key alone, then the platform’s, then the environment’s', () => {
    const parts = { routes: [openai], keys: { openai: 'P' }, settings: { openai: { api_key: 'O' } } };
    expect(access('openai', parts).keys).toEqual([{ from: 'organization', routeId: openai.id, sealed: 'O' }]);
    expect(access('openai', parts, false).keys).toEqual([
      { from: 'platform', routeId: openai.id, sealed: 'P' },
      { from: 'environment', value: 'from-env' },
    ]);
    expect(access('openai', { routes: [openai] }).keys).toEqual([{ from: 'environment', value: 'from-env' }]);
  });

  it('takes another address only together with the organization’s own key', () => {
    const base_url = 'https://proxy.tenant.example/v1';
    expect(access('openai', { routes: [openai], settings: { openai: { api_key: 'O', base_url } } })).toMatchObject({
      baseUrl: base_url,
      tenantAddress: true,
    });
    // Such a row cannot be written; should it be there, the platform's key must not leave for the tenant's address.
    expect(access('openai', { routes: [openai], keys: { openai: 'P' }, settings: { openai: { base_url } } })).toMatchObject({
      baseUrl: openai.base_url,
      tenantAddress: false,
    });
    expect(
      access('openai', { routes: [openai], keys: { openai: 'P' }, settings: { openai: { api_key: 'O', base_url } } }, false),
    ).toMatchObject({ baseUrl: openai.base_url, tenantAddress: false });
  });

  it('borrows the key of another route, even of a disabled one, but not its address', () => {
    const off = { ...openai, enabled: false };
    expect(access('lent', { routes: [off, lent], keys: { openai: 'P', lent: 'unused' } })).toMatchObject({
      baseUrl: lent.base_url,
      keys: [{ from: 'platform', routeId: openai.id, sealed: 'P' }, { from: 'environment' }],
    });
    const parts = { routes: [openai, lent], settings: { openai: { api_key: 'O', base_url: 'https://proxy.tenant.example/v1' } } };
    expect(access('lent', parts)).toMatchObject({
      baseUrl: lent.base_url,
      tenantAddress: false,
      keys: [{ from: 'organization', routeId: openai.id, sealed: 'O' }],
    });
  });

  it('gives an own route no key but the organization’s', () => {
    expect(access('mine', { routes: [openai, own], keys: { mine: 'P', openai: 'P' } })).toMatchObject({
      keys: [],
      tenantAddress: true,
      usable: true,
    });
    expect(access('mine', { routes: [own], settings: { mine: { api_key: 'O' } } }).keys).toEqual([
      { from: 'organization', routeId: own.id, sealed: 'O' },
    ]);
    expect(access('mine', { routes: [{ ...own, credential_route_id: openai.id }, openai], keys: { openai: 'P' } }).keys).toEqual([]);
    expect(access('mine', { routes: [own], settings: { mine: { api_key: 'O' } } }, false)).toMatchObject({ keys: [], usable: false });
  });

  it('spends the organization’s key of the provider where it has none of the route', () => {
    const base_url = 'https://proxy.tenant.example/v1';
    const org = { provider_1_api_key: 'P1', provider_1_base_url: base_url, provider_2_api_key: 'P2' };
    const stored = (setting: string, sealed: string) => [{ from: 'settings', setting, sealed }];
    const ofProvider = { keys: stored('provider_1_api_key', 'P1'), baseUrl: base_url, tenantAddress: true };
    expect(access('openai', { routes: [openai], org, keys: { openai: 'P' } })).toMatchObject(ofProvider);
    expect(access('anthropic', { routes: [aRoute('anthropic')], org }).keys).toEqual(stored('provider_2_api_key', 'P2'));
    // The route's own setting says more, and the provider's address goes with the provider's key alone.
    expect(access('openai', { routes: [openai], org, settings: { openai: { api_key: 'O' } } })).toMatchObject({
      keys: [{ from: 'organization', routeId: openai.id, sealed: 'O' }],
      baseUrl: openai.base_url,
      tenantAddress: false,
    });
    expect(access('lent', { routes: [openai, lent], org })).toMatchObject({ keys: ofProvider.keys, baseUrl: lent.base_url });
    expect(access('openai', { routes: [openai], org, keys: { openai: 'P' } }, false)).toMatchObject({
      keys: [{ from: 'platform' }, { from: 'environment' }],
      tenantAddress: false,
    });
    const namedAlike = { ...own, slug: 'openai' };
    expect(access('openai', { routes: [namedAlike], org }).keys).toEqual([]);
    // Such a row cannot be written.
    expect(access('openai', { routes: [openai], org: { provider_1_base_url: base_url }, keys: { openai: 'P' } }).baseUrl).toBe(
      openai.base_url,
    );
  });

  it('goes through the AI gateway where the credential is to come from there, with nothing but its token', () => {
    loadConfig({ AI_GATEWAY_BASE_URL: 'https://gateway.example/v1/' });
    const set = { ai_gateway_mode: 'custom', ai_gateway_account_id: 'acc', ai_gateway_gateway_id: 'gw', ai_gateway_token: 'T' } as const;
    const settings = { openai: { api_key: 'O', base_url: 'https://proxy.tenant.example/v1', credential_source: 'gateway' as const } };
    const through = {
      baseUrl: 'https://gateway.example/v1/acc/gw/openai',
      tenantAddress: false,
      keys: [{ from: 'settings', setting: 'ai_gateway_token', sealed: 'T' }],
      gateway: true,
      usable: true,
    };
    expect(access('openai', { routes: [openai], org: set, settings, keys: { openai: 'P' } })).toEqual(through);
    const byProvider = { ...set, provider_1_credential_source: 'gateway' as const };
    expect(access('openai', { routes: [openai], org: byProvider })).toEqual(through);
    expect(access('openai', { routes: [openai], org: byProvider, settings: { openai: { credential_source: 'api_key' } } })).toMatchObject({
      gateway: false,
      keys: [{ from: 'environment' }],
    });
    expect(access('openai', { routes: [openai], org: set }).gateway).toBe(false);
    expect(access('openai', { routes: [openai], org: byProvider }, false)).toMatchObject({ gateway: false, baseUrl: openai.base_url });
    const named = { ...lent, gateway_provider_slug: 'azure' };
    expect(access('lent', { routes: [openai, named], org: byProvider }).baseUrl).toBe('https://gateway.example/v1/acc/gw/azure');
    expect(access('mine', { routes: [own], org: set, settings: { mine: { api_key: 'O', credential_source: 'gateway' } } })).toMatchObject({
      baseUrl: 'https://gateway.example/v1/acc/gw/mine',
      gateway: true,
    });

    for (const lacking of [
      { ai_gateway_mode: 'off' },
      { ai_gateway_mode: null },
      { ai_gateway_token: null },
      { ai_gateway_account_id: null },
    ] as const)
      expect(access('openai', { routes: [openai], org: { ...byProvider, ...lacking }, settings: {}, keys: { openai: 'P' } })).toMatchObject(
        {
          gateway: true,
          keys: [],
          usable: false,
        },
      );
  });

  it('needs a key for vendors and borrowers, and none for servers of the platform', () => {
    expect(access('anthropic', { routes: [aRoute('anthropic')] }).usable).toBe(false);
    expect(access('vllm', { routes: [aRoute('vllm')] }).usable).toBe(true);
    expect(access('lent', { routes: [aRoute('anthropic'), { ...lent, credential_route_id: idOf('route:anthropic') }] }).usable).toBe(false);
  });

  it('knows the vendors’ addresses', () => {
    const at = (dialect: 'dialect_1' | 'dialect_2' | 'dialect_3') =>
      access('r', { routes: [aRoute('r', { base_url: null, dialect })] }).baseUrl;
    expect([at('dialect_1'), at('dialect_2'), at('dialect_3')]).toEqual([
      'https://api.openai.com/v1',
      'https://api.anthropic.com/v1',
      'https://generativelanguage.googleapis.com/v1beta',
    ]);
  });

  it('switches a route off for the platform, or for one organization that may', () => {
    const view = aView({ routes: [openai], settings: { openai: { enabled: false } } });
    expect(isRouteOn(view, openai, true)).toBe(false);
    expect(isRouteOn(view, openai, false)).toBe(true);
    expect(isRouteOn(aView({ settings: { openai: { enabled: true } } }), { ...openai, enabled: false }, true)).toBe(false);
  });

  it('switches off a provider’s route for one organization, whatever its plan', () => {
    const view = aView({ routes: [openai, lent], org: { provider_1_enabled: 'false' }, settings: { openai: { enabled: true } } });
    expect([isRouteOn(view, openai, true), isRouteOn(view, openai, false), isRouteOn(view, lent, true)]).toEqual([false, false, true]);
    expect(isRouteOn(view, { ...own, slug: 'openai' }, true)).toBe(true);
    expect(isRouteOn(aView({ org: { provider_1_enabled: 'true' } }), { ...openai, enabled: false }, true)).toBe(false);
  });
});

describe('keys of the environment', () => {
  const names = ['PROVIDER_1_API_KEY', 'OPENAI_API_KEY', 'GOOGLE_GENERATIVE_AI_API_KEY', 'ROUTE_MY_VLLM_API_KEY', 'ROUTE_OPENAI_API_KEY'];
  afterEach(() => {
    for (const name of names) delete process.env[name];
  });

  it('have their names, the older one first', () => {
    Object.assign(process.env, {
      PROVIDER_1_API_KEY: 'old',
      OPENAI_API_KEY: 'new',
      GOOGLE_GENERATIVE_AI_API_KEY: 'g',
      ROUTE_MY_VLLM_API_KEY: ' v ',
      ROUTE_OPENAI_API_KEY: 'no',
    });
    loadConfig({ PROVIDER_1_API_KEY: 'old', OPENAI_API_KEY: 'new', GOOGLE_GENERATIVE_AI_API_KEY: 'g' });
    expect(routeKeyVariable('my-vllm')).toBe('ROUTE_MY_VLLM_API_KEY');
    expect(environmentKeys('openai')).toEqual(['old', 'new']);
    expect(environmentKeys('anthropic')).toEqual([]);
    expect(environmentKeys('google')).toEqual(['g']);
    expect(environmentKeys('my-vllm')).toEqual(['v']);
    expect(environmentKeys('constructor')).toEqual([]);
  });

  it('leave the mock on, except in production', () => {
    const on = (settings: Record<string, string>) => {
      loadConfig(settings);
      return mockRouteEnabled();
    };
    expect(on({})).toBe(true);
    expect(on({ NODE_ENV: 'production' })).toBe(false);
    expect(on({ NODE_ENV: 'production', MOCK_ROUTE_ENABLED: 'on' })).toBe(true);
    expect(on({ MOCK_ROUTE_ENABLED: 'false' })).toBe(false);
    expect(() => on({ MOCK_ROUTE_ENABLED: 'maybe' })).toThrow('MOCK_ROUTE_ENABLED');
  });
});
