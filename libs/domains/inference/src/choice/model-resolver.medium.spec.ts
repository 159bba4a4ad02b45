import { entitle, entitleAsBefore } from '@aps/billing/testing';
import { NO_CALLER } from '@aps/platform/database';
import { inspect } from 'node:util';
import { Logger } from '@nestjs/common';
import { Broadcaster } from '@aps/platform/broadcast';
import { EnvelopeCrypto } from '@aps/platform/crypto';
import { sql } from '@aps/platform/testing';
import { uuidv7 } from 'uuidv7';
import { ModelCatalog } from '../model-catalog.service';
import { ModelResolver } from './model-resolver.service';
import { InferenceRepository } from '../inference.repository';
import { InferenceSettings, orgKeyPlace, platformKeyPlace } from '../inference.settings';
import { OrgRuntimeService } from '../governance/org-runtime.service';
import { receiptRow, ReceiptsRepository } from '../receipts.repository';
import { aTeam, type TestTeam } from '@aps/orgs/testing';
import type { Bearer } from '@aps/platform/testing';
import { forget, inferenceService } from '../testing/inference';

const CANARY = 'sk-canary-0123456789-zzzz4f2a';

describe('ModelResolver', () => {
  const t = inferenceService();
  let resolver: ModelResolver;
  let org: TestTeam;
  beforeAll(async () => {
    resolver = t.get(ModelResolver);
  });
  const call = (method: string, path: string, as?: Bearer, body?: unknown) => t.call(method, `/api${path}`, { as, body });
  beforeEach(async () => {
    org = await aTeam(t);
  });
  afterEach(async () => {
    t.configure({ OPENAI_API_KEY: undefined, DEFAULT_MODEL: undefined });
    await entitleAsBefore(t);
    jest.restoreAllMocks();
    await t.db.execute(sql('DELETE FROM route_keys'));
    forget(t);
  });
  const resolve = (messageModel?: string) => resolver.resolve({ orgId: org.id, scope: 'chat', requested: { messageModel } });
  const routeId = async (slug: string) =>
    (await t.db.query(sql<{ id: string }>('SELECT id FROM inference_routes WHERE slug = $1'), [slug]))[0].id;
  const setRoutes = (routes: unknown) => call('PATCH', `/orgs/${org.id}/settings/ai/routes`, org.owner, { routes });
  const platformKey = async (slug: string, key: string) => {
    const id = await routeId(slug);
    await t.db.execute(sql('INSERT INTO route_keys (route_id, api_key) VALUES ($1, $2)'), [
      id,
      await t.get(EnvelopeCrypto).encrypt(t.db, platformKeyPlace(id), key),
    ]);
    forget(t);
  };

  it('takes the mock where nothing else can be called', async () => {
    expect(await resolve()).toMatchObject({
      resolved_model: 'mock',
      requested_model: null,
      source: 'automatic',
      reason: 'default',
      byo_key: false,
      priced: true,
      context_window: 128_000,
      remote_model_id: 'mock',
      endpoint: { dialect: 'dialect_1', baseUrl: 'http://127.0.0.1:1/v1', tenantAddress: false },
    });
    t.configure({ DEFAULT_MODEL: 'mock-unpriced' });
    expect(await resolve()).toMatchObject({ resolved_model: 'mock-unpriced', priced: false });
  });

  it('spends the organization’s key, then the platform’s, then the environment’s', async () => {
    await expect(resolve('gpt-6-sol')).rejects.toMatchObject({ code: 'model_unavailable' });
    t.configure({ OPENAI_API_KEY: 'sk-from-environment' });
    expect((await resolve('gpt-6-sol')).endpoint.apiKey).toBe('sk-from-environment');
    await platformKey('openai', 'sk-from-platform');
    expect(await resolve('gpt-6-sol')).toMatchObject({ byo_key: false });
    expect((await resolve('gpt-6-sol')).endpoint.apiKey).toBe('sk-from-platform');
    await setRoutes({ openai: { api_key: CANARY } });
    const own = await resolve('gpt-6-sol');
    expect(own.byo_key).toBe(true);
    expect(own.endpoint.apiKey).toBe(CANARY);
    await entitle(t, { byo_keys: false });
    expect((await resolve('gpt-6-sol')).endpoint.apiKey).toBe('sk-from-platform');
  });

  it('never spends another key where the organization’s cannot be opened', async () => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation();
    await platformKey('openai', 'sk-from-platform');
    await setRoutes({ openai: { api_key: CANARY } });
    await t.db.execute(sql(`UPDATE org_route_settings SET api_key = (SELECT api_key FROM route_keys LIMIT 1) WHERE org_id = $1`), [org.id]);
    t.get(InferenceSettings).drop(org.id);
    await expect(resolve('gpt-6-sol')).rejects.toMatchObject({ code: 'model_unavailable' });
    expect(JSON.stringify(warn.mock.calls)).not.toContain('e1.');
  });

  it('goes on to the environment where the platform’s stored key cannot be opened', async () => {
    jest.spyOn(Logger.prototype, 'warn').mockImplementation();
    await t.db.execute(sql(`INSERT INTO route_keys (route_id, api_key) VALUES ($1, 'e1.00000000-0000-7000-8000-000000000009.AAAA')`), [
      await routeId('openai'),
    ]);
    forget(t);
    await expect(resolve('gpt-6-sol')).rejects.toMatchObject({ code: 'model_unavailable' });
    t.configure({ OPENAI_API_KEY: 'sk-from-environment' });
    forget(t);
    expect((await resolve('gpt-6-sol')).endpoint.apiKey).toBe('sk-from-environment');
  });

  it('takes the next model where nobody chose, and the key of the first cannot be opened', async () => {
    jest.spyOn(Logger.prototype, 'warn').mockImplementation();
    for (const slug of ['openai', 'anthropic'])
      await t.db.execute(sql(`INSERT INTO route_keys (route_id, api_key) VALUES ($1, 'e1.00000000-0000-7000-8000-000000000009.AAAA')`), [
        await routeId(slug),
      ]);
    forget(t);
    expect(await resolve()).toMatchObject({ resolved_model: 'mock', source: 'automatic' });
    await expect(resolve('gpt-6-sol')).rejects.toMatchObject({
      code: 'model_unavailable',
      message: expect.stringContaining('cannot be read'),
    });
    t.configure({ DEFAULT_MODEL: 'claude-sonnet-5-5' });
    await expect(resolve()).rejects.toMatchObject({ code: 'model_unavailable' });
  });

  it('shows a key to nothing that prints, copies or serializes', async () => {
    await setRoutes({ openai: { api_key: CANARY } });
    const model = await resolve('gpt-6-sol');
    expect(model.endpoint.apiKey).toBe(CANARY);
    for (const shown of [inspect(model, { depth: 9, showHidden: true }), JSON.stringify(model), JSON.stringify({ ...model.endpoint })])
      expect(shown).not.toContain('canary');
  });

  it('asks no database once it knows', async () => {
    // Not by a request: its broadcast comes back and drops the view a moment later.
    await platformKey('openai', CANARY);
    await resolve('gpt-6-sol');
    const query = jest.spyOn(t.get(InferenceSettings)['db'], 'query');
    for (let i = 0; i < 20; i++) await resolve('gpt-6-sol');
    await resolve();
    expect(query).not.toHaveBeenCalled();
  });

  it('hears in another process that something changed', async () => {
    // Another replica: its own memory, told by nothing but the broadcast.
    const settings = new InferenceSettings(t.db as never, t.get(InferenceRepository), t.get(EnvelopeCrypto), { send: () => undefined });
    const before = await settings.view(org.id);
    await call('PATCH', `/orgs/${org.id}/settings/limits`, org.owner, { chat_default_model: 'mock' });
    expect(await settings.view(org.id)).toEqual(before);
    settings.drop(org.id);
    expect((await settings.view(org.id)).org.settings.chat_default_model).toBe('mock');

    // And this one hears broadcasts over Redis.
    const heard = jest.spyOn(t.get(InferenceSettings), 'drop');
    const said = (orgId: string | null) =>
      new Promise<void>((resolveHeard) => {
        heard.mockImplementation((id) => {
          if (id === orgId) resolveHeard();
        });
      });
    for (const name of ['settings.changed', 'route.changed'] as const) {
      for (const orgId of [org.id, null]) {
        const arrived = said(orgId);
        t.get(Broadcaster).send(name, { org_id: orgId });
        await arrived;
      }
    }
  });

  it('sees a change at once where it was made', async () => {
    await resolve();
    await call('PATCH', `/orgs/${org.id}/settings/limits`, org.owner, {
      chat_default_model: 'mock-unpriced',
      chat_model_allowlist: ['mock-unpriced'],
    });
    expect(await resolve()).toMatchObject({ resolved_model: 'mock-unpriced', source: 'org_default' });
    expect(await resolve('mock')).toMatchObject({ resolved_model: 'mock-unpriced', requested_model: 'mock', reason: 'not_allowed' });
    await call('PATCH', `/orgs/${org.id}/settings/ai/routes`, org.owner, { routes: { mock: { enabled: false } } });
    await expect(resolve()).rejects.toMatchObject({ code: 'route_disabled' });
    const other = await aTeam(t);
    expect(await resolver.resolve({ orgId: other.id, scope: 'chat' })).toMatchObject({ resolved_model: 'mock' });
  });

  it('uses an own route with nothing but the own key', async () => {
    const id = uuidv7();
    await t.db.execute(
      sql(
        `INSERT INTO inference_routes (id, slug, label, dialect, base_url, owner_org_id) VALUES ($1, $2, 'Own', 'dialect_1', 'https://own.example/v1', $3)`,
      ),
      [id, `own-${id}`, org.id],
    );
    await t.db.execute(
      sql(
        `INSERT INTO model_catalog (id, owner_org_id, key, route_id, label, provider, input_price_per_1m) VALUES ($1, $2, 'own-model', $3, 'Own', 'own', 0.1)`,
      ),
      [uuidv7(), org.id, id],
    );
    // Its server may ask for no key; it is the organization's for all that.
    const keyless = await resolve('own-model');
    expect([keyless.byo_key, keyless.endpoint.apiKey]).toEqual([true, undefined]);
    await call('PATCH', `/orgs/${org.id}/settings/ai/routes`, org.owner, { routes: { [`own-${id}`]: { api_key: CANARY } } });
    const model = await resolve('own-model');
    expect(model).toMatchObject({
      byo_key: true,
      endpoint: { tenantAddress: true, baseUrl: 'https://own.example/v1' },
      entry: { input_price_per_1m: '0.100000' },
    });
    const other = await aTeam(t);
    expect(await resolver.resolve({ orgId: other.id, scope: 'chat', requested: { messageModel: 'own-model' } })).toMatchObject({
      resolved_model: 'mock',
      reason: 'unknown',
    });
    expect(orgKeyPlace(org.id, id)).toEqual({ orgId: org.id, table: 'org_route_settings', column: 'api_key', rowId: id });
  });

  it('tells how the organization’s turns run', async () => {
    const runtime = t.get(OrgRuntimeService);
    expect(await runtime.effective(org.id)).toEqual({
      compaction_enabled: true,
      compaction_threshold: 0.8,
      decision_log_enabled: true,
      thinking_enabled: true,
    });
    await runtime.update(org.scope, { compaction_enabled: false, compaction_threshold: 0.5 });
    expect(await runtime.effective(org.id)).toMatchObject({ compaction_enabled: false, compaction_threshold: 0.5 });
  });

  it('checks a model that is about to be stored', async () => {
    const catalog = t.get(ModelCatalog);
    const check = (key: string, scope: 'chat' | 'agent' = 'chat') => catalog.assertKnownChatModel(t.db, org.scope, key, scope);
    await check('mock');
    await expect(check('nope')).rejects.toMatchObject({ code: 'model_unknown', problems: [{ loc: ['body', 'model'] }] });
    await expect(check('mock-embedding')).rejects.toMatchObject({ code: 'model_unknown' });
    await call('PATCH', `/orgs/${org.id}/settings/limits`, org.owner, { chat_default_model: 'mock', chat_model_allowlist: ['mock'] });
    await expect(check('gpt-6-sol')).rejects.toMatchObject({ code: 'model_not_allowed' });
    await check('gpt-6-sol', 'agent');
    await t.db
      .transaction(NO_CALLER, async (tx) => {
        await tx.execute(sql(`UPDATE model_catalog SET enabled = false WHERE key = 'gpt-5.6-luna'`));
        await expect(catalog.assertKnownChatModel(tx, org.scope, 'gpt-5.6-luna', 'agent')).rejects.toMatchObject({ code: 'model_unknown' });
        await tx.execute(
          sql(
            `UPDATE model_catalog SET replacement_model_id = (SELECT id FROM model_catalog WHERE key = 'mock') WHERE key = 'gpt-5.6-luna'`,
          ),
        );
        await catalog.assertKnownChatModel(tx, org.scope, 'gpt-5.6-luna', 'agent');
        throw new Error('roll back');
      })
      .catch((error: Error) => expect(error.message).toBe('roll back'));
  });

  it('writes one receipt per step', async () => {
    const receipts = t.get(ReceiptsRepository);
    const owner = { org_id: org.id, chat_id: uuidv7(), turn_id: uuidv7(), step_no: 1, agent_id: uuidv7() };
    const row = receiptRow({
      resolved: await resolve(),
      usage: { input: 10, cached_input: 1, cache_write: 2, output: 3, reasoning: 4 },
      feature: 'turn',
      terms: { card: null, enforced: false },
      durationMs: 5,
    });
    expect(await receipts.insert(t.db, { ...row, ...owner })).toBe(true);
    expect(await receipts.insert(t.db, { ...row, ...owner, id: uuidv7() })).toBe(false);
    const [stored] = await t.db.query(sql('SELECT * FROM inference_receipts WHERE id = $1'), [row.id]);
    // (10 + 1 + 2) × 1 + (3 + 4) × 2, per million
    expect(stored).toMatchObject({
      ...owner,
      usd_cost: '0.000027',
      model_key: 'mock',
      input_tokens: 10,
      reasoning_tokens: 4,
      unpriced: false,
    });
    const loose = { ...owner, turn_id: null, step_no: null };
    expect(await receipts.insert(t.db, { ...row, ...loose, id: uuidv7() })).toBe(true);
    expect(await receipts.insert(t.db, { ...row, ...loose, id: uuidv7() })).toBe(true);
  });
});
