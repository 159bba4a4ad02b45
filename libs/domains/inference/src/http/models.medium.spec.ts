import { entitle, entitleAsBefore } from '@aps/billing/testing';
import { sql } from '@aps/platform/testing';
import { aTeam, type TestTeam } from '@aps/orgs/testing';
import type { Bearer } from '@aps/platform/testing';
import { forget, inferenceService } from '../testing/inference';

describe('models over HTTP', () => {
  const t = inferenceService();
  let org: TestTeam;
  const call = (method: string, path: string, as?: Bearer, body?: unknown) => t.call(method, `/api${path}`, { as, body });
  beforeEach(async () => {
    org = await aTeam(t);
  });
  afterEach(() => {
    t.configure({ OPENAI_API_KEY: undefined });
    return entitleAsBefore(t);
  });
  const keysOf = (body: { items: { key: string }[] }) => body.items.map((m) => m.key);
  const limits = (body: unknown) => call('PATCH', `/orgs/${org.id}/settings/limits`, org.owner, body);

  it('lists the platform’s models to whoever is signed in', async () => {
    expect((await call('GET', '/models')).status).toBe(401);
    const { status, body } = await call('GET', '/models', org.member);
    expect(status).toBe(200);
    expect(keysOf(body)).toEqual(expect.arrayContaining(['claude-sonnet-5-5', 'gpt-6-sol', 'gemini-3.5-flash', 'mock', 'mock-embedding']));
    expect(body.total).toBe(body.items.length);
    expect(body.items.find((m: { key: string }) => m.key === 'mock')).toMatchObject({
      kind: 'chat',
      input_price_per_1m: '1',
      output_price_per_1m: '2',
      context_window: 128_000,
      route: { slug: 'mock' },
      owner_org_id: null,
    });
    const page = (await call('GET', '/models?limit=2&offset=1', org.member)).body;
    expect(keysOf(page)).toEqual(keysOf(body).slice(1, 3));
    expect(page).toMatchObject({ total: body.total, next_offset: 3 });
  });

  it('shows no prices to whoever pays in credits', async () => {
    await entitle(t, { enforces_credits: true });
    for (const path of ['/models', `/orgs/${org.id}/models`]) {
      for (const m of (await call('GET', path, org.member)).body.items)
        expect(m).toMatchObject({
          input_price_per_1m: null,
          output_price_per_1m: null,
          cached_input_price_per_1m: null,
          cache_write_price_per_1m: null,
        });
    }
  });

  it('hides models whose route is off', async () => {
    await t.db.execute(sql(`UPDATE inference_routes SET enabled = false WHERE slug = 'google'`));
    forget(t);
    for (const path of ['/models', `/orgs/${org.id}/models`])
      expect(keysOf((await call('GET', path, org.member)).body)).not.toContain('gemini-3.5-flash');
    await t.db.execute(sql(`UPDATE inference_routes SET enabled = true WHERE slug = 'google'`));
    forget(t);
  });

  it('lists to an organization what its allowlists permit', async () => {
    expect(keysOf((await call('GET', `/orgs/${org.id}/models`, org.member)).body)).toContain('claude-sonnet-5-5');
    await limits({ chat_model_allowlist: ['mock'], chat_default_model: 'mock' });
    expect(keysOf((await call('GET', `/orgs/${org.id}/models`, org.member)).body)).toEqual(
      expect.arrayContaining(['mock', 'mock-embedding']),
    );
    expect(keysOf((await call('GET', `/orgs/${org.id}/models`, org.member)).body)).not.toContain('claude-sonnet-5-5');
    expect(keysOf((await call('GET', `/orgs/${org.id}/models?scope=chat`, org.member)).body)).toEqual(['mock']);
    expect(keysOf((await call('GET', `/orgs/${org.id}/models?scope=agent`, org.member)).body)).toContain('claude-sonnet-5-5');
    expect((await call('GET', `/orgs/${org.id}/models?scope=process`, org.member)).status).toBe(422);
    const other = await aTeam(t);
    expect((await call('GET', `/orgs/${other.id}/models`, org.member)).status).toBe(403);
    expect(keysOf((await call('GET', `/orgs/${other.id}/models`, other.member)).body)).toContain('claude-sonnet-5-5');
  });

  it('says which models could be called now', async () => {
    const available = async () =>
      Object.fromEntries(
        (await call('GET', `/orgs/${org.id}/models`, org.member)).body.items.map((m: { key: string; available: boolean }) => [
          m.key,
          m.available,
        ]),
      ) as Record<string, boolean>;
    expect(await available()).toMatchObject({ mock: true, 'gpt-6-sol': false, 'claude-sonnet-5-5': false });
    t.configure({ OPENAI_API_KEY: 'sk-canary-environment-0001' });
    expect(await available()).toMatchObject({ 'gpt-6-sol': true, 'claude-sonnet-5-5': false });
  });

  it('lists the modes with what they cost', async () => {
    const modes = async () => (await call('GET', `/orgs/${org.id}/model-modes`, org.member)).body;
    expect(await modes()).toMatchObject({
      default: 'normal',
      items: [
        { mode: 'trivial', available: true, credit_ratio: '1' },
        { mode: 'normal', available: true, credit_ratio: '1' },
        { mode: 'high_effort', available: true, credit_ratio: '1' },
        { mode: 'x_high', available: true, credit_ratio: '1' },
      ],
    });
    t.configure({ OPENAI_API_KEY: 'sk-canary-environment-0001' });
    await t.db.execute(
      sql(
        `UPDATE platform_ai_settings SET mode_normal = '{"model_key":"mock"}', mode_x_high = '{"model_key":"gpt-6-sol"}', mode_trivial = '{"model_key":"claude-sonnet-5-5"}', mode_high_effort = '{"model_key":"mock-unpriced"}'`,
      ),
    );
    forget(t);
    const { items } = await modes();
    // (3 × 2 + 10) / (3 × 1 + 2)
    expect(items[3]).toMatchObject({ mode: 'x_high', available: true, credit_ratio: '3.2' });
    expect(items[0]).toMatchObject({ mode: 'trivial', available: false, credit_ratio: null });
    expect(items[2]).toMatchObject({ mode: 'high_effort', available: true, credit_ratio: null });
    expect(items[0].label).toBe('Trivial');
    // Its model is off, and a chat would get another one: that is not what the mode promises.
    await t.db.execute(sql(`UPDATE platform_ai_settings SET mode_x_high = '{"model_key":"gone"}'`));
    forget(t);
    expect((await modes()).items[3]).toMatchObject({ mode: 'x_high', available: false, credit_ratio: null });
    await t.db.execute(
      sql('UPDATE platform_ai_settings SET mode_normal = NULL, mode_x_high = NULL, mode_trivial = NULL, mode_high_effort = NULL'),
    );
    forget(t);
  });

  it('tells pickers what to offer', async () => {
    const config = async () => (await call('GET', `/orgs/${org.id}/model-config`, org.member)).body;
    await limits({ agent_model_allowlist: ['mock', 'gpt-6-sol'], agent_default_model: 'mock' });
    await call('PATCH', `/orgs/${org.id}/settings/ai/routes`, org.owner, { routes: { google: { enabled: false } } });
    const body = await config();
    expect(Object.keys(body.scopes).sort()).toEqual(['agent', 'chat', 'intake_classifier', 'process', 'prompt', 'tool_router']);
    expect(body.scopes.agent).toEqual({ allowlist: ['mock', 'gpt-6-sol'], default: 'mock', models: ['gpt-6-sol', 'mock'] });
    expect(body.scopes.chat).toMatchObject({ allowlist: [], default: 'mock' });
    expect(body.scopes.chat.models).toContain('claude-sonnet-5-5');
    expect(body.scopes.chat.models).not.toContain('gemini-3.5-flash');
    expect(body.scopes.chat.models).not.toContain('mock-embedding');
    expect(body.disabled_providers).toEqual(['google']);
    expect(body.model_routes).toMatchObject({ mock: 'mock', 'gpt-6-sol': 'openai' });

    await entitle(t, { byo_keys: false });
    expect(await config()).toMatchObject({ disabled_providers: [], model_routes: null });
    expect((await config()).scopes.chat.models).toContain('gemini-3.5-flash');
  });
});
