import { ExternalSubscription, Organization, Plan, type Subscription } from '@aps/entities';
import { anOrg } from '@aps/orgs/testing';
import { NO_CALLER } from '@aps/platform/database';
import { BASE_MODULES, testService } from '@aps/testing';
import { uuidv7 } from 'uuidv7';
import { BillingModule } from '../billing.module';
import { addCredits, aPlan, movesOf, onPlan, subscriptionOf } from '../testing';
import { addMonths } from './periods.policy';
import { Periods } from './periods.service';
import { Subscriptions } from './subscriptions.service';

const t = testService([...BASE_MODULES, BillingModule]);
const DAY = 86_400_000;

let starter: Plan;
let trial: Plan;
beforeAll(async () => {
  starter = await aPlan(t, { monthly_credits: '3000' });
  trial = await aPlan(t, { code: 'trial', renews: false });
});

/** An organization whose period is over, and which nobody pays for. */
const isOver = async (ago: number, columns: Partial<Subscription> = {}, plan = starter) => {
  const { id } = await anOrg(t, { plan: null });
  await onPlan(t, id, plan, { period_end: new Date(t.db.now().getTime() - ago), ...columns });
  return id;
};
const closeDue = () => t.get(Periods).closeDue(1);
const close = (orgId: string) => t.db.transaction(NO_CALLER, (tx) => t.get(Periods).close(tx, orgId));

it('closes the period of an organization though that of another cannot be closed', async () => {
  const failing = await isOver(2 * DAY);
  const orgId = await isOver(DAY);
  await t.db.manager.query(`ALTER TABLE subscriptions ADD CONSTRAINT cannot CHECK (org_id <> '${failing}') NOT VALID`);
  try {
    await expect(closeDue()).rejects.toThrow('1 of 2');
  } finally {
    await t.db.manager.query('ALTER TABLE subscriptions DROP CONSTRAINT cannot');
  }
  expect([await movesOf(t, failing), await movesOf(t, orgId)]).toEqual([[], ['grant granted 3000']]);
  expect([await closeDue(), await movesOf(t, failing)]).toEqual([1, ['grant granted 3000']]);
});

it('closes none of an organization that is deleted', async () => {
  const orgId = await isOver(DAY);
  await t.db.manager.softDelete(Organization, orgId);
  expect([await closeDue(), await movesOf(t, orgId)]).toEqual([0, []]);
});

it('closes a period once more that an operator has had end at the same instant once more', async () => {
  const orgId = await isOver(DAY, {}, trial);
  await addCredits(t, orgId, '500');
  expect(await close(orgId)).toMatchObject({ rolled: true, expired: '500' });
  await addCredits(t, orgId, '300');
  await onPlan(t, orgId, trial, { status: 'active' });
  expect(await close(orgId)).toMatchObject({ rolled: true, expired: '300' });
  expect(await subscriptionOf(t, orgId)).toMatchObject({ status: 'expired' });
});

it('neither expires nor ends what a plan has brought that renews no more', async () => {
  const plan = await aPlan(t, { monthly_credits: '3000' });
  const orgId = await isOver(DAY, { period_start: new Date(t.db.now().getTime() - 31 * DAY) }, plan);
  await addCredits(t, orgId, '500');
  await t.db.manager.update(Plan, plan.id, { renews: false });
  expect(await close(orgId)).toMatchObject({ rolled: false, reason: 'no_period', period_end: null });
  expect(await subscriptionOf(t, orgId)).toMatchObject({ status: 'active', period_start: null, period_end: null });
  expect(await movesOf(t, orgId)).toEqual(['adjust granted 500']);
});

it('grants a month once, however often its period is opened', async () => {
  const orgId = await isOver(DAY);
  const { period_end } = await subscriptionOf(t, orgId);
  await close(orgId);
  await onPlan(t, orgId, starter, { period_end });
  expect(await close(orgId)).toMatchObject({ rolled: true, expired: '3000', granted: '0' });
  expect(await movesOf(t, orgId)).toEqual(['grant granted 3000', 'expire granted -3000']);
});

it('begins no period of who has to pay, and of whom no order is awaited', async () => {
  const orgId = await isOver(4 * DAY, { status: 'past_due' });
  const before = await subscriptionOf(t, orgId);
  expect(await closeDue()).toBe(0);
  expect(await close(orgId)).toMatchObject({ rolled: false, reason: 'waiting_for_payment' });
  expect([await subscriptionOf(t, orgId), await movesOf(t, orgId)]).toEqual([before, []]);
});

it.each(['active', 'past_due'] as const)(
  'begins no period of a subscription that the provider has ended, and that is %s here',
  async (status) => {
    const [orgId, id] = [(await anOrg(t, { plan: null })).id, uuidv7()];
    const revoked_at = new Date(t.db.now().getTime() - 40 * DAY);
    await t.db.manager.insert(ExternalSubscription, { id, org_id: orgId, status: 'canceled', modified_at: revoked_at, revoked_at });
    await onPlan(t, orgId, starter, { status, external_subscription_id: id, period_end: new Date(t.db.now().getTime() - 4 * DAY) });
    await addCredits(t, orgId, '500');
    await addCredits(t, orgId, '70', 'purchased');
    expect(await closeDue()).toBe(1);
    expect(await subscriptionOf(t, orgId)).toMatchObject({ plan_id: trial.id, status: 'active', external_subscription_id: null });
    expect(await movesOf(t, orgId)).toEqual(['adjust granted 500', 'adjust purchased 70', 'expire granted -500']);
    expect(await closeDue()).toBe(0);
  },
);

describe('a plan that a subscription has brought which the provider has ended', () => {
  const ended = async (plan: Plan, columns: Partial<ExternalSubscription> = {}) => {
    const [orgId, id, revoked_at] = [(await anOrg(t, { plan: null })).id, uuidv7(), new Date(t.db.now().getTime() - 40 * DAY)];
    await t.db.manager.insert(ExternalSubscription, {
      ...{ id, org_id: orgId, status: 'canceled', modified_at: revoked_at, revoked_at },
      ...columns,
    });
    await onPlan(t, orgId, plan, { external_subscription_id: id, period_end: new Date(t.db.now().getTime() - DAY) });
    return orgId;
  };

  it('goes on for the year that is paid', async () => {
    const end = new Date(t.db.now().getTime() + 200 * DAY);
    const orgId = await ended(starter, { current_period_start: addMonths(end, -12), current_period_end: end });
    expect(await close(orgId)).toMatchObject({ rolled: true, granted: '3000' });
    expect(await subscriptionOf(t, orgId)).toMatchObject({ plan_id: starter.id, status: 'active' });
  });

  it('is not what ends the plan that an operator gives instead', async () => {
    const orgId = await ended(starter);
    const given = await aPlan(t, { monthly_credits: '50' });
    await t.db.transaction(NO_CALLER, (tx) => t.get(Subscriptions).change(tx, orgId, given, 'test'));
    await onPlan(t, orgId, given, { period_end: new Date(t.db.now().getTime() - DAY) });
    expect(await close(orgId)).toMatchObject({ rolled: true, granted: '50' });
    expect(await subscriptionOf(t, orgId)).toMatchObject({ plan_id: given.id, status: 'active', external_subscription_id: null });
  });
});
