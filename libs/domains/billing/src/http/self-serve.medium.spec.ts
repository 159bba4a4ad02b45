import { randomUUID } from 'node:crypto';
import { BillingModule } from '../billing.module';
import { OrgPlans } from '../org-plans';
import { PlanEntitlements } from '../plans/plan-entitlements';
import { Subscriptions } from '../subscriptions/subscriptions.service';
import { BillingCheckout, BillingEvent, ExternalSubscription, Plan, Subscription } from '@aps/entities';
import { OrgsModule } from '@aps/orgs';
import { OrgsHttpModule } from '@aps/orgs/http';
import { anOrg, aTeam, type TestTeam } from '@aps/orgs/testing';
import { NO_CALLER } from '@aps/platform/database';
import { MaintenanceModule } from '@aps/platform/maintenance';
import { WorkersModule } from '@aps/platform/queues';
import { outcome, sql, type Answer } from '@aps/platform/testing';
import { BASE_MODULES, eventually, testService } from '@aps/testing';
import { BillingJobsModule } from '../jobs';
import { aPack } from '../testing/deliveries';
import { PaymentProvider } from '../provider/payment-provider';
import { aLocalProvider } from '../testing/local-provider';
import { aPlan, subscriptionOf } from '../testing/plans';
import { BillingHttpModule } from './self-serve-http.module';
import { WebhooksHttpModule } from './webhooks-http.module';

const t = testService(
  [
    ...BASE_MODULES,
    BillingModule,
    MaintenanceModule,
    WebhooksHttpModule,
    BillingHttpModule,
    OrgsModule.forRoot(OrgPlans),
    OrgsHttpModule,
    BillingJobsModule,
    WorkersModule.forQueues('billing'),
  ],
  { settings: { POLAR_TIMEOUT_MS: '30000' } },
);
const provider = aLocalProvider(t, () => `${t.url}/api/webhooks/polar`);
let org: TestTeam;
let trial: Plan;
beforeAll(async () => {
  const enforced = { enforces_credits: true, price_currency: 'USD' };
  trial = await aPlan(t, { ...enforced, code: 'trial', renews: false, initial_credits: '500' });
  await aPlan(t, {
    ...{ ...enforced, code: 'starter', name: 'Starter', sort_order: 1, price_display: '29', monthly_credits: '3000', max_agents: 10 },
    ...{ polar_product_id: randomUUID(), polar_product_id_annual: randomUUID(), overdraft_pct: '5' },
  });
  await aPlan(t, {
    ...enforced,
    code: 'team',
    sort_order: 2,
    price_display: '149',
    monthly_credits: '20000',
    polar_product_id: randomUUID(),
  });
  await aPlan(t, { ...enforced, code: 'enterprise', is_enterprise: true });
  await aPack(t, { code: 'pack_1k', name: '1,000 credits', credits: '1000', price_display: '12' });
  await aPack(t, { code: 'pack_free', polar_product_id: null });
  await aPack(t, { code: 'pack_old', is_active: false });
});
beforeEach(async () => {
  await provider.control({ mode: 'ok' });
  t.configure({ POLAR_TIMEOUT_MS: '30000' });
  org = await aTeam(t);
  await t.db.manager.update(Subscription, { org_id: org.id }, { plan_id: trial.id });
});

const get = async (as = org.owner) => (await t.call('GET', `${org.path}/billing`, { as })).body;
const ask = (what: string, body?: object, as = org.owner, headers = {}): Promise<Answer> =>
  t.call('POST', `${org.path}/billing/${what}`, { as, body, headers });
const plan = async () => (await get()).subscription.plan_code as string;
/** Buys by opening the page, as people do, and waits until it has been told. */
const buy = async (wish: object) => {
  const { status, body } = await ask('checkout', wish);
  if (status !== 200) throw new Error(JSON.stringify(body));
  expect((await fetch(body.url)).status).toBe(200);
  await settled();
};
/** Until all that has happened at the provider was delivered and gone through. */
const settled = async () => {
  await eventually(
    () => provider.control({}),
    ({ deliveries }) => deliveries.every(({ done }) => done),
  );
  await eventually(
    () => t.db.query(sql<{ n: number }>(`SELECT count(*)::int AS n FROM billing_events WHERE status = 'received'`)),
    ([{ n }]) => n === 0,
  );
};
const external = async () => (await subscriptionOf(t, org.id)).external_subscription_id!;
const books = async () => provider.control({});
/** Has the provider not answer, and not be waited for long. */
const slow = () => {
  t.configure({ POLAR_TIMEOUT_MS: '2000' });
  return provider.control({ mode: 'slow' });
};
const pendingOf = async () => (await subscriptionOf(t, org.id)).pending_change;
const actions = async () => (await t.audit({ org_id: org.id })).map(({ action }) => action);

describe('the billing of an organization', () => {
  it('shows what it has, may do, and can buy', async () => {
    const shown = await get();
    expect(shown).toEqual({
      can_manage: true,
      subscription: {
        ...{ plan_code: 'trial', status: 'active', external_status: null, cancel_at_period_end: false },
        ...{ period_start: null, period_end: null, paid_until: null, pending_change: null },
      },
      credits: {
        ...{ balance: '0', purchased_balance: '0', credits_overdraft: '0', credits_remaining: '0', purchase_total: '0', open_holds: '0' },
      },
      entitlements: expect.objectContaining({ enforces_credits: true, max_agents: 0 }),
      plans: [
        {
          ...{ code: 'starter', name: 'Starter', price_display: '29', price_currency: 'USD', intervals: ['monthly', 'annual'] },
          ...{ monthly_credits: '3000', initial_credits: '0', entitlements: expect.objectContaining({ max_agents: 10 }) },
        },
        expect.objectContaining({ code: 'team', intervals: ['monthly'] }),
      ],
      packs: [{ code: 'pack_1k', name: '1,000 credits', credits: '1000', price_display: '12', price_currency: 'USD' }],
      display_fx: {},
    });
  });

  it('is shown to members, and managed by administrators', async () => {
    expect(await get(org.member)).toMatchObject({ can_manage: false, subscription: { plan_code: 'trial' } });
  });

  it('is shown without a subscription, too', async () => {
    await t.db.manager.delete(Subscription, { org_id: org.id });
    t.get(PlanEntitlements).drop(org.id);
    expect(await get()).toMatchObject({ subscription: null, entitlements: { max_agents: 0, enforces_credits: false } });
    await buy({ plan_code: 'starter' });
    expect(await plan()).toBe('starter');
  });
});

describe('a checkout', () => {
  it('sells a plan to whoever opens its page, and nothing before', async () => {
    const { status, body } = await ask('checkout', { plan_code: 'starter' });
    expect([status, body]).toEqual([
      200,
      { url: expect.stringMatching(/^http/), checkout_id: expect.any(String), expires_at: expect.any(String) },
    ]);
    expect(await plan()).toBe('trial');
    const { id: offer_id, polar_product_id: product_id } = await t.db.manager.findOneByOrFail(Plan, { code: 'starter' });
    expect(await t.db.manager.findBy(BillingCheckout, { org_id: org.id })).toMatchObject([
      { id: body.checkout_id, user_id: org.owner.id, kind: 'plan', code: 'starter', offer_id, product_id },
    ]);
    const { customers, checkouts } = await books();
    expect(checkouts.find(({ id }) => id === body.checkout_id)).toMatchObject({
      metadata: { org_id: org.id, kind: 'plan', code: 'starter' },
    });
    expect(customers.find(({ external_id }) => external_id === org.owner.id)).toMatchObject({ email: org.owner.email });
    await fetch(body.url);
    const shown = await eventually(get, ({ subscription }) => subscription.plan_code === 'starter');
    expect(shown).toMatchObject({
      subscription: { status: 'active', external_status: 'active', period_end: expect.any(String), paid_until: null },
      credits: { balance: '3000', credits_overdraft: '150', credits_remaining: '3150' },
      entitlements: { max_agents: 10 },
    });
    await settled();
  });

  it('sells packs, to whoever pays a plan as well', async () => {
    await buy({ pack_code: 'pack_1k' });
    await buy({ plan_code: 'starter' });
    await buy({ pack_code: 'pack_1k' });
    expect(await get()).toMatchObject({
      subscription: { plan_code: 'starter' },
      credits: { balance: '3000', purchased_balance: '2000', purchase_total: '2000' },
    });
  });

  it('sells a year of a plan', async () => {
    await buy({ plan_code: 'starter', interval: 'annual' });
    const { subscription } = await get();
    expect(subscription).toMatchObject({ plan_code: 'starter', paid_until: expect.any(String) });
    const days = (from: string, to: string) => Math.round((Date.parse(to) - Date.parse(from)) / 86_400_000);
    expect(days(subscription.period_start, subscription.paid_until)).toBeGreaterThan(364);
    expect(days(subscription.period_start, subscription.period_end)).toBeLessThan(32);
    await t.db.manager.update(ExternalSubscription, { id: await external() }, { product_id: randomUUID() });
    expect((await get()).subscription.paid_until).toBe(subscription.paid_until);
  });

  it.each<[string, object, [number, string]]>([
    ['nothing', {}, [422, 'exactly_one_required']],
    ['both', { plan_code: 'starter', pack_code: 'pack_1k' }, [422, 'exactly_one_required']],
    ['an unknown plan', { plan_code: 'gold' }, [404, 'not_found']],
    ['an unknown pack', { pack_code: 'gold' }, [404, 'not_found']],
    ['a plan that nobody sells', { plan_code: 'enterprise' }, [409, 'not_sellable']],
    ['a year that nobody sells', { plan_code: 'team', interval: 'annual' }, [409, 'not_sellable']],
    ['a pack that nobody sells', { pack_code: 'pack_free' }, [409, 'not_sellable']],
    ['a retired pack', { pack_code: 'pack_old' }, [409, 'not_sellable']],
  ])('is refused for %s', async (_, wish, refused) => {
    expect(outcome(await ask('checkout', wish))).toEqual(refused);
    expect(await t.db.manager.countBy(BillingCheckout, { org_id: org.id })).toBe(0);
  });

  it('is refused for a plan where one is paid', async () => {
    await buy({ plan_code: 'starter' });
    expect(outcome(await ask('checkout', { plan_code: 'team' }))).toEqual([409, 'subscription_live']);
  });

  it('is refused for a plan where one is paid that has not come yet', async () => {
    const id = randomUUID();
    await t.db.manager.insert(ExternalSubscription, { id, org_id: org.id, status: 'active', modified_at: new Date() });
    expect(outcome(await ask('checkout', { plan_code: 'starter' }))).toEqual([409, 'subscription_live']);
    await t.db.manager.update(ExternalSubscription, { id }, { status: 'canceled' });
    expect((await ask('checkout', { plan_code: 'starter' })).status).toBe(200);
  });

  it('of a plan may be begun again while another is open; where both are paid, the later one counts', async () => {
    const pages = [await ask('checkout', { plan_code: 'starter' }), await ask('checkout', { plan_code: 'team' })];
    expect(pages.map(({ status }) => status)).toEqual([200, 200]);
    await fetch(pages[0].body.url);
    await settled();
    const first = await external();
    await fetch(pages[1].body.url);
    await settled();
    const second = await external();
    expect([await plan(), second === first]).toEqual(['team', false]);
    // Who goes on paying the first one is found by operators, and its end takes nothing away.
    await provider.control({ renew: first });
    await settled();
    const [unresolved] = await t.db.manager.findBy(BillingEvent, { org_id: org.id, status: 'unresolved' });
    expect(unresolved).toMatchObject({
      type: 'order.paid',
      error: 'It pays a subscription that is not the current one of the organization.',
    });
    await fetch(`${provider.it.url}/v1/subscriptions/${first}`, { method: 'DELETE', headers: { authorization: 'Bearer any' } });
    await settled();
    expect((await t.db.manager.findOneByOrFail(ExternalSubscription, { id: first })).revoked_at).not.toBeNull();
    expect([await plan(), await external()]).toEqual(['team', second]);
  });

  it('tells why the provider does not want to, or that it is away', async () => {
    await provider.control({ mode: 'refuse' });
    const { status, body } = await ask('checkout', { plan_code: 'starter' });
    expect([status, body.code, body.context, body.detail[0].msg]).toEqual([
      ...[422, 'provider_refused', { reason: 'The card was declined.' }],
      'The payment provider refuses: The card was declined.',
    ]);
    await provider.control({ mode: 'down' });
    expect(outcome(await ask('checkout', { plan_code: 'starter' }))).toEqual([502, 'upstream_unavailable']);
    await slow();
    expect(outcome(await ask('checkout', { plan_code: 'starter' }))).toEqual([502, 'upstream_unavailable']);
    expect(await t.db.manager.countBy(BillingCheckout, { org_id: org.id })).toBe(0);
  });

  it('is asked of the provider no faster than one user may, whose others are theirs', async () => {
    // A prefix of its own: what other requests have used up does not count.
    t.configure({ RATE_LIMITS: 'on', RATE_LIMIT_BILLING: '2', REDIS_PREFIX: `limits${randomUUID()}` });
    const statuses: number[] = [];
    for (const what of ['checkout', 'portal', 'checkout']) statuses.push((await ask(what, { pack_code: 'pack_1k' })).status);
    const { path, owner } = await anOrg(t);
    const other = await t.call('POST', `${path}/billing/checkout`, { as: owner, body: { pack_code: 'pack_1k' } });
    t.configure({ RATE_LIMITS: 'off' });
    expect([statuses, other.status]).toEqual([[200, 200, 429], 200]);
    expect(await t.db.manager.countBy(BillingCheckout, { org_id: org.id })).toBe(1);
  });

  it('is the same for a repeat of the same request', async () => {
    const key = { 'idempotency-key': randomUUID() };
    const [first, again] = [
      await ask('checkout', { pack_code: 'pack_1k' }, org.owner, key),
      await ask('checkout', { pack_code: 'pack_1k' }, org.owner, key),
    ];
    expect(again.body).toEqual(first.body);
  });
});

describe('a change of plan', () => {
  beforeEach(() => buy({ plan_code: 'starter' }));

  it('is marked until it was paid, and holds from then on', async () => {
    await provider.control({ mode: 'hold' });
    const { status, body } = await ask('change-plan', { plan_code: 'team' });
    const pending_change = {
      ...{ change_id: expect.any(String), plan_code: 'team', requested_at: expect.any(String), requested_by: org.owner.id },
    };
    expect([status, body]).toEqual([200, { change_id: body.pending_change.change_id, plan_code: 'team', pending_change }]);
    expect((await get()).subscription).toMatchObject({ plan_code: 'starter', pending_change });
    expect((await books()).orders.at(-1)).toMatchObject({
      billing_reason: 'subscription_update',
      amount: 12_000,
      metadata: { org_id: org.id, change_id: body.change_id },
    });
    await provider.control({ mode: 'ok' });
    await settled();
    expect(await get()).toMatchObject({ subscription: { plan_code: 'team', pending_change: null }, credits: { balance: '20000' } });
    expect(await actions()).toEqual(['subscription.plan_changed', 'subscription.change_requested', 'subscription.plan_changed']);
  });

  it('down costs nothing, and holds when that is told', async () => {
    await ask('change-plan', { plan_code: 'team' });
    await settled();
    expect((await ask('change-plan', { plan_code: 'starter' })).status).toBe(200);
    await settled();
    expect((await books()).orders.at(-1)).toMatchObject({ amount: 0 });
    expect(await get()).toMatchObject({ subscription: { plan_code: 'starter', pending_change: null }, credits: { balance: '3000' } });
  });

  it('to the one that an operator has given is refused, and costs nothing', async () => {
    const team = await t.db.manager.findOneByOrFail(Plan, { code: 'team' });
    await t.db.manager.update(Subscription, { org_id: org.id }, { plan_id: team.id });
    expect(outcome(await ask('change-plan', { plan_code: 'team' }))).toEqual([409, 'already_on_plan']);
    expect(await pendingOf()).toBeNull();
  });

  it('asked for again is refused, and another one takes its place', async () => {
    await provider.control({ mode: 'hold' });
    const first = (await ask('change-plan', { plan_code: 'team' })).body.change_id;
    const again = await ask('change-plan', { plan_code: 'team' });
    expect([...outcome(again), again.body.context]).toEqual([409, 'change_in_flight', { change_id: first }]);
    const second = (await ask('change-plan', { plan_code: 'starter', interval: 'annual' })).body;
    expect(second).toMatchObject({ plan_code: 'starter' });
    expect((await pendingOf())?.change_id).toBe(second.change_id);
    await provider.control({ mode: 'ok' });
    await settled();
    expect((await get()).subscription).toMatchObject({ plan_code: 'starter', pending_change: null, paid_until: expect.any(String) });
  });

  it('asked for by the year takes the place of the same one by the month', async () => {
    const byTheYear = (polar_product_id_annual: string | null) => t.db.manager.update(Plan, { code: 'team' }, { polar_product_id_annual });
    await byTheYear(randomUUID());
    await provider.control({ mode: 'hold' });
    const change = (interval: string) => ask('change-plan', { plan_code: 'team', interval });
    await change('monthly');
    const { status, body } = await change('annual');
    expect([status, body.pending_change]).toEqual([200, (await get()).subscription.pending_change]);
    expect(outcome(await change('annual'))).toEqual([409, 'change_in_flight']);
    await provider.control({ mode: 'ok' });
    await settled();
    expect((await get()).subscription).toMatchObject({ plan_code: 'team', pending_change: null, paid_until: expect.any(String) });
    await byTheYear(null);
  });

  it('that nobody answered for a day may be asked for again', async () => {
    const requested_at = new Date(Date.now() - 25 * 3_600_000).toISOString();
    const pending_change = { change_id: randomUUID(), plan_code: 'team', requested_at, requested_by: org.owner.id };
    await t.db.manager.update(Subscription, { org_id: org.id }, { pending_change });
    expect((await get()).subscription.pending_change).toEqual(pending_change);
    expect((await ask('change-plan', { plan_code: 'team' })).status).toBe(200);
    await settled();
  });

  it('asked for by many at once reaches the provider once', async () => {
    await provider.control({ mode: 'hold' });
    const before = (await books()).orders.length;
    const answers = await Promise.all(Array.from({ length: 6 }, () => ask('change-plan', { plan_code: 'team' })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409, 409]);
    expect((await books()).orders.length).toBe(before + 1);
    await provider.control({ mode: 'ok' });
    await settled();
  });

  it.each<[string, [number, string]]>([
    ['refuse', [422, 'provider_refused']],
    ['down', [502, 'upstream_unavailable']],
    ['slow', [502, 'upstream_unavailable']],
  ])('leaves no mark where the provider is made to %s', async (mode, refused) => {
    await provider.control({ mode });
    expect(outcome(await ask('change-plan', { plan_code: 'team' }))).toEqual(refused);
    expect(await pendingOf()).toBeNull();
    expect((await t.audit({ org_id: org.id })).at(-1)).toMatchObject({
      action: 'subscription.change_withdrawn',
      metadata: { because: refused[1] },
    });
    await provider.control({ mode: 'ok' });
    expect((await ask('change-plan', { plan_code: 'team' })).status).toBe(200);
    await settled();
    expect(await plan()).toBe('team');
  });

  it('leaves the mark that it would have replaced where the provider refuses', async () => {
    const pending_change = {
      change_id: randomUUID(),
      plan_code: 'team',
      requested_at: new Date().toISOString(),
      requested_by: org.owner.id,
    };
    await t.db.manager.update(Subscription, { org_id: org.id }, { pending_change });
    await provider.control({ mode: 'refuse' });
    expect((await ask('change-plan', { plan_code: 'starter', interval: 'annual' })).status).toBe(422);
    expect(await pendingOf()).toEqual(pending_change);
  });

  it('leaves no mark where another took the place of it, and neither was to be had', async () => {
    await slow();
    const first = ask('change-plan', { plan_code: 'team' });
    await eventually(pendingOf, (pending) => pending?.plan_code === 'team');
    const second = ask('change-plan', { plan_code: 'starter', interval: 'annual' });
    await eventually(pendingOf, (pending) => pending?.plan_code === 'starter');
    expect((await get()).subscription.pending_change).not.toHaveProperty('replaced');
    expect([(await first).status, (await second).status, await pendingOf()]).toEqual([502, 502, null]);
    await provider.control({ mode: 'ok' });
    expect((await ask('change-plan', { plan_code: 'team' })).status).toBe(200);
    await settled();
  });

  it.each<[string, object, [number, string]]>([
    ['an unknown plan', { plan_code: 'gold' }, [404, 'not_found']],
    ['a plan that nobody sells', { plan_code: 'enterprise' }, [409, 'not_sellable']],
    ['the plan that is paid', { plan_code: 'starter' }, [409, 'already_on_plan']],
    ['no plan', {}, [422, 'validation_error']],
  ])('to %s is refused', async (_, wish, refused) => {
    expect(outcome(await ask('change-plan', wish))).toEqual(refused);
  });
});

describe('where nobody pays a subscription', () => {
  it('there is nothing to change or cancel', async () => {
    const refused = [409, 'no_live_subscription'];
    expect(outcome(await ask('change-plan', { plan_code: 'starter' }))).toEqual(refused);
    expect(outcome(await ask('cancellation', { cancel_at_period_end: true }))).toEqual(refused);
    await buy({ plan_code: 'starter' });
    const id = await external();
    await provider.control({ revoke: id });
    await settled();
    expect(await get()).toMatchObject({ subscription: { plan_code: 'trial', external_status: null }, credits: { balance: '0' } });
    expect(outcome(await ask('change-plan', { plan_code: 'team' }))).toEqual(refused);
    expect((await ask('checkout', { plan_code: 'team' })).status).toBe(200);
  });
});

describe('where another subscription is paid than the current one', () => {
  it('that one can be changed and cancelled', async () => {
    const pages = [await ask('checkout', { plan_code: 'starter' }), await ask('checkout', { plan_code: 'starter' })];
    const ids: string[] = [];
    for (const { body } of pages) {
      await fetch(body.url);
      await settled();
      ids.push(await external());
    }
    await provider.control({ revoke: ids[1] });
    await settled();
    expect(await plan()).toBe('trial');
    expect((await ask('cancellation', { cancel_at_period_end: true })).status).toBe(200);
    await settled();
    expect((await books()).subscriptions.find(({ id }) => id === ids[0])).toMatchObject({ cancel_at_period_end: true });
    expect((await ask('change-plan', { plan_code: 'team' })).status).toBe(200);
    await settled();
    expect([await plan(), await external()]).toEqual(['team', ids[0]]);
  });
});

describe('a cancellation', () => {
  it('is asked of the provider, and shown when it tells', async () => {
    await buy({ plan_code: 'starter' });
    const id = await external();
    await provider.control({ mode: 'hold' });
    expect(await ask('cancellation', { cancel_at_period_end: true })).toMatchObject({
      status: 200,
      body: { requested: true, cancel_at_period_end: false },
    });
    expect((await get()).subscription.cancel_at_period_end).toBe(false);
    expect((await books()).subscriptions.find((one) => one.id === id)).toMatchObject({ cancel_at_period_end: true });
    await provider.control({ mode: 'ok' });
    await settled();
    expect((await get()).subscription).toMatchObject({ cancel_at_period_end: true, status: 'active' });
    expect((await ask('cancellation', { cancel_at_period_end: false })).body).toEqual({ requested: false, cancel_at_period_end: true });
    await settled();
    expect((await get()).subscription.cancel_at_period_end).toBe(false);
    expect((await actions()).slice(1)).toEqual(['subscription.cancellation_requested', 'subscription.cancellation_requested']);
  });

  it('ends the plan with the period', async () => {
    await buy({ plan_code: 'starter' });
    await ask('cancellation', { cancel_at_period_end: true });
    await settled();
    await provider.control({ renew: await external() });
    await settled();
    expect(await get()).toMatchObject({ subscription: { plan_code: 'trial', status: 'active', cancel_at_period_end: false } });
  });

  it.each<[string, [number, string]]>([
    ['refuse', [422, 'provider_refused']],
    ['down', [502, 'upstream_unavailable']],
  ])('is not made where the provider is made to %s', async (mode, refused) => {
    await buy({ plan_code: 'starter' });
    await provider.control({ mode });
    expect(outcome(await ask('cancellation', { cancel_at_period_end: true }))).toEqual(refused);
    expect(await actions()).not.toContain('subscription.cancellation_requested');
  });
});

describe('an organization that is deleted', () => {
  const remove = async () => {
    expect((await t.call('DELETE', org.path, { as: org.owner })).status).toBe(202);
  };
  const ending = (id: string) =>
    eventually(
      async () => (await books()).subscriptions.find((one) => one.id === id),
      (one) => one?.cancel_at_period_end === true,
    );

  it('is paid for no longer than it is already', async () => {
    await buy({ plan_code: 'starter' });
    const id = await external();
    await remove();
    await ending(id);
    await provider.control({ renew: id });
    await settled();
    expect(await subscriptionOf(t, org.id)).toMatchObject({ plan_id: trial.id, external_subscription_id: null });
  });

  it('is paid for no longer though that was paid, or let go on, meanwhile', async () => {
    const { body } = await ask('checkout', { plan_code: 'starter' });
    await remove();
    expect((await fetch(body.url)).status).toBe(200);
    await settled();
    const id = await external();
    await ending(id);
    await settled();
    await t.get(PaymentProvider).setCancelAtPeriodEnd(id, false);
    await settled();
    await ending(id);
  });

  it('waits for a change of its plan, and holds nothing that this needs', async () => {
    const waiting = sql<{ n: number }>(`
      SELECT count(*)::int AS n FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid))`);
    const deleted = await t.db.transaction(NO_CALLER, async (tx) => {
      await t.get(Subscriptions).lock(tx, org.id);
      const removing = remove();
      await eventually(
        async () => (await tx.query(waiting))[0].n,
        (n) => n === 1,
      );
      await tx.query(sql('SELECT 1 FROM organizations WHERE id = $1 FOR NO KEY UPDATE NOWAIT'), [org.id]);
      return { removing };
    });
    await deleted.removing;
  });

  it('is cancelled once the provider can be had again, which no try counts against for a day', async () => {
    await buy({ plan_code: 'starter' });
    const id = await external();
    await provider.control({ mode: 'down' });
    await remove();
    const failuresOf = sql<{ failures: number }>(
      `SELECT failures FROM outbox WHERE job = 'billing.cancel' AND payload->>'org_id' = $1 AND last_error IS NOT NULL`,
    );
    const tried = (failures: number) =>
      eventually(
        () => t.db.query(failuresOf, [org.id]),
        ([row]) => row?.failures === failures,
      );
    const again = (age: string) =>
      t.db.execute(
        sql(
          `UPDATE outbox SET available_at = now(), created_at = now() - $2::interval WHERE job = 'billing.cancel' AND payload->>'org_id' = $1`,
        ),
        [org.id, age],
      );
    await tried(0);
    await again('25 hours');
    await tried(1);
    await provider.control({ mode: 'ok' });
    await again('0');
    await ending(id);
  });
});

describe('the portal', () => {
  it('says that there is nobody yet', async () => {
    expect(await ask('portal')).toMatchObject({ status: 200, body: { state: 'no_customer', url: null, expires_at: null } });
  });

  it('is of who pays the subscription, else of who bought last; new each time, and never kept', async () => {
    await buy({ pack_code: 'pack_1k' });
    const key = { 'idempotency-key': randomUUID() };
    const [first, again] = [await ask('portal', undefined, org.owner, key), await ask('portal', undefined, org.owner, key)];
    expect(first.body).toEqual({ state: 'ready', url: expect.stringMatching(/^http/), expires_at: expect.any(String) });
    expect([again.body.url === first.body.url, first.headers.get('cache-control')]).toEqual([false, 'no-store']);
    expect(await (await fetch(first.body.url)).text()).toContain('purchase');
    await buy({ plan_code: 'starter' });
    const elsewhere = randomUUID();
    await t.db.manager.update(ExternalSubscription, { id: await external() }, { customer_id: elsewhere });
    expect(outcome(await ask('portal'))).toEqual([422, 'provider_refused']);
  });
});

describe('deliveries', () => {
  it.each(['duplicate', 'reverse', 'late'])('that come %s bring the same', async (deliver) => {
    await provider.control({ deliver, times: 5 });
    await buy({ plan_code: 'starter' });
    expect(await get()).toMatchObject({ subscription: { plan_code: 'starter', status: 'active' }, credits: { balance: '3000' } });
    await provider.control({ renew: await external(), deliver, times: 4 });
    await settled();
    expect(await get()).toMatchObject({ credits: { balance: '3000' } });
  });
});
