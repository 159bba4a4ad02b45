import { Invitation, Membership } from '@aps/entities';
import { actingOperator, actingUser } from '@aps/guards';
import { EmailProofsService } from '@aps/identity';
import { anEmail, aPerson, mailedLinks, mails, signup } from '@aps/identity/testing';
import { NO_CALLER } from '@aps/platform/database';
import { outcome, type Bearer } from '@aps/platform/testing';
import { testService } from '@aps/testing';
import { MembersService } from './members.service';
import { anOrg } from './testing';
import { anInvitation, invite, ORGS, rolesOf } from './testing/orgs';

interface Claimant extends Bearer {
  id: string;
  orgs: string[];
  verified: boolean;
}
type Invited = Awaited<ReturnType<typeof anInvitation>>;

describe('an address that is not proven', () => {
  const t = testService(ORGS, { settings: { EMAIL_PROOF: 'required', REGISTRATION_MODE: 'open' } });

  const invited = async (email: string, role?: 'OWNER' | 'ADMIN') => anInvitation(t, await anOrg(t, { name: 'Host' }), email, role);
  const signedUp = async (email: string, more?: Record<string, unknown>): Promise<Claimant> => {
    const { status, body } = await signup(t, email, more);
    expect([status, body.code]).toEqual([201, undefined]);
    const orgs = body.memberships.map((m: { org_id: string }) => m.org_id) as string[];
    return { id: body.user.id, token: body.session.token, orgs, verified: body.user.email_verified };
  };
  const proofOf = async (email: string) => (await mailedLinks(t, email, 'verify')).at(0);
  const prove = (token: unknown) => t.call('POST', '/api/auth/verify', { body: { token } });
  const verify = async (email: string) => prove(await proofOf(email));
  const accept = (token: string, as: Bearer) => t.call('POST', `/api/invitations/${token}/accept`, { as });
  const revoke = ({ path, owner, invitation }: Invited) => t.call('DELETE', `${path}/members/invitations/${invitation.id}`, { as: owner });
  const orgsOf = async ({ id }: { id: string }) =>
    (await t.db.manager.find(Membership, { where: { user_id: id }, order: { org_id: 'ASC' } })).map((m) => m.org_id);

  it('gives nobody the role that its owner was offered, until its link comes back', async () => {
    const email = anEmail();
    const [a, b] = [await invited(email, 'OWNER'), await invited(email.toUpperCase(), 'ADMIN')];
    const claimant = await signedUp(email, { org_name: 'Not yet' });
    expect([claimant.verified, claimant.orgs, await orgsOf(claimant)]).toEqual([false, [], []]);
    expect((await t.call('GET', a.path, { as: claimant })).status).toBe(403);
    expect((await t.call('GET', `/api/invitations/${a.token}`)).status).toBe(200);

    const { status, body } = await verify(email);
    expect([status, body.user.email_verified]).toEqual([200, true]);
    expect(body.memberships.map((m: { org_id: string; role: string }) => [m.org_id, m.role]).sort()).toEqual(
      [
        [a.id, 'OWNER'],
        [b.id, 'ADMIN'],
      ].sort(),
    );
    expect((await t.call('GET', `/api/invitations/${a.token}`)).status).toBe(410);
    expect((await t.audit({ org_id: a.id })).slice(-2)).toMatchObject([
      { action: 'invitation.accepted', actor_id: claimant.id },
      { action: 'member.added', actor_id: claimant.id },
    ]);
  });

  it('is not invited to where its account is a member', async () => {
    const email = anEmail();
    const [host, { id }] = [await anOrg(t), await signedUp(email)];
    await t.insert(Membership, { org_id: host.id, user_id: id, role: 'MEMBER' });
    expect(outcome(await invite(t, host, email.toUpperCase()))).toEqual([409, 'already_member']);
    expect(await t.db.manager.countBy(Invitation, { org_id: host.id })).toBe(0);
  });

  it('lets in nobody else before it is proven, so that none is left beside who has it', async () => {
    const [email, friend, stranger] = [anEmail(), await aPerson(t), anEmail()];
    const claimant = await signedUp(email);
    const [id] = claimant.orgs;
    const own = { ...(await anOrg(t)), id, path: `/api/orgs/${id}` };
    const asked = () => Promise.all([friend.email, stranger].map((whom) => invite(t, own, whom, 'OWNER', claimant)));
    expect((await asked()).map(outcome)).toEqual(Array(2).fill([403, 'email_unproven']));
    expect([await rolesOf(t, own), await mails(t, stranger)]).toEqual([{ [email]: 'OWNER' }, []]);
    await verify(email);
    expect((await asked()).map(({ status, body }) => [status, body.kind])).toEqual([
      [201, 'member'],
      [201, 'invitation'],
    ]);
  });

  it('invites at once where every address is believed', async () => {
    const claimant = await signedUp(anEmail());
    const [id] = claimant.orgs;
    t.configure({ EMAIL_PROOF: 'off' });
    expect((await invite(t, { ...(await anOrg(t)), id, path: `/api/orgs/${id}` }, anEmail(), 'OWNER', claimant)).status).toBe(201);
    t.configure({ EMAIL_PROOF: 'required' });
  });

  it('is proven by an invitation that was mailed to it, and gets all that waits', async () => {
    const email = anEmail();
    const [a, b] = [await invited(email, 'OWNER'), await invited(email)];
    const ada = await signedUp(email, { invitation_token: a.token });
    expect([ada.verified, ada.orgs.sort()]).toEqual([true, [a.id, b.id].sort()]);
    expect(await proofOf(email)).toBeUndefined();
  });

  it('has an organization of its own where nobody invites it', async () => {
    const email = anEmail();
    const ada = await signedUp(email);
    expect(ada.orgs).toHaveLength(1);
    expect((await verify(email)).body.memberships).toHaveLength(1);
    expect(await orgsOf(ada)).toEqual(ada.orgs);
  });

  it.each<[string, (host: Invited) => Promise<unknown>]>([
    ['revoked', revoke],
    ['expired', ({ invitation }) => t.db.manager.update(Invitation, invitation.id, { expires_at: new Date() })],
    ['lost with its organization', ({ path, owner }) => t.call('DELETE', path, { as: owner })],
  ])('has one of its own after the proof when the invitation was %s', async (_, end) => {
    const email = anEmail();
    const host = await invited(email);
    const ada = await signedUp(email, { name: 'Ada' });
    await end(host);
    expect((await verify(email)).body.memberships).toMatchObject([{ org_name: "Ada's organization", role: 'OWNER' }]);
    expect(await orgsOf(ada)).toHaveLength(1);
  });

  it('is invited like one without an account, by members and not added by operators', async () => {
    const email = anEmail();
    const claimant = await signedUp(email);
    const host = await anOrg(t);
    expect((await invite(t, host, email, 'OWNER')).body).toMatchObject({ kind: 'invitation', state: 'pending' });
    const added = t.get(MembersService).adminAdd(actingOperator(host.owner.id, {}), host.id, email, 'OWNER');
    await expect(added).rejects.toMatchObject({ code: 'user_not_found' });
    expect(await orgsOf(claimant)).toEqual(claimant.orgs);
    expect((await verify(email)).body.memberships).toHaveLength(2);
    expect((await invite(t, await anOrg(t), email)).body).toMatchObject({ kind: 'member' });
  });

  it('is proven by accepting what was mailed to it, and gets the rest of what waits', async () => {
    const email = anEmail();
    const [a, b] = [await invited(email, 'ADMIN'), await invited(email)];
    const ada = await signedUp(email);
    expect((await accept(a.token, ada)).body).toMatchObject({ id: a.id, my_role: 'ADMIN' });
    expect(await orgsOf(ada)).toEqual([a.id, b.id].sort());
    expect((await t.call('GET', '/api/auth/me', { as: ada })).body.user.email_verified).toBe(true);
    expect((await verify(email)).body.code).toBe('verification_invalid');
  });

  it('comes to the same end in any order of proof, acceptance, revocation and invitation', async () => {
    for (let round = 0; round < 12; round++) {
      const email = anEmail();
      const [a, b, late] = [await invited(email, 'OWNER'), await invited(email), await anOrg(t)];
      const ada = await signedUp(email);
      const link = await proofOf(email);
      const [first, second, accepted, revoked, offered] = await Promise.all([
        prove(link),
        prove(link),
        accept(a.token, ada),
        revoke(b),
        invite(t, late, email),
      ]);
      // One proves the address: a link or the invitation. Nothing is refused for any other reason than coming too late.
      expect([first.status, second.status].filter((s) => s === 200).length).toBeLessThanOrEqual(1);
      for (const answer of [first, second]) expect([200, 422]).toContain(answer.status);
      expect([200, 410]).toContain(accepted.status);
      expect([204, 404]).toContain(revoked.status);
      expect(offered.status).toBe(201);
      const orgs = await orgsOf(ada);
      expect(orgs).toEqual(expect.arrayContaining([a.id, late.id]));
      expect(orgs.includes(b.id)).toBe(revoked.status === 404);
      expect(await t.db.manager.countBy(Invitation, { email_canonical: email, state: 'pending' })).toBe(0);
      expect(await t.audit({ action: 'user.email_verified', target_id: ada.id })).toHaveLength(1);
    }
  });

  it('of two signups at once becomes one account, and one link', async () => {
    for (let round = 0; round < 5; round++) {
      const email = anEmail();
      const { token, id } = await invited(email, 'OWNER');
      const answers = await Promise.all([signup(t, email), signup(t, email.toUpperCase()), signup(t, email, { invitation_token: token })]);
      expect(answers.map((a) => a.status).sort()).toEqual([201, 409, 409]);
      const { user, memberships } = answers.find((a) => a.status === 201)!.body;
      expect(memberships.map((m: { org_id: string }) => m.org_id)).toEqual(user.email_verified ? [id] : []);
    }
  });

  it('stays unproven, with nothing given, when the gift fails', async () => {
    const email = anEmail();
    const { id } = await invited(email);
    const ada = await signedUp(email);
    const broken = jest.spyOn(t.get(MembersService), 'join').mockRejectedValueOnce(new Error('no room'));
    expect((await verify(email)).status).toBe(500);
    broken.mockRestore();
    expect([await orgsOf(ada), (await t.call('GET', '/api/auth/me', { as: ada })).body.user.email_verified]).toEqual([[], false]);
    expect((await verify(email)).body.memberships).toMatchObject([{ org_id: id }]);
  });

  it('is proven once in the service of others, too', async () => {
    const ada = await signedUp(anEmail());
    const proofs = t.get(EmailProofsService);
    const byInvitation = () => t.db.transaction(NO_CALLER, (tx) => proofs.prove(tx, actingUser(ada.id), 'invitation'));
    expect((await Promise.all([byInvitation(), byInvitation(), byInvitation()])).filter(Boolean)).toHaveLength(1);
  });
});
