import { Invitation, Organization, User } from '@aps/entities';
import { OrganizationPort } from '@aps/identity';
import { allow, anEmail, aPerson, signup } from '@aps/identity/testing';
import { outcome } from '@aps/platform/testing';
import { testService } from '@aps/testing';
import { aMember, anOrg } from './testing';
import { anInvitation, invite, ORGS, rolesOf } from './testing/orgs';

describe('what signing up does to organizations', () => {
  const t = testService(ORGS, { settings: { EMAIL_PROOF: 'off', REGISTRATION_MODE: 'allowlist' } });

  const invited = async (email: string, role?: 'ADMIN') => anInvitation(t, await anOrg(t, { name: 'Host' }), email, role);
  const change = (email: string, over: Partial<Invitation>) => t.db.manager.update(Invitation, { email }, over);

  it('makes an organization for who is not invited, named as they wish or after them', async () => {
    const [named, unnamed] = [anEmail(), anEmail()];
    await Promise.all([allow(t, named), allow(t, unnamed)]);
    expect((await signup(t, named, { org_name: 'Engines' })).body.memberships).toEqual([
      { org_id: expect.any(String), org_name: 'Engines', slug: 'engines', role: 'OWNER' },
    ]);
    expect((await signup(t, unnamed, { name: 'Ada', org_name: ' ' })).body.memberships).toMatchObject([
      { org_name: "Ada's organization", slug: 'ada-s-organization', role: 'OWNER' },
    ]);
  });

  it('makes none of a name that no organization may have, and fits a long one of its owner', async () => {
    const email = anEmail();
    await allow(t, email);
    for (const bad of [{ org_name: 'x'.repeat(121) }, { org_name: 'a\nb' }, { name: 'a\u0000b' }, { name: 'x'.repeat(201) }])
      expect(outcome(await signup(t, email, bad))).toEqual([422, 'validation_error']);
    const { session, memberships } = (await signup(t, email, { name: '😀'.repeat(200) })).body;
    const [{ org_id, org_name }] = memberships;
    expect(org_name).toBe(`${'😀'.repeat(105)}'s organization`);
    expect((await t.call('PATCH', `/api/orgs/${org_id}`, { as: session, body: { name: org_name } })).status).toBe(200);
  });

  it('redeems every open invitation of the address instead, in any case of letters', async () => {
    const email = anEmail();
    const [a, b, dead] = [await invited(email.toUpperCase(), 'ADMIN'), await invited(email), await invited(email)];
    await t.db.manager.update(Invitation, dead.invitation.id, { expires_at: new Date() });
    const { status, body } = await signup(t, email, { org_name: 'Not needed', invitation_token: a.token });
    expect(status).toBe(201);
    expect(body.memberships).toHaveLength(2);
    expect(body.memberships).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ org_id: a.id, role: 'ADMIN' }),
        expect.objectContaining({ org_id: b.id, role: 'MEMBER' }),
      ]),
    );
    expect(await t.db.manager.countBy(Invitation, { email_canonical: email, state: 'accepted' })).toBe(2);
    expect((await t.audit({ org_id: a.id })).at(-1)).toMatchObject({
      source: 'business',
      action: 'member.added',
      actor_id: body.user.id,
      target_id: body.user.id,
    });
  });

  it('lets in who is invited, and not by what is over or was of a deleted organization', async () => {
    const [revoked, expired, orphan] = [await invited(anEmail()), await invited(anEmail()), await invited(anEmail())];
    await change(revoked.email, { state: 'revoked' });
    await change(expired.email, { expires_at: new Date() });
    await t.make('DELETE', orphan.path, { as: orphan.owner });
    for (const { email } of [revoked, expired, orphan]) expect((await signup(t, email)).body.code).toBe('registration_not_allowed');
  });

  it('makes no user who came by a link that is not good for them', async () => {
    const [email, other] = [anEmail(), anEmail()];
    await allow(t, email);
    const { token } = await invited(email);
    await invited(other, 'ADMIN');
    const attempt = async (address: string, invitation_token: string) => outcome(await signup(t, address, { invitation_token }));
    expect(await attempt(other, token)).toEqual([403, 'invitation_email_mismatch']);
    expect(await attempt(other, 'x'.repeat(43))).toEqual([404, 'not_found']);
    await change(email, { state: 'revoked' });
    expect(await attempt(email, token)).toEqual([410, 'invitation_gone']);
    expect(await t.db.manager.countBy(User, [{ email }, { email: other }])).toBe(0);
  });

  it('leaves nobody invited and outside, however inviting and signing up overlap', async () => {
    const host = await anOrg(t);
    await Promise.all(
      Array.from({ length: 12 }, async () => {
        const email = anEmail();
        await allow(t, email);
        const answers = await Promise.all([signup(t, email), invite(t, host, email)]);
        expect(answers.map((a) => a.status)).toEqual([201, 201]);
        expect(await rolesOf(t, host)).toMatchObject({ [email]: 'MEMBER' });
      }),
    );
    expect(await t.db.manager.countBy(Invitation, { org_id: host.id, state: 'pending' })).toBe(0);
  });

  it('tells the live memberships by name, and where nobody else owns', async () => {
    const ada = await aPerson(t);
    const owned = (name: string) => anOrg(t, { name, owner: ada });
    const [sole, shared, half, deleted] = [await owned('bee'), await owned('Cee'), await owned('Dee'), await owned('aye')];
    await aMember(t, shared, 'OWNER');
    await t.db.manager.update(User, (await aMember(t, half, 'OWNER')).id, { deactivated_at: new Date() });
    await t.db.manager.update(Organization, deleted.id, { deleted_at: new Date() });
    const elsewhere = await anOrg(t, { name: 'Eff' });
    await aMember(t, elsewhere, 'ADMIN', ada);
    const port = t.get(OrganizationPort);
    expect((await port.membershipsOf(t.db, ada.id)).map((m) => [m.org_id, m.org_name, m.role])).toEqual([
      [sole.id, 'bee', 'OWNER'],
      [shared.id, 'Cee', 'OWNER'],
      [half.id, 'Dee', 'OWNER'],
      [elsewhere.id, 'Eff', 'ADMIN'],
    ]);
    expect(await port.soleOwnerOf(t.db, ada.id)).toEqual([sole.id, half.id].sort());
  });
});
