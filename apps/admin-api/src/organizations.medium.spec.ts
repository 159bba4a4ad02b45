import { uuidv7 } from 'uuidv7';
import { sql } from '@aps/platform/testing';
import { World, type Person } from './testing/world';

describe('organizations, administered', () => {
  let world: World;
  let owner: Person;
  const nobody = uuidv7();

  beforeAll(async () => {
    world = await World.create();
    owner = await world.person();
  });
  afterAll(() => world?.destroy());

  describe('the list', () => {
    let alpha: { id: string; slug: string };
    let beta: { id: string; slug: string };
    const names = async (query: string) => ((await world.call('GET', `/orgs${query}`)).body.items as { name: string }[]).map((o) => o.name);

    beforeAll(async () => {
      alpha = await world.organization(owner, 'Alpha 100%');
      beta = await world.organization(owner, 'Beta_Works');
      await world.call('POST', `/orgs/${beta.id}/suspend`);
    });

    it('shows every organization, without a plan', async () => {
      const { status, body } = await world.call('GET', '/orgs');
      expect([status, body.total, body.next_offset]).toEqual([200, 2, null]);
      expect(body.items.find((o: { id: string }) => o.id === alpha.id)).toEqual({
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
    });

    it('finds parts of names and slugs, wildcards being letters', async () => {
      expect(await names('?q=ALPHA')).toEqual(['Alpha 100%']);
      expect(await names('?q=beta-works')).toEqual(['Beta_Works']);
      expect(await names('?q=0%25')).toEqual(['Alpha 100%']);
      expect(await names('?q=a%25a')).toEqual([]);
      expect(await names('?q=a_w')).toEqual(['Beta_Works']);
      expect(await names('?q=b_ta')).toEqual([]);
    });

    it('filters by suspension and by plan', async () => {
      expect(await names('?suspended=true')).toEqual(['Beta_Works']);
      expect(await names('?suspended=false')).toEqual(['Alpha 100%']);
      expect(await names('?plan_code=__none__&suspended=true')).toEqual(['Beta_Works']);
      expect(await world.call('GET', '/orgs?plan_code=starter')).toMatchObject({
        status: 200,
        body: { items: [], total: 0, next_offset: null },
      });
    });

    it('comes in pages', async () => {
      expect((await world.call('GET', '/orgs?limit=1')).body).toMatchObject({ items: [{}], total: 2, next_offset: 1 });
      expect((await world.call('GET', '/orgs?limit=1&offset=1')).body).toMatchObject({ items: [{}], total: 2, next_offset: null });
      expect(await world.call('GET', '/orgs?limit=101&suspended=perhaps')).toMatchObject({
        status: 422,
        body: { detail: [{ loc: ['query', 'suspended'], type: 'bool_parsing' }, { loc: ['query', 'limit'] }] },
      });
    });
  });

  it('shows one with its roster', async () => {
    const org = await world.organization(owner, 'Detailed');
    const [member, gone] = [await world.person(), await world.person()];
    await world.member(org.id, member, 'ADMIN');
    await world.member(org.id, gone);
    await world.db.execute(sql('UPDATE users SET deactivated_at = now() WHERE id = $1'), [gone.id]);
    const { status, body } = await world.call('GET', `/orgs/${org.id.toUpperCase()}`);
    expect(status).toBe(200);
    expect(body).toMatchObject({ id: org.id, name: 'Detailed', member_count: 3, plan_code: null, credits_remaining: null });
    const row = (person: Person, role: string, deactivated = false) => ({
      user_id: person.id,
      email: person.email,
      name: person.name,
      role,
      joined_at: expect.any(String),
      deactivated,
    });
    expect(body.members).toEqual([row(owner, 'OWNER'), row(member, 'ADMIN'), row(gone, 'MEMBER', true)]);
    expect(await world.call('GET', `/orgs/${nobody}`)).toMatchObject({ status: 404, body: { code: 'not_found' } });
  });

  it('shows the usage of one, like its members see it', async () => {
    const org = await world.organization(owner, 'Used');
    const { status, body } = await world.call('GET', `/orgs/${org.id}/usage?window=7d`);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      window: '7d',
      totals: { chats: 0, turns: 0, tokens: 0, cost_usd: '0', credits: '0' },
      by_agent: [],
      by_model: [],
      by_feature: [],
    });
    expect((await world.call('GET', `/orgs/${org.id}/usage`)).body.window).toBe('30d');
    expect(await world.call('GET', `/orgs/${org.id}/usage?window=2d`)).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['query', 'window'], type: 'enum' }] },
    });
    expect(await world.call('GET', `/orgs/${nobody}/usage`)).toMatchObject({ status: 404 });
  });

  it('suspends and unsuspends, each once', async () => {
    const org = await world.organization(owner, 'Suspended');
    const first = await world.call('POST', `/orgs/${org.id}/suspend`);
    expect(first).toMatchObject({
      status: 200,
      body: { org_id: org.id, suspended: true, suspended_at: expect.any(String), changed: true },
    });
    expect((await world.call('POST', `/orgs/${org.id}/suspend`)).body).toEqual({ ...first.body, changed: false });
    expect(await world.call('POST', `/orgs/${org.id}/unsuspend`)).toMatchObject({
      status: 200,
      body: { org_id: org.id, suspended: false, suspended_at: null, changed: true },
    });
    expect(await world.call('POST', `/orgs/${org.id}/unsuspend`)).toMatchObject({
      status: 200,
      body: { suspended: false, changed: false },
    });
    const rows = await world.audited(org.id);
    expect(rows.filter((row) => row.source === 'admin').map((row) => row.action)).toEqual([
      'organization.suspended',
      'organization.unsuspended',
    ]);
    for (const verb of ['suspend', 'unsuspend']) expect(await world.call('POST', `/orgs/${nobody}/${verb}`)).toMatchObject({ status: 404 });
  });

  describe('members', () => {
    it('are added from registered users only, as MEMBER unless said otherwise', async () => {
      const org = await world.organization(owner, 'Joined');
      const [user, second] = [await world.person(), await world.person()];
      const added = await world.call('POST', `/orgs/${org.id}/members`, { email: user.email });
      expect(added).toMatchObject({
        status: 201,
        body: { user_id: user.id, email: user.email, name: user.name, role: 'MEMBER', joined_at: expect.any(String), deactivated: false },
      });
      expect(await world.call('POST', `/orgs/${org.id}/members`, { email: second.email, role: 'OWNER' })).toMatchObject({
        status: 201,
        body: { role: 'OWNER' },
      });
      expect(await world.call('POST', `/orgs/${org.id}/members`, { email: user.email })).toMatchObject({
        status: 409,
        body: { code: 'already_member' },
      });
      expect(await world.call('POST', `/orgs/${org.id}/members`, { email: 'unknown@example.com' })).toMatchObject({
        status: 404,
        body: { code: 'user_not_found' },
      });
      expect(await world.call('POST', `/orgs/${nobody}/members`, { email: user.email })).toMatchObject({
        status: 404,
        body: { code: 'not_found' },
      });
      expect(await world.call('POST', `/orgs/${org.id}/members`, { email: user.email, role: 'owner' })).toMatchObject({
        status: 422,
        body: { detail: [{ loc: ['body', 'role'], type: 'enum' }] },
      });
      expect(await world.audited(user.id)).toEqual([
        { source: 'admin', action: 'member.added', org_id: org.id, actor_id: world.operator.id },
      ]);
    });

    it('change roles, as long as an owner stays', async () => {
      const org = await world.organization(owner, 'Ranked');
      const user = await world.person();
      await world.member(org.id, user);
      const path = (id: string) => `/orgs/${org.id}/members/${id}`;
      expect(await world.call('PATCH', path(owner.id), { role: 'MEMBER' })).toMatchObject({ status: 409, body: { code: 'last_owner' } });
      expect(await world.call('PATCH', path(user.id), { role: 'OWNER' })).toMatchObject({
        status: 200,
        body: { user_id: user.id, role: 'OWNER' },
      });
      expect(await world.call('PATCH', path(owner.id), { role: 'MEMBER' })).toMatchObject({ status: 200, body: { role: 'MEMBER' } });
      expect(await world.call('PATCH', path(user.id), {})).toMatchObject({
        status: 422,
        body: { detail: [{ loc: ['body', 'role'], type: 'missing' }] },
      });
      expect(await world.call('PATCH', path(nobody), { role: 'MEMBER' })).toMatchObject({ status: 404 });
      expect((await world.audited(user.id)).at(-1)).toMatchObject({ source: 'admin', action: 'member.role_changed', org_id: org.id });
    });

    it('leave, but for the last owner', async () => {
      const org = await world.organization(owner, 'Left');
      const user = await world.person();
      await world.member(org.id, user);
      expect(await world.call('DELETE', `/orgs/${org.id}/members/${owner.id}`)).toMatchObject({
        status: 409,
        body: { code: 'last_owner' },
      });
      expect((await world.call('DELETE', `/orgs/${org.id}/members/${user.id}`)).status).toBe(204);
      expect(await world.call('DELETE', `/orgs/${org.id}/members/${user.id}`)).toMatchObject({ status: 404 });
      expect((await world.audited(user.id)).map((row) => row.action)).toEqual(['member.added', 'member.removed']);
    });
  });

  describe('the backfill of subscriptions', () => {
    const orgs = async () => (await world.db.query(sql('SELECT 1 FROM organizations WHERE deleted_at IS NULL'))).length;

    it('has nobody to subscribe to anything yet', async () => {
      const org = await world.organization(owner, 'Alone');
      const written = async () => (await world.db.query(sql('SELECT 1 FROM audit_log'))).length;
      const before = await written();
      expect(await world.call('POST', '/subscriptions/backfill', {})).toMatchObject({
        status: 200,
        body: { created: 0, skipped: await orgs(), plan_code: 'trial', org_ids: [] },
      });
      expect((await world.call('POST', '/subscriptions/backfill', { org_id: org.id, plan_code: 'trial' })).body).toEqual({
        created: 0,
        skipped: 1,
        plan_code: 'trial',
        org_ids: [],
      });
      expect((await world.call('POST', '/subscriptions/backfill')).status).toBe(200);
      expect(await written()).toBe(before);
    });

    it('knows neither other plans nor other organizations', async () => {
      expect(await world.call('POST', '/subscriptions/backfill', { plan_code: 'unheard' })).toMatchObject({
        status: 404,
        body: { code: 'not_found' },
      });
      expect(await world.call('POST', '/subscriptions/backfill', { org_id: nobody })).toMatchObject({
        status: 404,
        body: { code: 'not_found' },
      });
      expect(await world.call('POST', '/subscriptions/backfill', { org_id: 'x', plan_code: '' })).toMatchObject({
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
