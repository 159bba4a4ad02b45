import { actingOperator } from '@aps/guards';
import { loadConfig } from '@aps/platform/config';
import { sql } from '@aps/platform/testing';
import { MembersService } from './members.service';
import { OrganizationsService } from './organizations.service';
import { anEmail, OrgsTestApp, type Person } from './testing/orgs-test-app';

describe('organizations that one user owns', () => {
  let t: OrgsTestApp;
  beforeAll(async () => {
    t = await OrgsTestApp.start({ REGISTRATION_MODE: 'open' });
  });
  afterAll(() => t.close());
  beforeEach(() => limit('3'));

  const limit = (value: string) => {
    process.env.MAX_OWNED_ORGS = value;
    loadConfig();
  };
  const create = (as: Person) => t.call('POST', '/api/orgs', { as, body: { name: 'Acme' } });
  const statuses = async (as: Person, times: number) =>
    (await Promise.all(Array.from({ length: times }, () => create(as)))).map((a) => a.status).sort();

  it('are at most as many as the setting says, ten without it', async () => {
    const ada = await t.person();
    for (let i = 0; i < 3; i++) expect((await create(ada)).status).toBe(201);
    const { status, body } = await create(ada);
    expect([status, body.code, body.context]).toEqual([
      403,
      'entitlement_exceeded',
      { entitlement: 'max_owned_orgs', limit: 3, current: 3 },
    ]);
    expect((await create(await t.person())).status).toBe(201);
    limit('');
    expect(await statuses(ada, 9)).toEqual([...Array(7).fill(201), 403, 403]);
  });

  it('are exactly as many, however many are made at once', async () => {
    for (let round = 0; round < 3; round++) {
      const ada = await t.person();
      expect(await statuses(ada, 12)).toEqual([201, 201, 201, ...Array(9).fill(403)]);
      expect(
        await t.db.query(sql(`SELECT count(*)::int AS n FROM memberships WHERE user_id = $1 AND role = 'OWNER'`), [ada.userId]),
      ).toEqual([{ n: 3 }]);
    }
  });

  it('count while they live, suspended or owned with others', async () => {
    const ada = await t.person();
    const [first, second] = [await t.org(ada), await t.org(ada)];
    await t.get(OrganizationsService).suspend(actingOperator(ada.userId, {}), second);
    const { orgId, owner } = await t.orgWithOwner();
    await t.get(MembersService).adminAdd(actingOperator(owner.userId, {}), orgId, ada.email, 'OWNER');
    expect((await create(ada)).status).toBe(403);
    expect((await t.call('DELETE', `/api/orgs/${first}`, { as: ada })).status).toBe(202);
    expect(await statuses(ada, 2)).toEqual([201, 403]);
  });

  it('do not count where the user is no owner, and do not bind who is invited or promoted', async () => {
    const ada = await t.person();
    for (const role of ['MEMBER', 'ADMIN'] as const) await t.member((await t.orgWithOwner()).orgId, role, ada);
    expect(await statuses(ada, 4)).toEqual([201, 201, 201, 403]);
    const { orgId, owner } = await t.orgWithOwner();
    expect(
      (await t.call('POST', `/api/orgs/${orgId}/members/invitations`, { as: owner, body: { email: ada.email, role: 'OWNER' } })).status,
    ).toBe(201);
    expect((await create(ada)).body.context).toEqual({ entitlement: 'max_owned_orgs', limit: 3, current: 4 });
  });

  it('begin with the one of the signup', async () => {
    limit('1');
    const email = anEmail();
    const { status, body } = await t.signup(email);
    expect([status, body.memberships.length]).toEqual([201, 1]);
    expect((await create({ userId: body.user.id, email, token: body.session.token })).status).toBe(403);
  });

  it('are as many as one likes where the limit is off', async () => {
    limit('0');
    expect(await statuses(await t.person(), 12)).toEqual(Array(12).fill(201));
  });
});
