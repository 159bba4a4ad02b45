import { SubscriptionBackfill } from '@aps/administration';
import { Ledger } from '@aps/billing';
import { entitle } from '@aps/billing/testing';
import { AuditLogRow, type CreditBucket, Organization, Plan, Subscription, User } from '@aps/entities';
import { actingOperator } from '@aps/guards';
import { aUser, type TestUser } from '@aps/identity/testing';
import { aMember, anOrg, type TestOrg } from '@aps/orgs/testing';
import { Broadcaster } from '@aps/platform/broadcast';
import { NO_CALLER, type Tx } from '@aps/platform/database';
import { outcome } from '@aps/platform/testing';
import { uuidv7 } from 'uuidv7';
import { adminService } from './testing/admin-service';

describe('organizations, administered', () => {
  const admin = adminService();
  const { t, call } = admin;
  const nobody = uuidv7();
  const notFound = [404, 'not_found'];

  describe('the list', () => {
    let [alpha, beta] = [] as TestOrg[];
    const page = async (query: string) => (await call('GET', `/orgs${query}`)).body;

    beforeAll(async () => {
      [alpha, beta] = [await anOrg(t, { name: 'Alpha 100%', plan: null }), await anOrg(t, { name: 'Beta_Works back\\slash' })];
      await t.db.manager.update(Organization, beta.id, { suspended_at: new Date() });
      const plan_id = await t.insert(Plan, { code: 'graced', name: 'Graced', monthly_credits: '1', overdraft_pct: '5' });
      await t.db.manager.update(Subscription, { org_id: beta.id }, { plan_id, status: 'past_due' });
      const post = (bucket: CreditBucket, amount: string) => (tx: Tx) =>
        t.get(Ledger).post(tx, beta.id, { kind: 'adjust', key: `${bucket}:${beta.id}`, bucket, amount });
      await t.db.transaction(NO_CALLER, post('granted', '-2'));
      await t.db.transaction(NO_CALLER, post('purchased', '10'));
      await t.db.manager.update(Organization, (await anOrg(t, { name: 'Alpha deleted' })).id, { deleted_at: new Date() });
    });

    it('shows every organization, with its plan and its credits', async () => {
      const { items, total, next_offset } = await page('');
      expect([total, next_offset]).toEqual([2, null]);
      expect(items[1]).toEqual({
        id: alpha.id,
        name: 'Alpha 100%',
        slug: alpha.slug,
        created_at: expect.any(String),
        suspended: false,
        suspended_at: null,
        member_count: 1,
        plan_code: null,
        subscription_status: null,
        credits_remaining: null,
        credits_balance: null,
        credits_purchased: null,
        credits_overdraft: null,
      });
      expect(items[0]).toMatchObject({
        plan_code: 'graced',
        subscription_status: 'past_due',
        credits_remaining: '8.05',
        credits_balance: '-2',
        credits_purchased: '10',
        credits_overdraft: '0.05',
      });
    });

    it.each([
      // Parts of names and slugs, wildcards being letters.
      ['q=ALPHA', ['alpha']],
      ['q=beta-works', ['beta']],
      ['q=0%25', ['alpha']],
      ['q=a%25a', []],
      ['q=a_w', ['beta']],
      ['q=b_ta', []],
      ['q=K%5CS', ['beta']],
      ['suspended=true', ['beta']],
      ['suspended=false', ['alpha']],
      ['plan_code=__none__', ['alpha']],
      ['plan_code=__none__&suspended=true', []],
      ['plan_code=graced', ['beta']],
      ['plan_code=graced&suspended=true&q=beta', ['beta']],
      ['plan_code=graced&suspended=false', []],
      ['plan_code=test', []],
      ['plan_code=unheard', []],
    ])('is filtered by %s', async (query, found) => {
      const { items, total } = await page(`?${query}`);
      const ids = found.map((name) => (name === 'alpha' ? alpha : beta).id);
      expect([items.map((o: { id: string }) => o.id), total]).toEqual([ids, ids.length]);
    });

    it('comes in pages', async () => {
      expect(await page('?limit=1')).toMatchObject({ items: [{ id: beta.id }], total: 2, next_offset: 1 });
      expect(await page('?limit=1&offset=1')).toMatchObject({ items: [{ id: alpha.id }], total: 2, next_offset: null });
      expect((await page('?limit=101&suspended=perhaps')).detail).toMatchObject([
        { loc: ['query', 'suspended'], type: 'bool_parsing' },
        { loc: ['query', 'limit'] },
      ]);
    });
  });

  it('shows one with its roster', async () => {
    const org = await anOrg(t, { name: 'Detailed' });
    const [member, gone] = [await aMember(t, org, 'ADMIN'), await aMember(t, org, 'MEMBER')];
    await t.db.manager.update(User, gone.id, { deactivated_at: new Date() });
    const { status, body } = await call('GET', `/orgs/${org.id.toUpperCase()}`);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      id: org.id,
      name: 'Detailed',
      member_count: 3,
      plan_code: 'test',
      credits_balance: '0',
      credits_overdraft: '1000000',
    });
    const row = ({ id, email, name }: TestUser, role: string, deactivated = false) => ({
      user_id: id,
      email,
      name,
      role,
      joined_at: expect.any(String),
      deactivated,
    });
    expect(body.members).toEqual([row(org.owner, 'OWNER'), row(member, 'ADMIN'), row(gone, 'MEMBER', true)]);
  });

  it('shows the usage of one, like its members see it', async () => {
    const { id } = await anOrg(t);
    const usage = (query = '') => call('GET', `/orgs/${id}/usage${query}`);
    expect(await usage('?window=7d')).toMatchObject({
      status: 200,
      body: {
        window: '7d',
        totals: { chats: 0, turns: 0, tokens: 0, cost_usd: '0', credits: '0' },
        by_agent: [],
        by_model: [],
        by_feature: [],
      },
    });
    expect((await usage()).body.window).toBe('30d');
    expect((await usage('?window=2d')).body.detail).toMatchObject([{ loc: ['query', 'window'], type: 'enum' }]);
  });

  it('suspends and unsuspends, each once, and tells all processes', async () => {
    const { id } = await anOrg(t);
    const send = jest.spyOn(t.get(Broadcaster), 'send');
    const first = await call('POST', `/orgs/${id}/suspend`);
    expect(first).toMatchObject({ status: 200, body: { org_id: id, suspended: true, suspended_at: expect.any(String), changed: true } });
    expect((await call('POST', `/orgs/${id}/suspend`)).body).toEqual({ ...first.body, changed: false });
    expect(send.mock.calls).toEqual([['settings.changed', { org_id: id }]]);
    const back = await call('POST', `/orgs/${id}/unsuspend`);
    expect([back.status, back.body]).toEqual([200, { org_id: id, suspended: false, suspended_at: null, changed: true }]);
    expect((await call('POST', `/orgs/${id}/unsuspend`)).body).toEqual({ ...back.body, changed: false });
    expect(send).toHaveBeenCalledTimes(2);
    const facts = {
      source: 'admin',
      actor_id: admin.operator.id,
      target_kind: 'organization',
      target_id: id,
      metadata: {},
      request_id: 'req',
    };
    expect(await t.audit({ org_id: id })).toMatchObject([
      { action: 'organization.suspended', ...facts },
      { action: 'organization.unsuspended', ...facts },
    ]);
  });

  it.each([
    ['GET', ''],
    ['GET', '/usage'],
    ['POST', '/suspend'],
    ['POST', '/unsuspend'],
    ['POST', '/members'],
  ])('finds none that is not there, or not any more: %s %s', async (method, path) => {
    const { id } = await anOrg(t);
    await t.db.manager.update(Organization, id, { deleted_at: new Date() });
    const body = path === '/members' ? { email: (await aUser(t)).email } : undefined;
    for (const gone of [id, nobody]) expect(outcome(await call(method, `/orgs/${gone}${path}`, body))).toEqual(notFound);
  });

  describe('members', () => {
    let org: TestOrg;
    beforeEach(async () => {
      org = await anOrg(t);
    });
    const add = (email: string, role?: string) => call('POST', `/orgs/${org.id}/members`, { email, role });
    const setRole = (id: string, role?: string) => call('PATCH', `/orgs/${org.id}/members/${id}`, { role });
    const remove = (id: string) => call('DELETE', `/orgs/${org.id}/members/${id}`);
    const lastOwner = [409, 'last_owner'];

    it('are added from registered users only, as MEMBER unless said otherwise, whatever the plan says', async () => {
      await entitle(t, { max_seats: 0 });
      const { id, email, name } = await aUser(t);
      expect(await add(email.toUpperCase())).toMatchObject({
        status: 201,
        body: { user_id: id, email, name, role: 'MEMBER', joined_at: expect.any(String), deactivated: false },
      });
      expect(await add((await aUser(t)).email, 'OWNER')).toMatchObject({ status: 201, body: { role: 'OWNER' } });
      expect(outcome(await add(email))).toEqual([409, 'already_member']);
      expect(outcome(await add('unknown@example.com'))).toEqual([404, 'user_not_found']);
      expect((await add(email, 'owner')).body.detail).toMatchObject([{ loc: ['body', 'role'], type: 'enum' }]);
      expect(await t.audit({ target_id: id })).toMatchObject([
        {
          source: 'admin',
          action: 'member.added',
          org_id: org.id,
          actor_id: admin.operator.id,
          metadata: { email, role: 'MEMBER' },
          request_id: 'req',
        },
      ]);
    });

    it('change roles, as long as an owner stays', async () => {
      const { id } = await aMember(t, org, 'MEMBER');
      expect(outcome(await setRole(org.owner.id, 'MEMBER'))).toEqual(lastOwner);
      expect(await setRole(id, 'OWNER')).toMatchObject({ status: 200, body: { user_id: id, role: 'OWNER' } });
      expect(await setRole(org.owner.id, 'MEMBER')).toMatchObject({ status: 200, body: { role: 'MEMBER' } });
      expect((await setRole(id)).body.detail).toMatchObject([{ loc: ['body', 'role'], type: 'missing' }]);
      expect(outcome(await setRole(nobody, 'MEMBER'))).toEqual(notFound);
      // What changes nothing is on no record.
      expect((await setRole(id, 'OWNER')).status).toBe(200);
      expect(await t.audit({ target_id: id })).toMatchObject([
        { source: 'admin', action: 'member.role_changed', org_id: org.id, metadata: { from: 'MEMBER', to: 'OWNER' } },
      ]);
    });

    it('leave, but for the last owner', async () => {
      const { id } = await aMember(t, org, 'MEMBER');
      expect(outcome(await remove(org.owner.id))).toEqual(lastOwner);
      expect((await remove(id)).status).toBe(204);
      expect(outcome(await remove(id))).toEqual(notFound);
      expect(await t.audit({ target_id: id })).toMatchObject([{ source: 'admin', action: 'member.removed', org_id: org.id }]);
    });
  });

  describe('the backfill of subscriptions', () => {
    const backfill = (body?: unknown) => call('POST', '/subscriptions/backfill', body);

    const unsubscribed = async () => (await anOrg(t, { plan: null })).id;

    it('subscribes who has no subscription, with the allocation of the plan, and nobody twice', async () => {
      await backfill({});
      const ids = [await unsubscribed(), await unsubscribed()];
      const live = (await call('GET', '/orgs?limit=1')).body.total;
      await t.insert(Plan, { code: 'granting', name: 'Granting', monthly_credits: '3', initial_credits: '4' });
      expect(await backfill({ plan_code: 'granting' })).toMatchObject({
        status: 200,
        body: { created: 2, skipped: live - 2, plan_code: 'granting', org_ids: ids },
      });
      for (const id of ids) {
        expect((await call('GET', `/orgs/${id}`)).body).toMatchObject({
          plan_code: 'granting',
          subscription_status: 'active',
          credits_balance: '7',
        });
        expect(await t.audit({ org_id: id })).toMatchObject([
          { source: 'admin', action: 'subscription.created', actor_id: admin.operator.id, metadata: { plan_code: 'granting' } },
        ]);
      }
      const written = await t.db.manager.count(AuditLogRow);
      for (const body of [{}, undefined, { plan_code: 'granting' }])
        expect((await backfill(body)).body).toMatchObject({ created: 0, skipped: live, org_ids: [] });
      expect((await backfill({ org_id: ids[0], plan_code: 'test' })).body).toEqual({
        created: 0,
        skipped: 1,
        plan_code: 'test',
        org_ids: [],
      });
      expect(await t.db.manager.count(AuditLogRow)).toBe(written);
      expect((await call('GET', `/orgs/${ids[0]}`)).body).toMatchObject({ plan_code: 'granting', credits_balance: '7' });
    });

    it('stops after its time, and goes on when it is asked again', async () => {
      await backfill({});
      const ids = [await unsubscribed(), await unsubscribed()];
      const live = (await call('GET', '/orgs?limit=1')).body.total;
      const run = () => t.get(SubscriptionBackfill).run(actingOperator(admin.operator.id, {}), {}, 0);
      expect(await run()).toMatchObject({ created: 1, skipped: live - 2, org_ids: [ids[0]] });
      expect(await run()).toMatchObject({ created: 1, skipped: live - 1, org_ids: [ids[1]] });
    });

    it('subscribes one alone where it is named, on the plan of new ones unless said otherwise', async () => {
      const [id, other] = [await unsubscribed(), await unsubscribed()];
      expect((await backfill({ org_id: id })).body).toEqual({ created: 1, skipped: 0, plan_code: 'test', org_ids: [id] });
      expect((await call('GET', '/orgs?plan_code=__none__')).body.items).toMatchObject(
        expect.arrayContaining([expect.objectContaining({ id: other })]),
      );
      t.configure({ CREDITS_DEFAULT_NEW_ORG_PLAN: '' });
      expect(outcome(await backfill({ org_id: other }))).toEqual(notFound);
      t.configure({ CREDITS_DEFAULT_NEW_ORG_PLAN: 'test' });
    });

    it('subscribes each once, however often it is asked at the same time', async () => {
      const id = await unsubscribed();
      const answers = await Promise.all([1, 2, 3, 4].map(() => backfill({ org_id: id })));
      expect(answers.map(({ body }) => body.created).sort()).toEqual([0, 0, 0, 1]);
      expect(await t.audit({ org_id: id })).toHaveLength(1);
    });

    it('knows neither other plans nor other organizations', async () => {
      for (const unknown of [{ plan_code: 'unheard' }, { org_id: nobody }]) expect(outcome(await backfill(unknown))).toEqual(notFound);
      expect(await backfill({ org_id: 'x', plan_code: '' })).toMatchObject({
        status: 422,
        body: {
          detail: [
            { loc: ['body', 'org_id'], type: 'uuid_parsing' },
            { loc: ['body', 'plan_code'], type: 'string_too_short' },
          ],
        },
      });
    });
  });
});
