import { uuidv7 } from 'uuidv7';
import { sql } from '@aps/platform/testing';
import { type Member, OrgsTestApp, type Person } from '../testing/orgs-test-app';

describe('members', () => {
  let t: OrgsTestApp;
  beforeAll(async () => {
    t = await OrgsTestApp.start();
  });
  afterAll(() => t.close());

  const members = (orgId: string) => `/api/orgs/${orgId}/members`;
  const setRole = (orgId: string, as: Person, target: Member, role: unknown) =>
    t.call('PATCH', `${members(orgId)}/${target.memberId}`, { as, body: { role } });
  const remove = (orgId: string, as: Person, target: Member) => t.call('DELETE', `${members(orgId)}/${target.memberId}`, { as });
  const leave = (orgId: string, as: Person) => t.call('POST', `${members(orgId)}/leave`, { as });
  const outcome = ({ status, body }: { status: number; body?: { code?: string } }) => [status, body?.code];

  async function team() {
    const { orgId, owner } = await t.orgWithOwner();
    const [owner2, admin, admin2, mia] = [
      await t.member(orgId, 'OWNER'),
      await t.member(orgId, 'ADMIN'),
      await t.member(orgId, 'ADMIN'),
      await t.member(orgId, 'MEMBER'),
    ];
    return { orgId, owner, owner2, admin, admin2, mia };
  }

  describe('reading', () => {
    it('lists them, oldest first, and one alone', async () => {
      const { orgId, owner, mia } = await team();
      const { body } = await t.call('GET', members(orgId), { as: mia });
      expect(body).toMatchObject({ total: 5, next_offset: null });
      expect(body.items).toHaveLength(5);
      expect(body.items[0]).toEqual({
        kind: 'member',
        id: owner.memberId,
        user_id: owner.userId,
        email: owner.email,
        name: expect.any(String),
        avatar_url: null,
        role: 'OWNER',
        joined_at: expect.any(String),
        last_active_at: expect.any(String),
        created_at: expect.any(String),
        updated_at: expect.any(String),
      });
      expect((await t.call('GET', `${members(orgId)}/${owner.memberId}`, { as: mia })).body).toEqual(body.items[0]);
      expect((await t.call('GET', `${members(orgId)}?limit=2&offset=4`, { as: mia })).body).toMatchObject({
        total: 5,
        next_offset: null,
        items: [{ role: 'MEMBER' }],
      });
      expect((await t.call('GET', `${members(orgId)}?limit=2&offset=9`, { as: mia })).body).toEqual({
        total: 5,
        next_offset: null,
        items: [],
      });
    });

    it('knows when somebody was last active, by session or by a token that is good here', async () => {
      const { orgId, owner, mia } = await team();
      const { orgId: elsewhere } = await t.orgWithOwner();
      const lastActive = async () =>
        (await t.call('GET', `${members(orgId)}/${mia.memberId}`, { as: owner })).body.last_active_at as string | null;
      const use = (orgPin: string | null, at: string) =>
        t.db.execute(
          sql(
            'INSERT INTO api_tokens (id, user_id, name, org_id, token_hash, prefix, last4, last_used_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)',
          ),
          [uuidv7(), mia.userId, 'x', orgPin, Buffer.from(uuidv7()), 'apt_', 'aaaa', at],
        );
      await t.db.execute(sql('DELETE FROM sessions WHERE user_id = $1'), [mia.userId]);
      expect(await lastActive()).toBeNull();
      await t.db.execute(
        sql(`INSERT INTO sessions (id, user_id, token_hash, expires_at, last_used_at) VALUES ($1, $2, $3, now(), '2026-01-01T00:00:00Z')`),
        [uuidv7(), mia.userId, Buffer.from('a')],
      );
      expect(await lastActive()).toBe('2026-01-01T00:00:00.000Z');
      await use(orgId, '2026-02-01T00:00:00Z');
      expect(await lastActive()).toBe('2026-02-01T00:00:00.000Z');
      await use(elsewhere, '2026-03-01T00:00:00Z');
      expect(await lastActive()).toBe('2026-02-01T00:00:00.000Z');
    });

    it('shows nobody of another organization', async () => {
      const { orgId, owner } = await team();
      const other = await t.orgWithOwner();
      expect(outcome(await t.call('GET', `${members(orgId)}/${other.owner.memberId}`, { as: owner }))).toEqual([404, 'not_found']);
      expect(outcome(await setRole(orgId, owner, other.owner, 'MEMBER'))).toEqual([404, 'not_found']);
      expect(outcome(await remove(orgId, owner, other.owner))).toEqual([404, 'not_found']);
      expect(outcome(await t.call('GET', members(orgId), { as: other.owner }))).toEqual([403, 'not_org_member']);
      expect(await t.roles(other.orgId)).toEqual({ [other.owner.email]: 'OWNER' });
    });
  });

  describe('changing a role', () => {
    it('lets an owner make anything of anybody else', async () => {
      const { orgId, owner, owner2, mia } = await team();
      const { status, body } = await setRole(orgId, owner, mia, 'OWNER');
      expect([status, body.id, body.role]).toEqual([200, mia.memberId, 'OWNER']);
      expect((await setRole(orgId, owner, owner2, 'MEMBER')).body.role).toBe('MEMBER');
      expect((await t.audit(orgId)).slice(1)).toEqual([
        expect.objectContaining({
          source: 'business',
          action: 'member.role_changed',
          actor_id: owner.userId,
          target_kind: 'user',
          target_id: mia.userId,
          metadata: { from: 'MEMBER', to: 'OWNER' },
        }),
        expect.objectContaining({ action: 'member.role_changed', target_id: owner2.userId, metadata: { from: 'OWNER', to: 'MEMBER' } }),
      ]);
    });

    it('lets an admin demote admins, and nothing more', async () => {
      const { orgId, owner, admin, admin2, mia } = await team();
      const before = await t.roles(orgId);
      for (const [target, role] of [
        [mia, 'ADMIN'],
        [mia, 'OWNER'],
        [owner, 'MEMBER'],
        [owner, 'ADMIN'],
        [admin, 'OWNER'],
      ] as const) {
        const { status, body } = await setRole(orgId, admin, target, role);
        expect([status, body.code, body.context]).toEqual([403, 'insufficient_role', { required: ['OWNER'] }]);
      }
      expect(await t.roles(orgId)).toEqual(before);
      expect((await setRole(orgId, admin, admin2, 'MEMBER')).body.role).toBe('MEMBER');
    });

    it('is nothing for members, for oneself, or for a role that is none', async () => {
      const { orgId, owner, admin, mia } = await team();
      expect(outcome(await setRole(orgId, mia, admin, 'MEMBER'))).toEqual([403, 'insufficient_role']);
      expect(outcome(await setRole(orgId, owner, owner, 'MEMBER'))).toEqual([422, 'self_action']);
      expect(outcome(await setRole(orgId, admin, admin, 'MEMBER'))).toEqual([422, 'self_action']);
      for (const role of ['owner', '', null, undefined, 7, ['OWNER']])
        expect(outcome(await setRole(orgId, owner, mia, role))).toEqual([422, 'validation_error']);
    });

    it('records nothing when nothing changes', async () => {
      const { orgId, owner, mia } = await team();
      const rows = (await t.audit(orgId)).length;
      expect((await setRole(orgId, owner, mia, 'MEMBER')).status).toBe(200);
      expect(await t.audit(orgId)).toHaveLength(rows);
    });

    it("goes by the actor's role as it is, not as the guard remembers it", async () => {
      const { orgId, owner, owner2, mia } = await team();
      const invitation = (await t.call('POST', `${members(orgId)}/invitations`, { as: owner, body: { email: 'waits@example.com' } })).body;
      // The guard has just seen both as owners, and believes it for a second.
      await Promise.all([owner, owner2].map((as) => t.call('GET', members(orgId), { as })));
      expect((await setRole(orgId, owner, owner2, 'MEMBER')).status).toBe(200);
      expect(outcome(await setRole(orgId, owner2, owner, 'MEMBER'))).toEqual([403, 'insufficient_role']);
      expect(outcome(await remove(orgId, owner2, mia))).toEqual([403, 'insufficient_role']);
      expect(outcome(await t.call('POST', `${members(orgId)}/invite`, { as: owner2, body: { email: 'x@example.com' } }))).toEqual([
        403,
        'insufficient_role',
      ]);
      expect(outcome(await t.call('DELETE', `${members(orgId)}/invitations/${invitation.id}`, { as: owner2 }))).toEqual([
        403,
        'insufficient_role',
      ]);
      expect(outcome(await t.call('DELETE', `/api/orgs/${orgId}`, { as: owner2 }))).toEqual([403, 'insufficient_role']);
    });
  });

  describe('removing', () => {
    it('ends the membership', async () => {
      const { orgId, admin, mia } = await team();
      expect((await remove(orgId, admin, mia)).status).toBe(204);
      expect(await t.roles(orgId)).not.toHaveProperty([mia.email]);
      expect(outcome(await t.call('GET', members(orgId), { as: mia }))).toEqual([403, 'not_org_member']);
      expect((await t.audit(orgId)).at(-1)).toMatchObject({
        action: 'member.removed',
        actor_id: admin.userId,
        target_id: mia.userId,
        metadata: { role: 'MEMBER' },
      });
      expect(outcome(await remove(orgId, admin, mia))).toEqual([404, 'not_found']);
    });

    it('spares owners from admins, and everybody from members and from themselves', async () => {
      const { orgId, owner, owner2, admin, mia } = await team();
      expect(outcome(await remove(orgId, admin, owner))).toEqual([403, 'insufficient_role']);
      expect(outcome(await remove(orgId, mia, admin))).toEqual([403, 'insufficient_role']);
      expect(outcome(await remove(orgId, owner, owner))).toEqual([422, 'self_action']);
      expect((await remove(orgId, owner, owner2)).status).toBe(204);
      expect(outcome(await remove(orgId, owner, owner))).toEqual([422, 'self_action']);
    });
  });

  describe('leaving', () => {
    it('is for everybody but the last owner', async () => {
      const { orgId, owner, owner2, mia } = await team();
      expect((await leave(orgId, mia)).status).toBe(204);
      expect((await leave(orgId, owner2)).status).toBe(204);
      expect(outcome(await leave(orgId, owner))).toEqual([409, 'last_owner']);
      expect(await t.roles(orgId)).toMatchObject({ [owner.email]: 'OWNER' });
      expect((await t.audit(orgId)).slice(1).map((a) => [a.action, a.actor_id, a.target_id])).toEqual([
        ['member.left', mia.userId, mia.userId],
        ['member.left', owner2.userId, owner2.userId],
      ]);
      // The guard may still remember the one who left.
      expect((await leave(orgId, mia)).body.code).toBe('not_org_member');
    });

    it('does not leave the organization to an owner who cannot sign in', async () => {
      const { orgId, owner, owner2 } = await team();
      await t.db.execute(sql('UPDATE users SET deactivated_at = now() WHERE id = $1'), [owner2.userId]);
      expect(outcome(await leave(orgId, owner))).toEqual([409, 'last_owner']);
      // The deactivated one is no loss.
      expect((await remove(orgId, owner, owner2)).status).toBe(204);
    });
  });

  it('takes fixed words of the path for no member', async () => {
    const { orgId, owner } = await team();
    expect((await t.call('GET', `${members(orgId)}/invitations`, { as: owner })).body).toEqual([]);
    expect(outcome(await t.call('GET', `${members(orgId)}/nonsense`, { as: owner }))).toEqual([422, 'validation_error']);
    expect(
      (await t.call('PATCH', `${members(orgId)}/invitations/${uuidv7()}`, { as: owner, body: { role: 'MEMBER' } })).body,
    ).toMatchObject({ code: 'not_found', detail: 'Invitation not found.' });
  });
});
