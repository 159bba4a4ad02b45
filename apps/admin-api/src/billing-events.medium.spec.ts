import { randomUUID } from 'node:crypto';
import { aPack, aPlan, nextTime, onPlan, orderEvent, subscriptionOf } from '@aps/billing/testing';
import { BillingCheckout, BillingEvent, CreditLedgerRow, CreditPack, ExternalSubscription, Organization, Plan } from '@aps/entities';
import { outcome, sql } from '@aps/platform/testing';
import { uuidv7 } from 'uuidv7';
import { adminService } from './testing/admin-service';

const admin = adminService();
const { t, call } = admin;
let org: string;
let starter: Plan;
let pack: CreditPack;
beforeAll(async () => {
  await aPlan(t, { code: 'trial', renews: false });
  starter = await aPlan(t, {
    code: 'starter',
    monthly_credits: '3000',
    polar_product_id: randomUUID(),
    polar_product_id_annual: randomUUID(),
  });
  pack = await aPack(t, { code: 'pack_1k', credits: '1000' });
});
beforeEach(async () => {
  org = uuidv7();
  await t.insert(Organization, { id: org, name: 'Acme', slug: `acme-${org}` });
});

const stored = (event: { type: string }, more: Partial<BillingEvent> = {}) =>
  t.insert(BillingEvent, {
    delivery_id: randomUUID(),
    type: event.type,
    payload: event,
    next_attempt_at: null,
    ...more,
  } as Partial<BillingEvent>);
const eventOf = (id: string) => t.db.manager.findOneByOrFail(BillingEvent, { id });
const replay = (id: string) => call('POST', `/billing/events/${id}/replay`);
const aPurchase = async () => {
  const checkout_id = randomUUID();
  await t.db.manager.insert(BillingCheckout, { id: checkout_id, org_id: org, user_id: admin.operator.id, kind: 'pack', code: 'pack_1k' });
  return orderEvent({ product_id: pack.polar_product_id, checkout_id });
};
const keys = async () => (await t.db.manager.findBy(CreditLedgerRow, { org_id: org })).map(({ key }) => key);
const settle = (id: string, reason?: string) => call('POST', `/billing/events/${id}/settle`, { reason });
const replays = () => t.audit({ action: 'billing_event.replayed', org_id: org });

describe('The deliveries of the payment provider', () => {
  it('are listed newest first, whole, by organization and status, with counts of all', async () => {
    const counts = async () => (await call('GET', '/billing/events?limit=1')).body.status_counts;
    const before = await counts();
    const ids: string[] = [];
    for (const status of ['applied', 'failed', 'unresolved', 'ignored', 'received'] as const)
      ids.push(
        await stored(
          { type: `order.${status}` },
          { status, org_id: status === 'received' ? null : org, error: status === 'failed' ? 'broken' : null, attempts: 3 },
        ),
      );
    const { body } = await call('GET', `/billing/events?org_id=${org}`);
    expect(body).toMatchObject({ total: 4, next_offset: null });
    expect(body.items.map((item: { id: string }) => item.id)).toEqual(ids.slice(0, 4).reverse());
    expect(body.items[2]).toEqual({
      ...{ id: ids[1], provider: 'polar', delivery_id: expect.any(String), type: 'order.failed', org_id: org, status: 'failed' },
      ...{ attempts: 3, error: 'broken', payload: { type: 'order.failed' }, received_at: expect.any(String) },
      ...{ applied_at: null, settled_at: null },
    });
    expect((await call('GET', `/billing/events?org_id=${org}&status=failed`)).body).toMatchObject({ total: 1, items: [{ id: ids[1] }] });
    const page = (await call('GET', '/billing/events?limit=2&offset=1')).body;
    expect([page.items.length, page.items[0].id, page.next_offset]).toEqual([2, ids[3], 3]);
    const now = await counts();
    for (const [status, n] of Object.entries(now)) expect([status, n]).toEqual([status, before[status] + 1]);
    await t.db.manager.update(BillingEvent, ids[1], { status: 'applied' });
    expect(await counts()).toMatchObject({ failed: before.failed, applied: before.applied + 2 });
    expect(outcome(await call('GET', '/billing/events?status=lost'))).toEqual([422, 'validation_error']);
  });

  it('are applied by a replay, once, and stay what they were, but settled', async () => {
    const order = await aPurchase();
    const id = await stored(order, { status: 'failed', attempts: 8, error: 'broken' });
    const key = `polar:order:${order.data.id}:pack`;
    expect((await replay(id)).body).toEqual({ event_id: id, outcome: 'applied', detail: null, ledger_keys: [key] });
    expect((await replay(id)).body).toEqual({ event_id: id, outcome: 'no_op', detail: 'The order was applied before.', ledger_keys: [] });
    expect(await keys()).toEqual([key]);
    expect(await eventOf(id)).toMatchObject({
      status: 'failed',
      attempts: 8,
      error: 'broken',
      applied_at: null,
      settled_at: expect.any(Date),
    });
    expect(await replays()).toMatchObject([
      { source: 'admin', actor_id: admin.operator.id, target_id: id, metadata: { ledger_keys: [key] } },
    ]);
  });

  it('are applied once by many replays at the same moment', async () => {
    const id = await stored(await aPurchase(), { status: 'failed' });
    const outcomes = (await Promise.all(Array.from({ length: 8 }, () => replay(id)))).map(({ body }) => body.outcome as string);
    expect(outcomes.sort()).toEqual(['applied', ...Array<string>(7).fill('no_op')]);
    expect((await keys()).length).toBe(1);
  });

  it('tell by a replay what is still wrong, and what is none of our business', async () => {
    const lost = await stored(orderEvent({ product_id: pack.polar_product_id }), { status: 'unresolved' });
    expect((await replay(lost)).body).toMatchObject({ outcome: 'failed', detail: 'No organization can be told from it.', ledger_keys: [] });
    const other = await stored({ type: 'benefit.created' }, { status: 'ignored' });
    expect((await replay(other)).body).toMatchObject({ outcome: 'no_op', ledger_keys: [] });
    expect(await replays()).toEqual([]);
  });

  it('are open until an operator settles what no replay makes good, once', async () => {
    const id = await stored(orderEvent({ product_id: pack.polar_product_id }), { status: 'unresolved', org_id: org });
    expect((await replay(id)).body.outcome).toBe('failed');
    expect((await eventOf(id)).settled_at).toBeNull();
    expect((await settle(id, 'Paid back')).status).toBe(204);
    const settled = await eventOf(id);
    expect([settled.status, settled.settled_at]).toEqual(['unresolved', expect.any(Date)]);
    expect((await settle(id, 'Again')).status).toBe(204);
    expect((await eventOf(id)).settled_at).toEqual(settled.settled_at);
    expect(await t.audit({ action: 'billing_event.settled', org_id: org })).toMatchObject([
      { source: 'admin', actor_id: admin.operator.id, target_id: id, metadata: { type: 'order.paid', reason: 'Paid back' } },
    ]);
  });

  it.each([700, 1_000])(
    'that take back %s more than is there are settled by hand alone, however often they are replayed',
    async (spent) => {
      const order = await aPurchase();
      await replay(await stored(order, { status: 'failed' }));
      await t.db.query(sql(`SELECT credit_post($1, NULL, $3, 'adjust', $2, NULL, NULL, NULL, NULL, NULL)`), [
        org,
        `adjust:${randomUUID()}`,
        spent,
      ]);
      const refund = { type: 'order.refunded', timestamp: nextTime(), data: { ...order.data, status: 'refunded', refunded_amount: 1_000 } };
      const id = await stored(refund, { status: 'unresolved', org_id: org });
      const outcomes = [await replay(id), await replay(id)].map(({ body }) => [body.outcome, body.detail]);
      expect(outcomes).toEqual([
        ['failed', `Of the credits, ${spent} are not there any more.`],
        ['no_op', 'As much was taken back before.'],
      ]);
      expect((await replays()).filter(({ target_id }) => target_id === id)).toMatchObject([
        { metadata: { outcome: 'unresolved', detail: outcomes[0][1], settled: false } },
      ]);
      expect((await eventOf(id)).settled_at).toBeNull();
      expect((await settle(id, 'Written off')).status).toBe(204);
      expect(await t.audit({ action: 'billing_event.settled', org_id: org })).toMatchObject([{ metadata: { reason: 'Written off' } }]);
    },
  );

  it('tell who has settled them by a replay that found them done', async () => {
    const order = await aPurchase();
    await replay(await stored(order, { status: 'failed' }));
    const id = await stored(order, { status: 'failed' });
    expect((await replay(id)).body.outcome).toBe('no_op');
    expect((await eventOf(id)).settled_at).toEqual(expect.any(Date));
    expect((await replays()).filter(({ target_id }) => target_id === id)).toMatchObject([
      { actor_id: admin.operator.id, metadata: { type: 'order.paid', outcome: 'no_op', ledger_keys: [], settled: true } },
    ]);
  });

  it('that wait for nobody cannot be settled', async () => {
    for (const status of ['received', 'applied', 'ignored'] as const)
      expect(outcome(await settle(await stored({ type: 'order.paid' }, { status }), 'Done'))).toEqual([409, 'already_applied']);
    const tried = await stored({ type: 'order.paid' }, { status: 'failed', next_attempt_at: new Date() });
    expect(outcome(await settle(tried, 'Done'))).toEqual([409, 'already_applied']);
    expect(outcome(await settle(uuidv7(), 'Done'))).toEqual([404, 'not_found']);
    expect(outcome(await settle(tried))).toEqual([422, 'validation_error']);
  });

  it('that were applied, or are not there, cannot be replayed', async () => {
    const id = await stored(await aPurchase(), { status: 'applied' });
    expect(outcome(await replay(id))).toEqual([409, 'already_applied']);
    expect(outcome(await replay(uuidv7()))).toEqual([404, 'not_found']);
    expect(outcome(await replay('x'))).toEqual([422, 'validation_error']);
    expect(await keys()).toEqual([]);
  });
});

describe('A build without effects', () => {
  const bare = adminService({ BILLING_EFFECTS: 'off' });
  afterAll(() => bare.t.configure({ BILLING_EFFECTS: undefined }));

  it('names what is missing, and changes nothing', async () => {
    for (const [type, symbol] of [
      ['order.paid', 'BillingEffects.onOrderPaid'],
      ['order.refunded', 'BillingEffects.onOrderRefunded'],
      ['subscription.revoked', 'BillingEffects.onSubscriptionRevoked'],
      ['subscription.updated', 'BillingEffects.onSubscriptionTold'],
    ]) {
      const id = await bare.t.insert(BillingEvent, { delivery_id: randomUUID(), type, payload: {} } as Partial<BillingEvent>);
      const { status, body } = await bare.call('POST', `/billing/events/${id}/replay`);
      expect([status, body.code, body.context]).toEqual([503, 'effect_missing', { symbol }]);
    }
  });
});

describe('The subscription of an organization, beside what the provider has told', () => {
  const get = async () => (await call('GET', `/orgs/${org}/billing`)).body;
  const END = new Date('2026-12-15T00:00:00Z');
  const told = (more: Partial<ExternalSubscription> = {}) => ({
    ...{ id: randomUUID(), org_id: org, customer_id: 'cus_1', product_id: starter.polar_product_id, status: 'active' },
    ...{ current_period_end: END, modified_at: new Date(nextTime()), ...more },
  });
  const both = async (theirs: Partial<ExternalSubscription> = {}, ours: object = {}) => {
    const external = told(theirs);
    await t.db.manager.insert(ExternalSubscription, external);
    await onPlan(t, org, starter, { external_subscription_id: external.id, period_end: END, ...ours });
    return external;
  };

  it('is in sync where nothing differs', async () => {
    const { id } = await both();
    expect(await get()).toEqual({
      ...{ org_id: org, customer_id: 'cus_1', in_sync: true, differences: [] },
      external: {
        ...{ subscription_id: id, status: 'active', product_id: starter.polar_product_id },
        ...{ current_period_end: END.toISOString(), cancel_at_period_end: false },
      },
      local: { plan_code: 'starter', status: 'active', cancel_at_period_end: false, period_end: END.toISOString(), pending_change: null },
    });
  });

  it('is nothing where there is none', async () => {
    expect(await get()).toEqual({ org_id: org, customer_id: null, external: null, local: null, in_sync: true, differences: [] });
    expect(outcome(await call('GET', `/orgs/${uuidv7()}/billing`))).toEqual([404, 'not_found']);
  });

  it('differs by field', async () => {
    await both({ status: 'past_due', product_id: randomUUID(), current_period_end: new Date('2027-01-15T00:00:00Z') });
    expect(await get()).toMatchObject({
      in_sync: false,
      differences: [
        { field: 'status', external: 'past_due', local: 'active' },
        { field: 'plan', external: null, local: 'starter' },
        { field: 'period_end', external: '2027-01-15T00:00:00.000Z', local: END.toISOString() },
      ],
    });
  });

  it('may end its month before the year that is paid', async () => {
    const year = { current_period_start: new Date('2026-11-15T00:00:00Z'), current_period_end: new Date('2027-11-15T00:00:00Z') };
    await both({ product_id: starter.polar_product_id_annual, ...year });
    expect(await get()).toMatchObject({ in_sync: true });
  });

  it('differs where another one is paid than the current one', async () => {
    await onPlan(t, org, starter);
    const paid = told();
    await t.db.manager.insert(ExternalSubscription, paid);
    await t.db.manager.insert(ExternalSubscription, told({ revoked_at: new Date() }));
    expect(await get()).toMatchObject({
      external: { subscription_id: paid.id },
      differences: [{ field: 'subscription', external: paid.id, local: null }],
    });
    expect((await subscriptionOf(t, org)).external_subscription_id).toBeNull();
  });

  it('differs where another one is paid beside the current one', async () => {
    const beside = told();
    await t.db.manager.insert(ExternalSubscription, beside);
    const { id } = await both();
    expect(await get()).toMatchObject({
      external: { subscription_id: id },
      in_sync: false,
      differences: [{ field: 'subscription', external: beside.id, local: id }],
    });
  });
});
