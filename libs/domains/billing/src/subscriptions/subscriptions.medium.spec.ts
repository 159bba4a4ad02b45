import { BillingOrder, ExternalSubscription, Plan, type CreditPack, type Subscription } from '@aps/entities';
import { BASE_MODULES, testService } from '@aps/testing';
import { NO_CALLER, type Tx } from '@aps/platform/database';
import { sql } from '@aps/platform/testing';
import { uuidv7 } from 'uuidv7';
import { anOrg } from '@aps/orgs/testing';
import { BillingModule } from '../billing.module';
import { aPlan, movesOf, onPlan, subscriptionOf } from '../testing';
import { addMonths, monthOf } from './periods.policy';
import { Periods } from './periods.service';
import { SubscriptionsRepository } from './subscriptions.repository';
import type { PlanPaid } from './orders.policy';
import { PaidOrders } from './paid-orders.service';
import { Subscriptions } from './subscriptions.service';

const t = testService([...BASE_MODULES, BillingModule], { settings: { CREDITS_DEFAULT_NEW_ORG_PLAN: 'trial' } });
const DAY = 86_400_000;
const SYSTEM = { kind: 'system', userId: null, reason: 'a spec' } as const;

let orgId: string;
let trial: Plan;
let starter: Plan;
let team: Plan;
let subscriptions: Subscriptions;
let paidOrders: PaidOrders;
beforeAll(async () => {
  trial = await aPlan(t, { code: 'trial', renews: false, initial_credits: '500' });
  subscriptions = t.get(Subscriptions);
  paidOrders = t.get(PaidOrders);
});
beforeEach(async () => {
  orgId = await anUnsubscribed();
  starter = await aPlan(t, { monthly_credits: '3000' });
  team = await aPlan(t, { monthly_credits: '20000', polar_product_id_annual: uuidv7() });
});

const anUnsubscribed = async () => (await anOrg(t, { plan: null })).id;
const now = () => t.db.now().getTime();
const done = <T>(act: (tx: Tx) => Promise<T>) => t.db.transaction(NO_CALLER, act);
const moves = () => movesOf(t, orgId);
const by = () => ({ orgId, actor: SYSTEM });
let orders = 0;
/** A paid order, by default the first of a subscription for a month that begins now. */
const paid = (plan: Plan, over: Partial<PlanPaid> = {}) => {
  const start = over.period_start === undefined ? new Date(now()) : over.period_start;
  const order: PlanPaid = {
    order_id: `order-${orders++}-${uuidv7()}`,
    plan,
    reason: 'subscription_create',
    external_subscription_id: `sub-${orgId}`,
    external_status: 'active',
    paid_at: new Date(now()),
    period_start: start,
    period_end: start && new Date(start.getTime() + 30 * DAY),
    annual: false,
    change_id: null,
    superseded: false,
    ...over,
  };
  const { order_id: id, reason: billing_reason, paid_at } = order;
  return done(async (tx) => {
    const keys = await paidOrders.planPaid(tx, by(), orgId, order);
    await tx.manager.insert(BillingOrder, { ...{ id, org_id: orgId, kind: 'plan', code: plan.code }, billing_reason, paid_at });
    return keys;
  });
};
const external = (over: Partial<ExternalSubscription> = {}) =>
  t.db.manager.insert(ExternalSubscription, { id: `sub-${orgId}`, org_id: orgId, status: 'active', modified_at: new Date(), ...over });
const set = (columns: Partial<Subscription>) =>
  t.db.manager.query(`UPDATE subscriptions SET ${Object.keys(columns).map((c, i) => `${c} = $${i + 2}`).join()} WHERE org_id = $1`, [orgId, ...Object.values(columns)]); // prettier-ignore
const close = () => done((tx) => t.get(Periods).close(tx, orgId));
const spend = (amount: string) =>
  t.db.query(sql(`SELECT credit_post($1, NULL, $2, 'burn', $3, NULL, NULL, NULL, NULL, NULL)`), [orgId, amount, uuidv7()]);
const buy = (credits: string) =>
  done((tx) => paidOrders.packPaid(tx, by(), orgId, { order_id: uuidv7(), pack: { code: 'pack', credits } as CreditPack }));

describe('a new organization', () => {
  const found = (email: string, is_proven = true, id = orgId) =>
    done((tx) => subscriptions.found(tx, id, { email_canonical: email, is_proven }));

  it('is on the plan of new ones, with its credits and no period', async () => {
    await found(`${orgId}@a.example`);
    expect(await subscriptionOf(t, orgId)).toMatchObject({ plan_id: trial.id, status: 'active', period_end: null });
    expect(await moves()).toEqual(['grant granted 500']);
  });

  it('of somebody who had a trial before has none of its credits', async () => {
    const email = `${orgId}@a.example`;
    const other = await anUnsubscribed();
    await Promise.all([found(email), found(email, true, other)]);
    expect([...(await moves()), ...(await movesOf(t, other))]).toEqual(['grant granted 500']);
    expect((await subscriptionOf(t, other)).plan_id).toBe(trial.id);
  });

  it('has its credits when the address is proven, once', async () => {
    const org = await anOrg(t, { plan: null });
    orgId = org.id;
    await t.db.execute(sql('UPDATE organizations SET created_by = $2 WHERE id = $1'), [orgId, org.owner.id]);
    const owner = { id: org.owner.id, email_canonical: `${orgId}@a.example` };
    await found(owner.email_canonical, false);
    expect(await moves()).toEqual([]);
    for (let i = 0; i < 2; i++) await done((tx) => subscriptions.proven(tx, owner));
    expect(await moves()).toEqual(['grant granted 500']);
  });

  it('has no subscription where there is no such plan', async () => {
    t.configure({ CREDITS_DEFAULT_NEW_ORG_PLAN: '' });
    await found(`${orgId}@a.example`);
    expect(await done((tx) => subscriptions.lock(tx, orgId))).toBeNull();
    t.configure({ CREDITS_DEFAULT_NEW_ORG_PLAN: 'trial' });
  });
});

describe('a paid order', () => {
  it('changes the plan, expires what the old one granted, and brings the new one’s', async () => {
    await onPlan(t, orgId, trial);
    await done((tx) => subscriptions.change(tx, orgId, trial, 'before'));
    await buy('10');
    const keys = await paid(starter);
    expect(await moves()).toEqual(['grant granted 500', 'purchase purchased 10', 'expire granted -500', 'grant granted 3000']);
    expect(keys).toHaveLength(2);
    expect(await subscriptionOf(t, orgId)).toMatchObject({
      plan_id: starter.id,
      status: 'active',
      external_subscription_id: `sub-${orgId}`,
    });
    expect(await t.audit({ org_id: orgId, action: 'subscription.plan_changed' })).toMatchObject([
      { metadata: { from: 'trial', to: starter.code, reason: 'a spec' } },
    ]);
  });

  it('carries a debt over', async () => {
    await paid(starter);
    await spend('3100');
    await paid(team, { reason: 'subscription_update' });
    expect(await moves()).toEqual(['grant granted 3000', 'burn granted -3100', 'grant granted 20000']);
  });

  it('of a plan that was had before brings a month of it, since a month was paid', async () => {
    await paid(starter);
    await done((tx) => subscriptions.revoked(tx, by(), orgId));
    await paid(starter, { external_subscription_id: `sub-2-${orgId}` });
    expect(await moves()).toEqual(['grant granted 3000', 'expire granted -3000', 'grant granted 3000']);
  });

  it('of a change within a period earns nothing the second time, and keeps what a month of it would bring', async () => {
    await paid(starter);
    const within = { reason: 'subscription_update', period_start: (await subscriptionOf(t, orgId)).period_start } as const;
    await paid(team, within);
    await paid(starter, within);
    expect((await moves()).slice(-2)).toEqual(['grant granted 20000', 'expire granted -17000']);
    await paid(team, within);
    expect((await moves()).length).toBe(4 + 0);
  });

  it('of another interval of the plan begins the period that it pays, with its month’s credits', async () => {
    const start = new Date(now() - 15 * DAY);
    const year = { annual: true, period_end: addMonths(start, 12) };
    await paid(starter, { ...year, period_start: start, paid_at: start });
    await spend('100');
    const [monthly, annual] = [new Date(now() - 10 * DAY), new Date(now() - 5 * DAY)];
    const month = { reason: 'subscription_update', period_start: monthly, period_end: addMonths(monthly, 1) } as const;
    await paid(starter, { ...month, paid_at: monthly });
    expect((await moves()).slice(2)).toEqual(['expire granted -2900', 'grant granted 3000']);
    expect(await subscriptionOf(t, orgId)).toMatchObject({ period_start: monthly, period_end: addMonths(monthly, 1) });
    await paid(starter, {
      ...year,
      reason: 'subscription_update',
      period_start: annual,
      period_end: addMonths(annual, 12),
      paid_at: annual,
    });
    expect((await moves()).slice(4)).toEqual(['expire granted -3000', 'grant granted 3000']);
    expect(await subscriptionOf(t, orgId)).toMatchObject(monthOf(annual, annual));
    await paid(starter, { ...month, period_start: annual });
    expect((await moves()).length).toBe(6);
  });

  /** To a period of its own: a year, or a month. @returns what it has moved */
  const change = async (plan: Plan, annual: boolean, at: Date) => {
    const before = (await moves()).length;
    const period = { period_start: at, period_end: addMonths(at, annual ? 12 : 1), paid_at: at };
    await paid(plan, { reason: 'subscription_update', annual, ...period });
    return (await moves()).slice(before);
  };

  it('of another interval brings nothing of the days once more that are paid back, and whose credits are spent', async () => {
    const start = new Date(now() - 15 * DAY);
    const year = { annual: true, period_start: start, period_end: addMonths(start, 12), paid_at: start };
    await paid(team, year);
    await paid(starter, { ...year, reason: 'subscription_update' });
    await paid(team, { ...year, reason: 'subscription_update' });
    const at = new Date(start.getTime() + 5 * DAY);
    await change(team, false, at);
    await spend('20000');
    const changes: [Plan, boolean][] = [
      [team, true],
      [team, false],
      [starter, true],
      [team, false],
    ];
    // What a minute of a month brings, and no more.
    for (const [i, [plan, annual]] of changes.entries())
      for (const moved of await change(plan, annual, new Date(at.getTime() + (i + 1) * 60_000)))
        expect(Math.abs(Number(moved.split(' ')[2]))).toBeLessThan(2);
  });

  it('of another interval takes nothing for spent that has expired by a smaller plan, or was never granted', async () => {
    const start = new Date(now() - 15 * DAY);
    const at = (days: number) => new Date(start.getTime() + days * DAY);
    await paid(team, { period_start: start, period_end: addMonths(start, 1), paid_at: start });
    expect(await change(starter, true, at(5))).toEqual(['expire granted -20000', 'grant granted 3000']);
    expect(await change(team, false, at(5.01))).toEqual(['expire granted -3000', 'grant granted 20000']);
    await spend('15000');
    expect(await change(starter, true, at(5.02))).toEqual(['expire granted -2000']);
    await spend('3000');
    // 2,000 that have expired, and what the time between brings.
    const [, , amount] = (await change(team, false, at(5.03))).at(-1)!.split(' ');
    const month = addMonths(at(5.01), 1).getTime() - at(5.01).getTime();
    expect(Number(amount)).toBeCloseTo(2_000 + (20_000 * 0.02 * DAY) / month, 2);
  });

  it('of another interval takes no more for spent than two days of a month have brought', async () => {
    const start = new Date(now() - 200 * DAY);
    const month = { period_start: start, period_end: addMonths(start, 1) };
    for (const plan of [team, starter]) await paid(plan, { ...month, paid_at: start });
    await t.db.execute(sql(`UPDATE billing_orders SET paid_at = now() - interval '200 days' WHERE org_id = $1`), [orgId]);
    const from = new Date(now() - 32 * DAY);
    const until = addMonths(from, 1);
    await paid(starter, { reason: 'subscription_cycle', period_start: from, period_end: until, paid_at: from });
    const paid_at = new Date(until.getTime() - 2 * DAY);
    await paid(team, { reason: 'subscription_update', period_start: from, period_end: until, paid_at });
    const last = (await moves()).at(-1)!.split(' ');
    expect(Number(last[2])).toBeLessThan(1_500);
    await change(starter, true, new Date(paid_at.getTime() + DAY / 2));
    expect((await change(team, false, new Date(paid_at.getTime() + DAY))).at(-1)).toBe('grant granted 20000');
  });

  it('of the next period closes the one before', async () => {
    await paid(starter);
    await spend('100');
    const start = (await subscriptionOf(t, orgId)).period_end;
    await paid(starter, { reason: 'subscription_cycle', period_start: start });
    expect((await moves()).slice(2)).toEqual(['expire granted -2900', 'grant granted 3000']);
    expect((await subscriptionOf(t, orgId)).period_start).toEqual(start);
  });

  it('of a period whose product is another plan’s changes the plan', async () => {
    await paid(starter);
    await paid(team, { reason: 'subscription_cycle', period_start: (await subscriptionOf(t, orgId)).period_end });
    expect((await moves()).slice(1)).toEqual(['expire granted -3000', 'grant granted 20000']);
    expect((await subscriptionOf(t, orgId)).plan_id).toBe(team.id);
  });

  it('that comes after a newer one comes and goes', async () => {
    await paid(starter);
    const end = (await subscriptionOf(t, orgId)).period_end!;
    await paid(starter, { reason: 'subscription_cycle', period_start: new Date(end.getTime() + 30 * DAY) });
    const before = await subscriptionOf(t, orgId);
    await paid(starter, { reason: 'subscription_cycle', period_start: end });
    await paid(team, { superseded: true });
    expect((await moves()).slice(-4)).toEqual([
      'grant granted 3000',
      'expire granted -3000',
      'grant granted 20000',
      'expire granted -20000',
    ]);
    expect(await subscriptionOf(t, orgId)).toEqual(before);
  });

  it('clears the change that it pays, and no other', async () => {
    await paid(starter);
    const marker = { change_id: uuidv7(), plan_code: team.code, requested_at: '', requested_by: '' };
    await set({ pending_change: marker });
    await paid(starter, { reason: 'subscription_update' });
    expect((await subscriptionOf(t, orgId)).pending_change).toEqual(marker);
    await paid(team, { reason: 'subscription_update' });
    expect((await subscriptionOf(t, orgId)).pending_change).toBeNull();
    await set({ pending_change: marker });
    await paid(starter, { reason: 'subscription_update', change_id: marker.change_id });
    expect((await subscriptionOf(t, orgId)).pending_change).toBeNull();
  });

  it('clears the change that it pays alone, where another has taken the place of that, or a newer order has come', async () => {
    await paid(starter);
    const mark = (plan_code: string) => ({ change_id: uuidv7(), plan_code, requested_at: '', requested_by: '' });
    const [older, newer] = [mark(team.code), mark('another')];
    const pending = async () => (await subscriptionOf(t, orgId)).pending_change;
    for (const superseded of [false, true]) {
      await set({ pending_change: { ...newer, replaced: [older] } });
      await paid(team, { reason: 'subscription_update', change_id: older.change_id, superseded });
      expect(await pending()).toEqual(newer);
    }
    await paid(starter, { reason: 'subscription_update', superseded: true });
    expect(await pending()).toEqual(newer);
    await paid(starter, { reason: 'subscription_update', change_id: newer.change_id, superseded: true });
    expect(await pending()).toBeNull();
    expect((await subscriptionOf(t, orgId)).plan_id).toBe(team.id);
  });

  it('of the next period clears no change to another interval of the plan', async () => {
    await paid(starter);
    const marker = { change_id: uuidv7(), plan_code: starter.code, requested_at: '', requested_by: '' };
    await set({ pending_change: marker });
    await paid(starter, { reason: 'subscription_cycle', period_start: (await subscriptionOf(t, orgId)).period_end });
    expect((await subscriptionOf(t, orgId)).pending_change).toEqual(marker);
  });

  it('of a year opens a month', async () => {
    const start = new Date('2028-01-31T10:00:00Z');
    await paid(team, { annual: true, period_start: start, period_end: new Date('2029-01-31T10:00:00Z') });
    expect((await subscriptionOf(t, orgId)).period_end).toEqual(new Date('2028-02-29T10:00:00Z'));
  });

  it('of a change within a year opens the month of it that is paid in', async () => {
    await paid(starter);
    const start = new Date(now() - 165 * DAY);
    await paid(team, { reason: 'subscription_update', annual: true, period_start: start, period_end: new Date(now() + 200 * DAY) });
    expect(await subscriptionOf(t, orgId)).toMatchObject(monthOf(start, new Date(now())));
    expect(await close()).toMatchObject({ reason: 'not_due' });
  });
});

describe('a pack', () => {
  it('is bought once by an order, and taken back as far as it is there', async () => {
    const pack = { code: 'pack', credits: '100' } as CreditPack;
    for (let i = 0; i < 2; i++) await done((tx) => paidOrders.packPaid(tx, by(), orgId, { order_id: 'one', pack }));
    await spend('30');
    const refund = () => done((tx) => paidOrders.refunded(tx, by(), orgId, { order_id: 'one', refund_id: 'back', bucket: 'purchased', amount: '100' })); // prettier-ignore
    expect((await refund()).missing).toBe('30');
    expect(await moves()).toEqual(['purchase purchased 100', 'burn purchased -30', 'refund purchased -70']);
    expect((await t.audit({ org_id: orgId, action: 'credits.purchased' })).length).toBe(1);
  });
});

describe('the end of a period', () => {
  const over = (ago: number) => {
    const end = new Date(now() - ago);
    return set({ period_end: end, period_start: new Date(end.getTime() - 30 * DAY), period_anchor: end });
  };

  it('waits for the order where somebody does, with open gates', async () => {
    await paid(starter);
    await external();
    await over(1_000);
    expect(await close()).toMatchObject({ rolled: false, reason: 'waiting_for_payment' });
    expect(await subscriptionOf(t, orgId)).toMatchObject({ status: 'past_due' });
    expect(await moves()).toEqual(['grant granted 3000']);
    await paid(starter, { reason: 'subscription_cycle', period_start: (await subscriptionOf(t, orgId)).period_end });
    expect(await subscriptionOf(t, orgId)).toMatchObject({ status: 'active' });
    expect(await close()).toMatchObject({ reason: 'not_due' });
  });

  it('waits three days, then its credits expire, and no period begins until the order comes', async () => {
    await paid(starter);
    await external();
    await over(3 * DAY + 1_000);
    expect(await close()).toMatchObject({ rolled: false, expired: '3000' });
    expect(await subscriptionOf(t, orgId)).toMatchObject({ plan_id: starter.id, period_end: null });
    await paid(starter, { reason: 'subscription_cycle' });
    expect((await moves()).slice(-1)).toEqual(['grant granted 3000']);
  });

  it('of a canceled one whose end was not heard of is its end', async () => {
    await paid(starter);
    await external({ cancel_at_period_end: true });
    await over(3 * DAY + 1_000);
    await close();
    expect(await subscriptionOf(t, orgId)).toMatchObject({ plan_id: trial.id, status: 'active' });
    expect(await t.get(SubscriptionsRepository).isPaying(t.db, orgId)).toBe(false);
  });

  it('within a year that is paid brings the next month, up to the end of the year', async () => {
    const start = new Date(now() - 40 * DAY);
    await paid(team, { annual: true, period_start: start, paid_at: start });
    const until = new Date(now() + 5 * DAY);
    await external({ current_period_start: addMonths(until, -12), current_period_end: until });
    expect(await close()).toMatchObject({ rolled: true, granted: '20000', period_end: until });
    await t.db.manager.update(ExternalSubscription, `sub-${orgId}`, { current_period_end: new Date(now() - 1_000) });
    await over(500);
    expect(await close()).toMatchObject({ rolled: false, reason: 'waiting_for_payment' });
  });

  it('within a year that is paid brings the next month, whatever becomes of its plan and of its product', async () => {
    const start = new Date(now() - 40 * DAY);
    await paid(team, { annual: true, period_start: start, paid_at: start });
    const year = { current_period_start: start, current_period_end: addMonths(start, 12) };
    await external({ product_id: team.polar_product_id_annual, ...year });
    await t.db.manager.update(Plan, team.id, { polar_product_id_annual: null });
    expect(await close()).toMatchObject({ rolled: true, granted: '20000' });
    await done((tx) => subscriptions.change(tx, orgId, starter, `${orgId}:change`));
    await over(1_000);
    expect(await close()).toMatchObject({ rolled: true, granted: '3000' });
  });

  it('that is a year’s, too, waits for the order of the next', async () => {
    await paid(team, { annual: true, period_start: new Date(now() - 365 * DAY) });
    await over(1_000);
    const start = (await subscriptionOf(t, orgId)).period_end!;
    const year = { current_period_start: start, current_period_end: addMonths(start, 12) };
    await external({ product_id: team.polar_product_id_annual, ...year });
    expect(await close()).toMatchObject({ rolled: false, reason: 'waiting_for_payment' });
    await paid(team, { reason: 'subscription_cycle', annual: true, period_start: start, period_end: year.current_period_end });
    expect((await moves()).slice(1)).toEqual(['expire granted -20000', 'grant granted 20000']);
    await over(1_000);
    expect(await close()).toMatchObject({ rolled: true, granted: '20000' });
  });

  it('that is a year’s, too, and was forced, is the one that the order of the next finds', async () => {
    const start = new Date(now() + DAY);
    await paid(team, { annual: true });
    await set({ period_end: start, period_anchor: start });
    await external({ product_id: team.polar_product_id_annual, current_period_end: start });
    expect(await done((tx) => t.get(Periods).close(tx, orgId, { force: true }))).toMatchObject({ rolled: true, granted: '20000' });
    const before = await moves();
    await paid(team, { reason: 'subscription_cycle', annual: true, period_start: start, period_end: addMonths(start, 12), paid_at: start });
    expect(await moves()).toEqual(before);
  });

  it('within a year that was not paid for a while is followed by the month in which it is again', async () => {
    const start = new Date(now() - 40 * DAY);
    const year = { current_period_start: start, current_period_end: addMonths(start, 12) };
    await paid(team, { annual: true, period_start: start });
    await external({ product_id: team.polar_product_id_annual, status: 'past_due', ...year });
    await over(3 * DAY + 1_000);
    await close();
    expect(await subscriptionOf(t, orgId)).toMatchObject({ period_end: null });
    await t.db.manager.update(ExternalSubscription, `sub-${orgId}`, { status: 'active' });
    for (let i = 0; i < 2; i++) await done((tx) => subscriptions.externalStatus(tx, orgId, 'active'));
    expect(await subscriptionOf(t, orgId)).toMatchObject({
      status: 'active',
      period_start: addMonths(start, 1),
      period_end: addMonths(start, 2),
      period_anchor: start,
    });
    expect((await moves()).slice(1)).toEqual(['expire granted -20000', 'grant granted 20000']);
  });

  it('that ended a year is followed by none until the next is paid', async () => {
    await paid(team, { annual: true, period_start: new Date(now() - 365 * DAY) });
    await over(3 * DAY + 1_000);
    const start = (await subscriptionOf(t, orgId)).period_end!;
    const year = { current_period_start: start, current_period_end: addMonths(start, 12) };
    await external({ product_id: team.polar_product_id_annual, ...year });
    await close();
    await done((tx) => subscriptions.externalStatus(tx, orgId, 'active'));
    expect(await subscriptionOf(t, orgId)).toMatchObject({ period_end: null });
    expect((await moves()).slice(1)).toEqual(['expire granted -20000']);
  });

  it('that an operator has forced is the one that the order finds', async () => {
    await paid(starter);
    await external();
    const { period_end } = await subscriptionOf(t, orgId);
    expect(await done((tx) => t.get(Periods).close(tx, orgId, { force: true }))).toMatchObject({ rolled: true, granted: '3000' });
    const before = await moves();
    await paid(starter, { reason: 'subscription_cycle', period_start: period_end });
    expect(await moves()).toEqual(before);
    await paid(starter, { reason: 'subscription_cycle', period_start: (await subscriptionOf(t, orgId)).period_end });
    expect((await moves()).slice(before.length)).toEqual(['expire granted -3000', 'grant granted 3000']);
  });

  it('comes month by month where nobody closed them, and each is granted once', async () => {
    await paid(starter, { external_subscription_id: null });
    await over(70 * DAY);
    while (await t.get(Periods).closeDue(100));
    const all = await moves();
    expect(all.slice(1)).toEqual(Array.from({ length: 6 }, (_, i) => `${i % 2 ? 'grant granted ' : 'expire granted -'}3000`));
    expect((await subscriptionOf(t, orgId)).period_end!.getTime()).toBeGreaterThan(now());
  });
});

it('takes orders, ends of periods and revocations of one organization at the same instant one after another', async () => {
  await paid(starter, { external_subscription_id: null });
  await set({ period_end: new Date(now() - 1_000) });
  const { period_start } = await subscriptionOf(t, orgId);
  await Promise.all([
    close(),
    paid(team, { reason: 'subscription_update', period_start }),
    done((tx) => subscriptions.revoked(tx, by(), orgId)),
    buy('10'),
    spend('5'),
    close(),
    paid(team, { reason: 'subscription_update', period_start }),
  ]);
  const rows = await moves();
  expect(rows.filter((row) => row === 'grant granted 20000').length).toBe(1);
  const [sums] = await t.db.query(
    sql<{ ok: boolean }>(`SELECT balance = (SELECT coalesce(sum(delta), 0) FROM credit_ledger WHERE org_id = $1 AND bucket = 'granted') AND
      purchased_balance = (SELECT coalesce(sum(delta), 0) FROM credit_ledger WHERE org_id = $1 AND bucket = 'purchased') AS ok FROM org_credits WHERE org_id = $1`), [orgId]); // prettier-ignore
  expect(sums.ok).toBe(true);
});
