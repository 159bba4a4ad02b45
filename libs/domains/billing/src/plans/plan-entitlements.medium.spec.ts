import { Plan, Subscription, type SubscriptionStatus } from '@aps/entities';
import { anOrg, type TestOrg } from '@aps/orgs/testing';
import { Broadcaster } from '@aps/platform/broadcast';
import { NO_CALLER } from '@aps/platform/database';
import { BASE_MODULES, eventually, TEST_PLAN, testService } from '@aps/testing';
import { uuidv7 } from 'uuidv7';
import { BillingModule } from '../billing.module';
import { CAPS, Entitlements, FEATURES } from '../entitlements';
import { PlanEntitlements } from './plan-entitlements';

const t = testService([...BASE_MODULES, BillingModule]);
let org: TestOrg;
let entitlements: Entitlements;
beforeAll(() => {
  entitlements = t.get(Entitlements);
});
beforeEach(async () => {
  org = await anOrg(t);
});

const of = () => entitlements.of(org.id);
const subscribe = (columns: Partial<Subscription>) => t.db.manager.update(Subscription, { org_id: org.id }, columns);
const forget = () => t.get(PlanEntitlements).drop(null);
const NOTHING = Object.fromEntries([...FEATURES.map((name) => [name, false]), ...CAPS.map((name) => [name, 0])]);

it('is what the plan includes, and nothing without one', async () => {
  const set = Object.fromEntries([...FEATURES, ...CAPS].map((name) => [name, TEST_PLAN[name]]));
  expect(await of()).toEqual(set);
  expect(await entitlements.of((await anOrg(t, { plan: null })).id)).toEqual(NOTHING);
  expect(await entitlements.of(uuidv7())).toEqual(NOTHING);
});

it.each<[SubscriptionStatus, boolean]>([
  ['trialing', true],
  ['active', true],
  ['past_due', true],
  ['canceled', false],
  ['expired', false],
  ['unsubscribed', false],
])('is open to who is %s: %s', async (status, open) => {
  await subscribe({ status, overrides: { max_agents: 7 } });
  expect(await of()).toEqual(open ? expect.objectContaining({ byo_keys: true, max_agents: 7 }) : NOTHING);
});

it('has what is an organization’s own before what its plan says, for as long as it is its own', async () => {
  await subscribe({ overrides: { audit_log: false, max_seats: 0, max_agents: -1 } });
  expect(await of()).toMatchObject({ audit_log: false, max_seats: 0, max_agents: -1, max_inboxes: TEST_PLAN.max_inboxes });
  await subscribe({ overrides: {} });
  forget();
  expect(await of()).toMatchObject({ audit_log: true, max_seats: TEST_PLAN.max_seats });
});

it('overrides nothing that does not entitle', async () => {
  await subscribe({ overrides: { is_enterprise: true, code: 1, constructor: 2 } as never });
  expect(Object.keys(await of()).sort()).toEqual([...FEATURES, ...CAPS].sort());
});

it('is found out within a second, announced or not, and at once by who has a transaction open', async () => {
  // However long the statements take.
  const began = performance.now();
  const clock = jest.spyOn(performance, 'now').mockReturnValue(began);
  await of();
  await subscribe({ overrides: { max_agents: 5 } });
  await t.db.transaction(NO_CALLER, async (tx) => {
    expect(await entitlements.of(org.id, tx)).toMatchObject({ max_agents: 5 });
    await tx.manager.update(Subscription, { org_id: org.id }, { overrides: { max_agents: 6 } });
    expect(await entitlements.of(org.id, tx)).toMatchObject({ max_agents: 6 });
  });
  expect(await of()).toMatchObject({ max_agents: TEST_PLAN.max_agents });
  clock.mockReturnValue(began + 1_000);
  expect(await of()).toMatchObject({ max_agents: 6 });
  clock.mockRestore();
});

it('is asked of the database once, however many ask', async () => {
  const asked = jest.spyOn(t.get(PlanEntitlements)['repository'], 'of');
  await Promise.all(Array.from({ length: 50 }, () => entitlements.of(org.id, t.db)));
  expect(asked).toHaveBeenCalledTimes(1);
  asked.mockRestore();
});

it('is dropped by what is told to every process', async () => {
  const dropped = jest.spyOn(t.get(PlanEntitlements), 'drop');
  for (const org_id of [org.id, null]) {
    t.get(Broadcaster).send('settings.changed', { org_id });
    await eventually(() => Promise.resolve(dropped.mock.calls.some(([id]) => id === org_id)), Boolean);
  }
  dropped.mockRestore();
});

it('is told to every process when a plan changes, and not where it does not', async () => {
  const sent = jest.spyOn(t.get(Broadcaster), 'send');
  const announce = (commits: boolean) =>
    t.db
      .transaction(NO_CALLER, async (tx) => {
        await tx.manager.update(Plan, TEST_PLAN.id, { name: 'Changed' });
        t.get(PlanEntitlements).announce(tx, null);
        if (!commits) throw new Error('No.');
      })
      .catch(() => undefined);
  await announce(false);
  expect(sent).not.toHaveBeenCalled();
  await announce(true);
  expect(sent).toHaveBeenCalledWith('settings.changed', { org_id: null });
  sent.mockRestore();
});
