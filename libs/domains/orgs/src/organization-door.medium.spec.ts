import { OrganizationDoor } from '@aps/identity';
import { sql } from '@aps/platform/testing';
import { anEmail, OrgsTestApp } from './testing/orgs-test-app';

describe('what signing up does to organizations', () => {
  let t: OrgsTestApp;
  beforeAll(async () => {
    t = await OrgsTestApp.start({ EMAIL_PROOF: 'off' });
  });
  afterAll(() => t.close());

  const invite = async (email: string, role = 'MEMBER') => {
    const host = await t.orgWithOwner('Host');
    await t.call('POST', `/api/orgs/${host.orgId}/members/invitations`, { as: host.owner, body: { email, role } });
    return { ...host, token: await t.linkOf(email) };
  };
  const userOf = (email: string) => t.db.query(sql('SELECT 1 FROM users WHERE email_canonical = $1'), [email]);

  it('makes an organization for who is not invited, named as they wish or after them', async () => {
    const [named, unnamed] = [anEmail(), anEmail()];
    await Promise.all([t.allow(named), t.allow(unnamed)]);
    expect((await t.signup(named, { org_name: 'Engines' })).body.memberships).toEqual([
      { org_id: expect.any(String), org_name: 'Engines', slug: 'engines', role: 'OWNER' },
    ]);
    expect((await t.signup(unnamed, { name: 'Ada', org_name: ' ' })).body.memberships).toEqual([
      expect.objectContaining({ org_name: "Ada's organization", slug: 'ada-s-organization', role: 'OWNER' }),
    ]);
  });

  it('redeems every open invitation of the address instead, in any case of letters', async () => {
    const email = anEmail();
    const [a, b, dead] = [await invite(email.toUpperCase(), 'ADMIN'), await invite(email), await invite(email)];
    await t.db.execute(sql(`UPDATE invitations SET expires_at = now() WHERE org_id = $1`), [dead.orgId]);
    const { status, body } = await t.signup(email, { org_name: 'Not needed', invitation_token: a.token });
    expect(status).toBe(201);
    expect(body.memberships).toHaveLength(2);
    expect(body.memberships).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ org_id: a.orgId, role: 'ADMIN' }),
        expect.objectContaining({ org_id: b.orgId, role: 'MEMBER' }),
      ]),
    );
    expect(
      await t.db.query(sql(`SELECT count(*)::int AS n FROM invitations WHERE email_canonical = $1 AND state = 'accepted'`), [email]),
    ).toEqual([{ n: 2 }]);
    expect((await t.audit(a.orgId)).at(-1)).toMatchObject({
      source: 'business',
      action: 'member.added',
      actor_id: body.user.id,
      target_id: body.user.id,
    });
  });

  it('lets in who is invited, and not by what is over or was of a deleted organization', async () => {
    const [revoked, expired, orphan] = [anEmail(), anEmail(), anEmail()];
    await invite(revoked);
    await invite(expired);
    const gone = await invite(orphan);
    await t.db.execute(sql(`UPDATE invitations SET state = 'revoked' WHERE email = $1`), [revoked]);
    await t.db.execute(sql('UPDATE invitations SET expires_at = now() WHERE email = $1'), [expired]);
    await t.call('DELETE', `/api/orgs/${gone.orgId}`, { as: gone.owner });
    for (const email of [revoked, expired, orphan]) expect((await t.signup(email)).body.code).toBe('registration_not_allowed');
  });

  it('makes no user who came by a link that is not good for them', async () => {
    const [email, other] = [anEmail(), anEmail()];
    await Promise.all([t.allow(email), t.allow(other)]);
    const { token } = await invite(email);
    const cases: [string, string, number, string][] = [
      [other, token, 403, 'invitation_email_mismatch'],
      [other, 'x'.repeat(43), 404, 'not_found'],
    ];
    for (const [address, secret, status, code] of cases) {
      const answer = await t.signup(address, { invitation_token: secret });
      expect([answer.status, answer.body.code]).toEqual([status, code]);
    }
    await t.db.execute(sql(`UPDATE invitations SET state = 'revoked' WHERE email = $1`), [email]);
    expect((await t.signup(email, { invitation_token: token })).body.code).toBe('invitation_gone');
    expect([...(await userOf(email)), ...(await userOf(other))]).toEqual([]);
  });

  it('leaves nobody invited and outside, however inviting and signing up overlap', async () => {
    const host = await t.orgWithOwner();
    await Promise.all(
      Array.from({ length: 12 }, async () => {
        const email = anEmail();
        await t.allow(email);
        const [signedUp, invited] = await Promise.all([
          t.signup(email),
          t.call('POST', `/api/orgs/${host.orgId}/members/invitations`, { as: host.owner, body: { email } }),
        ]);
        expect([signedUp.status, invited.status]).toEqual([201, 201]);
        expect(await t.roles(host.orgId)).toMatchObject({ [email]: 'MEMBER' });
      }),
    );
    expect(await t.db.query(sql(`SELECT 1 FROM invitations WHERE org_id = $1 AND state = 'pending'`), [host.orgId])).toEqual([]);
  });

  it('tells the live memberships by name, and where nobody else owns', async () => {
    const door = t.get(OrganizationDoor);
    const ada = await t.person();
    const [sole, shared, half, deleted] = [
      await t.org(ada, 'bee'),
      await t.org(ada, 'Cee'),
      await t.org(ada, 'Dee'),
      await t.org(ada, 'aye'),
    ];
    await t.member(shared, 'OWNER');
    const asleep = await t.member(half, 'OWNER');
    await t.db.execute(sql('UPDATE users SET deactivated_at = now() WHERE id = $1'), [asleep.userId]);
    await t.db.execute(sql('UPDATE organizations SET deleted_at = now() WHERE id = $1'), [deleted]);
    const { orgId: elsewhere } = await t.orgWithOwner('Eff');
    await t.member(elsewhere, 'ADMIN', ada);
    expect((await door.membershipsOf(t.db, ada.userId)).map((m) => [m.org_id, m.org_name, m.role])).toEqual([
      [sole, 'bee', 'OWNER'],
      [shared, 'Cee', 'OWNER'],
      [half, 'Dee', 'OWNER'],
      [elsewhere, 'Eff', 'ADMIN'],
    ]);
    expect(await door.soleOwnerOf(t.db, ada.userId)).toEqual([sole, half].sort());
  });
});
