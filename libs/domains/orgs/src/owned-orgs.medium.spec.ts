import { Membership, Organization } from '@aps/entities';
import { anEmail, aPerson, signup } from '@aps/identity/testing';
import type { Bearer } from '@aps/platform/testing';
import { testService } from '@aps/testing';
import { aMember, anOrg } from './testing';
import { invite, ORGS } from './testing/orgs';

describe('organizations that one user owns', () => {
  const t = testService(ORGS, { settings: { REGISTRATION_MODE: 'open' } });
  beforeEach(() => t.configure({ MAX_OWNED_ORGS: '3' }));

  const create = (as: Bearer) => t.call('POST', '/api/orgs', { as, body: { name: 'Acme' } });
  const statuses = async (as: Bearer, times: number) =>
    (await Promise.all(Array.from({ length: times }, () => create(as)))).map((a) => a.status).sort();
  const full = (current: number) => ({
    status: 403,
    body: { code: 'entitlement_exceeded', context: { entitlement: 'max_owned_orgs', limit: 3, current } },
  });

  it('are at most as many as the setting says, ten without it', async () => {
    const ada = await aPerson(t);
    for (let i = 0; i < 3; i++) expect((await create(ada)).status).toBe(201);
    expect(await create(ada)).toMatchObject(full(3));
    expect((await create(await aPerson(t))).status).toBe(201);
    t.configure({ MAX_OWNED_ORGS: undefined });
    expect(await statuses(ada, 9)).toEqual([...Array<number>(7).fill(201), 403, 403]);
  });

  it('are exactly as many, however many are made at once', async () => {
    for (let round = 0; round < 3; round++) {
      const ada = await aPerson(t);
      expect(await statuses(ada, 12)).toEqual([201, 201, 201, ...Array<number>(9).fill(403)]);
      expect(await t.db.manager.countBy(Membership, { user_id: ada.id, role: 'OWNER' })).toBe(3);
    }
  });

  it('count while they live, suspended or owned with others', async () => {
    const ada = await aPerson(t);
    const [first, second, shared] = [(await create(ada)).body.id, (await create(ada)).body.id, (await create(ada)).body.id] as string[];
    await t.db.manager.update(Organization, second, { suspended_at: new Date() });
    await aMember(t, { id: shared }, 'OWNER');
    expect((await create(ada)).status).toBe(403);
    expect((await t.call('DELETE', `/api/orgs/${first}`, { as: ada })).status).toBe(202);
    expect(await statuses(ada, 2)).toEqual([201, 403]);
  });

  it('do not count where others have made them, nor bind who is invited or promoted', async () => {
    const ada = await aPerson(t);
    for (const role of ['MEMBER', 'ADMIN', 'OWNER', 'OWNER', 'OWNER'] as const) await aMember(t, await anOrg(t), role, ada);
    expect((await invite(t, await anOrg(t), ada.email, 'OWNER')).status).toBe(201);
    expect(await statuses(ada, 4)).toEqual([201, 201, 201, 403]);
    expect((await invite(t, await anOrg(t), ada.email, 'OWNER')).status).toBe(201);
    expect(await create(ada)).toMatchObject(full(3));
  });

  it('begin with the one of the signup', async () => {
    t.configure({ MAX_OWNED_ORGS: '1' });
    const { status, body } = await signup(t, anEmail());
    expect([status, body.memberships.length]).toEqual([201, 1]);
    expect((await create(body.session)).status).toBe(403);
  });

  it('are as many as one likes where the limit is off', async () => {
    t.configure({ MAX_OWNED_ORGS: '0' });
    expect(await statuses(await aPerson(t), 12)).toEqual(Array(12).fill(201));
  });
});
