import { buildConnector } from 'undici';
import { Agent } from 'undici';
import { entitle, entitleAsBefore } from '@aps/billing/testing';
import type { Egress } from '@aps/platform/egress';
import { aTeam, type TestTeam } from '@aps/orgs/testing';
import { outcome, sql } from '@aps/platform/testing';
import { uuidv7 } from 'uuidv7';
import { ANSWERS, eventStream, startProvider } from '../client/testing/provider';
import { ModelCalls } from '../model-calls.service';
import { ModelResolver } from '../choice/model-resolver.service';
import { inferenceService } from '../testing/inference';

const CANARY = 'sk-canary-0123456789-zzzz4f2a';

describe('own models', () => {
  const t = inferenceService();
  let org: TestTeam;
  let route: { id: string; slug: string };
  beforeEach(async () => {
    org = await aTeam(t);
    route = await aRoute();
  });
  afterEach(() => entitleAsBefore(t));
  const aRoute = async (dialect = 'dialect_1', of = org): Promise<{ id: string; slug: string }> =>
    t.make('POST', `/api/orgs/${of.id}/inference-routes`, {
      as: of.owner,
      body: { slug: `own-${uuidv7()}`, label: 'Ours', dialect, base_url: 'https://own.example/v1' },
    });
  const path = (id = '') => `/api/orgs/${org.id}/models${id && `/${id}`}`;
  const wish = (over: object = {}) => ({ key: 'our-llama', label: 'Our Llama', provider: 'meta', route_id: route.id, ...over });
  const post = (over: object = {}) => t.call('POST', path(), { as: org.owner, body: wish(over) });
  const made = async (over: object = {}) => (await t.make('POST', path(), { as: org.owner, body: wish(over) })) as { id: string };
  const patch = (id: string, body: unknown) => t.call('PATCH', path(id), { as: org.owner, body });
  const remove = (id: string) => t.call('DELETE', path(id), { as: org.owner });
  const limits = (body: object) => t.make('PATCH', `/api/orgs/${org.id}/settings/limits`, { as: org.owner, body });
  const listed = async (query = '') =>
    (await t.make('GET', path() + query, { as: org.member })).items as {
      key: string;
      enabled: boolean;
      available: boolean;
      scopes: string[];
    }[];
  const own = async (query = '') => (await listed(query)).filter(({ key }) => key.startsWith('our-'));
  const resolve = (messageModel: string) => t.get(ModelResolver).resolve({ orgId: org.id, scope: 'chat', requested: { messageModel } });
  const audited = async () =>
    (await t.audit({ org_id: org.id }))
      .filter(({ action }) => action.startsWith('model.'))
      .map(({ action, metadata }) => [action, metadata]);

  it('are made, changed by the field, and deleted', async () => {
    const answer = await post({
      input_price_per_1m: 0.5,
      output_price_per_1m: '1.50',
      context_window: 32_000,
      allowed_efforts: ['low', 'high'],
    });
    const model = {
      id: expect.any(String),
      owner_org_id: org.id,
      key: 'our-llama',
      label: 'Our Llama',
      provider: 'meta',
      kind: 'chat',
      route: { id: route.id, slug: route.slug },
      route_id: route.id,
      remote_model_id: null,
      enabled: true,
      deprecated: false,
      sort_order: expect.any(Number),
      context_window: 32_000,
      max_output_tokens: null,
      allowed_efforts: ['low', 'high'],
      cost_tier: null,
      supports_reasoning: false,
      supports_vision: false,
      input_price_per_1m: '0.5',
      output_price_per_1m: '1.5',
      cached_input_price_per_1m: null,
      cache_write_price_per_1m: null,
      fallback_credits_per_1k_tokens: null,
      replacement_model_id: null,
      price_tiers: [],
      pinned: false,
      created_at: expect.any(String),
      updated_at: expect.any(String),
    };
    expect([answer.status, answer.body]).toEqual([201, model]);
    const { id } = answer.body as { id: string };
    const changes = { label: 'Renamed', key: 'our-newer', output_price_per_1m: null, remote_model_id: 'llama-5', deprecated: true };
    const changed = await patch(id, changes);
    expect([changed.status, changed.body]).toEqual([200, { ...model, ...changes }]);
    for (const same of [{}, { label: 'Renamed', input_price_per_1m: '0.500', allowed_efforts: ['low', 'high'] }])
      expect((await patch(id, same)).body).toEqual(changed.body);
    expect((await remove(id)).status).toBe(204);
    expect(outcome(await remove(id))).toEqual([404, 'not_found']);
    expect(await audited()).toEqual([
      ['model.created', { key: 'our-llama', route_id: route.id }],
      ['model.updated', { changes }],
      ['model.deleted', { key: 'our-newer' }],
    ]);
  });

  it('are listed to their organization as they stand, and offered where they may be chosen', async () => {
    await made();
    await made({ key: 'our-resting', enabled: false });
    const listedAs = (key: string, enabled: boolean, scopes: string[]) =>
      expect.objectContaining({ key, enabled, available: enabled, scopes });
    expect(await own()).toEqual([listedAs('our-llama', true, ['agent', 'chat', 'prompt']), listedAs('our-resting', false, [])]);
    expect((await own('?scope=chat')).map(({ key }) => key)).toEqual(['our-llama']);
    await limits({
      chat_default_model: 'mock',
      chat_model_allowlist: ['mock'],
      agent_default_model: 'mock',
      agent_model_allowlist: ['mock'],
    });
    expect((await own()).map(({ key, scopes }) => [key, scopes])).toEqual([
      ['our-llama', ['prompt']],
      ['our-resting', []],
    ]);
    expect(await own('?scope=chat')).toEqual([]);
    await t.make('PATCH', `/api/orgs/${org.id}/inference-routes/${route.id}`, { as: org.owner, body: { enabled: false } });
    expect((await own()).map(({ key, available }) => [key, available])).toEqual([
      ['our-llama', false],
      ['our-resting', false],
    ]);
    await expect(resolve('our-resting')).resolves.toMatchObject({ resolved_model: 'mock', reason: 'disabled' });
    const other = await aTeam(t);
    expect((await t.call('GET', `/api/orgs/${other.id}/models`, { as: other.owner })).text).not.toContain('our-');
  });

  it('are reached on their route with the organization’s own key', async () => {
    const provider = await startProvider((res) => void eventStream(res).end(ANSWERS.dialect_1));
    await made({ remote_model_id: 'llama-5-70b' });
    await t.make('PATCH', `/api/orgs/${org.id}/settings/ai/routes`, {
      as: org.owner,
      body: { routes: { [route.slug]: { api_key: CANARY } } },
    });
    const connect = buildConnector({});
    const { hostname, port } = new URL(provider.url);
    const asked: unknown[] = [];
    const guarded = new Agent({
      connect: (options, callback) => {
        asked.push([options.protocol, options.hostname]);
        connect({ ...options, protocol: 'http:', hostname, host: hostname, port }, callback);
      },
    });
    const calls = new ModelCalls({ dispatcherFor: () => guarded } as unknown as Egress);
    const model = await resolve('our-llama');
    expect(model.byo_key).toBe(true);
    expect((await calls.streamChat(model, { messages: [{ role: 'user', content: 'hi' }], feature: 'turn' })).text).toBe('grüße 🌍 «ok»');
    expect(asked).toEqual([['https:', 'own.example']]);
    expect(provider.requests).toMatchObject([
      { url: '/v1/chat/completions', headers: { authorization: `Bearer ${CANARY}` }, body: { model: 'llama-5-70b' } },
    ]);
    await calls.onApplicationShutdown();
    await guarded.close();
    await provider.close();
  });

  it('fail the turn on a route that is off, and show in the next turn what was changed', async () => {
    const { id } = await made();
    expect((await resolve('our-llama')).resolved_model).toBe('our-llama');
    const successor = await made({ key: 'our-next' });
    await patch(id, { enabled: false, replacement_model_id: successor.id });
    expect(await resolve('our-llama')).toMatchObject({ resolved_model: 'our-next', reason: 'replaced' });
    await t.make('PATCH', `/api/orgs/${org.id}/inference-routes/${route.id}`, { as: org.owner, body: { enabled: false } });
    await expect(resolve('our-llama')).rejects.toMatchObject({ code: 'route_disabled' });
  });

  it('refuse what is wrong, and say what would be right', async () => {
    const other = await aTeam(t);
    const foreign = await aRoute('dialect_1', other);
    const [platforms] = await t.db.query(
      sql<{ id: string; model: string }>(
        `SELECT r.id, m.id AS model FROM inference_routes r JOIN model_catalog m ON m.route_id = r.id WHERE r.slug = 'openai' LIMIT 1`,
      ),
    );
    for (const route_id of [foreign.id, platforms.id, uuidv7()]) {
      const answer = await post({ route_id });
      expect(answer).toMatchObject({ status: 422, body: { code: 'unknown_reference', detail: [{ loc: ['body', 'route_id'] }] } });
      expect(answer.text).toContain(route.id);
      expect(answer.text).not.toContain(route_id);
    }
    const embedding = await made({ key: 'our-embedding', kind: 'embedding' });
    const chat = await made();
    for (const replacement_model_id of [platforms.model, embedding.id, uuidv7()]) {
      const answer = await post({ key: 'our-third', replacement_model_id });
      expect(answer).toMatchObject({
        status: 422,
        body: { code: 'unknown_reference', detail: [{ loc: ['body', 'replacement_model_id'] }] },
      });
      expect(answer.text).toContain(chat.id);
    }
    for (const over of [
      { key: '' },
      { key: 'two words' },
      { key: 'x'.repeat(129) },
      { label: null },
      { kind: 'video' },
      { enabled: null },
      { context_window: 0 },
      { input_price_per_1m: -1 },
      { input_price_per_1m: '1.1234567' },
      { input_price_per_1m: '1000000.000001' },
      { fallback_credits_per_1k_tokens: 1_000_001 },
      { price_tiers: [{ above_tokens: 1, output_price_per_1m: 1_000_001 }] },
      { allowed_efforts: ['low', 'low'] },
      { allowed_efforts: ['huge'] },
      { cost_tier: 'cheap' },
    ])
      expect([over, ...outcome(await post(over))]).toEqual([over, 422, 'validation_error']);
  });

  it.each([
    ['dialect_1', []],
    ['dialect_2', ['embedding', 'rerank', 'image']],
    ['dialect_3', ['rerank']],
  ])('are of a kind that the dialect of their route has: %s', async (dialect, refused) => {
    route = await aRoute(dialect);
    for (const kind of ['chat', 'embedding', 'rerank', 'image']) {
      const answer = await post({ key: `our-${kind}`, kind });
      expect([kind, answer.body.code]).toEqual([kind, refused.includes(kind) ? 'kind_not_served' : undefined]);
    }
    if (!refused.length) return;
    const chat = (await own()).find(({ key }) => key === 'our-chat') as unknown as { id: string };
    expect(outcome(await patch(chat.id, { kind: refused[0] }))).toEqual([422, 'kind_not_served']);
    route = await aRoute('dialect_1');
    const rerank = await made({ key: 'our-other', kind: 'rerank' });
    const target = await aRoute(dialect);
    expect(outcome(await patch(rerank.id, { route_id: target.id }))).toEqual([422, 'kind_not_served']);
  });

  it('have a key once on a route, and once enabled; the platform’s keys are free', async () => {
    const first = await made();
    expect(outcome(await post())).toEqual([409, 'model_conflict']);
    const elsewhere = await aRoute();
    expect(outcome(await post({ route_id: elsewhere.id }))).toEqual([409, 'model_conflict']);
    const second = await made({ route_id: elsewhere.id, enabled: false });
    expect(outcome(await patch(second.id, { enabled: true }))).toEqual([409, 'model_conflict']);
    expect(outcome(await patch(second.id, { route_id: route.id }))).toEqual([409, 'model_conflict']);
    await patch(first.id, { enabled: false });
    expect((await patch(second.id, { enabled: true })).status).toBe(200);
    expect((await post({ key: 'mock' })).status).toBe(201);
    expect((await resolve('mock')).route.slug).toBe(route.slug);
  });

  it('replace each other without end in no way, whoever says so at once', async () => {
    const [a, b] = [await made({ key: 'our-a' }), await made({ key: 'our-b' })];
    expect(outcome(await patch(a.id, { replacement_model_id: a.id }))).toEqual([422, 'replacement_cycle']);
    const answers = await Promise.all([patch(a.id, { replacement_model_id: b.id }), patch(b.id, { replacement_model_id: a.id })]);
    expect(answers.map(outcome).sort()).toEqual([
      [200, undefined],
      [422, 'replacement_cycle'],
    ]);
  });

  it('stay while settings name them or they replace another, and are disabled all the same', async () => {
    const named = await made();
    const successor = await made({ key: 'our-next' });
    await limits({ process_default_model: 'our-llama', prompt_model_allowlist: ['mock', 'our-llama'] });
    const inUse = {
      status: 409,
      body: {
        code: 'model_in_use',
        context: { used_by: ['process_default_model', 'prompt_model_allowlist'].map((id) => ({ kind: 'organization_setting', id })) },
      },
    };
    expect(await remove(named.id)).toMatchObject(inUse);
    for (const body of [{ key: 'our-other' }, { kind: 'embedding' }]) expect(await patch(named.id, body)).toMatchObject(inUse);
    expect((await patch(named.id, { enabled: false, replacement_model_id: successor.id })).body).toMatchObject({
      pinned: true,
      enabled: false,
    });
    expect(await remove(successor.id)).toMatchObject({
      status: 409,
      body: { code: 'model_in_use', context: { used_by: [{ kind: 'replaced_model', id: named.id, name: 'our-llama' }] } },
    });
    await limits({ process_default_model: null, prompt_model_allowlist: [] });
    expect((await remove(named.id)).status).toBe(204);
    expect((await remove(successor.id)).status).toBe(204);
  });

  it('are never named by a setting that is saved while they are deleted', async () => {
    for (let round = 0; round < 5; round++) {
      const { id } = await made({ key: `our-${round}` });
      const saved = t.call('PATCH', `/api/orgs/${org.id}/settings/limits`, {
        as: org.owner,
        body: { process_default_model: `our-${round}` },
      });
      const [limited, removed] = await Promise.all([saved, remove(id)]);
      expect([
        [200, 409],
        [422, 204],
      ]).toContainEqual([limited.status, removed.status]);
      await limits({ process_default_model: null });
    }
  });

  it('never stand on a route that is deleted at the same time', async () => {
    for (let round = 0; round < 5; round++) {
      route = await aRoute();
      const answers = await Promise.all([
        post({ key: `our-${round}` }),
        t.call('DELETE', `/api/orgs/${org.id}/inference-routes/${route.id}`, { as: org.owner }),
      ]);
      expect([
        [201, 409],
        [422, 204],
      ]).toContainEqual(answers.map(({ status }) => status));
    }
  });

  it('are nobody else’s, and none of the platform', async () => {
    const { id } = await made();
    const other = await aTeam(t);
    const [platforms] = await t.db.query(sql<{ id: string }>(`SELECT id FROM model_catalog WHERE key = 'mock' AND owner_org_id IS NULL`));
    for (const [of, entry] of [
      [other, id],
      [org, platforms.id],
      [org, uuidv7()],
    ] as const) {
      const at = `/api/orgs/${of.id}/models/${entry}`;
      expect(outcome(await t.call('PATCH', at, { as: of.owner, body: { enabled: false } }))).toEqual([404, 'not_found']);
      expect(outcome(await t.call('DELETE', at, { as: of.owner }))).toEqual([404, 'not_found']);
    }
  });

  it('need byo_keys to be made and changed, not to be deleted', async () => {
    const { id } = await made();
    await entitle(t, { byo_keys: false });
    for (const answer of [await post({ key: 'our-other' }), await patch(id, { label: 'x' })])
      expect(answer).toMatchObject({ status: 403, body: { code: 'entitlement_required', context: { entitlement: 'byo_keys' } } });
    expect(await own()).toMatchObject([{ key: 'our-llama', available: false }]);
    expect((await remove(id)).status).toBe(204);
  });

  it('are no more than the plan allows, whoever makes them at once', async () => {
    await entitle(t, { max_custom_models: 3 });
    const answers = await Promise.all([1, 2, 3, 4, 5].map((n) => post({ key: `our-${n}` })));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 201, 403, 403]);
    expect(answers.find(({ status }) => status === 403)!.body).toMatchObject({
      code: 'entitlement_exceeded',
      context: { entitlement: 'max_custom_models', limit: 3, current: 3 },
    });
    await entitle(t, { max_custom_models: 1 });
    expect((await own()).length).toBe(3);
  });
});
