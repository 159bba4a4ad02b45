import { actingOperator } from '@aps/guards';
import { uuidv7 } from 'uuidv7';
import { hashToken } from '@aps/platform/crypto';
import { sql } from '@aps/platform/testing';
import { MailedLinksRepository } from '../mailed-links.repository';
import { PlatformAdminsService } from '../platform-admins.service';
import { anEmail, identityTestApp, PASSWORD, type IdentityTestApp } from '../testing/identity-test-app';

describe('proving an address', () => {
  let t: IdentityTestApp;
  beforeAll(async () => {
    t = await identityTestApp();
  });
  afterAll(() => t.close());
  beforeEach(() => t.configure({ REGISTRATION_MODE: 'open', BOOTSTRAP_ADMIN_EMAIL: '', EMAIL_PROOF: 'required' }));

  const signup = async (email = anEmail(), more: Record<string, unknown> = {}) => {
    const { status, body } = await t.call('POST', '/api/auth/signup', { body: { email, password: PASSWORD, ...more } });
    expect([status, body.code]).toEqual([201, undefined]);
    return { email, id: body.user.id as string, token: body.session.token as string, body };
  };
  const links = async (email: string) =>
    (await t.mails(email)).flatMap(({ text }) => [...(/https:\/\/app\.example\/verify\/([\w-]{43})\n/.exec(text) ?? [])].slice(1));
  const verify = (token: unknown) => t.call('POST', '/api/auth/verify', { body: { token } });
  const resend = (email: string) => t.call('POST', '/api/auth/verify/resend', { body: { email } });
  const me = async (token: string) => (await t.call('GET', '/api/auth/me', { token })).body;
  const invalid = {
    code: 'verification_invalid',
    detail: [{ loc: ['body', 'token'], msg: expect.any(String), type: 'semantic.verification_invalid' }],
  };

  it('is left to a mailed link, and changes nothing else about a signup', async () => {
    const { email, body, token } = await signup(undefined, { org_name: 'Engines' });
    expect([body.user.email_verified, body.memberships]).toEqual([
      false,
      [expect.objectContaining({ org_name: 'Engines', role: 'OWNER' })],
    ]);
    expect((await me(token)).user.email_verified).toBe(false);
    expect((await t.mails(email)).map((m) => m.subject)).toEqual(['Confirm your address']);
    const [link] = await links(email);

    const { status, body: verified } = await verify(link);
    expect([status, verified]).toEqual([200, { user: { ...body.user, email_verified: true }, memberships: body.memberships }]);
    expect((await me(token)).user.email_verified).toBe(true);
    expect(await t.audit('user.email_verified')).toContainEqual(
      expect.objectContaining({
        actor_id: body.user.id,
        target_id: body.user.id,
        source: 'business',
        metadata: { by: 'link' },
        request_id: expect.any(String),
      }),
    );
  });

  it('keeps the secret out of the database and the queue', async () => {
    const { email, id } = await signup();
    const [link] = await links(email);
    const [row] = await t.db.query(sql<{ token_hash: Buffer }>('SELECT token_hash FROM mailed_links WHERE user_id = $1'), [id]);
    expect(row.token_hash.equals(hashToken(link))).toBe(true);
    for (const table of ['outbox', 'outbound_mails', 'audit_log', 'mailed_links'])
      expect(JSON.stringify(await t.db.query(sql(`SELECT * FROM ${table}`)))).not.toContain(link);
  });

  it.each([
    ['unknown', async () => 'x'.repeat(43)],
    ['of another kind', async () => (await signup()).token],
    [
      'older than a day',
      async () => {
        const { email, id } = await signup();
        await t.db.execute(sql(`UPDATE mailed_links SET expires_at = expires_at - interval '24 hours' WHERE user_id = $1`), [id]);
        return (await links(email))[0];
      },
    ],
    [
      "a deactivated user's",
      async () => {
        const { email, id } = await signup();
        await t.db.execute(sql('UPDATE users SET deactivated_at = now() WHERE id = $1'), [id]);
        return (await links(email))[0];
      },
    ],
    [
      'used',
      async () => {
        const [link] = await links((await signup()).email);
        expect((await verify(link)).status).toBe(200);
        return link;
      },
    ],
    [
      'of an address that another link has proven',
      async () => {
        const { email } = await signup();
        await resend(email);
        const [first, second] = await links(email);
        expect((await verify(second)).status).toBe(200);
        return first;
      },
    ],
  ])('takes no token that is %s', async (_, make) => {
    const { status, body } = await verify(await make());
    expect([status, body]).toEqual([422, { ...invalid, request_id: expect.any(String) }]);
  });

  it('lasts a day by the clock of the database', async () => {
    const { id } = await signup();
    expect(
      await t.db.query(sql(`SELECT expires_at - created_at = interval '24 hours' AS day FROM mailed_links WHERE user_id = $1`), [id]),
    ).toEqual([{ day: true }]);
  });

  it('happens once, however many links are used at once', async () => {
    for (let round = 0; round < 5; round++) {
      const { email, id } = await signup();
      await resend(email);
      const [first, second] = await links(email);
      const answers = await Promise.all([first, first, second, second, first].map(verify));
      expect(answers.map((a) => a.status).sort()).toEqual([200, 422, 422, 422, 422]);
      expect((await t.audit('user.email_verified')).filter((a) => a.target_id === id)).toHaveLength(1);
    }
  });

  it('is what makes the first administrator, not the address', async () => {
    const email = anEmail('boss');
    t.configure({ REGISTRATION_MODE: 'closed', BOOTSTRAP_ADMIN_EMAIL: email });
    const { token } = await signup(email);
    expect((await me(token)).is_platform_admin).toBe(false);
    const admins = t.app.get(PlatformAdminsService, { strict: false });
    await admins.ensureBootstrapAdmin();
    expect(await admins.list()).toEqual([]);
    await verify((await links(email))[0]);
    expect((await admins.list()).map((a) => a.email)).toEqual([email]);
    const session = await t.login(email);
    expect((await me(session)).is_platform_admin).toBe(true);
  });

  it('is due before an operator can give a role to an address', async () => {
    const admins = t.app.get(PlatformAdminsService, { strict: false });
    const { email } = await signup();
    const operator = actingOperator((await t.user()).id, {});
    await expect(admins.add(operator, email)).rejects.toMatchObject({ code: 'user_not_found' });
    await verify((await links(email))[0]);
    expect(await admins.add(operator, email)).toMatchObject({ email });
  });

  it('is asked of nobody where it is off', async () => {
    t.configure({ EMAIL_PROOF: 'off' });
    const { email, body } = await signup();
    expect(body.user.email_verified).toBe(true);
    expect(await t.mails(email)).toEqual([]);
    // Accounts of that time count as proven.
    t.configure({ EMAIL_PROOF: 'required' });
    expect((await me(await t.login(email))).user.email_verified).toBe(true);
  });

  describe('by another link', () => {
    it('is offered to who has not done it, and every address is answered the same way', async () => {
      const [open, done, unknown] = [await signup(), await t.user(), anEmail()];
      for (const email of [open.email, done.email, unknown, open.email.toUpperCase()]) {
        const { status, body } = await resend(email);
        expect([status, body]).toEqual([202, { status: 'received' }]);
      }
      expect([await links(open.email), await links(done.email), await links(unknown)].map((l) => l.length)).toEqual([3, 0, 0]);
      const tokens = await links(open.email);
      expect(new Set(tokens).size).toBe(3);
      expect((await verify(tokens[0])).status).toBe(200);
      await resend(open.email);
      expect(await links(open.email)).toHaveLength(3);
    });

    it('comes three times an hour, however many ask at once', async () => {
      const { email, id } = await signup();
      const answers = await Promise.all(Array.from({ length: 8 }, () => resend(email)));
      expect(answers.map((a) => a.status)).toEqual(Array(8).fill(202));
      expect(await links(email)).toHaveLength(1 + 3);
      await t.db.execute(sql(`UPDATE mailed_links SET created_at = created_at - interval '1 hour' WHERE user_id = $1`), [id]);
      await t.db.execute(sql(`UPDATE users SET created_at = created_at - interval '1 hour' WHERE id = $1`), [id]);
      await resend(email);
      expect(await links(email)).toHaveLength(1 + 3 + 1);
    });

    it('goes to who is signed in, without an address', async () => {
      const { email, token } = await signup();
      expect((await t.call('POST', '/api/auth/verify/resend', { token, body: {} })).status).toBe(202);
      expect(await links(email)).toHaveLength(2);
      expect((await t.call('POST', '/api/auth/verify/resend', { body: {} })).status).toBe(202);
      expect((await t.call('POST', '/api/auth/verify/resend', { token: 'aps_wrong', body: {} })).status).toBe(202);
    });
  });

  it('leaves no row behind for ever', async () => {
    const [old, fresh] = [await signup(), await signup()];
    await t.db.execute(sql(`UPDATE mailed_links SET expires_at = now() - interval '25 hours' WHERE user_id = $1`), [old.id]);
    await t.app.get(MailedLinksRepository, { strict: false }).purge(t.db, 1_000);
    expect(await t.db.query(sql('SELECT user_id FROM mailed_links WHERE user_id = ANY($1)'), [[old.id, fresh.id]])).toEqual([
      { user_id: fresh.id },
    ]);
  });

  it('does not come by a token that names nobody', async () => {
    for (const token of [undefined, null, '', 7, 'x'.repeat(257), uuidv7()]) expect((await verify(token)).status).toBe(422);
  });
});
