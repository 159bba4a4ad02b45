import { setTimeout as sleep } from 'node:timers/promises';
import { hashToken } from '@aps/platform/crypto';
import { NO_CALLER } from '@aps/platform/database';
import { sql } from '@aps/platform/testing';
import { anEmail, identityTestApp, PASSWORD, type IdentityTestApp } from '../testing/identity-test-app';

describe('signing up and in', () => {
  let t: IdentityTestApp;
  beforeAll(async () => {
    // What an address that must be proven gets later is in email-proofs.medium.spec.ts.
    t = await identityTestApp({ EMAIL_PROOF: 'off' });
  });
  afterAll(() => t.close());
  beforeEach(() => t.configure({ REGISTRATION_MODE: 'open', BOOTSTRAP_ADMIN_EMAIL: '' }));

  const signup = (body: Record<string, unknown>, headers?: Record<string, string>) =>
    t.call('POST', '/api/auth/signup', { body: { password: PASSWORD, ...body }, headers });

  describe('signup', () => {
    it('makes a user with an organization and a session that works', async () => {
      const email = anEmail();
      const { status, body } = await signup({ email: ` ${email} `, name: 'Ada', org_name: 'Engines' }, { 'X-Request-Id': 'sign-1' });
      expect(status).toBe(201);
      expect(body).toEqual({
        user: {
          id: expect.any(String),
          email,
          name: 'Ada',
          avatar_url: null,
          email_verified: true,
          created_at: expect.any(String),
          updated_at: expect.any(String),
        },
        session: {
          token: expect.stringMatching(/^aps_[\w-]{43}$/),
          token_type: 'bearer',
          expires_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        },
        memberships: [{ org_id: expect.any(String), org_name: 'Engines', slug: expect.any(String), role: 'OWNER' }],
      });
      const days = (Date.parse(body.session.expires_at) - Date.now()) / 86_400_000;
      expect(Math.round(days)).toBe(30);
      const me = await t.call('GET', '/api/auth/me', { token: body.session.token });
      expect(me.body).toEqual({ user: body.user, is_platform_admin: false, memberships: body.memberships });
      expect(await t.audit('user.signed_up')).toContainEqual(
        expect.objectContaining({ actor_id: body.user.id, target_id: body.user.id, source: 'business', request_id: 'sign-1' }),
      );
    });

    it('names a user who gives no name after the address', async () => {
      const { body } = await signup({ email: anEmail('grace'), name: '  ' });
      expect(body.user.name).toMatch(/^grace\.\d+$/);
    });

    it('stores neither password nor token', async () => {
      const email = anEmail();
      const { body } = await signup({ email });
      const [user] = await t.db.query(sql<{ password_hash: string }>('SELECT password_hash FROM users WHERE email = $1'), [email]);
      expect(user.password_hash).toMatch(/^\$argon2id\$/);
      const [session] = await t.db.query(sql<{ token_hash: Buffer }>('SELECT token_hash FROM sessions WHERE user_id = $1'), [body.user.id]);
      expect(session.token_hash.equals(hashToken(body.session.token))).toBe(true);
    });

    it('refuses an address that is known, in any case', async () => {
      const { email } = await t.user();
      const again = await signup({ email: email.toUpperCase() });
      expect(again.status).toBe(409);
      expect(again.body).toMatchObject({ code: 'email_taken', detail: expect.any(String) });
    });

    it('lets one of two signups that race win, whatever speaks for the address', async () => {
      t.configure({ REGISTRATION_MODE: 'allowlist' });
      for (let round = 0; round < 5; round++) {
        const email = anEmail();
        // An admission is used up by the first signup: the second must still hear that the address is taken.
        await t.db.execute(
          sql(
            `INSERT INTO waitlist_entries (id, email, email_canonical, status, admitted_at) VALUES (gen_random_uuid(), $1, $1, 'admitted', now())`,
          ),
          [email],
        );
        const answers = await Promise.all([signup({ email }), signup({ email: email.toUpperCase() }), signup({ email })]);
        expect(answers.map((a) => a.status).sort()).toEqual([201, 409, 409]);
        expect(answers.filter((a) => a.status === 409).map((a) => a.body.code)).toEqual(['email_taken', 'email_taken']);
        expect((await signup({ email })).body.code).toBe('email_taken');
        expect(
          await t.db.query(sql('SELECT 1 FROM users u JOIN memberships m ON m.user_id = u.id WHERE u.email_canonical = $1'), [email]),
        ).toHaveLength(1);
      }
    });

    it('keeps out whom nothing speaks for, and says where to ask', async () => {
      t.configure({ REGISTRATION_MODE: 'allowlist' });
      const email = anEmail();
      const { status, body } = await signup({ email });
      expect(status).toBe(403);
      expect(body).toMatchObject({ code: 'registration_not_allowed', context: { waitlist_url: 'https://app.example/waitlist' } });
      expect(await t.db.query(sql('SELECT 1 FROM users WHERE email = $1'), [email])).toEqual([]);
    });

    it.each(['pending', 'dismissed', 'registered'])('does not take a waitlist entry that is %s for an admission', async (status) => {
      t.configure({ REGISTRATION_MODE: 'allowlist' });
      const email = anEmail();
      await t.db.execute(sql('INSERT INTO waitlist_entries (id, email, email_canonical, status) VALUES (gen_random_uuid(), $1, $1, $2)'), [
        email,
        status,
      ]);
      expect((await signup({ email })).body.code).toBe('registration_not_allowed');
    });

    it('looks again when it makes the user: what spoke for the address may be gone', async () => {
      t.configure({ REGISTRATION_MODE: 'allowlist' });
      const email = anEmail();
      const invited = jest.spyOn(t.orgs, 'isInvited').mockResolvedValueOnce(true);
      expect((await signup({ email })).body.code).toBe('registration_not_allowed');
      expect(invited).toHaveBeenCalledTimes(2);
      invited.mockRestore();
      expect(await t.db.query(sql('SELECT 1 FROM users WHERE email = $1'), [email])).toEqual([]);
    });

    it('lets in an allowed, an invited and an admitted address', async () => {
      t.configure({ REGISTRATION_MODE: 'allowlist' });
      const [allowed, invited, admitted] = [anEmail(), anEmail(), anEmail()];
      await t.allow(allowed.toUpperCase());
      const owner = await t.user();
      const orgId = await t.orgs.makeOrg(t.db, owner.id, 'Host');
      await t.orgs.invite(t.db, orgId, invited.toUpperCase(), 'ADMIN');
      await t.db.execute(
        sql(
          `INSERT INTO waitlist_entries (id, email, email_canonical, status, admitted_at) VALUES (gen_random_uuid(), upper($1), $1, 'admitted', now())`,
        ),
        [admitted],
      );
      expect((await signup({ email: allowed })).status).toBe(201);
      expect((await signup({ email: invited })).body.memberships).toEqual([expect.objectContaining({ org_id: orgId, role: 'ADMIN' })]);
      expect((await signup({ email: admitted })).status).toBe(201);
      expect(await t.db.query(sql('SELECT status FROM waitlist_entries WHERE email_canonical = $1'), [admitted])).toEqual([
        { status: 'registered' },
      ]);
    });

    it('lets nobody into a closed installation but the first administrator', async () => {
      const [boss, other] = [anEmail('boss'), anEmail()];
      t.configure({ REGISTRATION_MODE: 'closed', BOOTSTRAP_ADMIN_EMAIL: boss.toUpperCase() });
      await t.allow(other);
      expect((await signup({ email: other })).body.code).toBe('registration_not_allowed');
      const { status, body } = await signup({ email: boss });
      expect(status).toBe(201);
      expect((await t.call('GET', '/api/auth/me', { token: body.session.token })).body.is_platform_admin).toBe(true);
      expect(await t.audit('platform_admin.added')).toEqual([
        expect.objectContaining({ target_id: body.user.id, metadata: { email: boss, bootstrap: true } }),
      ]);
    });

    it('leaves nothing behind when the organization cannot be made', async () => {
      const email = anEmail();
      const makeOrg = jest.spyOn(t.orgs, 'onSignup').mockRejectedValueOnce(new Error('no room'));
      expect((await signup({ email })).status).toBe(500);
      makeOrg.mockRestore();
      expect(await t.db.query(sql('SELECT 1 FROM users WHERE email = $1'), [email])).toEqual([]);
      expect((await signup({ email })).status).toBe(201);
    });

    it('lists every problem of a body at once', async () => {
      const { status, body } = await t.call('POST', '/api/auth/signup', { body: { email: 'nobody', password: 'too short', name: 1 } });
      expect(status).toBe(422);
      expect(body.detail).toEqual([
        { loc: ['body', 'email'], msg: expect.any(String), type: 'value_error' },
        { loc: ['body', 'password'], msg: expect.any(String), type: 'string_too_short' },
        { loc: ['body', 'name'], msg: expect.any(String), type: 'string_type' },
      ]);
      expect(JSON.stringify(body)).not.toContain('too short');
    });
  });

  describe('login', () => {
    it('takes the address in any case', async () => {
      const { email, id } = await t.user();
      const { status, body, headers } = await t.call('POST', '/api/auth/login', {
        body: { email: email.toUpperCase(), password: PASSWORD },
      });
      expect(headers.get('cache-control')).toBe('no-store');
      expect(status).toBe(200);
      expect(body).toMatchObject({ user: { id, email }, session: { token_type: 'bearer' }, memberships: [] });
    });

    it('answers a wrong password and an unknown address the same way', async () => {
      const { email } = await t.user();
      const wrong = await t.call('POST', '/api/auth/login', {
        body: { email, password: `${PASSWORD}!` },
        headers: { 'X-Request-Id': 'r' },
      });
      const unknown = await t.call('POST', '/api/auth/login', {
        body: { email: anEmail(), password: PASSWORD },
        headers: { 'X-Request-Id': 'r' },
      });
      expect(wrong.status).toBe(401);
      expect(wrong.body.code).toBe('invalid_credentials');
      expect(unknown).toEqual({ ...wrong, headers: expect.anything() });
    });

    it('tells a deactivated user so, with the right password only', async () => {
      const { email, id } = await t.user();
      await t.db.execute(sql('UPDATE users SET deactivated_at = now() WHERE id = $1'), [id]);
      expect((await t.call('POST', '/api/auth/login', { body: { email, password: PASSWORD } })).body.code).toBe('user_deactivated');
      expect((await t.call('POST', '/api/auth/login', { body: { email, password: 'something else' } })).body.code).toBe(
        'invalid_credentials',
      );
      expect(await t.db.query(sql('SELECT 1 FROM sessions WHERE user_id = $1'), [id])).toEqual([]);
    });

    it.each([
      ['is being deactivated', 'deactivated_at = now()', 'user_deactivated'],
      ['is getting another password', `password_hash = 'another'`, 'invalid_credentials'],
    ])('does not outrun what ends the sessions of who %s', async (_, change, code) => {
      const { email, id } = await t.user();
      let login: ReturnType<typeof t.call>;
      await t.db.transaction(NO_CALLER, async (tx) => {
        await tx.execute(sql(`UPDATE users SET ${change} WHERE id = $1`), [id]);
        let isOver = false;
        login = t.call('POST', '/api/auth/login', { body: { email, password: PASSWORD } }).finally(() => (isOver = true));
        const waiting = sql(`SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`);
        while (!isOver && !(await t.db.query(waiting)).length) await sleep(10);
      });
      expect((await login!).body.code).toBe(code);
      expect(await t.db.query(sql('SELECT 1 FROM sessions WHERE user_id = $1'), [id])).toEqual([]);
    });

    it('renews a hash that was made with weaker parameters', async () => {
      const { email, id } = await t.user();
      const { hash } = await import('@node-rs/argon2');
      await t.db.execute(sql('UPDATE users SET password_hash = $2 WHERE id = $1'), [
        id,
        await hash(PASSWORD, { memoryCost: 4096, timeCost: 1 }),
      ]);
      await t.login(email);
      const [{ password_hash }] = await t.db.query(sql<{ password_hash: string }>('SELECT password_hash FROM users WHERE id = $1'), [id]);
      expect(password_hash).toContain('$m=19456,t=2,p=1$');
      await t.login(email);
    });

    it('removes sessions that have long been over', async () => {
      const { email, id } = await t.user();
      await t.login(email);
      await t.db.execute(sql(`UPDATE sessions SET expires_at = now() - interval '25 hours' WHERE user_id = $1`), [id]);
      await t.login(email);
      expect(await t.db.query(sql('SELECT 1 FROM sessions WHERE user_id = $1'), [id])).toHaveLength(1);
    });
  });

  describe('a session', () => {
    const unauthenticated = { detail: 'Not authenticated', code: 'not_authenticated', request_id: expect.any(String) };

    it.each([
      undefined,
      '',
      'Basic abc',
      'Bearer',
      'Bearer aps_x',
      `Bearer aps_${'x'.repeat(43)}`,
      `Bearer apt_${'0'.repeat(32)}_000000`,
      'Bearer ü',
    ])('is demanded: %p', async (header) => {
      const answer = await t.call('GET', '/api/auth/me', {
        headers: header === undefined ? {} : { Authorization: Buffer.from(header).toString('latin1') },
      });
      expect([answer.status, answer.body]).toEqual([401, unauthenticated]);
      expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    });

    it.each([
      ['expired', `expires_at = now() - interval '1 second'`],
      ['unused for seven days', `last_used_at = now() - interval '7 days 1 second'`],
      ['revoked', 'revoked_at = now()'],
    ])('is refused when %s', async (_, change) => {
      const { email, id } = await t.user();
      const token = await t.login(email);
      await t.db.execute(sql(`UPDATE sessions SET ${change} WHERE user_id = $1`), [id]);
      const answer = await t.call('GET', '/api/auth/me', { token });
      expect([answer.status, answer.body]).toEqual([401, unauthenticated]);
    });

    it('lives on while it is used', async () => {
      const { email, id } = await t.user();
      const token = await t.login(email);
      await t.db.execute(sql(`UPDATE sessions SET last_used_at = now() - interval '6 days 23 hours' WHERE user_id = $1`), [id]);
      expect(await t.bearer(token)).toBe('ok');
    });

    it('ends at the logout', async () => {
      const { email } = await t.user();
      const [token, other] = [await t.login(email), await t.login(email)];
      expect((await t.call('POST', '/api/auth/logout', { token })).status).toBe(204);
      expect(await t.bearer(token)).toBe('not_authenticated');
      expect(await t.bearer(other)).toBe('ok');
    });

    it('is exchanged by a refresh, once', async () => {
      const { email, id } = await t.user();
      const token = await t.login(email);
      await t.db.execute(sql(`UPDATE sessions SET expires_at = now() + interval '1 hour' WHERE user_id = $1`), [id]);
      const answers = await Promise.all(Array.from({ length: 6 }, () => t.call('POST', '/api/auth/refresh', { token })));
      const won = answers.filter((a) => a.status === 200);
      expect(won).toHaveLength(1);
      expect(answers.filter((a) => a.status === 401).every((a) => a.body.code === 'not_authenticated')).toBe(true);
      const { session, user } = won[0].body;
      expect(user.id).toBe(id);
      expect(Date.parse(session.expires_at)).toBeGreaterThan(Date.now() + 29 * 86_400_000);
      expect(await t.bearer(token)).toBe('not_authenticated');
      expect(await t.bearer(session.token)).toBe('ok');
    });
  });

  describe('my profile', () => {
    it('changes in the fields that are given', async () => {
      const { email, name } = await t.user();
      const token = await t.login(email);
      const patch = (body: unknown) => t.call('PATCH', '/api/auth/me', { token, body });
      expect((await patch({ avatar_url: 'https://example.com/a.png' })).body).toMatchObject({
        name,
        avatar_url: 'https://example.com/a.png',
      });
      expect((await patch({ name: 'New' })).body).toMatchObject({ name: 'New', avatar_url: 'https://example.com/a.png' });
      expect((await patch({})).body).toMatchObject({ name: 'New', avatar_url: 'https://example.com/a.png' });
      expect((await patch({ avatar_url: null, is_platform_admin: true, email: 'x@example.com' })).body).toMatchObject({
        name: 'New',
        avatar_url: null,
        email,
      });
      for (const bad of [{ name: '' }, { name: '  ' }, { name: null }, { avatar_url: 'javascript:alert(1)' }, { avatar_url: 1 }])
        expect((await patch(bad)).status).toBe(422);
    });
  });
});
