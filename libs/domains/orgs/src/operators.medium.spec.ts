import { Organization } from '@aps/entities';
import { actingOperator } from '@aps/guards';
import { aPerson } from '@aps/identity/testing';
import { Broadcaster } from '@aps/platform/broadcast';
import { outcome, sql } from '@aps/platform/testing';
import { testService } from '@aps/testing';
import { MembersService } from './members.service';
import { OrganizationsService } from './organizations.service';
import { aMember, anOrg, aTeam } from './testing';
import { anInvitation, ORGS, TestLimits } from './testing/orgs';

// What each operation does is said over HTTP, in the specs of admin-api.
describe('what operators do', () => {
  const t = testService(ORGS);
  afterEach(() => jest.restoreAllMocks());

  const operator = async () => actingOperator((await aPerson(t)).id, { requestId: 'op-1' });
  const organizations = () => t.get(OrganizationsService);

  describe('a suspension', () => {
    it('is one change for many who do it at once', async () => {
      const [{ id }, by] = [await anOrg(t), await operator()];
      const results = await Promise.all(Array.from({ length: 10 }, () => organizations().setSuspended(by, id, true)));
      expect(results.filter((r) => r.changed)).toHaveLength(1);
      expect(new Set(results.map((r) => r.suspended_at?.getTime())).size).toBe(1);
      expect(await t.audit({ org_id: id })).toMatchObject([{ action: 'organization.suspended' }]);
    });

    it('tells nobody of what is rolled back', async () => {
      const [{ id }, by] = [await anOrg(t), await operator()];
      const send = jest.spyOn(t.get(Broadcaster), 'send').mockImplementation();
      // Fails as late as can be: at the commit.
      await t.db.execute(sql(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'refused at commit'; END $$`));
      await t.db.execute(
        sql(
          'CREATE CONSTRAINT TRIGGER refuse AFTER UPDATE ON organizations DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse()',
        ),
      );
      await expect(organizations().setSuspended(by, id, true)).rejects.toThrow('refused at commit');
      await t.db.execute(sql('DROP FUNCTION refuse() CASCADE'));
      expect(send).not.toHaveBeenCalled();
      expect(await t.db.manager.findOneBy(Organization, { id })).toMatchObject({ suspended_at: null });
      expect(await t.audit({ org_id: id })).toEqual([]);
    });
  });

  it('who is added has no invitation that waits any more', async () => {
    const host = await anInvitation(t, await anOrg(t));
    await aPerson(t, { email: host.email });
    await t.get(MembersService).adminAdd(await operator(), host.id, host.email, 'MEMBER');
    expect((await t.call('GET', `${host.path}/members/invitations`, { as: host.owner })).body).toEqual([]);
  });

  describe("an organization's own audit log", () => {
    it('shows admins what happened, newest first, and no operator by name', async () => {
      const owner = await aPerson(t);
      const { id } = await t.make('POST', '/api/orgs', { as: owner, body: { name: 'Watched' } });
      const [admin, mia] = [await aMember(t, { id }, 'ADMIN'), await aMember(t, { id }, 'MEMBER')];
      await t.get(MembersService).adminSetRole(await operator(), id, mia.id, 'ADMIN');
      await t.make('POST', '/api/orgs', { as: owner, body: { name: 'Foreign' } });
      const { status, body } = await t.call('GET', `/api/orgs/${id}/audit`, { as: admin });
      expect(status).toBe(200);
      expect(body).toEqual({
        total: 2,
        next_offset: null,
        items: [
          {
            id: expect.any(String),
            source: 'admin',
            action: 'member.role_changed',
            actor: null,
            target: { kind: 'user', id: mia.id },
            metadata: {},
            created_at: expect.any(String),
          },
          {
            id: expect.any(String),
            source: 'business',
            action: 'organization.created',
            actor: { id: owner.id, email: owner.email },
            target: { kind: 'organization', id },
            metadata: { name: 'Watched', slug: expect.any(String) },
            created_at: expect.any(String),
          },
        ],
      });
      const page = await t.call('GET', `/api/orgs/${id}/audit?limit=1`, { as: owner });
      expect(page.body).toMatchObject({ total: 2, next_offset: 1, items: [{ source: 'admin' }] });
    });

    it('is for admins, and needs the entitlement', async () => {
      const { path, owner, member } = await aTeam(t);
      const read = (as: typeof owner) => t.call('GET', `${path}/audit`, { as });
      expect(outcome(await read(member))).toEqual([403, 'insufficient_role']);
      t.get(TestLimits).auditLog = false;
      expect(await read(owner)).toMatchObject({
        status: 403,
        body: { code: 'entitlement_required', context: { entitlement: 'audit_log' } },
      });
    });
  });
});
