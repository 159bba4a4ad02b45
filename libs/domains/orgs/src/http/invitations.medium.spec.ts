import { uuidv7 } from 'uuidv7';
import { sql } from '@aps/platform/testing';
import { anEmail, OrgsTestApp, type Person } from '../testing/orgs-test-app';

describe('invitations', () => {
  let t: OrgsTestApp;
  beforeAll(async () => {
    t = await OrgsTestApp.start();
  });
  afterAll(() => t.close());
  beforeEach(() => {
    t.limits.maxSeats = Infinity;
  });

  const invitations = (orgId: string) => `/api/orgs/${orgId}/members/invitations`;
  const invite = (orgId: string, as: Person, email: unknown, role?: unknown) =>
    t.call('POST', invitations(orgId), { as, body: { email, role } });
  const pending = async (orgId: string, as: Person) => (await t.call('GET', invitations(orgId), { as })).body;
  const accept = (token: string, as?: Person) => t.call('POST', `/api/invitations/${token}/accept`, { as });
  const outcome = ({ status, body }: { status: number; body?: { code?: string } }) => [status, body?.code];
  const expire = (orgId: string, email: string) =>
    t.db.execute(sql(`UPDATE invitations SET expires_at = now() - interval '1 second' WHERE org_id = $1 AND email = $2`), [orgId, email]);

  describe('inviting an address without an account', () => {
    it('makes a pending invitation and mails its link', async () => {
      const { orgId, owner } = await t.orgWithOwner('Acme');
      const email = anEmail('Grace');
      const { status, body } = await invite(orgId, owner, ` ${email} `, 'ADMIN');
      expect(status).toBe(201);
      expect(body).toEqual({
        kind: 'invitation',
        id: expect.any(String),
        email,
        role: 'ADMIN',
        state: 'pending',
        invited_by: owner.userId,
        expires_at: expect.any(String),
        accepted_at: null,
        revoked_at: null,
        created_at: expect.any(String),
        updated_at: expect.any(String),
      });
      expect(Math.round((Date.parse(body.expires_at) - Date.parse(body.created_at)) / 86_400_000)).toBe(14);
      expect(await pending(orgId, owner)).toEqual([body]);
      const token = await t.linkOf(email);
      expect(JSON.stringify(await t.db.query(sql('SELECT * FROM invitations')))).not.toContain(token);
      expect((await t.call('GET', `/api/invitations/${token}`)).body).toEqual({
        org_name: 'Acme',
        email,
        role: 'ADMIN',
        state: 'pending',
        expires_at: body.expires_at,
      });
      expect((await t.audit(orgId)).at(-1)).toMatchObject({
        source: 'business',
        action: 'invitation.created',
        actor_id: owner.userId,
        target_kind: 'invitation',
        target_id: body.id,
        metadata: { email, role: 'ADMIN' },
      });
    });

    it('invites as MEMBER when nothing is said, by the alias too', async () => {
      const { orgId, owner } = await t.orgWithOwner();
      expect((await t.call('POST', `/api/orgs/${orgId}/members/invite`, { as: owner, body: { email: anEmail() } })).body).toMatchObject({
        kind: 'invitation',
        role: 'MEMBER',
      });
    });

    it('is refused while one is pending, in any case of letters', async () => {
      const { orgId, owner } = await t.orgWithOwner();
      const email = anEmail();
      await invite(orgId, owner, email);
      expect(outcome(await invite(orgId, owner, email.toUpperCase()))).toEqual([409, 'invitation_pending']);
      expect(await t.mails(email.toUpperCase())).toEqual([]);
      // Another organization is another matter.
      const other = await t.orgWithOwner();
      expect((await invite(other.orgId, other.owner, email)).status).toBe(201);
    });

    it('revokes one whose time is over, whose link then is dead', async () => {
      const { orgId, owner } = await t.orgWithOwner();
      const email = anEmail();
      const first = (await invite(orgId, owner, email)).body;
      const dead = await t.linkOf(email);
      await expire(orgId, email);
      const second = await invite(orgId, owner, email);
      expect(second.status).toBe(201);
      expect((await pending(orgId, owner)).map((i: { id: string }) => i.id)).toEqual([second.body.id]);
      expect(await t.db.query(sql('SELECT state FROM invitations WHERE id = $1'), [first.id])).toEqual([{ state: 'revoked' }]);
      expect((await t.call('GET', `/api/invitations/${dead}`)).status).toBe(410);
      expect((await t.call('GET', `/api/invitations/${await t.linkOf(email)}`)).status).toBe(200);
    });

    it('happens once for a repeated key', async () => {
      const { orgId, owner } = await t.orgWithOwner();
      const email = anEmail();
      const call = () => t.call('POST', invitations(orgId), { as: owner, body: { email }, headers: { 'Idempotency-Key': 'again' } });
      const [first, second] = [await call(), await call()];
      expect([second.status, second.body]).toEqual([201, first.body]);
      expect(await t.mails(email)).toHaveLength(1);
    });
  });

  describe('inviting an address with an account', () => {
    it('makes a member at once, and mails no link', async () => {
      const { orgId, owner } = await t.orgWithOwner();
      const ada = await t.person();
      const { status, body } = await invite(orgId, owner, ada.email.toUpperCase(), 'ADMIN');
      expect([status, body]).toEqual([
        201,
        expect.objectContaining({ kind: 'member', user_id: ada.userId, email: ada.email, role: 'ADMIN' }),
      ]);
      expect(await t.roles(orgId)).toMatchObject({ [ada.email]: 'ADMIN' });
      expect(await t.mails(ada.email)).toEqual([]);
      expect((await t.audit(orgId)).at(-1)).toMatchObject({
        action: 'member.added',
        actor_id: owner.userId,
        target_id: ada.userId,
        metadata: { email: ada.email, role: 'ADMIN' },
      });
      expect(outcome(await invite(orgId, owner, ada.email))).toEqual([409, 'already_member']);
      expect(outcome(await invite(orgId, owner, owner.email))).toEqual([409, 'already_member']);
    });

    it('ends an invitation that waits for it, and takes over its seat', async () => {
      const { orgId, owner } = await t.orgWithOwner();
      const email = anEmail();
      await invite(orgId, owner, email);
      const token = await t.linkOf(email);
      t.limits.maxSeats = 2;
      const late = await t.person(email);
      expect((await invite(orgId, owner, email)).body).toMatchObject({ kind: 'member' });
      expect(await pending(orgId, owner)).toEqual([]);
      expect(outcome(await accept(token, late))).toEqual([410, 'invitation_gone']);
    });
  });

  describe('who may', () => {
    it('lets admins invite members only', async () => {
      const { orgId } = await t.orgWithOwner();
      const admin = await t.member(orgId, 'ADMIN');
      expect((await invite(orgId, admin, anEmail())).status).toBe(201);
      for (const role of ['ADMIN', 'OWNER']) {
        expect(outcome(await invite(orgId, admin, anEmail(), role))).toEqual([403, 'insufficient_role']);
        expect(outcome(await invite(orgId, admin, (await t.person()).email, role))).toEqual([403, 'insufficient_role']);
      }
    });

    it('lets members neither invite nor look', async () => {
      const { orgId } = await t.orgWithOwner();
      const mia = await t.member(orgId, 'MEMBER');
      expect(outcome(await invite(orgId, mia, anEmail()))).toEqual([403, 'insufficient_role']);
      expect(outcome(await t.call('GET', invitations(orgId), { as: mia }))).toEqual([403, 'insufficient_role']);
    });

    it.each([
      undefined,
      null,
      7,
      '',
      'nobody',
      'a@b',
      'a b@example.com',
      'Ada <ada@example.com>',
      'a@example.com\nBcc: b@example.com',
      'a@example.com,b@example.com',
      `${'a'.repeat(250)}@example.com`,
      ['a@example.com'],
    ])('takes no %j for an address', async (email) => {
      const { orgId, owner } = await t.orgWithOwner();
      expect(outcome(await invite(orgId, owner, email))).toEqual([422, 'validation_error']);
    });
  });

  describe('seats', () => {
    it('are held by members and open invitations', async () => {
      const { orgId, owner } = await t.orgWithOwner();
      t.limits.maxSeats = 3;
      const email = anEmail();
      await t.member(orgId, 'MEMBER');
      const third = (await invite(orgId, owner, email)).body;
      for (const address of [anEmail(), (await t.person()).email]) {
        const { status, body } = await invite(orgId, owner, address);
        expect([status, body.code, body.context]).toEqual([
          403,
          'entitlement_exceeded',
          { entitlement: 'max_seats', limit: 3, current: 3 },
        ]);
      }
      await t.call('DELETE', `${invitations(orgId)}/${third.id}`, { as: owner });
      expect((await invite(orgId, owner, anEmail())).status).toBe(201);
    });

    it('are free again when an invitation has expired, and an offered one is kept when the plan shrinks', async () => {
      const { orgId, owner } = await t.orgWithOwner();
      t.limits.maxSeats = 2;
      const [old, fresh] = [anEmail(), anEmail()];
      await invite(orgId, owner, old);
      await expire(orgId, old);
      expect((await invite(orgId, owner, fresh)).status).toBe(201);
      t.limits.maxSeats = 0;
      expect((await accept(await t.linkOf(fresh), await t.person(fresh))).status).toBe(200);
    });
  });

  describe('changing and revoking', () => {
    it('changes the offer; only owners raise it', async () => {
      const { orgId, owner } = await t.orgWithOwner();
      const admin = await t.member(orgId, 'ADMIN');
      const { id } = (await invite(orgId, owner, anEmail())).body;
      const patch = (as: Person, role: unknown) => t.call('PATCH', `${invitations(orgId)}/${id}`, { as, body: { role } });
      expect(outcome(await patch(admin, 'ADMIN'))).toEqual([403, 'insufficient_role']);
      expect((await patch(owner, 'OWNER')).body).toMatchObject({ id, role: 'OWNER', state: 'pending' });
      expect((await patch(admin, 'MEMBER')).body).toMatchObject({ role: 'MEMBER' });
      expect((await patch(admin, 'MEMBER')).status).toBe(200);
      expect((await patch(owner, 'nothing')).status).toBe(422);
      expect(
        (await t.audit(orgId)).filter((a) => a.action === 'invitation.role_changed').map((a) => [a.metadata.from, a.metadata.to]),
      ).toEqual([
        ['MEMBER', 'OWNER'],
        ['OWNER', 'MEMBER'],
      ]);
    });

    it('kills a link for good', async () => {
      const { orgId, owner } = await t.orgWithOwner();
      const email = anEmail();
      const { id } = (await invite(orgId, owner, email)).body;
      const token = await t.linkOf(email);
      const revoke = () => t.call('DELETE', `${invitations(orgId)}/${id}`, { as: owner });
      expect((await revoke()).status).toBe(204);
      expect(outcome(await revoke())).toEqual([404, 'not_found']);
      expect(outcome(await t.call('PATCH', `${invitations(orgId)}/${id}`, { as: owner, body: { role: 'MEMBER' } }))).toEqual([
        404,
        'not_found',
      ]);
      expect(outcome(await t.call('GET', `/api/invitations/${token}`))).toEqual([410, 'invitation_gone']);
      expect(outcome(await accept(token, await t.person(email)))).toEqual([410, 'invitation_gone']);
      expect((await t.audit(orgId)).at(-1)).toMatchObject({ action: 'invitation.revoked', target_id: id });
    });

    it('touches none of another organization', async () => {
      const { orgId, owner } = await t.orgWithOwner();
      const other = await t.orgWithOwner();
      const { id } = (await invite(other.orgId, other.owner, anEmail())).body;
      expect((await t.call('DELETE', `${invitations(orgId)}/${id}`, { as: owner })).status).toBe(404);
      expect((await t.call('PATCH', `${invitations(orgId)}/${id}`, { as: owner, body: { role: 'ADMIN' } })).status).toBe(404);
      expect(await pending(other.orgId, other.owner)).toEqual([expect.objectContaining({ id, role: 'MEMBER', state: 'pending' })]);
    });
  });

  describe('accepting by the link', () => {
    it('makes the invited user a member, once', async () => {
      const { orgId, owner } = await t.orgWithOwner('Acme');
      const email = anEmail();
      const invitation = (await invite(orgId, owner, email.toUpperCase(), 'ADMIN')).body;
      const token = await t.linkOf(email.toUpperCase());
      const ada = await t.person(email);
      const { status, body } = await accept(token, ada);
      expect([status, body]).toEqual([200, expect.objectContaining({ id: orgId, name: 'Acme', my_role: 'ADMIN', member_count: 2 })]);
      expect(outcome(await accept(token, ada))).toEqual([410, 'invitation_gone']);
      expect(outcome(await t.call('GET', `/api/invitations/${token}`))).toEqual([410, 'invitation_gone']);
      expect(
        await t.db.query(sql('SELECT state, accepted_at IS NOT NULL AS dated FROM invitations WHERE id = $1'), [invitation.id]),
      ).toEqual([{ state: 'accepted', dated: true }]);
      expect((await t.audit(orgId)).slice(-2).map((a) => [a.action, a.actor_id])).toEqual([
        ['invitation.accepted', ada.userId],
        ['member.added', ada.userId],
      ]);
    });

    it('is for the invited address alone', async () => {
      const { orgId, owner } = await t.orgWithOwner();
      const email = anEmail();
      await invite(orgId, owner, email);
      const token = await t.linkOf(email);
      expect((await accept(token)).status).toBe(401);
      expect(outcome(await accept(token, await t.person()))).toEqual([403, 'invitation_email_mismatch']);
      const ada = await t.person(email);
      const { orgId: own } = await (async () => ({ orgId: await t.org(ada) }))();
      expect(outcome(await t.call('POST', `/api/invitations/${token}/accept`, { as: await t.pinnedToken(ada, own) }))).toEqual([
        403,
        'insufficient_scope',
      ]);
      expect(await t.roles(orgId)).toEqual({ [owner.email]: 'OWNER' });
    });

    it('keeps the role of who is a member by now', async () => {
      const { orgId, owner } = await t.orgWithOwner();
      const email = anEmail();
      await invite(orgId, owner, email);
      const token = await t.linkOf(email);
      const ada = await t.member(orgId, 'ADMIN', await t.person(email));
      expect((await accept(token, ada)).body).toMatchObject({ my_role: 'ADMIN', member_count: 2 });
    });

    it('is too late when the time is over', async () => {
      const { orgId, owner } = await t.orgWithOwner();
      const email = anEmail();
      await invite(orgId, owner, email);
      const token = await t.linkOf(email);
      await expire(orgId, email);
      expect(outcome(await t.call('GET', `/api/invitations/${token}`))).toEqual([410, 'invitation_gone']);
      expect(outcome(await accept(token, await t.person(email)))).toEqual([410, 'invitation_gone']);
    });

    it('knows no other tokens', async () => {
      const ada = await t.person();
      expect(outcome(await t.call('GET', `/api/invitations/${'x'.repeat(43)}`))).toEqual([404, 'not_found']);
      expect(outcome(await accept(uuidv7(), ada))).toEqual([404, 'not_found']);
      expect((await t.call('GET', '/api/invitations/%00')).status).toBe(422);
      expect((await t.call('GET', `/api/invitations/${'x'.repeat(300)}`)).status).toBe(422);
    });
  });
});
