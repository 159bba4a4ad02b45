import { Membership } from '@aps/entities';
import { IdentityHttpModule } from '@aps/identity/http';
import { allow, anEmail, aPerson, mailedLinks, signup } from '@aps/identity/testing';
import { OrgsModule } from '@aps/orgs';
import { OrgsHttpModule } from '@aps/orgs/http';
import { aMember, anOrg } from '@aps/orgs/testing';
import { BASE_MODULES, testService } from '@aps/testing';
import { BillingModule } from './billing.module';
import { OrgPlans } from './org-plans';
import { aPlan, movesOf, onPlan } from './testing';

const t = testService([...BASE_MODULES, BillingModule, OrgsModule.forRoot(OrgPlans), IdentityHttpModule, OrgsHttpModule], {
  settings: { CREDITS_DEFAULT_NEW_ORG_PLAN: 'first', EMAIL_PROOF: 'required', REGISTRATION_MODE: 'open' },
});
beforeAll(() => aPlan(t, { code: 'first', renews: false, initial_credits: '500', max_seats: 2, audit_log: true }));
const granted = ['grant granted 500'];

it('a new organization is on the plan of new ones, with its credits, and says so', async () => {
  const owner = await aPerson(t);
  const { status, body } = await t.call('POST', '/api/orgs', { as: owner, body: { name: 'New' } });
  expect([status, body.plan_code]).toEqual([201, 'first']);
  expect(await movesOf(t, body.id)).toEqual(granted);
  expect((await t.call('GET', `/api/orgs/${body.id}`, { as: owner })).body.plan_code).toBe('first');
  expect((await t.call('GET', `/api/orgs/${body.id}/audit`, { as: owner })).status).toBe(200);
});

it('nobody has the credits of new ones twice', async () => {
  const owner = await aPerson(t);
  const found = async () => (await t.make('POST', '/api/orgs', { as: owner, body: { name: 'Again' } })).id as string;
  const ids = await Promise.all([found(), found(), found()]);
  const moves = await Promise.all(ids.map((id) => movesOf(t, id)));
  expect(moves.flat()).toEqual(granted);
});

it('who signs up has them when the address is proven', async () => {
  const email = anEmail();
  await allow(t, email);
  const { status, body } = await signup(t, email);
  expect(status).toBe(201);
  const orgId = body.memberships[0].org_id as string;
  expect(await movesOf(t, orgId)).toEqual([]);
  const token = (await mailedLinks(t, email, 'verify')).at(-1);
  expect((await t.call('POST', '/api/auth/verify', { body: { token } })).status).toBe(200);
  expect(await movesOf(t, orgId)).toEqual(granted);
});

it('what somebody has founded and left has no credits when their address is proven', async () => {
  const email = anEmail();
  const { user, session, memberships } = (await signup(t, email)).body;
  const left = memberships[0].org_id as string;
  const { id: own } = await t.make('POST', '/api/orgs', { as: session, body: { name: 'Own' } });
  await aMember(t, { id: left }, 'OWNER');
  await t.db.manager.delete(Membership, { org_id: left, user_id: user.id });
  const token = (await mailedLinks(t, email, 'verify')).at(-1);
  expect((await t.call('POST', '/api/auth/verify', { body: { token } })).status).toBe(200);
  expect([await movesOf(t, left), await movesOf(t, own as string)]).toEqual([[], granted]);
});

it('where new ones are put on no plan, they have none, and nothing keeps them from being made', async () => {
  const owner = await aPerson(t);
  for (const code of ['', 'unheard']) {
    t.configure({ CREDITS_DEFAULT_NEW_ORG_PLAN: code });
    const { status, body } = await t.call('POST', '/api/orgs', { as: owner, body: { name: 'Free' } });
    expect([status, body.plan_code]).toEqual([201, null]);
    expect(await t.call('GET', `/api/orgs/${body.id}/audit`, { as: owner })).toMatchObject({
      status: 403,
      body: { code: 'entitlement_required' },
    });
  }
  t.configure({ CREDITS_DEFAULT_NEW_ORG_PLAN: 'first' });
});

it('the list of one’s organizations has the plan of each', async () => {
  const [one, other] = [await anOrg(t, { name: 'A' }), await aPlan(t, { code: 'other' })];
  const second = await anOrg(t, { name: 'B', owner: one.owner });
  await onPlan(t, second.id, other, { status: 'canceled' });
  await anOrg(t, { name: 'C', owner: one.owner, plan: null });
  const { items } = (await t.call('GET', '/api/orgs', { as: one.owner })).body;
  expect(items.map(({ name, plan_code }: { name: string; plan_code: string }) => [name, plan_code])).toEqual([
    ['A', 'test'],
    ['B', 'other'],
    ['C', null],
  ]);
});
