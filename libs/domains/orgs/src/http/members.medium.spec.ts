import { once } from 'node:events';
import http from 'node:http';
import { Membership, Session, User } from '@aps/entities';
import { anApiToken, aSession } from '@aps/identity/testing';
import { loadConfig } from '@aps/platform/config';
import { PageStream } from '@aps/platform/http';
import { eventually, outcome, sql, type Bearer } from '@aps/platform/testing';
import { testService } from '@aps/testing';
import { uuidv7 } from 'uuidv7';
import { aMember, anOrg, type Member, type TestOrg } from '../testing';
import { anInvitation, ORGS, rolesOf } from '../testing/orgs';

describe('members', () => {
  const t = testService(ORGS);
  let org: TestOrg;
  let [owner, owner2, admin, admin2, mia] = [] as Member[];
  beforeEach(async () => {
    org = await anOrg(t);
    owner = org.owner;
    [owner2, admin, admin2, mia] = [await join('OWNER'), await join('ADMIN'), await join('ADMIN'), await join('MEMBER')];
  });

  const join = (role: Parameters<typeof aMember>[2]) => aMember(t, org, role);
  const get = (rest: string, as: Bearer = owner) => t.call('GET', `${org.path}/members${rest}`, { as });
  const setRole = (as: Bearer, { memberId }: { memberId: string }, role: unknown) =>
    t.call('PATCH', `${org.path}/members/${memberId}`, { as, body: { role } });
  const remove = (as: Bearer, { memberId }: { memberId: string }) => t.call('DELETE', `${org.path}/members/${memberId}`, { as });
  const leave = (as: Bearer) => t.call('POST', `${org.path}/members/leave`, { as });
  const audit = () => t.audit({ org_id: org.id });
  const [forbidden, notFound, self] = [
    [403, 'insufficient_role'],
    [404, 'not_found'],
    [422, 'self_action'],
  ];

  describe('reading', () => {
    it('lists them, oldest first, and one alone', async () => {
      const { body } = await get('', mia);
      expect([body.total, body.next_offset, body.items.length]).toEqual([5, null, 5]);
      expect(body.items[0]).toEqual({
        kind: 'member',
        id: owner.memberId,
        user_id: owner.id,
        email: owner.email,
        name: expect.any(String),
        avatar_url: null,
        role: 'OWNER',
        joined_at: expect.any(String),
        last_active_at: expect.any(String),
        created_at: expect.any(String),
        updated_at: expect.any(String),
      });
      expect((await get(`/${owner.memberId}`, mia)).body).toEqual(body.items[0]);
      expect((await get('?limit=2&offset=4')).body).toMatchObject({ total: 5, next_offset: null, items: [{ role: 'MEMBER' }] });
      expect((await get('?limit=2&offset=9')).body).toEqual({ total: 5, next_offset: null, items: [] });
    });

    it('knows when somebody was last active, by session or by a token that is good here', async () => {
      const lastActive = async () => (await get(`/${mia.memberId}`)).body.last_active_at as string | null;
      const [january, february, march] = ['2026-01-01', '2026-02-01', '2026-03-01'].map((day) => new Date(`${day}T00:00:00Z`));
      await t.db.manager.delete(Session, { user_id: mia.id });
      expect(await lastActive()).toBeNull();
      await aSession(t, mia, { last_used_at: january });
      expect(await lastActive()).toBe('2026-01-01T00:00:00.000Z');
      await anApiToken(t, mia, { org_id: org.id, last_used_at: february });
      expect(await lastActive()).toBe('2026-02-01T00:00:00.000Z');
      await anApiToken(t, mia, { org_id: (await anOrg(t)).id, last_used_at: march });
      expect(await lastActive()).toBe('2026-02-01T00:00:00.000Z');
    });

    it('shows nobody of another organization', async () => {
      const other = await anOrg(t);
      const { memberId } = other.owner;
      for (const answer of [await get(`/${memberId}`), await setRole(owner, other.owner, 'MEMBER'), await remove(owner, other.owner)])
        expect(outcome(answer)).toEqual(notFound);
      expect(outcome(await get('', other.owner))).toEqual([403, 'not_org_member']);
      expect(await rolesOf(t, other)).toEqual({ [other.owner.email]: 'OWNER' });
    });
  });

  describe('changing a role', () => {
    it('lets an owner make anything of anybody else', async () => {
      expect(await setRole(owner, mia, 'OWNER')).toMatchObject({ status: 200, body: { id: mia.memberId, role: 'OWNER' } });
      expect((await setRole(owner, owner2, 'MEMBER')).body.role).toBe('MEMBER');
      const change = { source: 'business', action: 'member.role_changed', actor_id: owner.id, target_kind: 'user' };
      expect(await audit()).toMatchObject([
        { ...change, target_id: mia.id, metadata: { from: 'MEMBER', to: 'OWNER' } },
        { ...change, target_id: owner2.id, metadata: { from: 'OWNER', to: 'MEMBER' } },
      ]);
    });

    it('lets an admin demote admins, and nothing more', async () => {
      const { status, body } = await setRole(admin, mia, 'ADMIN');
      expect([status, body.code, body.context]).toEqual([403, 'insufficient_role', { required: ['OWNER'] }]);
      expect(await rolesOf(t, org)).toMatchObject({ [mia.email]: 'MEMBER' });
      expect((await setRole(admin, admin2, 'MEMBER')).body.role).toBe('MEMBER');
    });

    it('is nothing for members, for oneself, or for a role that is none', async () => {
      expect(outcome(await setRole(mia, admin, 'MEMBER'))).toEqual(forbidden);
      for (const me of [owner, admin]) expect(outcome(await setRole(me, me, 'MEMBER'))).toEqual(self);
      for (const role of ['owner', '', null, undefined, 7, ['OWNER']])
        expect(outcome(await setRole(owner, mia, role))).toEqual([422, 'validation_error']);
    });

    it('records nothing when nothing changes', async () => {
      expect((await setRole(owner, mia, 'MEMBER')).status).toBe(200);
      expect(await audit()).toEqual([]);
    });

    it("goes by the actor's role as it is, not as the guard remembers it", async () => {
      const { invitation } = await anInvitation(t, org);
      // The guard has just seen both as owners, and believes it for a second: nobody tells it.
      await Promise.all([owner, owner2].map((as) => get('', as)));
      await t.db.manager.update(Membership, owner2.memberId, { role: 'MEMBER' });
      const call = (method: string, path: string, body?: unknown) => t.call(method, `${org.path}${path}`, { as: owner2, body });
      for (const attempt of [
        await setRole(owner2, owner, 'MEMBER'),
        await remove(owner2, mia),
        await call('POST', '/members/invite', { email: 'x@example.com' }),
        await call('DELETE', `/members/invitations/${invitation.id}`),
        await call('DELETE', ''),
      ])
        expect(outcome(attempt)).toEqual(forbidden);
    });
  });

  describe('removing', () => {
    it('ends the membership, however lately it was used', async () => {
      expect((await get('', mia)).status).toBe(200);
      expect((await remove(admin, mia)).status).toBe(204);
      expect(await rolesOf(t, org)).not.toHaveProperty([mia.email]);
      expect(outcome(await get('', mia))).toEqual([403, 'not_org_member']);
      expect(await audit()).toMatchObject([
        { action: 'member.removed', actor_id: admin.id, target_id: mia.id, metadata: { role: 'MEMBER' } },
      ]);
      expect(outcome(await remove(admin, mia))).toEqual(notFound);
    });

    it('spares owners from admins, and everybody from members and from themselves', async () => {
      expect(outcome(await remove(admin, owner))).toEqual(forbidden);
      expect(outcome(await remove(mia, admin))).toEqual(forbidden);
      expect(outcome(await remove(owner, owner))).toEqual(self);
      expect((await remove(owner, owner2)).status).toBe(204);
      expect(outcome(await remove(owner, owner))).toEqual(self);
    });
  });

  describe('leaving', () => {
    it('is for everybody but the last owner', async () => {
      for (const as of [mia, owner2]) expect((await leave(as)).status).toBe(204);
      expect(outcome(await leave(owner))).toEqual([409, 'last_owner']);
      expect(await rolesOf(t, org)).toMatchObject({ [owner.email]: 'OWNER' });
      expect(await audit()).toMatchObject([
        { action: 'member.left', actor_id: mia.id, target_id: mia.id },
        { action: 'member.left', actor_id: owner2.id, target_id: owner2.id },
      ]);
      // The guard may still remember the one who left.
      expect((await leave(mia)).body.code).toBe('not_org_member');
    });

    it('does not leave the organization to an owner who cannot sign in', async () => {
      await t.db.manager.update(User, owner2.id, { deactivated_at: new Date() });
      expect(outcome(await leave(owner))).toEqual([409, 'last_owner']);
      // The deactivated one is no loss.
      expect((await remove(owner, owner2)).status).toBe(204);
    });
  });

  describe('reading a list of more than sockets hold', () => {
    const opened: http.IncomingMessage[] = [];
    /** Of whose answer nothing is taken yet. */
    const reading = async (as: Bearer, of = org): Promise<http.IncomingMessage> => {
      const request = http.get(`${t.url}${of.path}/audit`, { agent: false, headers: { Authorization: `Bearer ${as.token}` } });
      const [response] = (await once(request, 'response')) as [http.IncomingMessage];
      opened.push(response.on('error', () => undefined).pause());
      return response;
    };
    const statusOf = async (as: Bearer, of = org) => (await reading(as, of)).statusCode;
    const fill = ({ id }: TestOrg) =>
      t.db.execute(
        sql(`INSERT INTO audit_log (id, org_id, source, action, target_kind, metadata)
             SELECT gen_random_uuid(), $1, 'business', 'member.left', 'member', jsonb_build_object('x', repeat('x', 20000)) FROM generate_series(1, 1000)`),
        [id],
      );
    beforeEach(() => fill(org));
    afterEach(() => {
      for (const response of opened.splice(0)) response.destroy();
      loadConfig({ ...process.env, RATE_LIMITS: 'off' });
      PageStream.confirmMs = 5_000;
    });

    it('goes on to its end, and ends when they are removed', async () => {
      PageStream.confirmMs = 100;
      const [whole, cut] = [await reading(owner), await reading(admin)];
      expect((await remove(owner, admin)).status).toBe(204);
      await Promise.all([whole, cut].map((response) => new Promise((closed) => response.resume().once('close', closed))));
      expect([whole.complete, cut.complete]).toEqual([true, false]);
    });

    it('has bounds for a user, and for an organization, which others do not meet, nor the other members', async () => {
      loadConfig({ ...process.env, RATE_LIMITS: 'on', RATE_LIMIT_LISTS_PER_USER: '2' });
      expect([await statusOf(admin), await statusOf(admin), await statusOf(admin)]).toEqual([200, 200, 429]);
      expect(outcome(await t.call('GET', `${org.path}/audit?limit=1`, { as: admin }))).toEqual([200, undefined]);
      expect(await statusOf(owner)).toBe(200);
      loadConfig({ ...process.env, RATE_LIMITS: 'on' });
      // A quarter of the 61 places that are left in the process; of all 64 their organization has a third.
      for (let i = 0; i < 15; i++) expect(await statusOf(owner2)).toBe(200);
      expect(await statusOf(owner2)).toBe(503);
      for (let i = 18; i < 21; i++) expect(await statusOf(admin2)).toBe(200);
      expect(await statusOf(admin2)).toBe(503);
      const other = await anOrg(t);
      await fill(other);
      expect(await statusOf(other.owner, other)).toBe(200);
      opened[0].destroy();
      await eventually(
        () => statusOf(admin2),
        (status) => status === 200,
      );
    });
  });

  it('takes fixed words of the path for no member', async () => {
    expect((await get('/invitations')).body).toEqual([]);
    expect(outcome(await get('/nonsense'))).toEqual([422, 'validation_error']);
    const { body } = await t.call('PATCH', `${org.path}/members/invitations/${uuidv7()}`, { as: owner, body: { role: 'MEMBER' } });
    expect(body).toMatchObject({ code: 'not_found', detail: 'Invitation not found.' });
  });
});
