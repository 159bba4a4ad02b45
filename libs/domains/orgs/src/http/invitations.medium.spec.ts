import { Invitation, User } from '@aps/entities';
import { actingOperator, type OrgRole } from '@aps/guards';
import { UsersService } from '@aps/identity';
import { anApiToken, anEmail, aPerson, aUser, mailedLinks, mails } from '@aps/identity/testing';
import { outcome, sql, type Bearer } from '@aps/platform/testing';
import { testService } from '@aps/testing';
import { uuidv7 } from 'uuidv7';
import { MembersService } from '../members.service';
import { aMember, anOrg, type TestOrg } from '../testing';
import { anInvitation, invite, ORGS, rolesOf, TestLimits } from '../testing/orgs';

describe('invitations', () => {
  const t = testService(ORGS);
  let org: TestOrg;
  beforeEach(async () => {
    t.get(TestLimits).maxSeats = Infinity;
    org = await anOrg(t);
  });

  const pending = async ({ path, owner }: TestOrg) => (await t.call('GET', `${path}/members/invitations`, { as: owner })).body;
  const patch = (id: string, role: unknown, as: Bearer = org.owner) =>
    t.call('PATCH', `${org.path}/members/invitations/${id}`, { as, body: { role } });
  const revoke = (id: string) => t.call('DELETE', `${org.path}/members/invitations/${id}`, { as: org.owner });
  const look = (token: string) => t.call('GET', `/api/invitations/${token}`);
  const accept = (token: string, as?: Bearer) => t.call('POST', `/api/invitations/${token}/accept`, { as });
  const expire = (id: string) => t.db.manager.update(Invitation, id, { expires_at: new Date(Date.now() - 1_000) });
  const newest = async () => (await t.audit({ org_id: org.id })).at(-1);
  const gone = [410, 'invitation_gone'];

  describe('inviting an address without an account', () => {
    it('makes a pending invitation and mails its link', async () => {
      const email = anEmail('Grace');
      const { status, body } = await invite(t, org, ` ${email} `, 'ADMIN');
      expect(status).toBe(201);
      expect(body).toEqual({
        kind: 'invitation',
        id: expect.any(String),
        email,
        role: 'ADMIN',
        state: 'pending',
        invited_by: org.owner.id,
        expires_at: expect.any(String),
        accepted_at: null,
        revoked_at: null,
        created_at: expect.any(String),
        updated_at: expect.any(String),
      });
      expect(Math.round((Date.parse(body.expires_at) - Date.parse(body.created_at)) / 86_400_000)).toBe(14);
      expect(await pending(org)).toEqual([body]);
      const [token] = await mailedLinks(t, email, 'invite');
      expect(JSON.stringify(await t.db.query(sql('SELECT * FROM invitations')))).not.toContain(token);
      expect((await look(token)).body).toEqual({ org_name: 'Acme', email, role: 'ADMIN', state: 'pending', expires_at: body.expires_at });
      expect(await newest()).toMatchObject({
        source: 'business',
        action: 'invitation.created',
        actor_id: org.owner.id,
        target_kind: 'invitation',
        target_id: body.id,
        metadata: { email, role: 'ADMIN' },
      });
    });

    it('invites as MEMBER when nothing is said, by the alias too', async () => {
      const { body } = await t.call('POST', `${org.path}/members/invite`, { as: org.owner, body: { email: anEmail() } });
      expect(body).toMatchObject({ kind: 'invitation', role: 'MEMBER' });
    });

    it('is refused while one is pending, in any case of letters', async () => {
      const { email } = await anInvitation(t, org);
      expect(outcome(await invite(t, org, email.toUpperCase()))).toEqual([409, 'invitation_pending']);
      expect(await mails(t, email.toUpperCase())).toEqual([]);
      // Another organization is another matter.
      expect((await invite(t, await anOrg(t), email)).status).toBe(201);
    });

    it('revokes one whose time is over, whose link then is dead', async () => {
      const dead = await anInvitation(t, org);
      await expire(dead.invitation.id);
      const fresh = await anInvitation(t, org, dead.email);
      expect(await pending(org)).toMatchObject([{ id: fresh.invitation.id }]);
      expect(await t.db.manager.findOneBy(Invitation, { id: dead.invitation.id })).toMatchObject({ state: 'revoked' });
      expect([(await look(dead.token)).status, (await look(fresh.token)).status]).toEqual([410, 200]);
    });

    it('mails an address no more than three times an hour, whoever invites and revokes', async () => {
      const email = anEmail();
      for (let i = 0; i < 2; i++) await revoke((await invite(t, org, email)).body.id);
      const others = await Promise.all([anOrg(t), anOrg(t)]);
      const answers = await Promise.all(others.map((other) => invite(t, other, email)));
      expect(answers.map(({ status }) => status).sort()).toEqual([201, 429]);
      const { body, headers } = answers.find(({ status }) => status === 429)!;
      expect([body.code, Number(headers.get('retry-after'))]).toEqual(['rate_limited', expect.closeTo(3_600, -2)]);
      expect((await invite(t, org, email.toUpperCase())).status).toBe(429);
      expect(await mailedLinks(t, email, 'invite')).toHaveLength(3);
      await t.db.execute(sql(`UPDATE invitations SET created_at = created_at - interval '1 hour' WHERE org_id = $1`), [org.id]);
      expect((await invite(t, org, email)).status).toBe(201);
    });

    it('mails no more an hour than the setting says, revoked ones counted, and holds up no other organization', async () => {
      const bounded = { INVITATIONS_PER_HOUR: '3', RATE_LIMITS: 'on' };
      t.configure(bounded);
      for (let i = 0; i < 2; i++) await revoke((await invite(t, org, anEmail())).body.id);
      const answers = await Promise.all([anEmail(), anEmail(), anEmail()].map((email) => invite(t, org, email)));
      expect(answers.map(({ status }) => status).sort()).toEqual([201, 429, 429]);
      const { body, headers } = answers.find(({ status }) => status === 429)!;
      expect([body.code, Number(headers.get('retry-after'))]).toEqual(['rate_limited', expect.closeTo(3_600, -2)]);
      const email = anEmail();
      expect((await invite(t, org, email)).status).toBe(429);
      expect(await mails(t, email)).toEqual([]);
      expect((await invite(t, await anOrg(t), email)).status).toBe(201);
      for (const off of [{ INVITATIONS_PER_HOUR: '0' }, { RATE_LIMITS: 'off' }]) {
        t.configure(off);
        expect((await invite(t, org, anEmail())).status).toBe(201);
        t.configure(bounded);
      }
      await t.db.execute(sql(`UPDATE invitations SET created_at = created_at - interval '1 hour' WHERE org_id = $1`), [org.id]);
      expect((await invite(t, org, anEmail())).status).toBe(201);
      t.configure({ INVITATIONS_PER_HOUR: undefined, RATE_LIMITS: 'off' });
    });

    it('mails no more an hour for one user, whichever organizations they make and delete', async () => {
      t.configure({ INVITATIONS_PER_HOUR: '3', RATE_LIMITS: 'on' });
      const make = async () => {
        const { id } = await t.make('POST', '/api/orgs', { as: org.owner, body: { name: 'Another' } });
        return { ...org, path: `/api/orgs/${id}` };
      };
      const [first, second] = [await make(), await make()];
      for (let i = 0; i < 2; i++) expect((await invite(t, first, anEmail())).status).toBe(201);
      await t.call('DELETE', first.path, { as: org.owner });
      const answers = await Promise.all([org, second].map((one) => invite(t, one, anEmail())));
      expect(answers.map(({ status }) => status).sort()).toEqual([201, 429]);
      expect(answers.find(({ status }) => status === 429)!.body.code).toBe('rate_limited');
      expect((await invite(t, await anOrg(t), anEmail())).status).toBe(201);
      t.configure({ INVITATIONS_PER_HOUR: undefined, RATE_LIMITS: 'off' });
    });

    it('happens once for a repeated key', async () => {
      const request = { as: org.owner, body: { email: anEmail() }, headers: { 'Idempotency-Key': 'again' } };
      const ask = () => t.call('POST', `${org.path}/members/invitations`, request);
      const [first, second] = [await ask(), await ask()];
      expect([second.status, second.body]).toEqual([201, first.body]);
      expect(await mails(t, request.body.email)).toHaveLength(1);
    });
  });

  describe('inviting an address with an account', () => {
    it('makes a member at once, and mails no link', async () => {
      const ada = await aPerson(t);
      expect(await invite(t, org, ada.email.toUpperCase(), 'ADMIN')).toMatchObject({
        status: 201,
        body: { kind: 'member', user_id: ada.id, email: ada.email, role: 'ADMIN' },
      });
      expect(await rolesOf(t, org)).toMatchObject({ [ada.email]: 'ADMIN' });
      expect(await mails(t, ada.email)).toEqual([]);
      const facts = { metadata: { email: ada.email, role: 'ADMIN' } };
      expect(await newest()).toMatchObject({ action: 'member.added', actor_id: org.owner.id, target_id: ada.id, ...facts });
      for (const { email } of [ada, org.owner]) expect(outcome(await invite(t, org, email))).toEqual([409, 'already_member']);
    });

    it('is by mail where the account is shut out, and makes no member of it, by operators neither', async () => {
      const { id, email } = await aUser(t);
      await t.db.manager.update(User, id, { deactivated_at: new Date() });
      expect((await invite(t, org, email)).body).toMatchObject({ kind: 'invitation', state: 'pending' });
      const operator = actingOperator((await aPerson(t, { admin: true })).id, {});
      await expect(t.get(MembersService).adminAdd(operator, org.id, email, 'MEMBER')).rejects.toMatchObject({ code: 'user_not_found' });
      expect(await rolesOf(t, org)).toEqual({ [org.owner.email]: 'OWNER' });
    });

    it('ends an invitation that waits for it, and takes over its seat', async () => {
      const { email, token } = await anInvitation(t, org);
      t.get(TestLimits).maxSeats = 2;
      const late = await aPerson(t, { email });
      expect((await invite(t, org, email)).body).toMatchObject({ kind: 'member' });
      expect(await pending(org)).toEqual([]);
      expect(outcome(await accept(token, late))).toEqual(gone);
    });
  });

  describe('who may', () => {
    it('lets admins invite members only', async () => {
      const admin = await aMember(t, org, 'ADMIN');
      expect((await invite(t, org, anEmail(), undefined, admin)).status).toBe(201);
      for (const role of ['ADMIN', 'OWNER'])
        for (const email of [anEmail(), (await aPerson(t)).email])
          expect(outcome(await invite(t, org, email, role, admin))).toEqual([403, 'insufficient_role']);
    });

    it('lets members neither invite nor look', async () => {
      const member = await aMember(t, org, 'MEMBER');
      expect(outcome(await invite(t, org, anEmail(), 'MEMBER', member))).toEqual([403, 'insufficient_role']);
      expect(outcome(await t.call('GET', `${org.path}/members/invitations`, { as: member }))).toEqual([403, 'insufficient_role']);
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
      expect(outcome(await invite(t, org, email))).toEqual([422, 'validation_error']);
    });
  });

  describe('seats', () => {
    it('are held by members and open invitations', async () => {
      t.get(TestLimits).maxSeats = 3;
      await aMember(t, org, 'MEMBER');
      const { invitation } = await anInvitation(t, org);
      for (const email of [anEmail(), (await aPerson(t)).email])
        expect(await invite(t, org, email)).toMatchObject({
          status: 403,
          body: { code: 'entitlement_exceeded', context: { entitlement: 'max_seats', limit: 3, current: 3 } },
        });
      await revoke(invitation.id);
      expect((await invite(t, org, anEmail())).status).toBe(201);
    });

    it('are free again when an invitation has expired, and an offered one is kept when the plan shrinks', async () => {
      t.get(TestLimits).maxSeats = 2;
      await expire((await anInvitation(t, org)).invitation.id);
      const { email, token } = await anInvitation(t, org);
      t.get(TestLimits).maxSeats = 0;
      expect((await accept(token, await aPerson(t, { email }))).status).toBe(200);
    });
  });

  describe('changing and revoking', () => {
    it('changes the offer; only owners raise it', async () => {
      const admin = await aMember(t, org, 'ADMIN');
      const { id } = (await anInvitation(t, org)).invitation;
      expect(outcome(await patch(id, 'ADMIN', admin))).toEqual([403, 'insufficient_role']);
      expect((await patch(id, 'OWNER')).body).toMatchObject({ id, role: 'OWNER', state: 'pending' });
      expect((await patch(id, 'MEMBER', admin)).body).toMatchObject({ role: 'MEMBER' });
      expect((await patch(id, 'MEMBER', admin)).status).toBe(200);
      expect((await patch(id, 'nothing')).status).toBe(422);
      expect(await t.audit({ org_id: org.id, action: 'invitation.role_changed' })).toMatchObject([
        { metadata: { from: 'MEMBER', to: 'OWNER' } },
        { metadata: { from: 'OWNER', to: 'MEMBER' } },
      ]);
    });

    it('kills a link for good', async () => {
      const { email, token, invitation } = await anInvitation(t, org);
      expect((await revoke(invitation.id)).status).toBe(204);
      for (const again of [await revoke(invitation.id), await patch(invitation.id, 'MEMBER')])
        expect(outcome(again)).toEqual([404, 'not_found']);
      expect(await newest()).toMatchObject({ action: 'invitation.revoked', target_id: invitation.id });
      // Inviting again makes a new one.
      expect((await invite(t, org, email)).status).toBe(201);
      for (const late of [await look(token), await accept(token, await aPerson(t, { email }))]) expect(outcome(late)).toEqual(gone);
    });

    it('ends what its author could not offer any more', async () => {
      const ada = await aMember(t, org, 'OWNER');
      const offered = async (role: OrgRole) => {
        const email = anEmail();
        expect((await invite(t, org, email, role, ada)).status).toBe(201);
        return (await mailedLinks(t, email, 'invite'))[0];
      };
      const [asOwner, asAdmin, asMember] = [await offered('OWNER'), await offered('ADMIN'), await offered('MEMBER')];
      const others = await anInvitation(t, org, undefined, 'OWNER');
      const elsewhere = await anInvitation(t, await anOrg(t, { owner: ada }));
      const states = () =>
        Promise.all([asOwner, asAdmin, asMember, others.token, elsewhere.token].map(async (token) => (await look(token)).status));
      const as = { as: org.owner, body: { role: 'ADMIN' } };
      expect((await t.call('PATCH', `${org.path}/members/${ada.memberId}`, as)).status).toBe(200);
      expect(await states()).toEqual([410, 410, 200, 200, 200]);
      expect((await t.call('DELETE', `${org.path}/members/${ada.memberId}`, { as: org.owner })).status).toBe(204);
      expect(await states()).toEqual([410, 410, 410, 200, 200]);
      expect(await t.audit({ org_id: org.id, action: 'invitation.revoked' })).toMatchObject(Array(3).fill({ actor_id: org.owner.id }));
    });

    it('ends what was offered by who is shut out of the platform', async () => {
      const [mine, others] = [await anInvitation(t, org), await anInvitation(t, await anOrg(t))];
      const operator = actingOperator((await aPerson(t, { admin: true })).id, {});
      await t.get(UsersService).deactivate(operator, org.owner.id);
      expect(outcome(await accept(mine.token, await aPerson(t, { email: mine.email })))).toEqual(gone);
      expect((await look(others.token)).status).toBe(200);
      expect(await newest()).toMatchObject({ action: 'invitation.revoked', source: 'admin', target_id: mine.invitation.id });
    });

    it('touches none of another organization', async () => {
      const other = await anInvitation(t, await anOrg(t));
      const { id } = other.invitation;
      expect([(await revoke(id)).status, (await patch(id, 'ADMIN')).status]).toEqual([404, 404]);
      expect(await pending(other)).toMatchObject([{ id, role: 'MEMBER', state: 'pending' }]);
    });
  });

  describe('accepting by the link', () => {
    it('makes the invited user a member, once', async () => {
      const email = anEmail();
      const { token, invitation } = await anInvitation(t, org, email.toUpperCase(), 'ADMIN');
      const ada = await aPerson(t, { email });
      expect(await accept(token, ada)).toMatchObject({
        status: 200,
        body: { id: org.id, name: 'Acme', my_role: 'ADMIN', member_count: 2 },
      });
      for (const again of [await accept(token, ada), await look(token)]) expect(outcome(again)).toEqual(gone);
      expect(await t.db.manager.findOneBy(Invitation, { id: invitation.id })).toMatchObject({
        state: 'accepted',
        accepted_at: expect.any(Date),
      });
      expect((await t.audit({ org_id: org.id })).slice(-2)).toMatchObject([
        { action: 'invitation.accepted', actor_id: ada.id },
        { action: 'member.added', actor_id: ada.id },
      ]);
    });

    it('is answered as the first time to a repeat with the same key', async () => {
      const { token, email } = await anInvitation(t, org);
      const as = await aPerson(t, { email });
      const repeat = () => t.call('POST', `/api/invitations/${token}/accept`, { as, headers: { 'Idempotency-Key': 'lost' } });
      const [first, again] = [await repeat(), await repeat()];
      expect([first.status, again.status, again.body]).toEqual([200, 200, first.body]);
      expect(outcome(await accept(token, as))).toEqual(gone);
    });

    it('is for the invited address alone', async () => {
      const { email, token } = await anInvitation(t, org);
      expect((await accept(token)).status).toBe(401);
      expect(outcome(await accept(token, await aPerson(t)))).toEqual([403, 'invitation_email_mismatch']);
      const ada = await aPerson(t, { email });
      const pinned = await anApiToken(t, ada, { org_id: (await anOrg(t, { owner: ada })).id });
      expect(outcome(await accept(token, pinned))).toEqual([403, 'insufficient_scope']);
      expect(await rolesOf(t, org)).toEqual({ [org.owner.email]: 'OWNER' });
    });

    it('keeps the role of who is a member by now', async () => {
      const { email, token } = await anInvitation(t, org);
      const ada = await aMember(t, org, 'ADMIN', await aPerson(t, { email }));
      expect((await accept(token, ada)).body).toMatchObject({ my_role: 'ADMIN', member_count: 2 });
    });

    it('is too late when the time is over', async () => {
      const { email, token, invitation } = await anInvitation(t, org);
      await expire(invitation.id);
      for (const late of [await look(token), await accept(token, await aPerson(t, { email }))]) expect(outcome(late)).toEqual(gone);
    });

    it('knows no other tokens', async () => {
      expect(outcome(await look('x'.repeat(43)))).toEqual([404, 'not_found']);
      expect(outcome(await accept(uuidv7(), await aPerson(t)))).toEqual([404, 'not_found']);
      for (const token of ['%00', 'x'.repeat(300)]) expect((await look(token)).status).toBe(422);
    });
  });
});
