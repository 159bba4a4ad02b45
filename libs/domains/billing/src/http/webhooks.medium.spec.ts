import { randomUUID } from 'node:crypto';
import http from 'node:http';
import { BillingModule } from '../billing.module';
import { PlansRepository } from '../plans/plans.repository';
import { Periods } from '../subscriptions/periods.service';
import { SubscriptionsRepository } from '../subscriptions/subscriptions.repository';
import { Subscriptions } from '../subscriptions/subscriptions.service';
import {
  BillingCheckout,
  BillingEvent,
  BillingOrder,
  CreditLedgerRow,
  CreditPack,
  ExternalSubscription,
  OrgCredits,
  Plan,
  Subscription,
} from '@aps/entities';
import { anOrg, type TestOrg } from '@aps/orgs/testing';
import { NO_CALLER, type Tx } from '@aps/platform/database';
import { MaintenanceModule } from '@aps/platform/maintenance';
import { metrics } from '@aps/platform/observability';
import { Outbox } from '@aps/platform/outbox';
import { WorkersModule } from '@aps/platform/queues';
import { signed, sql, WEBHOOK_SECRET, type SignedDelivery } from '@aps/platform/testing';
import { BASE_MODULES, eventually, testService } from '@aps/testing';
import { BillingJobsModule } from '../jobs';
import { aPack, nextTime, orderEvent, subscriptionEvent } from '../testing/deliveries';
import { aPlan } from '../testing/plans';
import { WebhooksHttpModule } from './webhooks-http.module';

const t = testService(
  [...BASE_MODULES, BillingModule, MaintenanceModule, WebhooksHttpModule, BillingJobsModule, WorkersModule.forQueues('billing')],
  { settings: { POLAR_WEBHOOK_SECRETS: `whsec_b2xk,${WEBHOOK_SECRET}` } },
);
let org: TestOrg;
let trial: Plan;
let starter: Plan;
let team: Plan;
let pack: CreditPack;
beforeAll(async () => {
  trial = await aPlan(t, { code: 'trial', renews: false, monthly_credits: '0', initial_credits: '500', polar_product_id: null });
  starter = await aPlan(t, {
    code: 'starter',
    monthly_credits: '3000',
    polar_product_id: randomUUID(),
    polar_product_id_annual: randomUUID(),
  });
  team = await aPlan(t, { code: 'team', monthly_credits: '20000', polar_product_id: randomUUID() });
  pack = await aPack(t, { code: 'pack_1k', credits: '1000' });
});
beforeEach(async () => {
  org = await anOrg(t);
  await t.db.manager.update(Subscription, { org_id: org.id }, { plan_id: trial.id });
});

const post = ({ body, headers }: SignedDelivery) => t.call('POST', '/api/webhooks/polar', { body, headers });
const stored = () => t.db.manager.count(BillingEvent);
const eventOf = (id: string) => t.db.manager.findOneByOrFail(BillingEvent, { id });
const take = async (delivery: SignedDelivery): Promise<string> => {
  const { status, body, text } = await post(delivery);
  if (status !== 202) throw new Error(`answered ${status} ${text}`);
  return body.event_id as string;
};
/** Delivers, and waits until it was gone through. */
const tell = async (event: unknown): Promise<BillingEvent> => {
  const id = await take(signed(event));
  return eventually(
    () => eventOf(id),
    ({ status }) => status !== 'received',
  );
};
const statusOf = async (event: unknown) => {
  const { status, error } = await tell(event);
  return [status, error];
};
/** A checkout that was begun here. */
const begin = async (kind: 'plan' | 'pack' = 'plan', code = 'starter', of = org, product_id: string | null = null): Promise<string> => {
  const id = randomUUID();
  const offer = await t.db.manager.findOneBy<Plan | CreditPack>(kind === 'plan' ? Plan : CreditPack, { code });
  const offer_id = offer?.id ?? null;
  await t.db.manager.insert(BillingCheckout, { id, org_id: of.id, user_id: of.owner.id, kind, code, offer_id, product_id });
  return id;
};
const now = async () => {
  const { plan_id, status, external_subscription_id, pending_change } = await t.db.manager.findOneByOrFail(Subscription, {
    org_id: org.id,
  });
  const { code } = await t.db.manager.findOneByOrFail(Plan, { id: plan_id });
  const credits = await t.db.manager.findOneBy(OrgCredits, { org_id: org.id });
  return {
    ...{ code, status, external: external_subscription_id, pending: pending_change },
    ...{ granted: Number(credits?.balance ?? 0), bought: Number(credits?.purchased_balance ?? 0) },
  };
};
const ledger = async () => {
  const rows = await t.db.manager.find(CreditLedgerRow, { where: { org_id: org.id }, order: { seq: 'ASC' } });
  return rows.map(({ kind, delta }) => `${kind} ${Number(delta)}`);
};
/** What a life of a subscription begins with. */
const bought = async (plan = starter, more: Partial<Parameters<typeof orderEvent>[0]> = {}) => {
  const checkout_id = await begin();
  const subscription_id = randomUUID();
  const customer_id = randomUUID();
  const start = nextTime();
  const subscription = {
    ...{ id: subscription_id, status: 'active', created_at: start, modified_at: start },
    ...{ current_period_start: start, current_period_end: '2026-12-15T00:00:00Z' },
  };
  const order = orderEvent({
    ...{ product_id: plan.polar_product_id, billing_reason: 'subscription_create', at: start },
    ...{ checkout_id, subscription_id, customer_id, subscription, ...more },
  });
  return { order, id: subscription_id, customer_id, checkout_id };
};
const about = ({ id, customer_id }: { id: string; customer_id: string }, type: string, more: object = {}) =>
  subscriptionEvent(type, { id, customer_id, current_period_end: '2026-12-15T00:00:00Z', ...more });

it('failures are counted from the start, so that the first is a growth', async () => {
  const { values } = await metrics.getSingleMetric('billing_deliveries_total')!.get();
  expect(values).toContainEqual({ labels: { outcome: 'failed' }, value: 0 });
});

describe('a delivery', () => {
  it('is stored as it came and answered, and a repeat is answered as the first', async () => {
    const body =
      '{ "type":"benefit.created",\n\t"timestamp":"2026-11-20T00:00:00Z", "data": {"name":"Zoë 東京 🚀", "amount": 12345678901234567890 } }';
    const delivery = signed(body);
    const [first, again] = [await take(delivery), await take(delivery)];
    expect(again).toBe(first);
    const event = await eventually(
      () => eventOf(first),
      ({ status }) => status !== 'received',
    );
    expect(event).toMatchObject({
      ...{ provider: 'polar', delivery_id: delivery.headers['webhook-id'], type: 'benefit.created', attempts: 1, org_id: null },
      ...{ status: 'ignored', error: 'Deliveries of this type change nothing.', applied_at: null, next_attempt_at: null },
    });
    expect(event.payload).toMatchObject({ data: { name: 'Zoë 東京 🚀' } });
    const [{ exact }] = await t.db.query(
      sql<{ exact: string }>(`SELECT payload->'data'->>'amount' AS exact FROM billing_events WHERE id = $1`),
      [first],
    );
    expect(exact).toBe('12345678901234567890');
  });

  it('is stored once when it comes many times at once', async () => {
    const delivery = signed({ type: 'x.y' });
    const ids = await Promise.all(Array.from({ length: 10 }, () => take(delivery)));
    expect(new Set(ids).size).toBe(1);
  });

  it('is taken by any of the secrets, and by either way to make a key of one', async () => {
    t.configure({ POLAR_WEBHOOK_SECRETS: `whsec_b2xk, polar_whs_öld ${WEBHOOK_SECRET}` });
    for (const delivery of [
      signed({ type: 'x.y' }, { secret: 'whsec_b2xk' }),
      signed({ type: 'x.y' }, { secret: 'polar_whs_öld', wholeSecret: true }),
      signed({ type: 'x.y' }, { secret: WEBHOOK_SECRET, wholeSecret: true }),
    ])
      expect((await post(delivery)).status).toBe(202);
    t.configure({ POLAR_WEBHOOK_SECRETS: '' });
    expect((await post(signed({ type: 'x.y' }))).body.code).toBe('signature_invalid');
    t.configure({ POLAR_WEBHOOK_SECRETS: WEBHOOK_SECRET });
  });

  it('that is not to be read is kept as it is, and no reason to refuse it', async () => {
    const before = await stored();
    const deep = '['.repeat(60_000) + ']'.repeat(60_000);
    for (const body of [
      '',
      'null',
      '[]',
      '"x"',
      'nonsense',
      '{"a":',
      '{"data":"\\u0000"}',
      '{"a":1e999999}',
      '{"a":"\\ud800"}',
      `{"a":${deep}}`,
    ]) {
      const event = await eventOf(await take(signed(body)));
      expect([body.slice(0, 20), event.status, event.type, event.next_attempt_at]).toEqual([
        body.slice(0, 20),
        'ignored',
        'unreadable',
        null,
      ]);
      expect(Buffer.from(event.payload.unreadable as string, 'base64').toString()).toBe(body);
    }
    expect(await stored()).toBe(before + 10);
  });

  it('that is an order and cannot be kept as it came is left to humans', async () => {
    const body = '{"type":"order.paid","data":{"name":"\\u0000"}}';
    const event = await eventOf(await take(signed(body)));
    expect(event).toMatchObject({ type: 'order.paid', status: 'unresolved', next_attempt_at: null });
    expect(Buffer.from(event.payload.unreadable as string, 'base64').toString()).toBe(body);
  });

  it('is kept in memory until it is proven, and of all that come only so much', async () => {
    const { headers } = signed({ type: 'x.y' });
    const large = Buffer.alloc(1024 * 1024 - 1);
    const requests = Array.from({ length: 70 }, () => {
      const all = { ...headers, 'content-length': large.length + 1 };
      const request = http.request(`${t.url}/api/webhooks/polar`, { agent: false, method: 'POST', headers: all });
      request.on('error', () => undefined).write(large);
      return request;
    });
    const status = await new Promise((resolve) =>
      requests.forEach((request) =>
        request.on('response', (answer: http.IncomingMessage) => resolve(answer.statusCode)).on('close', () => resolve(null)),
      ),
    );
    expect(status).toBe(503);
    requests.forEach((request) => request.destroy());
    await eventually(
      () => post(signed({ type: 'x.y' })),
      ({ status }) => status === 202,
    );
  });

  it('that is not to be read is no harm to those that come at the same moment', async () => {
    const bodies = Array.from({ length: 12 }, (_, n) => (n % 3 ? `{"type":"x.y","n":${n}}` : `{"a":"\\u0000${n}"}`));
    const ids = await Promise.all(bodies.map((body) => take(signed(body))));
    const types = await Promise.all(ids.map(async (id) => (await eventOf(id)).type));
    expect(types).toEqual(bodies.map((_, n) => (n % 3 ? 'x.y' : 'unreadable')));
  });

  it.each<[string, object]>([
    ['no type', {}],
    ['a type that is none', { type: { a: 1 } }],
    ['an order of nothing', { type: 'order.paid' }],
    ['an order of everything', { type: 'order.paid', data: { id: 'x', status: 5, product_id: 'x', metadata: 'x', customer: [] } }],
    ['a subscription of nothing', { type: 'subscription.revoked', data: [] }],
    ['a subscription of somebody', { type: 'subscription.updated', data: { id: 'x'.repeat(200), modified_at: 'never' } }],
    ['a refund of what never was', { type: 'order.refunded', data: { id: 'x' } }],
  ])('with %s harms nobody', async (_, event) => {
    expect(['ignored', 'unresolved']).toContain((await tell(event)).status);
  });
});

describe('what is no delivery', () => {
  const good = () => signed({ type: 'order.paid', data: {} });
  it.each<[string, (delivery: SignedDelivery) => SignedDelivery, string]>([
    ['unsigned', ({ body, headers }) => ({ body, headers: { 'content-type': headers['content-type'] } }), 'signature_invalid'],
    ['forged', () => signed({ type: 'order.paid' }, { secret: 'whsec_Z3Vlc3NlZA==' }), 'signature_invalid'],
    ['tampered with', ({ body, headers }) => ({ body: body.replace('order', 'Order'), headers }), 'signature_invalid'],
    ['truncated', ({ body, headers }) => ({ body: body.slice(0, -1), headers }), 'signature_invalid'],
    ['five minutes old', () => signed({}, { at: new Date(Date.now() - 302_000) }), 'signature_stale'],
    ['of the future', () => signed({}, { at: new Date(Date.now() + 302_000) }), 'signature_stale'],
    ['without an id', ({ body, headers: { 'webhook-id': _id, ...headers } }) => ({ body, headers }), 'signature_invalid'],
  ])('because it is %s, is refused, and nothing is stored', async (_, spoilt, code) => {
    const before = await stored();
    const { status, body } = await post(spoilt(good()));
    expect([status, body.code, await stored()]).toEqual([403, code, before]);
  });

  it('because it is endless, is refused before all of it was read', async () => {
    const before = await stored();
    const body = JSON.stringify({ type: 'x', data: 'x'.repeat(5 * 1024 * 1024) });
    expect(await post(signed(body))).toMatchObject({ status: 413, body: { code: 'payload_too_large' } });
    expect(await post({ ...signed(body), headers: { ...signed('').headers } })).toMatchObject({ status: 413 });
    expect((await t.call('POST', '/api/webhooks/polar', { body })).status).toBe(403);
    expect(await stored()).toBe(before);
  });

  it('because it was cut off, is nothing', async () => {
    const before = await stored();
    const { body, headers } = good();
    await new Promise<void>((resolve) => {
      const request = http.request(`${t.url}/api/webhooks/polar`, {
        method: 'POST',
        headers: { ...headers, 'content-length': body.length },
      });
      request.on('error', () => resolve());
      request.write(body.slice(0, 10), () => request.destroy(new Error('cut')));
    });
    expect((await post(good())).status).toBe(202);
    expect(await stored()).toBe(before + 1);
  });
});

describe('a paid order', () => {
  it('for a plan changes to it and grants its credits, once', async () => {
    const { order, id, customer_id } = await bought();
    const event = await tell(order);
    expect(event).toMatchObject({ status: 'applied', org_id: org.id, error: null, applied_at: expect.any(Date) });
    expect(await now()).toMatchObject({ code: 'starter', status: 'active', external: id, granted: 3000 });
    expect(await t.db.manager.findOneByOrFail(BillingOrder, { id: order.data.id })).toMatchObject({
      ...{ kind: 'plan', code: 'starter', subscription_id: id, customer_id, billing_reason: 'subscription_create' },
      ...{ granted: '3000.000000', refunded: '0.000000', paid_at: new Date(order.data.modified_at) },
    });
    expect(await statusOf(order)).toEqual(['applied', 'The order was applied before.']);
    expect((await now()).granted).toBe(3000);
  });

  it('for a pack adds what was bought, beside whatever plan', async () => {
    const order = orderEvent({ product_id: pack.polar_product_id, checkout_id: await begin('pack', 'pack_1k') });
    expect(await statusOf(order)).toEqual(['applied', null]);
    expect(await now()).toMatchObject({ code: 'trial', bought: 1000 });
    expect(await t.audit({ org_id: org.id })).toMatchObject([{ action: 'credits.purchased', actor_id: null }]);
  });

  it('is for what its product stands for, whatever is written beside it', async () => {
    const metadata = { org_id: org.id, kind: 'plan', code: 'team' };
    expect(await statusOf(orderEvent({ product_id: pack.polar_product_id, checkout_id: await begin('plan', 'team'), metadata }))).toEqual([
      'applied',
      null,
    ]);
    expect(await now()).toMatchObject({ code: 'trial', bought: 1000 });
  });

  it.each<[string, () => string | null]>([
    ['no product', () => null],
    ['an unknown product', () => randomUUID()],
    ['a product that is none', () => 'x'],
  ])('with %s is left to humans', async (_, product) => {
    const order = orderEvent({ product_id: product(), checkout_id: await begin() });
    expect(await tell(order)).toMatchObject({ status: 'unresolved', org_id: org.id, error: 'Neither a plan nor a pack has its product.' });
    expect(await ledger()).toEqual([]);
  });

  it('that pays no subscription is for the pack where a plan shares its product, and never for the plan', async () => {
    const product = randomUUID();
    const plan = await aPlan(t, { monthly_credits: '70', polar_product_id: product });
    const both = await aPack(t, { code: randomUUID(), polar_product_id: product });
    const once = async () => orderEvent({ product_id: product, checkout_id: await begin('pack', both.code) });
    expect(await statusOf(await once())).toEqual(['applied', null]);
    expect(await now()).toMatchObject({ code: 'trial', bought: 1000, granted: 0 });
    await tell((await bought(plan)).order);
    expect(await now()).toMatchObject({ code: plan.code, bought: 1000, granted: 70 });
    await t.db.manager.delete(CreditPack, both.id);
    expect(await statusOf(await once())).toEqual(['unresolved', 'Its product is a plan’s, and it pays no subscription.']);
    expect(await now()).toMatchObject({ bought: 1000, granted: 70 });
  });

  it('goes on to bring the plan whose product it was, for who has paid it by that before', async () => {
    const product = randomUUID();
    const plan = await aPlan(t, { monthly_credits: '70', polar_product_id: product });
    const life = await bought(plan);
    await tell(life.order);
    await t.db.manager.update(Plan, plan.id, { polar_product_id: randomUUID() });
    const cycle = { product_id: product, billing_reason: 'subscription_cycle', subscription_id: life.id };
    expect(await statusOf(orderEvent(cycle))).toEqual(['applied', null]);
    expect(await now()).toMatchObject({ code: plan.code, granted: 70 });
    expect(await ledger()).toEqual(['grant 70', 'expire -70', 'grant 70']);
  });

  it('is for what its checkout offered, where another product has taken the place of that since, or another has its code', async () => {
    const [product, ofPack] = [randomUUID(), randomUUID()];
    const plan = await aPlan(t, { monthly_credits: '70' });
    const { id, code } = await aPack(t, { code: randomUUID() });
    const checkouts = [await begin('pack', code, org, ofPack), await begin('plan', plan.code, org, product)];
    const renamed = randomUUID();
    await t.db.manager.update(Plan, plan.id, { code: renamed });
    await aPlan(t, { code: plan.code, monthly_credits: '80' });
    await t.db.manager.update(CreditPack, id, { code: randomUUID() });
    // One that pays something else is none of it.
    expect((await tell(orderEvent({ product_id: randomUUID(), checkout_id: checkouts[0] }))).status).toBe('unresolved');
    expect(await statusOf(orderEvent({ product_id: ofPack, checkout_id: checkouts[0] }))).toEqual(['applied', null]);
    expect(await now()).toMatchObject({ code: 'trial', bought: 1000 });
    const { order } = await bought(plan, { product_id: product, checkout_id: checkouts[1] });
    expect(await statusOf(order)).toEqual(['applied', null]);
    expect(await now()).toMatchObject({ code: renamed, granted: 70 });
  });

  const rename = async (tx: Tx, plan: Plan, code: string) => {
    await tx.manager.update(Plan, plan.id, { code });
    await new PlansRepository().renameInOrders(tx, plan.code, code);
  };
  const waiting = (n: number) =>
    eventually(
      () => t.db.query(sql(`SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`)),
      (rows) => rows.length === n,
    );

  it('is kept under the code that its plan is given while it is applied', async () => {
    const plan = await aPlan(t, { monthly_credits: '70', polar_product_id: randomUUID() });
    const life = await bought(plan);
    await tell(life.order);
    const code = randomUUID();
    const { id, renamed } = await t.db.transaction(NO_CALLER, async (tx) => {
      await t.get(SubscriptionsRepository).lock(tx, org.id);
      const cycle = { product_id: plan.polar_product_id, billing_reason: 'subscription_cycle', subscription_id: life.id };
      const id = await take(signed(orderEvent(cycle)));
      await waiting(1);
      const renamed = t.db.transaction(NO_CALLER, (own) => rename(own, plan, code));
      await Promise.race([renamed, waiting(2)]);
      return { id, renamed };
    });
    await renamed;
    await eventually(
      () => eventOf(id),
      ({ status }) => status === 'applied',
    );
    const orders = await t.db.manager.findBy(BillingOrder, { org_id: org.id });
    expect(orders.map((order) => order.code)).toEqual([code, code]);
  });

  it('is for what its product was until now, while its plan is given another code', async () => {
    const [product, code] = [randomUUID(), randomUUID()];
    const plan = await aPlan(t, { monthly_credits: '70', polar_product_id: product });
    const life = await bought(plan);
    await tell(life.order);
    await t.db.manager.update(Plan, plan.id, { polar_product_id: randomUUID() });
    const id = await t.db.transaction(NO_CALLER, async (tx) => {
      await rename(tx, plan, code);
      const cycle = { product_id: product, billing_reason: 'subscription_cycle', subscription_id: life.id };
      const taken = await take(signed(orderEvent(cycle)));
      await waiting(1);
      return taken;
    });
    await eventually(
      () => eventOf(id),
      ({ status }) => status === 'applied',
    );
    expect(await now()).toMatchObject({ code, granted: 70 });
  });

  it('that is not paid yet is nothing', async () => {
    expect(await statusOf(orderEvent({ product_id: pack.polar_product_id, status: 'pending', checkout_id: await begin('pack') }))).toEqual([
      'ignored',
      'The order is not paid.',
    ]);
    expect(await statusOf(orderEvent({ product_id: pack.polar_product_id, checkout_id: await begin('pack') }, 'order.created'))).toEqual([
      'ignored',
      'Deliveries of this type change nothing.',
    ]);
    expect(await ledger()).toEqual([]);
  });

  it('reaches suspended organizations, too', async () => {
    await t.db.execute(sql('UPDATE organizations SET suspended_at = now() WHERE id = $1'), [org.id]);
    expect(await statusOf((await bought()).order)).toEqual(['applied', null]);
    expect((await now()).code).toBe('starter');
  });

  it('for a larger plan that was had in an earlier period brings what is left of its month, once to each', async () => {
    const life = await bought();
    await tell(life.order);
    const change = (to: Plan, month: number, day: number, billing_reason = 'subscription_update') => {
      const [at, current_period_start, current_period_end] = [
        Date.UTC(2040, month, day),
        Date.UTC(2040, month),
        Date.UTC(2040, month + 1),
      ].map((time) => new Date(time).toISOString());
      const subscription = { status: 'active', modified_at: at, current_period_start, current_period_end };
      return tell(orderEvent({ product_id: to.polar_product_id, billing_reason, subscription_id: life.id, subscription, at }));
    };
    const [MARCH, APRIL, JUNE] = [2, 3, 5];
    await change(team, MARCH, 2);
    await change(starter, APRIL, 1, 'subscription_cycle');
    const before = (await ledger()).length;
    await change(team, APRIL, 16);
    await change(starter, APRIL, 17);
    await change(team, APRIL, 18);
    expect((await ledger()).slice(before)).toEqual(['expire -3000', 'grant 10000', 'expire -7000']);
    await change(starter, JUNE, 1, 'subscription_cycle');
    await change(team, JUNE, 25);
    expect((await ledger()).slice(before + 3)).toEqual(['expire -3000', 'grant 3000', 'expire -3000', 'grant 4000']);
  });
});

describe('whose an order is', () => {
  const order = (wish: object) => orderEvent({ product_id: pack.polar_product_id, ...wish });
  const NOBODY = ['unresolved', 'No organization can be told from it.'];

  it('is told by the checkout that was begun here, or that its metadata name', async () => {
    expect(await statusOf(order({ checkout_id: await begin('pack', 'pack_1k') }))).toEqual(['applied', null]);
    for (const metadata of [{ org_id: org.id }, { org_id: org.id.toUpperCase(), kind: 'pack', code: 'pack_1k' }])
      expect(await statusOf(order({ metadata }))).toEqual(['applied', null]);
    expect((await now()).bought).toBe(3000);
  });

  it('is not told by metadata that no checkout of ours matches', async () => {
    const other = await anOrg(t);
    const checkout_id = await begin('pack', 'pack_1k', other);
    for (const wish of [
      { metadata: { org_id: org.id } },
      { metadata: { org_id: other.id, kind: 'pack', code: 'pack_10k' } },
      { metadata: { org_id: other.id, kind: 'plan', code: 'pack_1k' } },
      { metadata: { org_id: other.id }, checkout_id: randomUUID() },
      { metadata: { org_id: org.id }, payer_id: other.owner.id },
    ])
      expect(await statusOf(order(wish))).toEqual(NOBODY);
    // The checkout is what counts: whoever wrote the metadata gives away what they have bought.
    expect(await statusOf(order({ metadata: { org_id: org.id }, checkout_id }))).toEqual(['applied', null]);
    expect((await now()).bought).toBe(0);
  });

  it('is told by who pays, where they pay for one organization alone', async () => {
    const { order: first, customer_id } = await bought();
    await tell(first);
    expect(await statusOf(order({ customer_id }))).toEqual(['applied', null]);
    expect(await statusOf(order({ payer_id: org.owner.id }))).toEqual(['applied', null]);
    expect((await now()).bought).toBe(2000);
    const other = await anOrg(t, { owner: org.owner });
    await tell(order({ customer_id, checkout_id: await begin('pack', 'pack_1k', other) }));
    for (const wish of [{ customer_id }, { payer_id: org.owner.id }]) expect(await statusOf(order(wish))).toEqual(NOBODY);
  });

  it('is told by its subscription, whatever it names', async () => {
    const { order: first, id } = await bought();
    await tell(first);
    expect(await statusOf(order({ subscription_id: id, metadata: { org_id: (await anOrg(t)).id } }))).toEqual(['applied', null]);
    expect((await now()).bought).toBe(1000);
  });
});

describe('a subscription', () => {
  it('keeps the newest that was told of it, and never a plan or credits', async () => {
    const life = await bought();
    await tell(life.order);
    const before = await ledger();
    const [older, newer] = [nextTime(), nextTime()];
    const external = () => t.db.manager.findOneByOrFail(ExternalSubscription, { id: life.id });
    expect(await statusOf(about(life, 'canceled', { cancel_at_period_end: true, at: newer, product_id: team.polar_product_id }))).toEqual([
      'applied',
      null,
    ]);
    expect(await statusOf(about(life, 'updated', { status: 'past_due', at: older }))).toEqual(['applied', 'Something newer is known.']);
    expect(await external()).toMatchObject({ status: 'active', cancel_at_period_end: true, modified_at: new Date(newer) });
    expect(await now()).toMatchObject({ code: 'starter', status: 'active' });
    await tell(about(life, 'uncanceled', { current_period_end: '2027-01-15T00:00:00Z' }));
    expect(await external()).toMatchObject({ cancel_at_period_end: false, current_period_end: new Date('2027-01-15T00:00:00Z') });
    expect(await ledger()).toEqual(before);
  });

  it.each([
    ['trialing', 'trialing'],
    ['past_due', 'past_due'],
    ['unpaid', 'past_due'],
    ['paused', 'past_due'],
    ['incomplete', 'past_due'],
    ['canceled', 'canceled'],
    ['incomplete_expired', 'canceled'],
    ['a word of tomorrow', 'active'],
  ])('that is %s at the provider is %s here', async (theirs, ours) => {
    const life = await bought();
    await tell(life.order);
    await tell(about(life, 'updated', { status: theirs }));
    expect((await now()).status).toBe(ours);
  });

  it('that is not the current one changes nothing', async () => {
    const [first, second] = [await bought(), await bought(team)];
    await tell(first.order);
    await tell(second.order);
    const before = [await now(), await ledger()];
    expect(await statusOf(about(first, 'past_due', { status: 'past_due' }))).toEqual(['applied', 'It is not the current subscription.']);
    expect(await statusOf(about(first, 'revoked', { status: 'canceled' }))).toEqual(['applied', 'It was not the current subscription.']);
    const cycle = orderEvent({ product_id: starter.polar_product_id, billing_reason: 'subscription_cycle', subscription_id: first.id });
    expect(await statusOf(cycle)).toEqual(['unresolved', 'It pays a subscription that is not the current one of the organization.']);
    expect([await now(), await ledger()]).toEqual(before);
  });

  it.each([
    ['is over', false],
    ['was over before the provider said so', true],
  ])('that is paid beside another brings its plan when that %s', async (_, isLate) => {
    const [first, second] = [await bought(), await bought(team)];
    await tell(first.order);
    await tell(second.order);
    const cycleOf = ({ id }: typeof first, plan: Plan) =>
      orderEvent({ product_id: plan.polar_product_id, billing_reason: 'subscription_cycle', subscription_id: id });
    const cycle = cycleOf(first, starter);
    const waiting = await tell(cycle);
    expect([waiting.status, (await tell(cycleOf(second, team))).status]).toEqual(['unresolved', 'applied']);
    if (isLate) {
      await tell(about(second, 'canceled', { cancel_at_period_end: true }));
      await t.db.execute(sql(`UPDATE subscriptions SET period_end = now() - interval '4 days' WHERE org_id = $1`), [org.id]);
      await t.db.transaction(NO_CALLER, (tx) => t.get(Periods).close(tx, org.id));
      expect(await now()).toMatchObject({ code: 'trial', external: null });
    }
    await tell(about(second, 'revoked', { status: 'canceled' }));
    await eventually(
      () => eventOf(waiting.id),
      ({ status }) => status === 'applied',
    );
    expect(await now()).toMatchObject({ code: 'starter', status: 'active', external: first.id, granted: 3000 });
    const data = { ...cycle.data, status: 'refunded', refunded_amount: 1_000 };
    expect(await statusOf({ type: 'order.refunded', timestamp: nextTime(), data })).toEqual(['applied', null]);
    expect((await now()).granted).toBe(0);
  });

  it('that is revoked leaves the trial plan, what was bought, and no second trial', async () => {
    const life = await bought();
    await tell(life.order);
    await tell(orderEvent({ product_id: pack.polar_product_id, checkout_id: await begin('pack', 'pack_1k') }));
    for (let i = 0; i < 2; i++) await tell(about(life, 'revoked', { status: 'canceled' }));
    expect(await now()).toEqual({ code: 'trial', status: 'active', external: null, pending: null, granted: 0, bought: 1000 });
    expect(await ledger()).toEqual(['grant 3000', 'purchase 1000', 'expire -3000']);
  });

  it('that was taken for over is what is told of it next', async () => {
    const life = await bought();
    await tell(life.order);
    await tell(about(life, 'canceled', { cancel_at_period_end: true }));
    await t.db.execute(sql(`UPDATE subscriptions SET period_end = now() - interval '4 days' WHERE org_id = $1`), [org.id]);
    await t.db.transaction(NO_CALLER, (tx) => t.get(Periods).close(tx, org.id));
    const isPaying = () => t.get(SubscriptionsRepository).isPaying(t.db, org.id);
    expect([await now(), await isPaying()]).toMatchObject([{ code: 'trial', external: null, granted: 0 }, false]);
    await tell(about(life, 'uncanceled'));
    expect(await isPaying()).toBe(true);
    const cycle = { product_id: starter.polar_product_id, billing_reason: 'subscription_cycle', subscription_id: life.id };
    expect(await statusOf(orderEvent(cycle))).toEqual(['applied', null]);
    expect(await now()).toMatchObject({ code: 'starter', external: life.id, granted: 3000 });
  });

  it('that is over in all but the news of its end gives way to what is paid', async () => {
    const [first, second] = [await bought(), await bought(team)];
    await tell(first.order);
    await tell(second.order);
    const cycle = () =>
      statusOf(orderEvent({ product_id: starter.polar_product_id, billing_reason: 'subscription_cycle', subscription_id: first.id }));
    expect((await cycle())[0]).toBe('unresolved');
    await tell(about(second, 'updated', { status: 'canceled' }));
    expect(await cycle()).toEqual(['applied', null]);
    expect(await now()).toMatchObject({ code: 'starter', status: 'active', external: first.id, granted: 3000 });
  });

  it('that is revoked beats its older orders', async () => {
    const life = await bought();
    await tell(about(life, 'revoked', { status: 'canceled', checkout_id: life.checkout_id }));
    expect(await statusOf(life.order)).toEqual(['applied', null]);
    expect(await now()).toMatchObject({ code: 'trial', external: null, granted: 0 });
  });

  it('ends the same in whatever order its life is told', async () => {
    const life = await bought();
    const update = orderEvent({
      product_id: team.polar_product_id,
      billing_reason: 'subscription_update',
      subscription_id: life.id,
      metadata: {},
    });
    const events = [
      about(life, 'created', { checkout_id: life.checkout_id, at: life.order.timestamp }),
      life.order,
      update,
      about(life, 'updated', { status: 'active', product_id: team.polar_product_id }),
      about(life, 'canceled', { status: 'active', cancel_at_period_end: true }),
    ];
    for (const event of [events[2], events[4], events[0], events[3], events[1], events[2]]) await take(signed(event));
    await eventually(
      () =>
        t.db.query(sql<{ n: number }>(`SELECT count(*)::int AS n FROM billing_events WHERE org_id = $1 AND status = 'applied'`), [org.id]),
      ([{ n }]) => n === 6,
    );
    expect(await now()).toMatchObject({ code: 'team', status: 'active', external: life.id, granted: 20000 });
    expect(await t.db.manager.findOneByOrFail(ExternalSubscription, { id: life.id })).toMatchObject({ cancel_at_period_end: true });
    expect(await t.db.manager.countBy(BillingOrder, { org_id: org.id })).toBe(2);
  });
});

describe('a refund', () => {
  const buyPack = async () => {
    const order = orderEvent({ product_id: pack.polar_product_id, checkout_id: await begin('pack', 'pack_1k') });
    await tell(order);
    return order;
  };
  const refund = (order: { data: object }, status: string, refunded_amount: number) => ({
    type: 'order.refunded',
    timestamp: nextTime(),
    data: { ...order.data, status, refunded_amount },
  });

  it('takes back the part of the credits that was paid back, as often as it grows', async () => {
    const order = await buyPack();
    expect(await statusOf(refund(order, 'partially_refunded', 250))).toEqual(['applied', null]);
    expect(await statusOf(refund(order, 'partially_refunded', 250))).toEqual(['applied', 'As much was taken back before.']);
    expect((await now()).bought).toBe(750);
    expect(await statusOf(refund(order, 'refunded', 1_000))).toEqual(['applied', null]);
    expect(await ledger()).toEqual(['purchase 1000', 'refund -250', 'refund -750']);
  });

  it('takes no more than is left, and tells what is missing', async () => {
    const order = await buyPack();
    await t.db.query(sql(`SELECT credit_post($1, NULL, 400, 'adjust', $2, NULL, NULL, NULL, NULL, NULL)`), [
      org.id,
      `adjust:${randomUUID()}`,
    ]);
    expect(await statusOf(refund(order, 'refunded', 1_000))).toEqual(['unresolved', 'Of the credits, 400 are not there any more.']);
    expect((await now()).bought).toBe(0);
  });

  it('of credits that are spent is left to humans, whatever else is paid for its subscription', async () => {
    const life = await bought();
    await tell(life.order);
    await t.db.query(sql(`SELECT credit_post($1, NULL, 2900, 'adjust', $2, NULL, NULL, NULL, NULL, NULL)`), [
      org.id,
      `adjust:${randomUUID()}`,
    ]);
    const refunded = await tell(refund(life.order, 'refunded', 1_000));
    const left = { status: 'unresolved', error: 'Of the credits, 2900 are not there any more.' };
    expect(refunded).toMatchObject(left);
    const cycle = orderEvent({ product_id: starter.polar_product_id, billing_reason: 'subscription_cycle', subscription_id: life.id });
    expect(await statusOf(cycle)).toEqual(['applied', null]);
    await eventually(
      () => t.db.query(sql(`SELECT 1 FROM outbox WHERE job = 'billing.apply'`)),
      (rows) => rows.length === 0,
    );
    expect(await eventOf(refunded.id)).toMatchObject(left);
  });

  it('takes nothing of what has expired, whatever another order, or an operator, has brought since', async () => {
    const life = await bought();
    await tell(life.order);
    await tell(orderEvent({ product_id: starter.polar_product_id, billing_reason: 'subscription_cycle', subscription_id: life.id }));
    expect(await statusOf(refund(life.order, 'refunded', 1_000))).toEqual(['unresolved', 'Of the credits, 3000 are not there any more.']);
    expect(await now()).toMatchObject({ granted: 3000 });

    const next = await bought();
    await tell(next.order);
    await tell(about(next, 'revoked', { status: 'canceled' }));
    await t.db.query(sql(`SELECT credit_post($1, 'granted', 70, 'adjust', $2, NULL, NULL, NULL, NULL, NULL)`), [org.id, randomUUID()]);
    expect(await statusOf(refund(next.order, 'refunded', 1_000))).toEqual(['unresolved', 'Of the credits, 3000 are not there any more.']);
    expect(await now()).toMatchObject({ code: 'trial', granted: 70 });
  });

  it('takes nothing of what another plan has brought that an operator gave since', async () => {
    const life = await bought();
    await tell(life.order);
    await t.db.transaction(NO_CALLER, (tx) => t.get(Subscriptions).change(tx, org.id, team, `${org.id}:change`));
    expect(await statusOf(refund(life.order, 'refunded', 1_000))).toEqual(['unresolved', 'Of the credits, 3000 are not there any more.']);
    expect(await now()).toMatchObject({ code: 'team', granted: 20000 });
  });

  it('takes back what is there though an older order has come since', async () => {
    const older = await bought();
    const life = await bought();
    await tell(life.order);
    await tell(older.order);
    expect(await statusOf(refund(life.order, 'refunded', 1_000))).toEqual(['applied', null]);
    expect((await ledger()).at(-1)).toBe('refund -3000');
  });

  it('that came before its order is applied after it', async () => {
    const order = orderEvent({ product_id: pack.polar_product_id, checkout_id: await begin('pack', 'pack_1k') });
    const early = await tell(refund(order, 'refunded', 1_000));
    expect(early).toMatchObject({ status: 'unresolved', error: 'The order was not applied.' });
    await tell(order);
    await eventually(
      () => eventOf(early.id),
      ({ status }) => status === 'applied',
    );
    expect(await ledger()).toEqual(['purchase 1000', 'refund -1000']);
  });

  it('that came before its order, and was dealt with by hand, is not applied', async () => {
    const order = orderEvent({ product_id: pack.polar_product_id, checkout_id: await begin('pack', 'pack_1k') });
    const { id } = await tell(refund(order, 'refunded', 1_000));
    await t.db.manager.update(BillingEvent, id, { settled_at: new Date() });
    await tell(order);
    expect((await eventOf(id)).status).toBe('unresolved');
    expect(await ledger()).toEqual(['purchase 1000']);
  });
});

describe('deliveries that come while what they need is applied', () => {
  // Whoever could not be resolved takes its time to say so.
  const DAWDLE = sql(`
    CREATE FUNCTION dawdle() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.5); RETURN NEW; END $$;
    CREATE TRIGGER dawdle BEFORE UPDATE ON billing_events FOR EACH ROW WHEN (NEW.status = 'unresolved') EXECUTE FUNCTION dawdle()`);
  beforeAll(() => t.db.execute(DAWDLE));
  afterAll(() => t.db.execute(sql('DROP FUNCTION dawdle() CASCADE')));

  /** The first is on its way when the other one comes; both are applied in the end. */
  const tellBoth = async (first: unknown, then: unknown) => {
    const id = await take(signed(first));
    await eventually(
      () => eventOf(id),
      ({ attempts }) => attempts > 0,
    );
    const ids = [id, await take(signed(then))];
    const isApplied = (events: BillingEvent[]) => events.every(({ status }) => status === 'applied');
    await eventually(() => Promise.all(ids.map(eventOf)), isApplied);
  };

  it('are tried again: a refund', async () => {
    const order = orderEvent({ product_id: pack.polar_product_id, checkout_id: await begin('pack', 'pack_1k') });
    const data = { ...order.data, status: 'refunded', refunded_amount: 1_000 };
    await tellBoth({ type: 'order.refunded', timestamp: nextTime(), data }, order);
    expect(await ledger()).toEqual(['purchase 1000', 'refund -1000']);
  });

  it.each([{}, { subscription_id: null }])(
    'are tried again: an order of which only its subscription says whose it is, with %p',
    async (named) => {
      const { order, ...life } = await bought(starter, { checkout_id: null, ...named });
      const early = await tell(order);
      expect(early).toMatchObject({ status: 'unresolved', error: 'No organization can be told from it.' });
      await tell(about(life, 'created', { status: 'active', checkout_id: life.checkout_id }));
      await eventually(
        () => eventOf(early.id),
        ({ status }) => status === 'applied',
      );
      expect(await now()).toMatchObject({ code: 'starter', external: life.id, granted: 3000 });
    },
  );

  it('are tried again: the end of a subscription', async () => {
    const life = await bought();
    await tellBoth(about(life, 'revoked', { status: 'canceled' }), life.order);
    expect(await now()).toMatchObject({ code: 'trial', external: null, granted: 0 });
  });
});

describe('applying', () => {
  const BREAK = sql(`ALTER TABLE billing_orders ADD CONSTRAINT broken CHECK (false) NOT VALID`);
  const MEND = sql('ALTER TABLE billing_orders DROP CONSTRAINT broken');
  const soon = () => t.db.execute(sql(`UPDATE outbox SET available_at = now() WHERE job = 'billing.apply'`));

  it('is tried again until it works, and changes nothing meanwhile', async () => {
    await t.db.execute(BREAK);
    const id = await take(signed((await bought()).order));
    const failed = await eventually(
      () => eventOf(id),
      ({ status }) => status === 'failed',
    );
    expect(failed).toMatchObject({
      attempts: 1,
      error: expect.stringContaining('broken'),
      next_attempt_at: expect.any(Date),
      org_id: null,
    });
    expect(await ledger()).toEqual([]);
    await t.db.execute(MEND);
    await soon();
    expect(
      await eventually(
        () => eventOf(id),
        ({ status }) => status === 'applied',
      ),
    ).toMatchObject({ attempts: 2, error: null });
    expect(await ledger()).toEqual(['grant 3000']);
  });

  it('and the end of its job are there together', async () => {
    await t.db.execute(
      sql(`
    CREATE FUNCTION stay() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'the job stays'; END $$;
    CREATE TRIGGER stay BEFORE DELETE ON outbox FOR EACH ROW WHEN (OLD.job = 'billing.apply') EXECUTE FUNCTION stay()`),
    );
    const id = await take(signed((await bought()).order));
    await eventually(
      () => eventOf(id),
      ({ error }) => error?.includes('the job stays') === true,
    );
    expect(await ledger()).toEqual([]);
    await t.db.execute(sql('DROP FUNCTION stay() CASCADE'));
    await soon();
    await eventually(
      () => eventOf(id),
      ({ status }) => status === 'applied',
    );
    expect(await ledger()).toEqual(['grant 3000']);
    expect(await t.db.query(sql('SELECT 1 FROM outbox WHERE id = $1'), [id])).toEqual([]);
  });

  it('is given up without another try where its last one has ended the process', async () => {
    const id = randomUUID();
    const { order } = await bought();
    const waiting = { next_attempt_at: new Date(), status: 'received' as const, attempts: 8 };
    await t.insert(BillingEvent, { id, delivery_id: id, type: order.type, payload: order as never, ...waiting });
    await t.db.transaction(NO_CALLER, (tx) => t.get(Outbox).enqueue(tx, 'billing.apply', { event_id: id }, { id }));
    const last = await eventually(
      () => eventOf(id),
      ({ status }) => status !== 'received',
    );
    expect(last).toMatchObject({ status: 'failed', attempts: 9, next_attempt_at: null, error: expect.stringContaining('died') });
    expect(await ledger()).toEqual([]);
  });

  it('is given up after eight tries, and is then for operators, until it is settled', async () => {
    const open = async () => {
      const { values } = await metrics.getSingleMetric('billing_events_open')!.get();
      return values.find(({ labels }) => labels.status === 'failed')!.value;
    };
    const before = await open();
    await t.db.execute(BREAK);
    const id = await take(signed((await bought()).order));
    const last = await eventually(
      async () => (await soon(), eventOf(id)),
      ({ next_attempt_at }) => next_attempt_at === null,
    );
    await t.db.execute(MEND);
    expect(last).toMatchObject({ status: 'failed', attempts: 8, error: expect.stringContaining('broken') });
    await eventually(
      () => t.db.query(sql('SELECT 1 FROM outbox WHERE id = $1'), [id]),
      (rows) => rows.length === 0,
    );
    expect(await open()).toBe(before + 1);
    await t.db.manager.update(BillingEvent, id, { settled_at: new Date() });
    expect(await open()).toBe(before);
  });
});
