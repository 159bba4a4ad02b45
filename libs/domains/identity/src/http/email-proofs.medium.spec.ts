import { actingOperator } from '@aps/guards';
import { MailedLink, User } from '@aps/entities';
import { hashToken } from '@aps/platform/crypto';
import { sql, type Bearer } from '@aps/platform/testing';
import { testService } from '@aps/testing';
import { uuidv7 } from 'uuidv7';
import { PURGE_MAILED_LINKS } from '../mailed-links.repository';
import { PlatformAdminsService } from '../platform-admins.service';
import { anEmail, aUser, login, mailedLinks, mails, signup } from '../testing';
import { IDENTITY } from '../testing/identity';

describe('proving an address', () => {
  const t = testService(IDENTITY);
  beforeEach(() => t.configure({ REGISTRATION_MODE: 'open', BOOTSTRAP_ADMIN_EMAIL: '', EMAIL_PROOF: 'required' }));

  const signedUp = async (email = anEmail(), more: Record<string, unknown> = {}) => {
    const { status, body } = await signup(t, email, more);
    expect([status, body.code]).toEqual([201, undefined]);
    return { email, id: body.user.id as string, session: body.session as Bearer, body };
  };
  const links = (email: string) => mailedLinks(t, email, 'verify');
  const verify = (token: unknown) => t.call('POST', '/api/auth/verify', { body: { token } });
  const resend = (email?: string, as?: Bearer) => t.call('POST', '/api/auth/verify/resend', { as, body: { email } });
  const me = async (as: Bearer) => (await t.call('GET', '/api/auth/me', { as })).body;
  /** As if so much time had passed since the links of a user were mailed. */
  const age = (userId: string, column: string, interval: string) =>
    t.db.execute(sql(`UPDATE mailed_links SET ${column} = ${column} - interval '${interval}' WHERE user_id = $1`), [userId]);

  it('is left to a mailed link, and changes nothing else about a signup', async () => {
    const { email, id, body, session } = await signedUp(undefined, { org_name: 'Engines' });
    expect(body).toMatchObject({ user: { email_verified: false }, memberships: [{ org_name: 'Engines', role: 'OWNER' }] });
    expect((await me(session)).user.email_verified).toBe(false);
    expect((await mails(t, email)).map((m) => m.subject)).toEqual(['Confirm your address']);

    const { status, body: verified } = await verify((await links(email))[0]);
    expect([status, verified]).toEqual([200, { user: { ...body.user, email_verified: true }, memberships: body.memberships }]);
    expect((await me(session)).user.email_verified).toBe(true);
    expect(await t.audit({ action: 'user.email_verified' })).toMatchObject([
      { actor_id: id, target_id: id, source: 'business', metadata: { by: 'link' }, request_id: expect.any(String) },
    ]);
  });

  it('keeps the secret out of the database and the queue', async () => {
    const { email, id } = await signedUp();
    const [link] = await links(email);
    expect((await t.db.manager.findOneByOrFail(MailedLink, { user_id: id })).token_hash).toEqual(hashToken(link));
    for (const table of ['outbox', 'outbound_mails', 'audit_log', 'mailed_links'])
      expect(JSON.stringify(await t.db.query(sql(`SELECT * FROM ${table}`)))).not.toContain(link);
  });

  it.each<[string, (made: { email: string; id: string; session: Bearer }) => Promise<unknown>]>([
    ['unknown', async () => 'x'.repeat(43)],
    ['of another kind', async ({ session }) => session.token],
    ['older than a day', async ({ id }) => void (await age(id, 'expires_at', '24 hours'))],
    ["a deactivated user's", async ({ id }) => void (await t.db.manager.update(User, id, { deactivated_at: new Date() }))],
    ['used', async ({ email }) => void (await verify((await links(email))[0]))],
    [
      'of an address that another link has proven',
      async ({ email }) => {
        await resend(email);
        expect((await verify((await links(email))[1])).status).toBe(200);
      },
    ],
  ])('takes no token that is %s', async (_, spoil) => {
    const made = await signedUp();
    const token = (await spoil(made)) ?? (await links(made.email))[0];
    const { status, body } = await verify(token);
    expect([status, body]).toEqual([
      422,
      {
        code: 'verification_invalid',
        detail: [{ loc: ['body', 'token'], msg: expect.any(String), type: 'semantic.verification_invalid' }],
        request_id: expect.any(String),
      },
    ]);
  });

  it('lasts a day by the clock of the database', async () => {
    const { id } = await signedUp();
    const day = sql(`SELECT expires_at - created_at = interval '24 hours' AS day FROM mailed_links WHERE user_id = $1`);
    expect(await t.db.query(day, [id])).toEqual([{ day: true }]);
  });

  it('happens once, however many links are used at once', async () => {
    for (let round = 0; round < 5; round++) {
      const { email, id } = await signedUp();
      await resend(email);
      const [first, second] = await links(email);
      const answers = await Promise.all([first, first, second, second, first].map(verify));
      expect(answers.map((a) => a.status).sort()).toEqual([200, 422, 422, 422, 422]);
      expect(await t.audit({ action: 'user.email_verified', target_id: id })).toHaveLength(1);
    }
  });

  it('is what makes the first administrator, not the address', async () => {
    const email = anEmail('boss');
    t.configure({ REGISTRATION_MODE: 'closed', BOOTSTRAP_ADMIN_EMAIL: email });
    const { session } = await signedUp(email);
    expect((await me(session)).is_platform_admin).toBe(false);
    const admins = t.get(PlatformAdminsService);
    await admins.ensureBootstrapAdmin();
    expect(await admins.list()).toEqual([]);
    await verify((await links(email))[0]);
    expect((await admins.list()).map((a) => a.email)).toEqual([email]);
    expect((await me(await login(t, { email }))).is_platform_admin).toBe(true);
  });

  it('is due before an operator can give a role to an address', async () => {
    const admins = t.get(PlatformAdminsService);
    const { email } = await signedUp();
    const operator = actingOperator((await aUser(t)).id, {});
    await expect(admins.add(operator, email)).rejects.toMatchObject({ code: 'user_not_found' });
    await verify((await links(email))[0]);
    expect(await admins.add(operator, email)).toMatchObject({ email });
  });

  it('is asked of nobody where it is off', async () => {
    t.configure({ EMAIL_PROOF: 'off' });
    const { email, body } = await signedUp();
    expect([body.user.email_verified, await mails(t, email)]).toEqual([true, []]);
    // Accounts of that time count as proven.
    t.configure({ EMAIL_PROOF: 'required' });
    expect((await me(await login(t, { email }))).user.email_verified).toBe(true);
  });

  describe('by another link', () => {
    it('is offered to who has not done it, and every address is answered the same way', async () => {
      const [open, done, unknown] = [await signedUp(), await aUser(t), anEmail()];
      for (const email of [open.email, done.email, unknown, open.email.toUpperCase()])
        expect(await resend(email)).toMatchObject({ status: 202, body: { status: 'received' } });
      expect([await links(done.email), await links(unknown)]).toEqual([[], []]);
      const tokens = await links(open.email);
      expect([tokens.length, new Set(tokens).size]).toEqual([3, 3]);
      expect((await verify(tokens[0])).status).toBe(200);
      await resend(open.email);
      expect(await links(open.email)).toHaveLength(3);
    });

    it('comes three times an hour, however many ask at once', async () => {
      const { email, id } = await signedUp();
      const answers = await Promise.all(Array.from({ length: 8 }, () => resend(email)));
      expect(answers.map((a) => a.status)).toEqual(Array(8).fill(202));
      expect(await links(email)).toHaveLength(1 + 3);
      await age(id, 'created_at', '1 hour');
      await t.db.execute(sql(`UPDATE users SET created_at = created_at - interval '1 hour' WHERE id = $1`), [id]);
      await resend(email);
      expect(await links(email)).toHaveLength(1 + 3 + 1);
    });

    it('goes to who is signed in, without an address', async () => {
      const { email, session } = await signedUp();
      for (const as of [session, undefined, { token: 'aps_wrong' }]) expect((await resend(undefined, as)).status).toBe(202);
      expect(await links(email)).toHaveLength(2);
    });
  });

  it('leaves no row behind for ever', async () => {
    const [old, fresh] = [await signedUp(), await signedUp()];
    await age(old.id, 'expires_at', '49 hours');
    await t.db.execute(PURGE_MAILED_LINKS, [1_000]);
    expect((await t.db.manager.findBy(MailedLink, [{ user_id: old.id }, { user_id: fresh.id }])).map((row) => row.user_id)).toEqual([
      fresh.id,
    ]);
  });

  it.each([undefined, null, '', 7, 'x'.repeat(257), uuidv7()])('does not come by a token that names nobody: %p', async (token) => {
    expect((await verify(token)).status).toBe(422);
  });
});
