import { BillingOrder, CreditPack, InferenceReceipt, Plan, RateCard, Subscription } from '@aps/entities';
import { anOrg } from '@aps/orgs/testing';
import { outcome, sql } from '@aps/platform/testing';
import { TEST_PLAN } from '@aps/testing';
import { uuidv7 } from 'uuidv7';
import { adminService } from './testing/admin-service';

const nobody = '0198c0de-0000-7000-8000-000000000000';
const notFound = [404, 'not_found'];
const code = () => `c-${uuidv7().replaceAll('-', '')}`;

const admin = adminService();
const { t, call } = admin;
const problems = (answer: { body: { detail: { loc: string[]; type: string }[] } }) =>
  answer.body.detail.map(({ loc, type }) => `${loc.slice(1).join('.')} ${type}`);

describe('plans', () => {
  const create = (over: object = {}) => call('POST', '/plans', { code: code(), name: 'Plan', ...over });
  const put = (id: string, body: object) => call('PUT', `/plans/${id}`, body);
  const remove = (id: string) => call('DELETE', `/plans/${id}`);
  const setProducts = (id: string, body: object) => call('PUT', `/plans/${id}/polar-products`, body);
  const listed = async (id: string) => (await call('GET', '/plans')).body.items.find((plan: { id: string }) => plan.id === id);

  const DEFAULTS = {
    sort_order: 0,
    price_display: null,
    price_currency: 'USD',
    monthly_credits: '0',
    initial_credits: '0',
    overdraft_pct: '0',
    renews: true,
    is_enterprise: false,
    audit_log: false,
    byo_keys: false,
    decision_log: false,
    direct_model_choice: false,
    enforced_idp_sso: false,
    enforces_credits: false,
    hitl_routing: false,
    per_agent_budgets: false,
    shared_blocks: false,
    max_agents: 0,
    max_seats: 0,
    max_inboxes: 0,
    max_integrations: 0,
    max_custom_environments: 0,
    max_custom_models: 0,
    max_custom_image_gb: 0,
    max_concurrent_chats: 0,
    max_queue_depth: 0,
    intake_messages_per_day: 0,
    intake_classifier_calls_per_day: 0,
    decision_retention_days: 0,
    polar_product_id: null,
    polar_product_id_annual: null,
    subscriber_count: 0,
    price_point: null,
    margin: null,
  };

  it('are made of a code and a name, and include nothing then', async () => {
    const wish = { code: code(), name: ' Bare ' };
    const { status, body } = await create(wish);
    const made = {
      id: body.id,
      ...DEFAULTS,
      code: wish.code,
      name: 'Bare',
      created_at: expect.any(String),
      updated_at: expect.any(String),
    };
    expect([status, body]).toEqual([201, made]);
    expect(await listed(body.id)).toEqual(made);
    expect(await t.audit({ target_id: body.id })).toMatchObject([
      {
        source: 'admin',
        action: 'plan.created',
        org_id: null,
        actor_id: admin.operator.id,
        target_kind: 'plan',
        metadata: { code: wish.code },
      },
    ]);
  });

  it('keep what they are given, and say what 1,000 credits cost by them', async () => {
    const given = {
      sort_order: 7,
      price_display: 29,
      price_currency: 'EUR',
      monthly_credits: '3000.5',
      initial_credits: '0.000001',
      overdraft_pct: 2.5,
      renews: false,
      is_enterprise: true,
      hitl_routing: true,
      max_seats: -1,
      decision_retention_days: 30,
      polar_product_id: uuidv7().toUpperCase(),
      polar_product_id_annual: uuidv7(),
    };
    const { body } = await create(given);
    expect(body).toMatchObject({
      ...given,
      price_display: '29',
      overdraft_pct: '2.5',
      polar_product_id: given.polar_product_id.toLowerCase(),
      price_point: '9.665056',
    });
  });

  it('begin a month for their subscribers when they begin to renew, but for those who pay', async () => {
    const { body: plan } = await create({ renews: false, monthly_credits: 70 });
    const [free, paying] = [await anOrg(t, { plan: null }), await anOrg(t, { plan: null })];
    await t.db.manager.insert(Subscription, { org_id: free.id, plan_id: plan.id });
    await t.db.manager.insert(Subscription, { org_id: paying.id, plan_id: plan.id, external_subscription_id: uuidv7() });
    await put(plan.id, { code: plan.code, name: 'Plan', monthly_credits: 70 });
    const periodOf = async (org_id: string) => {
      const { period_start, period_end } = await t.db.manager.findOneByOrFail(Subscription, { org_id });
      return [period_start, period_end];
    };
    const [start, end] = await periodOf(free.id);
    expect(end!.getTime() - start!.getTime()).toBeGreaterThanOrEqual(28 * 86_400_000);
    expect(await periodOf(paying.id)).toEqual([null, null]);
  });

  it('are replaced as a whole: what is left out has its default', async () => {
    const { body: plan } = await create({ max_agents: 5, audit_log: true, price_display: '1', polar_product_id: uuidv7(), renews: false });
    const { status, body } = await put(plan.id, { code: plan.code, name: 'Other', max_seats: 2 });
    expect([status, body]).toEqual([200, { ...plan, ...DEFAULTS, name: 'Other', max_seats: 2, updated_at: expect.any(String) }]);
    expect((await t.audit({ target_id: plan.id })).slice(1)).toMatchObject([
      {
        action: 'plan.updated',
        metadata: { changes: { name: 'Other', max_agents: 0, max_seats: 2, audit_log: false, price_display: null } },
      },
    ]);
  });

  it('leave no trace of what changes nothing', async () => {
    const wish = { code: code(), name: 'Same', price_display: '1.50', monthly_credits: 10, polar_product_id: uuidv7() };
    const { body: plan } = await create(wish);
    expect(await put(plan.id, { ...wish, price_display: 1.5, polar_product_id: wish.polar_product_id.toUpperCase() })).toMatchObject({
      status: 200,
      body: plan,
    });
    expect((await setProducts(plan.id, { polar_product_id: wish.polar_product_id })).status).toBe(200);
    expect(await t.audit({ target_id: plan.id })).toHaveLength(1);
  });

  it.each<[object, string[]]>([
    [{ code: undefined, name: undefined }, ['code missing', 'name missing']],
    [{ code: '__none__' }, ['code value_error']],
    [{ code: 'Big', name: ' ' }, ['code value_error', 'name value_error']],
    [{ price_currency: 'usd' }, ['price_currency value_error']],
    [{ price_currency: 'QQQ' }, ['price_currency value_error']],
    [{ price_currency: null }, ['price_currency string_type']],
    [
      { price_display: '-1', monthly_credits: '1e3', initial_credits: '0.0000001' },
      ['price_display', 'monthly_credits', 'initial_credits'],
    ],
    [{ monthly_credits: '123456789012345', overdraft_pct: 1001 }, ['monthly_credits decimal_parsing', 'overdraft_pct less_than_equal']],
    [
      { max_agents: -2, max_seats: 1.5, max_inboxes: null, max_queue_depth: 2 ** 31 },
      ['max_agents', 'max_seats', 'max_inboxes', 'max_queue_depth'],
    ],
    [{ audit_log: 'yes', renews: null, polar_product_id: 'x' }, ['renews', 'polar_product_id', 'audit_log']],
  ])('refuse %j', async (over, found) => {
    const answer = await create(over);
    expect(answer.status).toBe(422);
    const told = problems(answer);
    for (const problem of found) expect(told).toContainEqual(expect.stringContaining(problem));
    const { body: plan } = await create();
    expect((await put(plan.id, { code: plan.code, name: 'Plan', ...over })).status).toBe(422);
  });

  it('have a code of their own', async () => {
    const [one, other] = [(await create()).body, (await create()).body];
    const taken = [409, 'code_taken'];
    expect(outcome(await create({ code: one.code }))).toEqual(taken);
    expect(outcome(await put(other.id, { code: one.code, name: 'x' }))).toEqual(taken);
    expect(await t.audit({ target_id: other.id })).toHaveLength(1);
  });

  it.each(['polar_product_id', 'polar_product_id_annual'] as const)(
    'have products of their own, by the month and by the year: %s',
    async (column) => {
      const product = uuidv7();
      await create({ [column]: product });
      const { body: other } = await create();
      const taken = [409, 'product_taken'];
      for (const field of ['polar_product_id', 'polar_product_id_annual']) {
        expect(outcome(await create({ [field]: product }))).toEqual(taken);
        expect(outcome(await put(other.id, { code: other.code, name: 'x', [field]: product.toUpperCase() }))).toEqual(taken);
        expect(outcome(await setProducts(other.id, { [field]: product }))).toEqual(taken);
      }
      expect(await t.audit({ target_id: other.id })).toHaveLength(1);
    },
  );

  it('keep the orders that have paid them under another code', async () => {
    const { body: plan } = await create();
    const org = await anOrg(t);
    const order = async (kind: 'plan' | 'pack') => {
      const id = uuidv7();
      const paid = { code: plan.code, billing_reason: 'purchase', paid_at: new Date() };
      await t.db.manager.insert(BillingOrder, { id, org_id: org.id, kind, ...paid });
      return async () => (await t.db.manager.findOneByOrFail(BillingOrder, { id })).code;
    };
    const [ofPlan, ofPack] = [await order('plan'), await order('pack')];
    const renamed = code();
    await put(plan.id, { code: renamed, name: 'Plan' });
    expect([await ofPlan(), await ofPack()]).toEqual([renamed, plan.code]);
  });

  it('are not paid by the month and by the year as one product', async () => {
    const both = { polar_product_id: uuidv7(), polar_product_id_annual: '' };
    both.polar_product_id_annual = both.polar_product_id;
    expect(outcome(await create(both))).toEqual([409, 'product_taken']);
  });

  it('get one product once, whoever asks at the same time, for whichever column', async () => {
    const product = uuidv7();
    const fields = ['polar_product_id', 'polar_product_id_annual', 'polar_product_id', 'polar_product_id_annual', 'polar_product_id'];
    const statuses = (await Promise.all(fields.map((field) => create({ [field]: product })))).map(({ status }) => status);
    expect(statuses.sort()).toEqual([201, 409, 409, 409, 409]);
  });

  it('are sold, and not any more, by their products', async () => {
    const { body: plan } = await create({ polar_product_id_annual: uuidv7() });
    const polar_product_id = uuidv7();
    const { status, body } = await setProducts(plan.id, { polar_product_id });
    const sold = { id: plan.id, code: plan.code, name: 'Plan', polar_product_id, polar_product_id_annual: null };
    expect([status, body.plans.find(({ id }: { id: string }) => id === plan.id)]).toEqual([200, sold]);
    await setProducts(plan.id, {});
    expect(await listed(plan.id)).toMatchObject({ polar_product_id: null, polar_product_id_annual: null });
    expect(outcome(await setProducts(nobody, {}))).toEqual(notFound);
  });

  it('stay while anybody is subscribed, in whatever state', async () => {
    const { body: plan } = await create();
    const org = await anOrg(t);
    for (const status of ['active', 'unsubscribed', 'expired'] as const) {
      await t.db.manager.update(Subscription, { org_id: org.id }, { plan_id: plan.id, status });
      expect(await remove(plan.id)).toMatchObject({ status: 409, body: { code: 'plan_in_use', context: { subscribers: 1 } } });
    }
    expect(await listed(plan.id)).toMatchObject({ subscriber_count: 1 });
    await t.db.manager.update(Subscription, { org_id: org.id }, { plan_id: TEST_PLAN.id });
    expect((await remove(plan.id)).status).toBe(204);
    expect(outcome(await remove(plan.id))).toEqual(notFound);
    expect(outcome(await put(plan.id, { code: 'x', name: 'x' }))).toEqual(notFound);
    expect((await t.audit({ target_id: plan.id })).slice(1)).toMatchObject([{ action: 'plan.deleted', metadata: { code: plan.code } }]);
  });

  it('go when all who were subscribed are deleted', async () => {
    const { body: plan } = await create();
    const [org, other] = [await anOrg(t), await anOrg(t)];
    for (const { id } of [org, other]) await t.db.manager.update(Subscription, { org_id: id }, { plan_id: plan.id });
    const end = (id: string) => t.db.execute(sql('UPDATE organizations SET deleted_at = now() WHERE id = $1'), [id]);
    await end(org.id);
    expect(await remove(plan.id)).toMatchObject({ status: 409, body: { code: 'plan_in_use', context: { subscribers: 1 } } });
    await end(other.id);
    expect(await listed(plan.id)).toMatchObject({ subscriber_count: 0 });
    expect((await remove(plan.id)).status).toBe(204);
  });

  it('are listed in display order, with the fields that entitle', async () => {
    const made = [
      await create({ sort_order: 2, code: `b-${code()}` }),
      await create({ sort_order: 2, code: `a-${code()}` }),
      await create({ sort_order: 1 }),
    ];
    const { status, body } = await call('GET', '/plans');
    const ids = body.items.map(({ id }: { id: string }) => id).filter((id: string) => made.some((plan) => plan.body.id === id));
    expect([status, ids]).toEqual([200, [made[2], made[1], made[0]].map((plan) => plan.body.id)]);
    expect(body).toMatchObject({ total: body.items.length, next_offset: null });
    expect(body.entitlement_fields).toHaveLength(22);
    for (const field of body.entitlement_fields) expect(body.items[0]).toHaveProperty(field);
  });

  it('say what the calls of their subscribers have cost beside what the credits are worth', async () => {
    const { body: plan } = await create({ enforces_credits: true });
    const org = await anOrg(t);
    await t.db.manager.update(Subscription, { org_id: org.id }, { plan_id: plan.id });
    const receipt = (row: Partial<InferenceReceipt>) =>
      t.insert(InferenceReceipt, {
        org_id: org.id,
        feature: 'turn',
        model_key: 'm',
        resolve_reason: 'requested',
        route_id: nobody,
        input_tokens: 1,
        cached_input_tokens: 0,
        cache_write_tokens: 0,
        output_tokens: 1,
        reasoning_tokens: 0,
        duration_ms: 1,
        enforced: true,
        ...row,
      });
    await receipt({ credits: '100', usd_cost: '0.3' });
    await receipt({ credits: '50.5', usd_cost: '0.4' });
    // An organization whose credits are not enforced burns none.
    await receipt({ credits: '1000', usd_cost: '7', enforced: false });
    await receipt({ credits: '9', usd_cost: '9', created_at: new Date(Date.now() - 40 * 86_400_000) });
    expect(await listed(plan.id)).toMatchObject({ margin: null });
    await t.db.manager.insert(RateCard, { version: 1, effective_from: '2026-01-01', credits_per_usd: '100' });
    await t.db.manager.insert(RateCard, { version: 2, effective_from: '2999-01-01', credits_per_usd: '1' });
    expect((await listed(plan.id)).margin).toEqual({
      window_days: 30,
      credits: '150.5',
      usd_cost: '0.7',
      usd_value: '1.505',
      ratio: '0.534884',
    });
    // Whichever of its subscribers burned them, by an override too.
    await put(plan.id, { code: plan.code, name: 'x', enforces_credits: false });
    expect((await listed(plan.id)).margin).toMatchObject({ credits: '150.5' });
  });

  it('are made, and changed, also where it cannot be added up what their subscribers have burned', async () => {
    const { body: plan } = await create();
    await t.db.execute(sql('ALTER TABLE usage_tallies RENAME TO all_usage'));
    const { status } = await put(plan.id, { code: plan.code, name: 'Changed' });
    const made = await create();
    await t.db.execute(sql('ALTER TABLE all_usage RENAME TO usage_tallies'));
    expect([status, (await listed(plan.id)).name]).toEqual([500, 'Changed']);
    // A repeat would be refused by the code that it has taken itself.
    expect([made.status, made.body]).toEqual([201, await listed(made.body.id)]);
  });
});

describe('credit packs', () => {
  const create = (over: object = {}) => call('POST', '/credit-packs', { code: code(), name: 'Pack', credits: 10, ...over });
  const put = (id: string, body: object) => call('PUT', `/credit-packs/${id}`, body);

  it('are made, replaced as a whole and deleted, each once on record', async () => {
    const given = {
      code: code(),
      credits: '12345678901234.000001',
      price_display: 12,
      is_active: false,
      sort_order: 3,
      polar_product_id: uuidv7(),
    };
    const { status, body: pack } = await create(given);
    expect([status, pack]).toEqual([
      201,
      {
        ...given,
        id: pack.id,
        name: 'Pack',
        price_display: '12',
        price_currency: 'USD',
        created_at: expect.any(String),
        updated_at: expect.any(String),
      },
    ]);
    expect((await put(pack.id, { ...given, name: 'Pack' })).body).toEqual(pack);
    const bare = { code: given.code, name: 'Bare', credits: '1' };
    const defaults = { price_display: null, is_active: true, sort_order: 0, polar_product_id: null };
    expect((await put(pack.id, bare)).body).toEqual({ ...pack, ...bare, ...defaults, updated_at: expect.any(String) });
    expect((await call('DELETE', `/credit-packs/${pack.id}`)).status).toBe(204);
    for (const gone of [await call('DELETE', `/credit-packs/${pack.id}`), await put(pack.id, bare)])
      expect(outcome(gone)).toEqual(notFound);
    expect(await t.audit({ target_id: pack.id })).toMatchObject([
      { action: 'credit_pack.created', target_kind: 'credit_pack', actor_id: admin.operator.id },
      { action: 'credit_pack.updated', metadata: { changes: { name: 'Bare', credits: '1.000000' } } },
      { action: 'credit_pack.deleted', metadata: { code: given.code } },
    ]);
  });

  it.each<[object, string]>([
    [{ credits: undefined }, 'credits'],
    [{ credits: '0' }, 'credits greater_than_equal'],
    [{ credits: '-1' }, 'credits greater_than_equal'],
    [{ credits: '0.0000001' }, 'credits decimal_parsing'],
    [{ credits: '123456789012345' }, 'credits decimal_parsing'],
    [{ credits: null }, 'credits'],
    [{ price_currency: 'dollars' }, 'price_currency value_error'],
    [{ is_active: null }, 'is_active bool_parsing'],
  ])('refuse %j', async (over, found) => {
    const answer = await create(over);
    expect([answer.status, problems(answer)]).toEqual([422, expect.arrayContaining([expect.stringContaining(found)])]);
  });

  it('have a code and a product of their own, also when many ask at the same time', async () => {
    const [one, other] = [(await create({ polar_product_id: uuidv7() })).body, (await create()).body];
    expect(outcome(await create({ code: one.code }))).toEqual([409, 'code_taken']);
    expect(outcome(await put(other.id, { code: other.code, name: 'x', credits: 1, polar_product_id: one.polar_product_id }))).toEqual([
      409,
      'product_taken',
    ]);
    const polar_product_id = uuidv7();
    const made = await Promise.all([1, 2, 3].map(() => create({ polar_product_id })));
    expect(made.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
  });

  it('are all listed, retired ones too, in display order', async () => {
    await t.db.manager.clear(CreditPack);
    const last = (await create({ sort_order: 2 })).body;
    const first = (await create({ sort_order: 1, is_active: false })).body;
    expect((await call('GET', '/credit-packs')).body).toEqual([first, last]);
  });

  it('may be sold as the product of a plan, and the catalog tells', async () => {
    const polar_product_id = uuidv7();
    const plan = (await call('POST', '/plans', { code: code(), name: 'Plan', polar_product_id_annual: polar_product_id })).body;
    const pack = (await create({ polar_product_id })).body;
    const { status, body } = await call('GET', '/billing/catalog');
    expect([status, body.collisions]).toEqual([
      200,
      [{ product_id: polar_product_id, names: [`plan ${plan.code} (annual)`, `pack ${pack.code}`] }],
    ]);
    expect(body.packs).toContainEqual(pack);
    expect(body.plans).toContainEqual({
      id: plan.id,
      code: plan.code,
      name: 'Plan',
      polar_product_id: null,
      polar_product_id_annual: polar_product_id,
    });
    expect(body.plans).toHaveLength(await t.db.manager.count(Plan));
  });
});
