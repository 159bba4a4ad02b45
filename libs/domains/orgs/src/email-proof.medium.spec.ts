import { actingOperator, actingUser } from '@aps/guards';
import { NO_CALLER } from '@aps/platform/database';
import { EmailProofsService } from '@aps/identity';
import { sql } from '@aps/platform/testing';
import { MembersService } from './members.service';
import { anEmail, type Member, OrgsTestApp, type Person } from './testing/orgs-test-app';

describe('an address that is not proven', () => {
  let t: OrgsTestApp;
  beforeAll(async () => {
    t = await OrgsTestApp.start({ EMAIL_PROOF: 'required', REGISTRATION_MODE: 'open' });
  });
  afterAll(() => t.close());

  const invite = ({ orgId, owner }: { orgId: string; owner: Member }, email: string, role = 'MEMBER') =>
    t.call('POST', `/api/orgs/${orgId}/members/invitations`, { as: owner, body: { email, role } });
  const invited = async (email: string, role?: string) => {
    const host = await t.orgWithOwner('Host');
    const { id } = (await invite(host, email, role)).body as { id: string };
    return { ...host, id, token: await t.linkOf(email) };
  };
  const signup = async (email: string, extra?: Record<string, unknown>): Promise<Person & { orgs: string[]; verified: boolean }> => {
    const { status, body } = await t.signup(email, extra);
    expect([status, body.code]).toEqual([201, undefined]);
    return {
      userId: body.user.id,
      email,
      token: body.session.token,
      orgs: body.memberships.map((m: { org_id: string }) => m.org_id),
      verified: body.user.email_verified,
    };
  };
  const proofOf = async (email: string): Promise<string> => {
    const [token] = (await t.mails(email)).flatMap((text) =>
      [...(/https:\/\/app\.example\/verify\/([\w-]{43})\n/.exec(text) ?? [])].slice(1),
    );
    return token;
  };
  const verify = async (email: string) => t.call('POST', '/api/auth/verify', { body: { token: await proofOf(email) } });
  const accept = (token: string, as: Person) => t.call('POST', `/api/invitations/${token}/accept`, { as });
  const orgsOf = async ({ userId }: { userId: string }) =>
    (await t.db.query(sql<{ org_id: string }>('SELECT org_id FROM memberships WHERE user_id = $1 ORDER BY org_id'), [userId])).map(
      (m) => m.org_id,
    );

  it('gives nobody the role that its owner was offered, until its link comes back', async () => {
    const email = anEmail();
    const [a, b] = [await invited(email, 'OWNER'), await invited(email.toUpperCase(), 'ADMIN')];
    const claimant = await signup(email, { org_name: 'Not yet' });
    expect([claimant.verified, claimant.orgs, await orgsOf(claimant)]).toEqual([false, [], []]);
    expect((await t.call('GET', `/api/orgs/${a.orgId}`, { as: claimant })).status).toBe(403);
    expect((await t.call('GET', `/api/invitations/${a.token}`)).status).toBe(200);

    const { status, body } = await verify(email);
    expect([status, body.user.email_verified]).toEqual([200, true]);
    expect(body.memberships.map((m: { org_id: string; role: string }) => [m.org_id, m.role]).sort()).toEqual(
      [
        [a.orgId, 'OWNER'],
        [b.orgId, 'ADMIN'],
      ].sort(),
    );
    expect((await t.call('GET', `/api/invitations/${a.token}`)).status).toBe(410);
    expect((await t.audit(a.orgId)).slice(-2).map((row) => [row.action, row.actor_id])).toEqual([
      ['invitation.accepted', claimant.userId],
      ['member.added', claimant.userId],
    ]);
  });

  it('is proven by an invitation that was mailed to it, and gets all that waits', async () => {
    const email = anEmail();
    const [a, b] = [await invited(email, 'OWNER'), await invited(email)];
    const ada = await signup(email, { invitation_token: a.token });
    expect([ada.verified, ada.orgs.sort()]).toEqual([true, [a.orgId, b.orgId].sort()]);
    expect(await proofOf(email)).toBeUndefined();
  });

  it('is not proven by an invitation of another one', async () => {
    const [email, other] = [anEmail(), anEmail()];
    const { token } = await invited(other, 'OWNER');
    await invited(email, 'OWNER');
    expect((await t.signup(email, { invitation_token: token })).body.code).toBe('invitation_email_mismatch');
    expect(await t.db.query(sql('SELECT 1 FROM users WHERE email_canonical = $1'), [email])).toEqual([]);
  });

  it('has an organization of its own where nobody invites it', async () => {
    const email = anEmail();
    const ada = await signup(email);
    expect(ada.orgs).toHaveLength(1);
    expect((await verify(email)).body.memberships).toHaveLength(1);
    expect(await orgsOf(ada)).toEqual(ada.orgs);
  });

  it.each([
    [
      'revoked',
      (host: { orgId: string; owner: Member; id: string }) =>
        t.call('DELETE', `/api/orgs/${host.orgId}/members/invitations/${host.id}`, { as: host.owner }),
    ],
    ['expired', ({ id }: { id: string }) => t.db.execute(sql('UPDATE invitations SET expires_at = now() WHERE id = $1'), [id])],
    [
      'lost with its organization',
      (host: { orgId: string; owner: Member }) => t.call('DELETE', `/api/orgs/${host.orgId}`, { as: host.owner }),
    ],
  ])('has one of its own after the proof when the invitation was %s', async (_, end) => {
    const email = anEmail();
    const host = await invited(email);
    const ada = await signup(email, { name: 'Ada' });
    await end(host);
    expect((await verify(email)).body.memberships).toEqual([expect.objectContaining({ org_name: "Ada's organization", role: 'OWNER' })]);
    expect(await orgsOf(ada)).toHaveLength(1);
  });

  it('is invited like one without an account, by members and not added by operators', async () => {
    const email = anEmail();
    const claimant = await signup(email);
    const host = await t.orgWithOwner();
    expect((await invite(host, email, 'OWNER')).body).toMatchObject({ kind: 'invitation', state: 'pending' });
    await expect(t.get(MembersService).adminAdd(actingOperator(host.owner.userId, {}), host.orgId, email, 'OWNER')).rejects.toMatchObject({
      code: 'user_not_found',
    });
    expect(await orgsOf(claimant)).toEqual(claimant.orgs);
    expect((await verify(email)).body.memberships).toHaveLength(2);
    expect((await invite(await t.orgWithOwner(), email)).body).toMatchObject({ kind: 'member' });
  });

  it('is proven by accepting what was mailed to it, and gets the rest of what waits', async () => {
    const email = anEmail();
    const [a, b] = [await invited(email, 'ADMIN'), await invited(email)];
    const ada = await signup(email);
    expect((await accept(a.token, ada)).body).toMatchObject({ id: a.orgId, my_role: 'ADMIN' });
    expect(await orgsOf(ada)).toEqual([a.orgId, b.orgId].sort());
    expect((await t.call('GET', '/api/auth/me', { as: ada })).body.user.email_verified).toBe(true);
    expect((await verify(email)).body.code).toBe('verification_invalid');
  });

  it('comes to the same end in any order of proof, acceptance, revocation and invitation', async () => {
    for (let round = 0; round < 12; round++) {
      const email = anEmail();
      const [a, b, late] = [await invited(email, 'OWNER'), await invited(email), await t.orgWithOwner()];
      const ada = await signup(email);
      const link = await proofOf(email);
      const prove = () => t.call('POST', '/api/auth/verify', { body: { token: link } });
      const [first, second, accepted, revoked, offered] = await Promise.all([
        prove(),
        prove(),
        accept(a.token, ada),
        t.call('DELETE', `/api/orgs/${b.orgId}/members/invitations/${b.id}`, { as: b.owner }),
        invite(late, email),
      ]);
      // One proves the address: a link or the invitation. Nothing is refused for any other reason than coming too late.
      expect([first.status, second.status].filter((s) => s === 200).length).toBeLessThanOrEqual(1);
      for (const answer of [first, second]) expect([200, 422]).toContain(answer.status);
      expect([200, 410]).toContain(accepted.status);
      expect([204, 404]).toContain(revoked.status);
      expect(offered.status).toBe(201);
      const orgs = await orgsOf(ada);
      expect(orgs).toContain(a.orgId);
      expect(orgs).toContain(late.orgId);
      expect(orgs.includes(b.orgId)).toBe(revoked.status === 404);
      expect(await t.db.query(sql(`SELECT 1 FROM invitations WHERE email_canonical = $1 AND state = 'pending'`), [email])).toEqual([]);
      expect(
        await t.db.query(sql(`SELECT 1 FROM audit_log WHERE action = 'user.email_verified' AND target_id = $1`), [ada.userId]),
      ).toHaveLength(1);
    }
  });

  it('of two signups at once becomes one account, and one link', async () => {
    for (let round = 0; round < 5; round++) {
      const email = anEmail();
      const { token, orgId } = await invited(email, 'OWNER');
      const answers = await Promise.all([t.signup(email), t.signup(email.toUpperCase()), t.signup(email, { invitation_token: token })]);
      expect(answers.map((a) => a.status).sort()).toEqual([201, 409, 409]);
      const { user, memberships } = answers.find((a) => a.status === 201)!.body;
      expect(memberships.map((m: { org_id: string }) => m.org_id)).toEqual(user.email_verified ? [orgId] : []);
    }
  });

  it('stays unproven, with nothing given, when the gift fails', async () => {
    const email = anEmail();
    const { orgId } = await invited(email);
    const ada = await signup(email);
    const broken = jest.spyOn(t.get(MembersService), 'join').mockRejectedValueOnce(new Error('no room'));
    expect((await verify(email)).status).toBe(500);
    broken.mockRestore();
    expect([await orgsOf(ada), (await t.call('GET', '/api/auth/me', { as: ada })).body.user.email_verified]).toEqual([[], false]);
    expect((await verify(email)).body.memberships).toEqual([expect.objectContaining({ org_id: orgId })]);
  });

  it('is proven once in the service of others, too', async () => {
    const ada = await signup(anEmail());
    const proofs = t.get(EmailProofsService);
    const prove = () => t.db.transaction(NO_CALLER, (tx) => proofs.prove(tx, actingUser(ada.userId), 'invitation'));
    expect((await Promise.all([prove(), prove(), prove()])).filter(Boolean)).toHaveLength(1);
  });
});
