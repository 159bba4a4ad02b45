import { InferenceSettings } from '../inference.settings';
import { entitle, entitleAsBefore } from '@aps/billing/testing';
import { aTeam, type TestTeam } from '@aps/orgs/testing';
import { outcome, sql } from '@aps/platform/testing';
import { ModelResolver } from '../choice/model-resolver.service';
import { inferenceService } from '../testing/inference';

const CANARY = 'sk-canary-0123456789-zzzz4f2a';
const GATEWAY = { ai_gateway_account_id: 'acc-1', ai_gateway_gateway_id: 'gw_1', ai_gateway_token: CANARY };
const UNSET = {
  provider_1_enabled: null,
  provider_1_credential_source: null,
  provider_1_api_key: null,
  provider_1_base_url: null,
  provider_2_enabled: null,
  provider_2_credential_source: null,
  provider_2_api_key: null,
  provider_2_base_url: null,
  ai_gateway_mode: null,
  ai_gateway_account_id: null,
  ai_gateway_gateway_id: null,
  ai_gateway_token: null,
  ai_gateway_log_payloads: null,
};

describe('settings of AI providers', () => {
  const t = inferenceService();
  let org: TestTeam;
  beforeEach(async () => {
    org = await aTeam(t);
  });
  afterEach(() => {
    t.configure({ OPENAI_API_KEY: undefined });
    return entitleAsBefore(t);
  });
  const path = () => `/api/orgs/${org.id}/settings/ai`;
  const get = () => t.call('GET', path(), { as: org.owner });
  const patch = (body: unknown) => t.call('PATCH', path(), { as: org.owner, body });
  const audited = async () =>
    (await t.audit({ org_id: org.id, action: 'settings.providers_updated' })).map(({ metadata }) => metadata.changes);
  const resolve = (messageModel: string) => t.get(ModelResolver).resolve({ orgId: org.id, scope: 'chat', requested: { messageModel } });

  it('are null until they are set, change by the field, and are cleared by null or nothing', async () => {
    expect((await get()).body).toEqual(UNSET);
    const set = {
      provider_1_enabled: 'true',
      provider_1_credential_source: 'api_key',
      provider_1_api_key: CANARY,
      provider_1_base_url: 'https://Proxy.tenant.example/v1/',
      provider_2_enabled: 'false',
      provider_2_credential_source: 'gateway',
      ai_gateway_mode: 'custom',
      ...GATEWAY,
      ai_gateway_log_payloads: 'false',
    };
    const shown = {
      ...UNSET,
      ...set,
      provider_1_api_key: 'sk-…4f2a',
      ai_gateway_token: 'sk-…4f2a',
      provider_1_base_url: 'https://proxy.tenant.example/v1',
    };
    expect(await patch(set)).toMatchObject({ status: 200, body: shown });
    expect((await get()).body).toEqual(shown);
    expect((await patch({ provider_2_enabled: '', provider_2_api_key: CANARY })).body).toEqual({
      ...shown,
      provider_2_enabled: null,
      provider_2_api_key: 'sk-…4f2a',
    });
    for (const cleared of [null, '']) {
      expect((await patch({ provider_1_api_key: cleared })).body).toMatchObject({ provider_1_api_key: null, provider_1_base_url: null });
      await patch({ provider_1_api_key: CANARY, provider_1_base_url: 'https://proxy.tenant.example/v1' });
    }
    expect((await patch(Object.fromEntries(Object.keys(UNSET).map((field) => [field, ''])))).body).toEqual(UNSET);
  });

  it('keep secrets sealed, and out of answers and the audit log', async () => {
    const answer = await patch({ provider_1_api_key: CANARY, provider_2_api_key: CANARY, ...GATEWAY });
    expect(answer.text).not.toContain('canary');
    expect(JSON.stringify(await t.db.query(sql('SELECT * FROM org_ai_settings WHERE org_id = $1'), [org.id]))).not.toContain('canary');
    expect(JSON.stringify(await audited())).not.toContain('canary');
    await t.db.execute(sql(`UPDATE org_ai_settings SET provider_1_api_key = provider_2_api_key WHERE org_id = $1`), [org.id]);
    expect((await get()).body).toMatchObject({ provider_1_api_key: '…', provider_2_api_key: 'sk-…4f2a' });
  });

  it('are audited by what changes, and not where nothing does', async () => {
    const set = { provider_1_api_key: CANARY, provider_1_base_url: 'https://proxy.tenant.example/v1', provider_2_enabled: 'false' };
    await patch(set);
    const stored = sql<{ x: string }>('SELECT xmin::text AS x FROM org_ai_settings WHERE org_id = $1');
    const before = await t.db.query(stored, [org.id]);
    for (const same of [
      {},
      set,
      { provider_1_base_url: 'https://PROXY.tenant.example/v1/' },
      { provider_2_api_key: null, ai_gateway_mode: '' },
    ])
      expect((await patch(same)).status).toBe(200);
    expect(await audited()).toEqual([{ ...set, provider_1_api_key: 'set' }]);
    expect(await t.db.query(stored, [org.id])).toEqual(before);
    await patch({ provider_1_api_key: 'sk-another-0123456789' });
    await patch({ provider_1_api_key: '' });
    expect((await audited()).slice(1)).toEqual([
      { provider_1_api_key: 'set' },
      { provider_1_api_key: 'cleared', provider_1_base_url: null },
    ]);
  });

  it('refuse what is wrong and store nothing of it', async () => {
    const problems = async (body: unknown) => {
      const answer = await patch(body);
      return [answer.status, answer.body.code, answer.body.detail.map((d: { loc: string[] }) => d.loc.slice(1).join('.'))];
    };
    const wrong: [unknown, string, string[]][] = [
      [{ provider_1_enabled: true, provider_2_enabled: 'yes' }, 'validation_error', ['provider_1_enabled', 'provider_2_enabled']],
      [
        { provider_1_credential_source: 'magic', ai_gateway_mode: 'on' },
        'validation_error',
        ['provider_1_credential_source', 'ai_gateway_mode'],
      ],
      [
        { ai_gateway_account_id: '../x', ai_gateway_gateway_id: 'a/b' },
        'validation_error',
        ['ai_gateway_account_id', 'ai_gateway_gateway_id'],
      ],
      [
        { provider_1_api_key: 'two words', ai_gateway_token: 'line\nbreak' },
        'validation_error',
        ['provider_1_api_key', 'ai_gateway_token'],
      ],
      [{ provider_1_api_key: 'sk-…4f2a', ai_gateway_token: '…' }, 'masked_secret', ['provider_1_api_key', 'ai_gateway_token']],
      [{ provider_1_base_url: 'https://proxy.tenant.example/v1' }, 'base_url_needs_own_key', ['provider_1_base_url']],
      [{ provider_1_base_url: 'https://internal.example/v1', provider_1_api_key: CANARY }, 'validation_error', ['provider_1_base_url']],
      [{ provider_2_base_url: 'http://proxy.tenant.example/v1', provider_2_api_key: CANARY }, 'validation_error', ['provider_2_base_url']],
      [{ ai_gateway_mode: 'custom' }, 'gateway_incomplete', Object.keys(GATEWAY)],
      [{ ...GATEWAY, ai_gateway_mode: 'custom', ai_gateway_token: '' }, 'gateway_incomplete', ['ai_gateway_token']],
    ];
    for (const [body, code, at] of wrong) expect([body, ...(await problems(body))]).toEqual([body, 422, code, at]);
    expect((await get()).body).toEqual(UNSET);
    expect(await audited()).toEqual([]);
  });

  it('judge the mode of the gateway by what is set afterwards', async () => {
    await patch(GATEWAY);
    expect((await patch({ ai_gateway_mode: 'custom' })).status).toBe(200);
    expect(outcome(await patch({ ai_gateway_token: null }))).toEqual([422, 'gateway_incomplete']);
    expect((await patch({ ai_gateway_token: null, ai_gateway_mode: 'off' })).body).toMatchObject({
      ai_gateway_token: null,
      ai_gateway_mode: 'off',
    });
  });

  it('let two changes at once never leave an address without its key, nor the mode without its token', async () => {
    await patch({ provider_1_api_key: CANARY, ...GATEWAY });
    await Promise.all([patch({ provider_1_api_key: null }), patch({ provider_1_base_url: 'https://proxy.tenant.example/v1' })]);
    await Promise.all([patch({ ai_gateway_token: null }), patch({ ai_gateway_mode: 'custom' })]);
    const { body } = await get();
    expect(body.provider_1_base_url === null || body.provider_1_api_key !== null).toBe(true);
    expect(body.ai_gateway_mode === null || body.ai_gateway_token !== null).toBe(true);
  });

  it('need byo_keys for setting, never for clearing or for switching providers, and are shown as stored', async () => {
    await patch({ provider_1_api_key: CANARY, ...GATEWAY, ai_gateway_mode: 'custom' });
    await entitle(t, { byo_keys: false });
    for (const body of [
      { provider_2_api_key: CANARY },
      { provider_1_base_url: 'https://proxy.tenant.example/v1' },
      { provider_1_credential_source: 'api_key' },
      ...Object.entries({ ...GATEWAY, ai_gateway_mode: 'off', ai_gateway_log_payloads: 'true' }).map(([field, value]) => ({
        [field]: value,
      })),
    ])
      expect(outcome(await patch(body))).toEqual([403, 'entitlement_required']);
    expect((await get()).body).toMatchObject({ provider_1_api_key: 'sk-…4f2a', ai_gateway_mode: 'custom' });
    expect(await patch({ provider_1_enabled: 'false', provider_1_api_key: '', ai_gateway_mode: null, ai_gateway_token: '' })).toMatchObject(
      {
        status: 200,
        body: { provider_1_enabled: 'false', provider_1_api_key: null, ai_gateway_mode: null, ai_gateway_token: null },
      },
    );
  });

  it('spend the key of the provider after that of the route and before the platform’s, from the next call on', async () => {
    t.configure({ OPENAI_API_KEY: 'sk-from-environment' });
    await patch({ provider_1_api_key: CANARY });
    const ofProvider = await resolve('gpt-6-sol');
    expect([ofProvider.endpoint.apiKey, ofProvider.byo_key, ofProvider.endpoint.tenantAddress]).toEqual([CANARY, true, false]);
    await t.call('PATCH', `${path()}/routes`, { as: org.owner, body: { routes: { openai: { api_key: 'sk-of-the-route' } } } });
    expect((await resolve('gpt-6-sol')).endpoint.apiKey).toBe('sk-of-the-route');
    await t.call('PATCH', `${path()}/routes`, { as: org.owner, body: { routes: { openai: { api_key: null } } } });
    await patch({ provider_1_base_url: 'https://proxy.tenant.example/v1' });
    expect((await resolve('gpt-6-sol')).endpoint).toMatchObject({ baseUrl: 'https://proxy.tenant.example/v1', tenantAddress: true });
    await entitle(t, { byo_keys: false });
    expect((await resolve('gpt-6-sol')).endpoint.apiKey).toBe('sk-from-environment');
    await entitle(t, { byo_keys: true });
    await patch({ provider_1_api_key: '' });
    expect((await resolve('gpt-6-sol')).endpoint.apiKey).toBe('sk-from-environment');
  });

  it('never spend another key where that of the provider cannot be opened', async () => {
    t.configure({ OPENAI_API_KEY: 'sk-from-environment' });
    await patch({ provider_1_api_key: CANARY, provider_2_api_key: CANARY });
    await t.db.execute(sql('UPDATE org_ai_settings SET provider_1_api_key = provider_2_api_key WHERE org_id = $1'), [org.id]);
    t.get(InferenceSettings).drop(org.id);
    await expect(resolve('gpt-6-sol')).rejects.toMatchObject({ code: 'model_unavailable' });
  });

  it('switch a provider off, for turns and for those who choose models', async () => {
    t.configure({ OPENAI_API_KEY: 'sk-from-environment' });
    await patch({ provider_1_enabled: 'false' });
    const config = async () => (await t.call('GET', `/api/orgs/${org.id}/model-config`, { as: org.member })).body;
    await t.call('PATCH', `${path()}/routes`, { as: org.owner, body: { routes: { google: { enabled: false } } } });
    expect((await config()).disabled_providers.sort()).toEqual(['google', 'openai']);
    expect((await config()).scopes.chat.models).not.toContain('gpt-6-sol');
    await expect(resolve('gpt-6-sol')).rejects.toMatchObject({ code: 'route_disabled' });
    await entitle(t, { byo_keys: false });
    expect((await config()).disabled_providers).toEqual([]);
    await expect(resolve('gpt-6-sol')).rejects.toMatchObject({ code: 'route_disabled' });
    await patch({ provider_1_enabled: 'true' });
    expect((await resolve('gpt-6-sol')).endpoint.apiKey).toBe('sk-from-environment');
  });
});
