import { type ActingUser, actingOperator } from '@aps/guards';
import { Broadcaster } from '@aps/platform/broadcast';
import { sql } from '@aps/platform/testing';
import { uuidv7 } from 'uuidv7';
import { MembersService } from './members.service';
import { OrgDirectoryQueries } from './org-directory.queries';
import { OrganizationsService } from './organizations.service';
import { anEmail, OrgsTestApp } from './testing/orgs-test-app';

describe('what operators do', () => {
  let t: OrgsTestApp;
  let operator: ActingUser;
  let organizations: OrganizationsService;
  let members: MembersService;
  let directory: OrgDirectoryQueries;
  beforeAll(async () => {
    t = await OrgsTestApp.start();
    operator = actingOperator((await t.person()).userId, { requestId: 'op-1' });
    [organizations, members, directory] = [t.get(OrganizationsService), t.get(MembersService), t.get(OrgDirectoryQueries)];
  });
  afterAll(() => t.close());
  afterEach(() => jest.restoreAllMocks());

  const newest = async (orgId: string) => (await t.audit(orgId)).at(-1);

  describe('suspension', () => {
    it('is done once, keeps its time, is recorded once and told once', async () => {
      const { orgId } = await t.orgWithOwner();
      const send = jest.spyOn(t.get(Broadcaster), 'send').mockImplementation();
      const first = await organizations.suspend(operator, orgId);
      expect(first).toEqual({ ...(await organizations.get(t.db, orgId)), suspended_at: expect.any(Date), changed: true });
      expect(await organizations.suspend(operator, orgId)).toEqual({ ...first, changed: false });
      expect(send.mock.calls).toEqual([['settings.changed', { org_id: orgId }]]);
      expect((await t.audit(orgId)).slice(1)).toEqual([
        {
          source: 'admin',
          action: 'organization.suspended',
          actor_id: operator.userId,
          target_kind: 'organization',
          target_id: orgId,
          metadata: {},
          request_id: 'op-1',
        },
      ]);
      expect(await organizations.unsuspend(operator, orgId)).toMatchObject({ id: orgId, suspended_at: null, changed: true });
      expect(await organizations.unsuspend(operator, orgId)).toMatchObject({ id: orgId, suspended_at: null, changed: false });
      expect((await t.audit(orgId)).slice(2)).toEqual([expect.objectContaining({ source: 'admin', action: 'organization.unsuspended' })]);
      expect(send).toHaveBeenCalledTimes(2);
    });

    it('is one change for many who do it at once', async () => {
      const { orgId } = await t.orgWithOwner();
      const results = await Promise.all(Array.from({ length: 10 }, () => organizations.suspend(operator, orgId)));
      expect(results.filter((r) => r.changed)).toHaveLength(1);
      expect(new Set(results.map((r) => r.suspended_at?.getTime())).size).toBe(1);
      expect((await t.audit(orgId)).filter((a) => a.action === 'organization.suspended')).toHaveLength(1);
    });

    it('tells nobody of what is rolled back', async () => {
      const { orgId } = await t.orgWithOwner();
      const send = jest.spyOn(t.get(Broadcaster), 'send').mockImplementation();
      // Fails as late as can be: at the commit.
      await t.db.execute(sql(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'refused at commit'; END $$`));
      await t.db.execute(
        sql(
          'CREATE CONSTRAINT TRIGGER refuse AFTER UPDATE ON organizations DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse()',
        ),
      );
      await expect(organizations.suspend(operator, orgId)).rejects.toThrow('refused at commit');
      await t.db.execute(sql('DROP FUNCTION refuse() CASCADE'));
      expect(send).not.toHaveBeenCalled();
      expect((await organizations.get(t.db, orgId)).suspended_at).toBeNull();
      expect(await t.audit(orgId)).toHaveLength(1);
    });

    it('shuts members out and lets them in again', async () => {
      const { orgId, owner } = await t.orgWithOwner();
      const seen = async () =>
        (await t.call('GET', `/api/orgs/${orgId}`, { as: await t.member(orgId, 'ADMIN') })).body.code as string | undefined;
      await organizations.suspend(operator, orgId);
      expect(await seen()).toBe('org_suspended');
      await organizations.unsuspend(operator, orgId);
      expect(await seen()).toBeUndefined();
      expect(owner).toBeDefined();
    });

    it('finds no organization that is not there, or not any more', async () => {
      const { orgId } = await t.orgWithOwner();
      await t.db.execute(sql('UPDATE organizations SET deleted_at = now() WHERE id = $1'), [orgId]);
      for (const id of [orgId, uuidv7()]) {
        await expect(organizations.suspend(operator, id)).rejects.toMatchObject({ code: 'not_found' });
        await expect(organizations.unsuspend(operator, id)).rejects.toMatchObject({ code: 'not_found' });
        await expect(organizations.get(t.db, id)).rejects.toMatchObject({ code: 'not_found' });
        await expect(directory.get(id)).rejects.toMatchObject({ code: 'not_found' });
        await expect(members.adminAdd(operator, id, (await t.person()).email, 'OWNER')).rejects.toMatchObject({ code: 'not_found' });
      }
    });
  });

  describe('members', () => {
    it('adds a registered user, whatever the plan says', async () => {
      const { orgId } = await t.orgWithOwner();
      const ada = await t.person();
      t.limits.maxSeats = 0;
      expect(await members.adminAdd(operator, orgId, ada.email.toUpperCase(), 'ADMIN')).toEqual({
        user_id: ada.userId,
        email: ada.email,
        name: expect.any(String),
        role: 'ADMIN',
        joined_at: expect.any(Date),
        deactivated: false,
      });
      t.limits.maxSeats = Infinity;
      expect(await newest(orgId)).toMatchObject({
        source: 'admin',
        action: 'member.added',
        actor_id: operator.userId,
        target_id: ada.userId,
        metadata: { email: ada.email, role: 'ADMIN' },
        request_id: 'op-1',
      });
      await expect(members.adminAdd(operator, orgId, ada.email, 'OWNER')).rejects.toMatchObject({ code: 'already_member' });
      expect(await t.roles(orgId)).toMatchObject({ [ada.email]: 'ADMIN' });
      await expect(members.adminAdd(operator, orgId, anEmail(), 'MEMBER')).rejects.toMatchObject({ code: 'user_not_found', status: 404 });
    });

    it('ends an invitation that waits for who is added', async () => {
      const { orgId, owner } = await t.orgWithOwner();
      const email = anEmail();
      await t.call('POST', `/api/orgs/${orgId}/members/invitations`, { as: owner, body: { email } });
      await t.person(email);
      await members.adminAdd(operator, orgId, email, 'MEMBER');
      expect((await t.call('GET', `/api/orgs/${orgId}/members/invitations`, { as: owner })).body).toEqual([]);
    });

    it('changes any role and removes anybody, but never the last owner', async () => {
      const { orgId, owner } = await t.orgWithOwner();
      const mia = await t.member(orgId, 'MEMBER');
      await expect(members.adminSetRole(operator, orgId, owner.userId, 'MEMBER')).rejects.toMatchObject({ code: 'last_owner' });
      await expect(members.adminRemove(operator, orgId, owner.userId)).rejects.toMatchObject({ code: 'last_owner' });
      expect(await members.adminSetRole(operator, orgId, mia.userId, 'OWNER')).toMatchObject({ user_id: mia.userId, role: 'OWNER' });
      expect(await newest(orgId)).toMatchObject({
        source: 'admin',
        action: 'member.role_changed',
        target_id: mia.userId,
        metadata: { from: 'MEMBER', to: 'OWNER' },
      });
      await members.adminRemove(operator, orgId, owner.userId);
      expect(await newest(orgId)).toMatchObject({ source: 'admin', action: 'member.removed', target_id: owner.userId });
      expect(await t.roles(orgId)).toEqual({ [mia.email]: 'OWNER' });
      const rows = (await t.audit(orgId)).length;
      await members.adminSetRole(operator, orgId, mia.userId, 'OWNER');
      expect(await t.audit(orgId)).toHaveLength(rows);
      await expect(members.adminSetRole(operator, orgId, owner.userId, 'OWNER')).rejects.toMatchObject({ code: 'not_found' });
      await expect(members.adminRemove(operator, orgId, owner.userId)).rejects.toMatchObject({ code: 'not_found' });
    });
  });

  describe('the directory', () => {
    it('finds parts of names and slugs as they are written', async () => {
      const [percent, underscore, backslash] = [
        await t.orgWithOwner('Zed 100% Pure'),
        await t.orgWithOwner('zed under_score'),
        await t.orgWithOwner('ZED back\\slash'),
      ];
      const ids = async (q: string) => (await directory.list({ q }, {})).items.map((o) => o.id);
      expect(await ids('zed')).toEqual([backslash.orgId, underscore.orgId, percent.orgId]);
      expect(await ids('0%')).toEqual([percent.orgId]);
      expect(await ids('R_S')).toEqual([underscore.orgId]);
      expect(await ids('K\\S')).toEqual([backslash.orgId]);
      expect(await ids('zed-100-pure')).toEqual([percent.orgId]);
      expect(await ids('no%such')).toEqual([]);
    });

    it('counts members and all matches, pages, and knows who is suspended', async () => {
      const [a, b, c] = [await t.orgWithOwner('Pager'), await t.orgWithOwner('Pager'), await t.orgWithOwner('Pager')];
      await t.member(a.orgId, 'MEMBER');
      await organizations.suspend(operator, b.orgId);
      await t.db.execute(sql('UPDATE organizations SET deleted_at = now() WHERE id = $1'), [(await t.orgWithOwner('Pager')).orgId]);
      expect(await directory.list({ q: 'pager' }, { limit: 1, offset: 2 })).toEqual({
        items: [{ ...(await organizations.get(t.db, a.orgId)), name: 'Pager', slug: 'pager', suspended_at: null, member_count: 2 }],
        total: 3,
      });
      expect((await directory.list({ q: 'pager', suspended: true }, {})).items.map((o) => o.id)).toEqual([b.orgId]);
      expect((await directory.list({ q: 'pager', suspended: false }, {})).items.map((o) => o.id)).toEqual([c.orgId, a.orgId]);
      expect((await directory.list({}, {})).total).toBeGreaterThan(3);
    });

    it('shows one with its roster', async () => {
      const { orgId, owner } = await t.orgWithOwner('Detail');
      const mia = await t.member(orgId, 'MEMBER');
      await t.db.execute(sql('UPDATE users SET deactivated_at = now() WHERE id = $1'), [mia.userId]);
      expect(await directory.get(orgId)).toMatchObject({
        id: orgId,
        name: 'Detail',
        member_count: 2,
        members: [
          { user_id: owner.userId, role: 'OWNER', deactivated: false },
          { user_id: mia.userId, email: mia.email, role: 'MEMBER', deactivated: true },
        ],
      });
    });
  });

  describe("an organization's own audit log", () => {
    it('shows admins what happened, newest first, and no operator by name', async () => {
      const { orgId, owner } = await t.orgWithOwner();
      const admin = await t.member(orgId, 'ADMIN');
      const mia = await t.member(orgId, 'MEMBER');
      await members.adminSetRole(operator, orgId, mia.userId, 'ADMIN');
      await t.orgWithOwner('Foreign');
      const { status, body } = await t.call('GET', `/api/orgs/${orgId}/audit`, { as: admin });
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
            target: { kind: 'user', id: mia.userId },
            metadata: {},
            created_at: expect.any(String),
          },
          {
            id: expect.any(String),
            source: 'business',
            action: 'organization.created',
            actor: { id: owner.userId, email: owner.email },
            target: { kind: 'organization', id: orgId },
            metadata: { name: 'Acme', slug: expect.any(String) },
            created_at: expect.any(String),
          },
        ],
      });
      expect((await t.call('GET', `/api/orgs/${orgId}/audit?limit=1`, { as: owner })).body).toMatchObject({
        total: 2,
        next_offset: 1,
        items: [{ source: 'admin' }],
      });
    });

    it('is for admins, and needs the entitlement', async () => {
      const { orgId, owner } = await t.orgWithOwner();
      const member = await t.call('GET', `/api/orgs/${orgId}/audit`, { as: await t.member(orgId, 'MEMBER') });
      expect([member.status, member.body.code]).toEqual([403, 'insufficient_role']);
      t.limits.auditLog = false;
      const without = await t.call('GET', `/api/orgs/${orgId}/audit`, { as: owner });
      t.limits.auditLog = true;
      expect([without.status, without.body.code, without.body.context]).toEqual([
        403,
        'entitlement_required',
        { entitlement: 'audit_log' },
      ]);
    });
  });
});
