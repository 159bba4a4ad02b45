import { uuidv7 } from 'uuidv7';
import { entitle, entitleAsBefore } from '@aps/billing/testing';
import { sql } from '@aps/platform/testing';
import { ModelUsers } from '../governance/model-users';
import { aTeam, type TestTeam } from '@aps/orgs/testing';
import type { Bearer } from '@aps/platform/testing';
import { forget, inferenceService } from '../testing/inference';
import { addModel, whileDeleting } from '../testing/catalog';

const CANARY = 'sk-canary-0123456789-zzzz4f2a';

describe('AI settings over HTTP', () => {
  const t = inferenceService();
  let org: TestTeam;
  const call = (method: string, path: string, as?: Bearer, body?: unknown) => t.call(method, `/api${path}`, { as, body });
  beforeEach(async () => {
    org = await aTeam(t);
  });
  afterEach(() => entitleAsBefore(t));
  const at = (path: string) => `/orgs/${org.id}/settings/${path}`;
  const patch = (path: string, body: unknown, token = org.owner) => call('PATCH', at(path), token, body);
  const audits = (action: string) =>
    t.db.query(
      sql<{ metadata: Record<string, unknown>; actor_id: string }>(
        'SELECT metadata, actor_id FROM audit_log WHERE org_id = $1 AND action = $2 ORDER BY created_at',
      ),
      [org.id, action],
    );

  describe('routes', () => {
    const row = async (slug: string) =>
      (await call('GET', at('ai/routes'), org.owner)).body.items.find((r: { slug: string }) => r.slug === slug);
    const set = (routes: unknown) => patch('ai/routes', { routes });

    it('are all listed, configured or not', async () => {
      const { items } = (await call('GET', at('ai/routes'), org.owner)).body;
      expect(items.map((r: { slug: string }) => r.slug)).toEqual(['anthropic', 'openai', 'google', 'mock']);
      expect(items[1]).toEqual({
        slug: 'openai',
        route_id: expect.any(String),
        label: 'OpenAI',
        dialect: 'dialect_1',
        platform_enabled: true,
        enabled: null,
        credential_source: null,
        api_key: null,
        is_set: false,
        base_url: null,
        borrows_from: null,
        owned: false,
      });
    });

    it('keep a key and show it to nobody', async () => {
      const answer = await set({ openai: { api_key: CANARY, enabled: true, credential_source: 'api_key' } });
      expect(answer.status).toBe(200);
      expect(answer.body.items.find((r: { slug: string }) => r.slug === 'openai')).toMatchObject({
        api_key: 'sk-…4f2a',
        is_set: true,
        enabled: true,
        credential_source: 'api_key',
      });
      expect(answer.text).not.toContain('canary');
      const rows = await t.db.query(sql('SELECT * FROM org_route_settings WHERE org_id = $1'), [org.id]);
      expect(JSON.stringify(rows)).not.toContain('canary');
      expect(await audits('settings.routes_updated')).toEqual([
        { metadata: { routes: { openai: { api_key: 'set', enabled: true, credential_source: 'api_key' } } }, actor_id: expect.any(String) },
      ]);
    });

    it('change by the field, and only what is listed', async () => {
      await set({ openai: { api_key: CANARY, enabled: false }, google: { enabled: false } });
      await set({ openai: { enabled: null } });
      expect(await row('openai')).toMatchObject({ is_set: true, enabled: null });
      expect(await row('google')).toMatchObject({ enabled: false });
      await set({ openai: { api_key: '' } });
      expect(await row('openai')).toMatchObject({ is_set: false, api_key: null });
    });

    it('are audited by what changes, and not where nothing does', async () => {
      const base_url = 'https://proxy.tenant.example/v1';
      await set({ openai: { api_key: CANARY, base_url } });
      for (const same of [{ api_key: CANARY }, { base_url: `${base_url}/` }, { enabled: null }, {}])
        await set({ openai: same, google: { enabled: null } });
      await set({ openai: { api_key: 'sk-another-key' }, google: { enabled: false } });
      await set({ openai: { api_key: null } });
      expect((await audits('settings.routes_updated')).map((line) => line.metadata.routes)).toEqual([
        { openai: { api_key: 'set', base_url } },
        { openai: { api_key: 'set' }, google: { enabled: false } },
        { openai: { api_key: 'cleared', base_url: null } },
      ]);
    });

    it('refuse what is wrong and store nothing of it', async () => {
      const code = async (routes: unknown) => {
        const { status, body } = await set(routes);
        return [status, body.code, body.detail?.[0]?.loc?.slice(2).join('.')];
      };
      expect(await code({ openai: { enabled: false }, nope: { enabled: false } })).toEqual([422, 'unknown_reference', 'nope']);
      expect((await set({ nope: {} })).text).toContain('nope');
      expect(await code({ openai: { api_key: 'sk-…4f2a' }, google: { enabled: false } })).toEqual([422, 'masked_secret', 'openai.api_key']);
      expect(await code({ openai: { base_url: 'https://proxy.tenant.example/v1' } })).toEqual([
        422,
        'base_url_needs_own_key',
        'openai.base_url',
      ]);
      expect(await code({ openai: { enabled: 'yes' } })).toEqual([422, 'validation_error', 'openai.enabled']);
      expect((await patch('ai/routes', {})).body.detail[0]).toMatchObject({ loc: ['body', 'routes'], type: 'missing' });
      expect((await patch('ai/routes', { routes: [] })).status).toBe(422);
      expect(await t.db.query(sql('SELECT 1 FROM org_route_settings WHERE org_id = $1'), [org.id])).toEqual([]);
      expect(await audits('settings.routes_updated')).toEqual([]);
    });

    it.each(['sk-…4f2a', '…', '…4f2a', ' sk-…4f2a ', '••••••••4f2a', 'sk-****4f2a', '********', 'sk-...'])(
      'never take a mask for a key: %s',
      async (masked) => {
        await set({ openai: { api_key: CANARY } });
        const stored = await t.db.query(sql('SELECT api_key FROM org_route_settings WHERE org_id = $1'), [org.id]);
        for (const change of [{ api_key: masked }, { api_key: masked, enabled: false, base_url: 'https://proxy.tenant.example/v1' }]) {
          const { status, body } = await set({ openai: change });
          expect([status, body.code, body.detail]).toEqual([
            422,
            'masked_secret',
            [{ loc: ['body', 'routes', 'openai', 'api_key'], msg: expect.any(String), type: 'semantic.masked_secret' }],
          ]);
        }
        expect(await t.db.query(sql('SELECT api_key FROM org_route_settings WHERE org_id = $1'), [org.id])).toEqual(stored);
      },
    );

    it('take what is shown back in everything but the key', async () => {
      await set({ openai: { api_key: CANARY, enabled: true, base_url: 'https://proxy.tenant.example/v1' } });
      const { api_key, is_set: _, ...shown } = await row('openai');
      expect(await set({ openai: { ...shown, api_key } })).toMatchObject({ status: 422, body: { code: 'masked_secret' } });
      expect((await set({ openai: shown })).status).toBe(200);
      expect(await row('openai')).toMatchObject({ is_set: true, ...shown });
    });

    it('take another address only with an own key, and only a public one', async () => {
      for (const base_url of [
        'http://proxy.tenant.example/v1',
        'https://127.0.0.1/v1',
        'https://[::1]/v1',
        'https://internal.example/v1',
        'https://user:pw@proxy.tenant.example/',
        'https://proxy.tenant.example:25/',
        'nonsense',
        'https://8.8.8.8\\@127.0.0.1/',
        'https://168.63.129.16/',
        'https://metadata.google.internal/v1',
        'https://proxy.tenant.example/v1?api-key=x',
        'https://proxy.tenant.example/v1#x',
        'https://proxy.tenant.example/v1\n',
      ]) {
        const answer = await set({ openai: { base_url, api_key: CANARY } });
        expect([base_url, answer.status, answer.body.code]).toEqual([base_url, 422, 'validation_error']);
        expect(answer.body.detail[0].loc).toEqual(['body', 'routes', 'openai', 'base_url']);
        expect(answer.text).not.toContain('canary');
      }
      expect((await set({ openai: { base_url: 'https://proxy.tenant.example/v1', api_key: CANARY } })).status).toBe(200);
      expect(await row('openai')).toMatchObject({ base_url: 'https://proxy.tenant.example/v1' });
      expect((await set({ openai: { api_key: null } })).status).toBe(200);
      expect(await row('openai')).toMatchObject({ is_set: false, base_url: null });
    });

    it.each([
      ['HTTPS://Proxy.Tenant.EXAMPLE:443/v1/', 'https://proxy.tenant.example/v1'],
      ['https://proxy.tenant.example', 'https://proxy.tenant.example'],
      ['https://proxy.tenant.example/a/../v1//', 'https://proxy.tenant.example/v1'],
      ['https://bücher.example:8443/ä', 'https://xn--bcher-kva.example:8443/%C3%A4'],
      ['https://0x5db8d70e/v1', 'https://93.184.215.14/v1'],
    ])('keep of an address what was checked: %s', async (written, kept) => {
      expect((await set({ openai: { base_url: written, api_key: CANARY } })).status).toBe(200);
      expect(await row('openai')).toMatchObject({ base_url: kept });
      expect((await audits('settings.routes_updated'))[0].metadata).toEqual({ routes: { openai: { base_url: kept, api_key: 'set' } } });
    });

    it('let two changes at once never leave an address without a key', async () => {
      await set({ openai: { api_key: CANARY } });
      await Promise.all([set({ openai: { api_key: null } }), set({ openai: { base_url: 'https://proxy.tenant.example/v1' } })]);
      const { is_set, base_url } = await row('openai');
      expect(base_url === null || is_set).toBe(true);
    });

    it('need byo_keys for setting, never for clearing', async () => {
      await set({ openai: { api_key: CANARY, enabled: false } });
      await entitle(t, { byo_keys: false });
      for (const change of [{ api_key: 'sk-other' }, { enabled: true }, { credential_source: 'api_key' }]) {
        expect(await set({ openai: change })).toMatchObject({
          status: 403,
          body: { code: 'entitlement_required', context: { entitlement: 'byo_keys' } },
        });
      }
      expect((await set({ openai: { api_key: null, enabled: null } })).status).toBe(200);
      expect(await row('openai')).toMatchObject({ is_set: false, enabled: null });
    });

    it('show whose key is borrowed, and take none for such a route', async () => {
      const id = uuidv7();
      await t.db.execute(
        sql(
          `INSERT INTO inference_routes (id, slug, label, dialect, credential_route_id, sort_order) SELECT $1, 'lent', 'Lent', 'dialect_1', id, 500 FROM inference_routes WHERE slug = 'openai'`,
        ),
        [id],
      );
      expect(await row('lent')).toMatchObject({ borrows_from: 'openai' });
      expect(await set({ lent: { api_key: CANARY } })).toMatchObject({ status: 422, body: { code: 'route_borrows_key' } });
      expect(await set({ lent: { credential_source: 'gateway' } })).toMatchObject({ status: 422, body: { code: 'route_borrows_key' } });
      expect((await set({ lent: { api_key: null, enabled: false } })).status).toBe(200);
      await t.db.execute(sql('DELETE FROM inference_routes WHERE id = $1'), [id]);
    });

    it('show the organization’s own routes to it alone', async () => {
      const id = uuidv7();
      await t.db.execute(
        sql(
          `INSERT INTO inference_routes (id, slug, label, dialect, base_url, owner_org_id) VALUES ($1, $2, 'Own', 'dialect_1', 'https://own.example/v1', $3)`,
        ),
        [id, `own-${id}`, org.id],
      );
      expect(await row(`own-${id}`)).toMatchObject({ owned: true });
      const other = await aTeam(t);
      const listed = await call('GET', `/orgs/${other.id}/settings/ai/routes`, other.owner);
      expect(listed.text).not.toContain(id);
      expect(
        (await call('PATCH', `/orgs/${other.id}/settings/ai/routes`, other.owner, { routes: { [`own-${id}`]: { api_key: CANARY } } })).body
          .code,
      ).toBe('unknown_reference');
    });

    it('survive a key that cannot be opened any more', async () => {
      await set({ openai: { api_key: CANARY } });
      await t.db.execute(sql(`UPDATE org_route_settings SET api_key = 'e1.00000000-0000-7000-8000-000000000009.AAAA' WHERE org_id = $1`), [
        org.id,
      ]);
      expect(await row('openai')).toMatchObject({ api_key: '…', is_set: true });
    });
  });

  describe('limits', () => {
    it('change by the field', async () => {
      expect((await patch('limits', { chat_default_model: 'mock', budget_limit_usd: 12.5 })).body).toMatchObject({
        chat_default_model: 'mock',
        budget_limit_usd: '12.5',
        agent_default_model: null,
        affected_agents: [],
      });
      const { body } = await patch('limits', { agent_default_model: 'mock', agent_model_allowlist: ['mock', 'gpt-6-sol'] });
      expect(body).toMatchObject({ chat_default_model: 'mock', budget_limit_usd: '12.5', agent_model_allowlist: ['mock', 'gpt-6-sol'] });
      expect(
        (await patch('limits', { budget_limit_usd: null, agent_model_allowlist: null, agent_default_model: null })).body,
      ).toMatchObject({ budget_limit_usd: null, agent_model_allowlist: [], agent_default_model: null, chat_default_model: 'mock' });
      expect((await call('GET', at('limits'), org.owner)).body).toMatchObject({ chat_default_model: 'mock' });
      expect(await audits('settings.limits_updated')).toHaveLength(3);
      expect((await audits('settings.limits_updated'))[0].metadata).toEqual({
        changes: { chat_default_model: 'mock', budget_limit_usd: '12.5' },
      });
      await patch('limits', {});
      expect(await audits('settings.limits_updated')).toHaveLength(3);
    });

    it('refuse what is wrong and store nothing of it', async () => {
      const unknown = await patch('limits', {
        chat_model_allowlist: ['mock', 'nope'],
        process_default_model: 'mock-embedding',
        agent_default_model: 'mock',
      });
      expect(unknown).toMatchObject({ status: 422, body: { code: 'model_unknown' } });
      expect(unknown.body.detail.map((d: { loc: string[] }) => d.loc.slice(1))).toEqual([
        ['chat_model_allowlist', 1],
        ['process_default_model'],
      ]);
      expect(await patch('limits', { chat_model_allowlist: ['mock'], agent_default_model: 'mock' })).toMatchObject({
        status: 422,
        body: { code: 'allowlist_needs_default' },
      });
      for (const body of [
        { budget_limit_usd: -1 },
        { budget_limit_usd: '1.1234567' },
        { budget_limit_usd: 'x' },
        { chat_model_allowlist: 'mock' },
        { chat_model_allowlist: ['mock', 'mock'] },
        { chat_default_model: 5 },
      ]) {
        expect([body, (await patch('limits', body)).status]).toEqual([body, 422]);
      }
      expect((await call('GET', at('limits'), org.owner)).body).toMatchObject({ agent_default_model: null, chat_model_allowlist: [] });
      expect(await audits('settings.limits_updated')).toEqual([]);
    });

    it('let two changes at once never leave an allowlist without its default', async () => {
      for (let round = 0; round < 5; round++) {
        await patch('limits', { chat_default_model: 'mock', chat_model_allowlist: [] });
        await Promise.all([patch('limits', { chat_default_model: null }), patch('limits', { chat_model_allowlist: ['mock'] })]);
        const { body } = await call('GET', at('limits'), org.owner);
        expect(body.chat_default_model === 'mock' || body.chat_model_allowlist.length === 0).toBe(true);
      }
    });

    it('need direct_model_choice for setting models, never for clearing', async () => {
      await patch('limits', { chat_default_model: 'mock' });
      await entitle(t, { direct_model_choice: false });
      for (const body of [{ chat_default_model: 'mock' }, { prompt_model_allowlist: ['mock'] }])
        expect(await patch('limits', body)).toMatchObject({ status: 403, body: { code: 'entitlement_required' } });
      expect((await call('GET', at('limits'), org.owner)).body).toMatchObject({ chat_default_model: 'mock' });
      expect(await patch('limits', { chat_default_model: null, prompt_model_allowlist: [], budget_limit_usd: '5' })).toMatchObject({
        status: 200,
        body: { chat_default_model: null },
      });
    });

    it('say which models there are, and take back what was stored though it is gone by now', async () => {
      await addModel(t, 'retired');
      await patch('limits', { prompt_model_allowlist: ['retired'] });
      await t.db.execute(sql(`UPDATE model_catalog SET enabled = false WHERE key = 'retired'`));
      const { status, body } = await patch('limits', { prompt_model_allowlist: ['retired', 'no-such'] });
      expect([status, body.code, body.detail.map(({ loc }: { loc: unknown[] }) => loc)]).toEqual([
        422,
        'model_unknown',
        [['body', 'prompt_model_allowlist', 1]],
      ]);
      expect(body.context.valid).toEqual(expect.arrayContaining(['mock', 'mock-vision']));
      expect((await patch('limits', { prompt_model_allowlist: ['retired', 'mock'] })).status).toBe(200);
      await t.db.execute(sql(`DELETE FROM model_catalog WHERE key = 'retired'`));
    });

    it('are audited by what changes, and not where nothing does', async () => {
      const set = { chat_default_model: 'mock', chat_model_allowlist: ['mock'], budget_limit_usd: '5' };
      for (const body of [set, { ...set, budget_limit_usd: '5.00' }, {}, { prompt_model_allowlist: null }]) await patch('limits', body);
      await patch('limits', { ...set, budget_limit_usd: '6' });
      expect((await audits('settings.limits_updated')).map((line) => line.metadata)).toEqual([
        { changes: set },
        { changes: { budget_limit_usd: '6' } },
      ]);
    });

    it('take no budget in dollars where credits are paid, but let one be cleared', async () => {
      await patch('limits', { budget_limit_usd: '5' });
      await entitle(t, { enforces_credits: true });
      expect(await patch('limits', { budget_limit_usd: '6' })).toMatchObject({ status: 403, body: { code: 'entitlement_required' } });
      expect((await call('GET', at('limits'), org.owner)).body.budget_limit_usd).toBe('5');
      expect((await patch('limits', { budget_limit_usd: null })).status).toBe(200);
    });

    it('do not begin to name a model that is being deleted', async () => {
      await addModel(t, 'going');
      const { status, body } = await whileDeleting(t, 'going', () => patch('limits', { chat_default_model: 'going' }));
      expect([status, body.code]).toEqual([422, 'model_unknown']);
    });

    it('name the agents that an allowlist leaves out', async () => {
      t.get(ModelUsers).register({
        kind: 'agent',
        naming: sql(`SELECT WHERE ($1::text[], $2::int, $3::uuid) IS NULL AND false`),
        counted: sql(`SELECT WHERE $1::text[] IS NULL AND false`),
        outside: sql(`SELECT $1::uuid AS id, 'Support' AS name, 'not ' || array_to_string($2::text[], ' or ') AS model`),
      });
      expect((await patch('limits', { agent_default_model: 'mock', agent_model_allowlist: ['mock'] })).body.affected_agents).toEqual([
        { id: org.id, name: 'Support', model: 'not mock' },
      ]);
      expect((await patch('limits', { agent_model_allowlist: [] })).body.affected_agents).toEqual([]);
    });

    it('tell what this month has cost', async () => {
      await patch('limits', { budget_limit_usd: '10' });
      const [{ id: routeId }] = await t.db.query(sql<{ id: string }>(`SELECT id FROM inference_routes WHERE slug = 'mock'`));
      const receipt = (chat: string | null, usd: string | null, at: string) =>
        t.db.execute(
          sql(`INSERT INTO inference_receipts (id, org_id, feature, chat_id, model_key, resolve_reason, route_id, input_tokens, cached_input_tokens, cache_write_tokens, output_tokens, reasoning_tokens, usd_cost, duration_ms, created_at)
           VALUES ($1, $2, 'turn', $3, 'mock', 'requested', $4, 1, 0, 0, 0, 0, $5, 1, ${at})`),
          [uuidv7(), org.id, chat, routeId, usd],
        );
      const month = `date_trunc('month', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'`;
      await receipt(uuidv7(), '3.25', month);
      await receipt(null, '0.5', month);
      await receipt(uuidv7(), null, month);
      await receipt(uuidv7(), '100', `${month} - interval '1 millisecond'`);
      const usage = async () => (await call('GET', at('limits/usage'), org.owner)).body;
      expect(await usage()).toMatchObject({
        spend_usd: '3.25',
        metered_spend_usd: '3.75',
        budget_limit_usd: '10',
        remaining_usd: '6.75',
        period_start: expect.stringMatching(/-01T00:00:00\.000Z$/),
      });
      await entitle(t, { enforces_credits: true });
      expect(await usage()).toMatchObject({ spend_usd: null, metered_spend_usd: null, budget_limit_usd: '10', remaining_usd: null });
    });
  });

  describe('runtime', () => {
    it('inherits, is set by the field, and inherits again', async () => {
      const defaults = { compaction_enabled: true, compaction_threshold: 0.8, decision_log_enabled: true, thinking_enabled: true };
      expect((await call('GET', at('runtime'), org.owner)).body).toEqual({
        compaction_enabled: null,
        compaction_threshold: null,
        decision_log_enabled: null,
        thinking_enabled: null,
        platform_defaults: defaults,
      });
      expect((await patch('runtime', { compaction_enabled: false, compaction_threshold: 0.5 })).body).toEqual({
        compaction_enabled: false,
        compaction_threshold: 0.5,
        decision_log_enabled: null,
        thinking_enabled: null,
        platform_defaults: defaults,
      });
      expect((await patch('runtime', { compaction_enabled: null })).body).toMatchObject({
        compaction_enabled: null,
        compaction_threshold: 0.5,
      });
      expect((await audits('settings.runtime_updated')).map((a) => a.metadata)).toEqual([
        { changes: { compaction_enabled: false, compaction_threshold: 0.5 } },
        { changes: { compaction_enabled: null } },
      ]);
      await t.db.execute(sql('UPDATE platform_ai_settings SET compaction_threshold = 0.6, thinking_enabled = false'));
      forget(t);
      expect((await call('GET', at('runtime'), org.owner)).body.platform_defaults).toMatchObject({
        compaction_threshold: 0.6,
        thinking_enabled: false,
      });
      await t.db.execute(sql('UPDATE platform_ai_settings SET compaction_threshold = NULL, thinking_enabled = NULL'));
      forget(t);
    });

    it('keeps the threshold within its bounds', async () => {
      for (const compaction_threshold of [0.05, 0.96, 'x']) expect((await patch('runtime', { compaction_threshold })).status).toBe(422);
    });

    it('needs direct_model_choice for thinking, never for clearing', async () => {
      await entitle(t, { direct_model_choice: false });
      expect(await patch('runtime', { thinking_enabled: false })).toMatchObject({ status: 403, body: { code: 'entitlement_required' } });
      expect((await patch('runtime', { thinking_enabled: null, decision_log_enabled: false })).status).toBe(200);
    });
  });
});
