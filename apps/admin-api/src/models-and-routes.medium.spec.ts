import { Agent, AgentRevision, Inbox, InboxRevision, Process, ProcessRevision, PromptTemplate } from '@aps/entities';
import { aTeam } from '@aps/orgs/testing';
import { outcome, sql } from '@aps/platform/testing';
import { uuidv7 } from 'uuidv7';
import { adminService } from './testing/admin-service';

describe('Routes, keys and models, administered', () => {
  const admin = adminService({ OPENAI_API_KEY: 'sk-of-the-environment-0001', PROVIDER_1_API_KEY: 'sk-of-the-legacy-name-0002' });
  const { t, call } = admin;
  let names = 0;
  const fresh = (what: string) => `${what}-${++names}`;
  /** A body of what has been made, or the refusal. */
  const made = async (path: string, body: Record<string, unknown>) => {
    const answer = await call('POST', path, body);
    expect(answer.status).toBe(201);
    return answer.body as Record<string, string>;
  };
  const aRoute = (over: Record<string, unknown> = {}) =>
    made('/ai/routes', { slug: fresh('route'), label: 'A route', dialect: 'dialect_1', ...over });
  const aModel = async (over: Record<string, unknown> = {}) =>
    made('/models', { key: fresh('model'), label: 'A model', provider: 'test', route_id: over.route_id ?? (await aRoute()).id, ...over });
  const patchModel = (id: string, body: unknown) => call('PATCH', `/models/${id}`, body);
  const patchRoute = (id: string, body: unknown) => call('PATCH', `/ai/routes/${id}`, body);
  const problems = ({ body }: { body: { detail: { loc: string[] }[] } }) => body.detail.map(({ loc }) => loc.slice(1).join('.'));
  const audits = (targetId: string) =>
    t.db.query(
      sql<{ action: string; metadata: Record<string, unknown>; source: string }>(
        'SELECT action, metadata, source FROM audit_log WHERE target_id = $1 ORDER BY id',
      ),
      [targetId],
    );
  const aTemplate = async (model: string) => {
    const { id: org_id } = await aTeam(t);
    return t.insert(PromptTemplate, { org_id, slug: 'a', name: 'A template', model, version: 1 });
  };

  describe('routes', () => {
    it('are made, read, changed by the field and listed in display order', async () => {
      const first = await aRoute({ sort_order: -2, base_url: 'http://models.internal:8000/v1', gateway_provider_slug: 'vllm' });
      const second = await aRoute({ sort_order: -1, enabled: false, credential_route_id: first.id });
      expect(first).toEqual({
        id: first.id,
        slug: first.slug,
        label: 'A route',
        dialect: 'dialect_1',
        base_url: 'http://models.internal:8000/v1',
        enabled: true,
        sort_order: -2,
        credential_route_id: null,
        gateway_provider_slug: 'vllm',
        owner_org_id: null,
        pin_count: 0,
        created_at: first.created_at,
        updated_at: first.created_at,
      });
      const listed = (await call('GET', '/ai/routes')).body as { id: string }[];
      expect(listed.slice(0, 2)).toEqual([first, second]);
      const changed = { label: 'Another', base_url: null, dialect: 'dialect_3', credential_route_id: null };
      expect((await patchRoute(second.id, { ...changed, slug: 'ignored' })).body).toMatchObject({
        ...changed,
        slug: second.slug,
        enabled: false,
      });
      expect((await call('GET', `/ai/routes/${second.id}`)).body).toMatchObject(changed);
      await patchRoute(second.id, changed);
      await patchRoute(second.id, {});
      expect(await audits(second.id)).toMatchObject([
        { action: 'inference_route.created', source: 'admin' },
        { action: 'inference_route.updated', metadata: { changes: { label: 'Another', dialect: 'dialect_3', credential_route_id: null } } },
      ]);
      expect((await call('DELETE', `/ai/routes/${second.id}`)).status).toBe(204);
      expect(outcome(await call('GET', `/ai/routes/${second.id}`))).toEqual([404, 'not_found']);
    });

    it('refuse a slug that is taken, and what no route can be', async () => {
      const { slug } = await aRoute();
      const body = { slug, label: 'x', dialect: 'dialect_1' };
      expect(outcome(await call('POST', '/ai/routes', body))).toEqual([409, 'slug_taken']);
      for (const over of [
        { slug: 'Not A Slug' },
        { dialect: 'dialect_4' },
        { base_url: 'ftp://x' },
        { base_url: 'https://a:b@x' },
        { label: null },
      ])
        expect(outcome(await call('POST', '/ai/routes', { ...body, slug: fresh('route'), ...over }))).toEqual([422, 'validation_error']);
      const { id } = await aRoute();
      for (const over of [{ label: null }, { enabled: null }, { dialect: null }, { sort_order: 1e12 }])
        expect(outcome(await patchRoute(id, over))).toEqual([422, 'validation_error']);
      for (const [method, path] of [
        ['GET', ''],
        ['PATCH', ''],
        ['DELETE', ''],
        ['GET', '/pins'],
        ['POST', '/repoint'],
      ])
        // prettier-ignore
        expect(outcome(await call(method, `/ai/routes/${uuidv7()}${path}`, method === 'GET' ? undefined : { target_route_id: id }))).toEqual([404, 'not_found']);
    });

    it('borrow the key of one that borrows none, and lend it while they have their own', async () => {
      const lender = await aRoute();
      const borrower = await aRoute({ credential_route_id: lender.id });
      const other = await aRoute();
      const refused = async (id: string, credential_route_id: string) => outcome(await patchRoute(id, { credential_route_id }));
      expect(await refused(other.id, borrower.id)).toEqual([422, 'borrowing_chain']);
      expect(await refused(lender.id, other.id)).toEqual([422, 'borrowing_chain']);
      expect(await refused(other.id, other.id)).toEqual([422, 'borrowing_chain']);
      expect(await refused(other.id, uuidv7())).toEqual([422, 'unknown_reference']);
      const lending = await call('DELETE', `/ai/routes/${lender.id}`);
      expect(outcome(lending)).toEqual([409, 'route_lends_key']);
      expect(lending.body.context).toEqual({ routes: [{ id: borrower.id, slug: borrower.slug }] });
    });

    it('stay while models are on them, and take their keys along', async () => {
      const { id } = await aRoute();
      const model = await aModel({ route_id: id, enabled: false });
      expect(outcome(await call('DELETE', `/ai/routes/${id}`))).toEqual([409, 'route_in_use']);
      await call('DELETE', `/models/${model.id}`);
      await call('PUT', `/ai/route-keys/${id}`, { api_key: 'sk-0123456789abcdef' });
      const org = await aTeam(t);
      await t.db.execute(sql('INSERT INTO org_route_settings (org_id, route_id, enabled) VALUES ($1, $2, false)'), [org.id, id]);
      expect((await call('DELETE', `/ai/routes/${id}`)).status).toBe(204);
      for (const table of ['route_keys', 'org_route_settings'])
        expect(await t.db.query(sql(`SELECT 1 FROM ${table} WHERE route_id = $1`), [id])).toEqual([]);
    });

    it('are not disabled while anything is pinned to them, which is told without a change', async () => {
      const { id } = await aRoute();
      const model = await aModel({ route_id: id, label: 'Pinned' });
      await aModel({ route_id: id, enabled: false });
      const template = await aTemplate(model.key);
      await call('PATCH', '/ai-settings', { mode_x_high: { model_key: model.key }, feature_models: { title: model.key } });
      const pins = {
        route_id: id,
        catalog: [{ id: model.id, key: model.key, label: 'Pinned' }],
        prompt_templates: [{ id: template, org_id: expect.any(String), name: 'A template', model_key: model.key }],
        mode_presets: [{ mode: 'x_high', model_key: model.key }],
        feature_models: [{ feature: 'title', model_key: model.key }],
        org_offerings: [],
        total: 4,
        repoint_clears: true,
      };
      expect((await call('GET', `/ai/routes/${id}/pins`)).body).toEqual(pins);
      expect(((await call('GET', '/ai/routes')).body as { id: string }[]).find((r) => r.id === id)).toMatchObject({ pin_count: 4 });
      const refused = await patchRoute(id, { enabled: false, label: 'Not this either' });
      expect(outcome(refused)).toEqual([409, 'route_pinned']);
      expect(refused.body.context).toEqual({
        total: 4,
        catalog: 1,
        prompt_templates: 1,
        mode_presets: 1,
        feature_models: 1,
        org_offerings: 0,
      });
      expect((await call('GET', `/ai/routes/${id}`)).body).toMatchObject({ enabled: true, label: 'A route' });
      await call('PATCH', '/ai-settings', { mode_x_high: null, feature_models: { title: null } });
      await patchModel(model.id, { enabled: false });
      expect((await patchRoute(id, { enabled: false })).body).toMatchObject({ enabled: false, pin_count: 0 });
      // Whoever switches a model on says so, wherever it is.
      expect((await patchModel(model.id, { enabled: true })).status).toBe(200);
    });

    it('keep a dialect that serves what is on them', async () => {
      const { id } = await aRoute();
      const { key } = await aModel({ route_id: id, kind: 'embedding' });
      const refused = await patchRoute(id, { dialect: 'dialect_2' });
      expect(outcome(refused)).toEqual([422, 'kind_not_served']);
      expect(refused.body.context).toEqual({ models: [{ key, kind: 'embedding' }] });
      expect((await patchRoute(id, { dialect: 'dialect_3' })).status).toBe(200);
    });

    it('of organizations can be switched off here, and are changed by them alone', async () => {
      const org = await aTeam(t);
      const { id } = await aRoute();
      const model = await aModel({ route_id: id });
      await t.db.execute(sql('UPDATE inference_routes SET owner_org_id = $2 WHERE id = $1'), [id, org.id]);
      await t.db.execute(sql('UPDATE model_catalog SET owner_org_id = $2 WHERE id = $1'), [model.id, org.id]);
      expect((await patchRoute(id, { enabled: false })).body).toMatchObject({ enabled: false, owner_org_id: org.id, pin_count: 1 });
      const [, line] = await t.db.query(sql('SELECT org_id, source FROM audit_log WHERE target_id = $1 ORDER BY id'), [id]);
      expect(line).toEqual({ org_id: org.id, source: 'admin' });
      for (const body of [{ label: 'Ours' }, { base_url: 'https://x.example/v1' }, { dialect: 'dialect_2' }])
        expect(outcome(await patchRoute(id, body))).toEqual([422, 'organization_owned']);
      expect(outcome(await call('DELETE', `/ai/routes/${id}`))).toEqual([422, 'organization_owned']);
      expect(outcome(await call('PUT', `/ai/route-keys/${id}`, { api_key: 'sk-0123456789abcdef' }))).toEqual([404, 'not_found']);
      const { id: other } = await aRoute();
      expect(outcome(await patchRoute(other, { credential_route_id: id }))).toEqual([422, 'unknown_reference']);
      expect(outcome(await call('POST', `/ai/routes/${other}/repoint`, { target_route_id: id }))).toEqual([422, 'repoint_target']);
      expect(outcome(await call('POST', '/models', { key: fresh('k'), label: 'x', provider: 'x', route_id: id }))).toEqual([
        422,
        'unknown_reference',
      ]);
    });
  });

  describe('a repoint', () => {
    const repoint = (from: string, to: string) => call('POST', `/ai/routes/${from}/repoint`, { target_route_id: to });
    const entries = async (...ids: string[]) => {
      const all = (await call('GET', '/models')).body as {
        id: string;
        route_id: string;
        enabled: boolean;
        replacement_model_id: string | null;
      }[];
      return ids.map((id) => all.find((m) => m.id === id));
    };

    it('moves models and what names them, merges keys that the target has, and leaves those of organizations', async () => {
      const [source, target] = [await aRoute(), await aRoute()];
      const [moved, off] = [await aModel({ route_id: source.id }), await aModel({ route_id: source.id, enabled: false })];
      const both = fresh('both');
      const there = await aModel({ key: both, route_id: target.id, enabled: false });
      const dropped = await aModel({ key: both, route_id: source.id, replacement_model_id: moved.id });
      await patchModel(there.id, { replacement_model_id: dropped.id });
      const follower = await aModel({ enabled: false, replacement_model_id: dropped.id });
      const org = await aTeam(t);
      const offering = await aModel({ route_id: source.id });
      await t.db.execute(sql('UPDATE model_catalog SET owner_org_id = $2 WHERE id = $1'), [offering.id, org.id]);
      await aTemplate(moved.key);
      await aTemplate(both);
      await call('PATCH', '/ai-settings', { mode_trivial: { model_key: both } });
      expect((await call('GET', `/ai/routes/${source.id}/pins`)).body).toMatchObject({
        org_offerings: [{ id: offering.id, key: offering.key, owner_org_id: org.id }],
        total: 6,
        repoint_clears: false,
      });

      const { status, body } = await repoint(source.id, target.id);
      expect(status).toBe(200);
      const result = {
        moved: { catalog: 2, prompt_templates: 2, mode_presets: 1, feature_models: 0 },
        merged: [{ key: both, id: there.id }],
        left: { org_offerings: 1 },
      };
      expect(body).toEqual(result);
      expect(await entries(moved.id, off.id, there.id, dropped.id, follower.id, offering.id)).toMatchObject([
        { route_id: target.id, enabled: true },
        { route_id: target.id, enabled: false },
        { enabled: true, replacement_model_id: moved.id },
        undefined,
        { replacement_model_id: there.id },
        { route_id: source.id },
      ].map((m) => m ?? (undefined as never))); // prettier-ignore
      expect((await call('GET', `/ai/routes/${source.id}/pins`)).body).toMatchObject({ total: 1, catalog: [], prompt_templates: [] });
      expect((await audits(source.id)).at(-1)).toMatchObject({
        action: 'inference_route.repointed',
        metadata: { target_route_id: target.id, ...result },
      });
      await repoint(source.id, target.id);
      expect((await audits(source.id)).filter(({ action }) => action === 'inference_route.repointed')).toHaveLength(1);
      await call('PATCH', '/ai-settings', { mode_trivial: null });
    });

    it('goes to an enabled route of the platform that serves every model', async () => {
      const [source, target] = [await aRoute(), await aRoute({ dialect: 'dialect_2' })];
      const model = await aModel({ route_id: source.id, kind: 'rerank' });
      const refused = await repoint(source.id, target.id);
      expect([...outcome(refused), refused.body.context]).toEqual([
        422,
        'kind_not_served',
        { models: [{ key: model.key, kind: 'rerank' }] },
      ]);
      await patchRoute(target.id, { dialect: 'dialect_1', enabled: false });
      expect(outcome(await repoint(source.id, target.id))).toEqual([422, 'repoint_target']);
      expect(outcome(await repoint(source.id, source.id))).toEqual([422, 'repoint_target']);
      expect(outcome(await repoint(source.id, uuidv7()))).toEqual([404, 'not_found']);
      expect((await entries(model.id))[0]).toMatchObject({ route_id: source.id });
    });

    it('writes nothing where merged models would replace each other in a circle', async () => {
      const [source, target] = [await aRoute(), await aRoute()];
      const both = fresh('both');
      const from = await aModel({ key: both, route_id: source.id, enabled: false });
      const next = await aModel({ enabled: false, replacement_model_id: from.id });
      const to = await aModel({ key: both, route_id: target.id, enabled: false, replacement_model_id: next.id });
      expect(outcome(await repoint(source.id, target.id))).toEqual([422, 'replacement_cycle']);
      expect((await entries(from.id, next.id, to.id)).map((m) => m?.replacement_model_id)).toEqual([null, from.id, next.id]);
    });
  });

  describe('keys', () => {
    const put = (id: string, api_key: unknown) => call('PUT', `/ai/route-keys/${id}`, { api_key });
    const keyOf = async (id: string) =>
      ((await call('GET', '/ai/route-keys')).body.items as { route_id: string }[]).find((k) => k.route_id === id);

    it('are stored sealed, shown masked, and cleared for what the environment has', async () => {
      const { id } = await aRoute({ slug: 'openai' });
      const none = { route_id: id, slug: 'openai', masked: 'sk-…0002', is_set: false, source: 'legacy', borrowed_from: null };
      expect(await keyOf(id)).toEqual(none);
      const { status, body } = await put(id, 'sk-stored-for-the-route-0003');
      expect(status).toBe(200);
      expect(body.items.find((k: { route_id: string }) => k.route_id === id)).toEqual({
        ...none,
        masked: 'sk-…0003',
        is_set: true,
        source: 'stored',
      });
      const [{ api_key }] = await t.db.query(sql<{ api_key: string }>('SELECT api_key FROM route_keys WHERE route_id = $1'), [id]);
      expect(api_key).not.toContain('stored-for');
      await put(id, 'sk-stored-for-the-route-0003');
      await put(id, '');
      expect(await keyOf(id)).toEqual(none);
      await put(id, null);
      t.configure({ PROVIDER_1_API_KEY: undefined });
      expect(await keyOf(id)).toEqual({ ...none, masked: 'sk-…0001', source: 'env' });
      const lines = (await audits(id)).filter(({ action }) => action === 'route_key.updated');
      expect(lines.map(({ metadata }) => metadata.api_key)).toEqual(['set', 'cleared']);
      expect(JSON.stringify(lines)).not.toContain('0003');
    });

    it('that cannot be read any more are set, and another one is spent', async () => {
      const { id } = await aRoute();
      await t.db.execute(sql(`INSERT INTO route_keys (route_id, api_key) VALUES ($1, 'nonsense')`), [id]);
      expect(await keyOf(id)).toMatchObject({ masked: null, is_set: true, source: 'none' });
      expect((await put(id, 'sk-0123456789abcdef')).status).toBe(200);
      expect(await keyOf(id)).toMatchObject({ masked: 'sk-…cdef', source: 'stored' });
    });

    it('are set where they are lent', async () => {
      const lender = await aRoute();
      const borrower = await aRoute({ credential_route_id: lender.id });
      const refused = await put(borrower.id, 'sk-0123456789abcdef');
      expect([...outcome(refused), refused.body.context]).toEqual([422, 'route_borrows_key', { route_id: lender.id, slug: lender.slug }]);
      await put(lender.id, 'sk-0123456789abcdef');
      expect(await keyOf(borrower.id)).toMatchObject({ masked: 'sk-…cdef', is_set: false, source: 'borrowed', borrowed_from: lender.slug });
    });

    it('are refused where they are none', async () => {
      const { id } = await aRoute();
      expect(outcome(await put(id, 'sk-…cdef'))).toEqual([422, 'masked_secret']);
      for (const body of [{}, { api_key: 5 }, { api_key: 'with space' }, { api_key: 'x'.repeat(5_000) }])
        expect(outcome(await call('PUT', `/ai/route-keys/${id}`, body))).toEqual([422, 'validation_error']);
      expect(outcome(await put(uuidv7(), 'sk-0123456789abcdef'))).toEqual([404, 'not_found']);
      expect(await keyOf(id)).toMatchObject({ is_set: false });
    });
  });

  describe('models', () => {
    it('are made with what is said, changed by the field, and listed in display order', async () => {
      const route = await aRoute();
      const key = fresh('model');
      const body = {
        key,
        label: 'Everything',
        provider: 'test',
        route_id: route.id,
        remote_model_id: 'everything-2026',
        kind: 'chat',
        enabled: true,
        sort_order: -5,
        context_window: 1000,
        max_output_tokens: 100,
        allowed_efforts: ['low', 'high'],
        cost_tier: 'premium',
        supports_reasoning: true,
        supports_vision: true,
        input_price_per_1m: 1.5,
        output_price_per_1m: '12.000000',
        cached_input_price_per_1m: '0.15',
        cache_write_price_per_1m: null,
        fallback_credits_per_1k_tokens: '0.5',
        price_tiers: [{ above_tokens: 200_000, input_price_per_1m: 3 }],
        replacement_model_id: null,
      };
      const tier = { output_price_per_1m: null, cached_input_price_per_1m: null, cache_write_price_per_1m: null };
      const model = await made('/models', { ...body, deprecated: true });
      const shown = {
        ...body,
        id: model.id,
        owner_org_id: null,
        route: { id: route.id, slug: route.slug },
        deprecated: false,
        pinned: false,
        input_price_per_1m: '1.5',
        output_price_per_1m: '12',
        price_tiers: [{ above_tokens: 200_000, input_price_per_1m: '3', ...tier }],
        created_at: model.created_at,
        updated_at: model.created_at,
      };
      expect(model).toEqual(shown);
      expect(((await call('GET', '/models')).body as unknown[])[0]).toEqual(shown);
      const changes = {
        deprecated: true,
        label: 'Some',
        context_window: null,
        input_price_per_1m: '2',
        price_tiers: [],
        allowed_efforts: [],
      };
      expect((await patchModel(model.id, changes)).body).toMatchObject({ ...changes, max_output_tokens: 100 });
      // Nothing of this is a change.
      for (const same of [{}, changes, { output_price_per_1m: 12 }]) expect((await patchModel(model.id, same)).status).toBe(200);
      expect((await audits(model.id)).map(({ action }) => action)).toEqual(['model.created', 'model.updated']);
      expect((await audits(model.id))[1].metadata).toEqual({ changes });
      expect((await call('DELETE', `/models/${model.id}`)).status).toBe(204);
      for (const [method, path] of [
        ['PATCH', ''],
        ['DELETE', ''],
        ['POST', '/sync-price'],
      ])
        // prettier-ignore
        expect(outcome(await call(method, `/models/${model.id}${path}`, {}))).toEqual([404, 'not_found']);
    });

    it('come last where nothing is said, so that nobody begins to use them unasked', async () => {
      const all = (await call('GET', '/models')).body as { sort_order: number }[];
      const { sort_order } = await aModel();
      expect(Number(sort_order)).toBe(Math.max(0, ...all.map((m) => m.sort_order)) + 10);
    });

    it('refuse what no model can be', async () => {
      const [route, messages] = [await aRoute(), await aRoute({ dialect: 'dialect_2' })];
      const body = { label: 'x', provider: 'x', route_id: route.id };
      const refused = async (over: Record<string, unknown>) => {
        const answer = await call('POST', '/models', { key: fresh('model'), ...body, ...over });
        return [...outcome(answer), ...problems(answer)];
      };
      expect(await refused({ route_id: uuidv7() })).toEqual([422, 'unknown_reference', 'route_id']);
      expect(await refused({ route_id: messages.id, kind: 'embedding' })).toEqual([422, 'kind_not_served', 'kind']);
      expect(await refused({ replacement_model_id: uuidv7() })).toEqual([422, 'unknown_reference', 'replacement_model_id']);
      const chat = await aModel();
      expect(await refused({ kind: 'rerank', replacement_model_id: chat.id })).toEqual([422, 'unknown_reference', 'replacement_model_id']);
      for (const [field, value] of [
        ['key', ''],
        ['key', 'a b'],
        ['key', null],
        ['kind', 'video'],
        ['input_price_per_1m', -1],
        ['output_price_per_1m', '1.1234567'],
        ['context_window', 0],
        ['allowed_efforts', ['much']],
        ['allowed_efforts', ['low', 'low']],
        ['cost_tier', 'huge'],
        ['enabled', null],
        ['price_tiers', [{}]],
        ['price_tiers', null],
        ['sort_order', 1.5],
      ] as const)
        // prettier-ignore
        expect((await refused({ [field]: value })).slice(0, 2)).toEqual([422, 'validation_error']);
    });

    it('have a key once on a route, and once among what is enabled, whoever comes at the same moment', async () => {
      const [one, two] = [await aRoute(), await aRoute()];
      const key = fresh('model');
      const first = await aModel({ key, route_id: one.id });
      expect(outcome(await call('POST', '/models', { key, label: 'x', provider: 'x', route_id: one.id }))).toEqual([409, 'model_conflict']);
      expect(outcome(await call('POST', '/models', { key, label: 'x', provider: 'x', route_id: two.id }))).toEqual([409, 'model_conflict']);
      const second = await aModel({ key, route_id: two.id, enabled: false });
      expect(outcome(await patchModel(second.id, { route_id: one.id }))).toEqual([409, 'model_conflict']);
      await patchModel(first.id, { enabled: false });
      const enabling = await Promise.all([first, second].map(({ id }) => patchModel(id, { enabled: true })));
      expect(enabling.map(({ status }) => status).sort()).toEqual([200, 409]);
    });

    it('are replaced along chains that end', async () => {
      const chain = [await aModel({ enabled: false })];
      for (let i = 1; i < 6; i++) chain.push(await aModel({ enabled: false, replacement_model_id: chain[i - 1].id }));
      const [last, , , , , longest] = chain;
      const replaced = async (id: string, replacement_model_id: string) => outcome(await patchModel(id, { replacement_model_id }));
      expect(await replaced(last.id, longest.id)).toEqual([422, 'replacement_cycle']);
      expect(await replaced(last.id, last.id)).toEqual([422, 'replacement_cycle']);
      // One more would be the sixth, wherever it is put.
      expect(await replaced(last.id, (await aModel()).id)).toEqual([422, 'replacement_cycle']);
      for (const refused of [await call('DELETE', `/models/${last.id}`), await patchModel(last.id, { kind: 'embedding' })])
        expect(refused).toMatchObject({
          status: 409,
          body: { code: 'model_in_use', context: { used_by: [{ kind: 'replaced_model', id: chain[1].id, name: chain[1].key }] } },
        });
    });

    it('keep key and kind, and stay, while live configuration names them', async () => {
      const org = await aTeam(t);
      const users: Record<string, (key: string) => Promise<unknown>> = {
        platform_setting: (key) => call('PATCH', '/ai-settings', { default_model: key }),
        organization: (key) =>
          t.db.execute(
            sql(
              `INSERT INTO org_ai_settings (org_id, chat_model_allowlist) VALUES ($1, ARRAY[$2]) ON CONFLICT (org_id) DO UPDATE SET chat_model_allowlist = ARRAY[$2]`,
            ),
            [org.id, key],
          ),
        prompt_template: (key) => aTemplate(key),
        agent: (key) => t.insert(Agent, { org_id: org.id, slug: fresh('agent'), name: 'Of a draft', model: key }),
        inbox: async (key) => {
          const inbox_id = await t.insert(Inbox, { org_id: org.id, slug: fresh('inbox'), name: 'Orders' });
          const definition = { stages: [{ id: 'triage', kind: 'classifier', model: key }] };
          await t.insert(InboxRevision, { org_id: org.id, inbox_id, version: 1, status: 'deployed', hash: 'x', definition });
        },
      };
      for (const [kind, use] of Object.entries(users)) {
        const model = await aModel();
        await use(model.key);
        for (const attempt of [
          () => patchModel(model.id, { key: fresh('model') }),
          () => patchModel(model.id, { kind: 'image' }),
          () => call('DELETE', `/models/${model.id}`),
        ]) {
          const { status, body } = await attempt();
          expect([status, body.code, body.context.used_by.map((u: { kind: string }) => u.kind)]).toEqual([409, 'model_in_use', [kind]]);
        }
        const listed = (await call('GET', '/models')).body as { id: string; pinned: boolean }[];
        expect(listed.find(({ id }) => id === model.id)).toMatchObject({ pinned: true });
        expect((await patchModel(model.id, { label: 'Renamed', enabled: false })).body).toMatchObject({ label: 'Renamed', pinned: true });
      }
      await call('PATCH', '/ai-settings', { default_model: null });
      const live = await aModel();
      const agent = await t.insert(Agent, { org_id: org.id, slug: fresh('agent'), name: 'Live' });
      const revision = await t.insert(AgentRevision, {
        org_id: org.id,
        agent_id: agent,
        version: 1,
        hash: 'x',
        config: { model: live.key },
      });
      await t.db.execute(sql('UPDATE agents SET live_revision_id = $2 WHERE id = $1'), [agent, revision]);
      expect((await call('DELETE', `/models/${live.id}`)).body.context.used_by).toEqual([
        { kind: 'agent', id: agent, org_id: org.id, name: 'Live' },
      ]);
      await t.db.execute(sql('UPDATE agents SET deleted_at = now() WHERE id = $1'), [agent]);
      expect((await call('DELETE', `/models/${live.id}`)).status).toBe(204);
    });

    it('are bound by nothing that an organization names which is deleted', async () => {
      const org = await aTeam(t);
      const { key, id, route_id } = await aModel();
      const of = { org_id: org.id };
      await t.db.execute(sql('INSERT INTO org_ai_settings (org_id, chat_model_allowlist) VALUES ($1, ARRAY[$2])'), [org.id, key]);
      await t.insert(PromptTemplate, { ...of, slug: 'a', name: 'A template', model: key, version: 1 });
      await t.insert(Agent, { ...of, slug: fresh('agent'), name: 'Of a draft', model: key });
      const inbox_id = await t.insert(Inbox, { ...of, slug: fresh('inbox'), name: 'Orders' });
      const definition = { stages: [{ id: 'triage', kind: 'classifier', model: key }] };
      await t.insert(InboxRevision, { ...of, inbox_id, version: 1, status: 'deployed', hash: 'x', definition });
      const process_id = await t.insert(Process, { ...of, slug: fresh('process'), name: 'Refunds', title: 'Refunds' });
      await t.insert(ProcessRevision, {
        ...of,
        process_id,
        version: 1,
        status: 'deployed',
        hash: 'x',
        definition: {},
        refs: [`model:${key}`],
      });
      const pins = async () => {
        const { pinned } = ((await call('GET', '/models')).body as { id: string; pinned: boolean }[]).find((model) => model.id === id)!;
        return [pinned, (await call('GET', `/ai/routes/${route_id}/pins`)).body.total];
      };
      expect(await pins()).toEqual([true, 2]);
      expect((await call('DELETE', `/models/${id}`)).body.context.used_by).toHaveLength(5);
      await t.db.execute(sql('UPDATE organizations SET deleted_at = now() WHERE id = $1'), [org.id]);
      expect(await pins()).toEqual([false, 1]);
      expect((await patchModel(id, { key: fresh('model'), kind: 'image' })).status).toBe(200);
      expect((await call('DELETE', `/models/${id}`)).status).toBe(204);
    });

    it('are not deleted under whoever begins to name them', async () => {
      for (let round = 0; round < 5; round++) {
        const model = await aModel();
        const [named, deleted] = await Promise.all([
          call('PATCH', '/ai-settings', { feature_models: { distill: model.key } }),
          call('DELETE', `/models/${model.id}`),
        ]);
        expect([[200, 409], [422, 204]]).toContainEqual([named.status, deleted.status]); // prettier-ignore
      }
      await call('PATCH', '/ai-settings', { feature_models: { distill: null } });
    });

    it('of organizations are changed by them alone', async () => {
      const org = await aTeam(t);
      const { id } = await aModel();
      await t.db.execute(sql('UPDATE model_catalog SET owner_org_id = $2 WHERE id = $1'), [id, org.id]);
      for (const [method, path] of [
        ['PATCH', ''],
        ['DELETE', ''],
        ['POST', '/sync-price'],
      ])
        // prettier-ignore
        expect(outcome(await call(method, `/models/${id}${path}`, { label: 'Ours' }))).toEqual([422, 'organization_owned']);
    });

    it('take listed prices by the provider’s name, its prefix or their key, and keep what the list does not know', async () => {
      const synced = async (over: Record<string, unknown>) => {
        const { id } = await aModel({ output_price_per_1m: '99', cache_write_price_per_1m: '7', ...over });
        return { id, answer: await call('POST', `/models/${id}/sync-price`) };
      };
      const byRemote = await synced({ remote_model_id: 'gemini-2.5-pro' });
      expect(byRemote.answer).toMatchObject({
        status: 200,
        body: {
          input_price_per_1m: '1.25',
          output_price_per_1m: '10',
          cached_input_price_per_1m: '0.125',
          cache_write_price_per_1m: '7',
          price_tiers: [{ above_tokens: 200_000, input_price_per_1m: '2.5', output_price_per_1m: '15' }],
        },
      });
      await call('POST', `/models/${byRemote.id}/sync-price`);
      expect((await audits(byRemote.id)).map(({ action }) => action)).toEqual(['model.created', 'model.price_synced']);
      expect((await synced({ key: 'gpt-4.1', provider: 'openai' })).answer.body).toMatchObject({
        input_price_per_1m: '2',
        output_price_per_1m: '8',
      });
      // A price of zero on the list stands for none that is known.
      expect((await synced({ key: 'gemini-embedding-001', kind: 'embedding' })).answer.body).toMatchObject({
        input_price_per_1m: '0.15',
        output_price_per_1m: '99',
      });
      expect(outcome((await synced({})).answer)).toEqual([404, 'price_not_found']);
    });
  });

  it('are for operators alone', async () => {
    const { owner } = await aTeam(t);
    const id = uuidv7();
    for (const [method, path] of [
      ['GET', '/ai/routes'],
      ['POST', '/ai/routes'],
      ['PATCH', `/ai/routes/${id}`],
      ['DELETE', `/ai/routes/${id}`],
      ['POST', `/ai/routes/${id}/repoint`],
      ['GET', '/ai/route-keys'],
      ['PUT', `/ai/route-keys/${id}`],
      ['GET', '/models'],
      ['POST', '/models'],
      ['POST', `/models/${id}/sync-price`],
    ])
      // prettier-ignore
      expect(outcome(await call(method, path, method === 'GET' ? undefined : {}, { as: owner }))).toEqual([403, 'platform_admin_required']);
  });
});
