import { setTimeout as sleep } from 'node:timers/promises';
import { Session, User } from '@aps/entities';
import { hashToken } from '@aps/platform/crypto';
import { NO_CALLER } from '@aps/platform/database';
import { outcome, sql } from '@aps/platform/testing';
import { testService } from '@aps/testing';
import { hash } from '@node-rs/argon2';
import { aPerson, aUser, aWaitlistEntry, allow, anEmail, aSession, login, PASSWORD, signup, stateOf } from '../testing';
import { IDENTITY } from '../testing/identity';
import { TestOrganizationAdapter } from '../testing/test-organization-adapter';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const ago = (ms: number) => new Date(Date.now() - ms);

describe('signing up and in', () => {
  // What an address that must be proven gets later is in email-proofs.medium.spec.ts.
  const t = testService(IDENTITY, { settings: { EMAIL_PROOF: 'off' } });
  beforeEach(() => t.configure({ REGISTRATION_MODE: 'open', BOOTSTRAP_ADMIN_EMAIL: '' }));
  afterEach(() => jest.restoreAllMocks());

  const refusal = async (email: string) => (await signup(t, email)).body.code as string | undefined;
  const usersOf = (email: string) => t.db.manager.countBy(User, { email });
  const me = async (as: { token: string }) => (await t.call('GET', '/api/auth/me', { as })).body;

  describe('signup', () => {
    it('makes a user with an organization and a session that works', async () => {
      const email = anEmail();
      const { status, body } = await signup(t, ` ${email} `, { name: 'Ada', org_name: 'Engines' }, { 'X-Request-Id': 'sign-1' });
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
      expect(Math.round((Date.parse(body.session.expires_at) - Date.now()) / DAY)).toBe(30);
      expect(await me(body.session)).toEqual({ user: body.user, is_platform_admin: false, memberships: body.memberships });
      expect(await t.audit({ action: 'user.signed_up' })).toMatchObject([
        { actor_id: body.user.id, target_id: body.user.id, source: 'business', request_id: 'sign-1' },
      ]);
    });

    it('names a user who gives no name after the address', async () => {
      expect((await signup(t, anEmail('grace'), { name: '  ' })).body.user.name).toMatch(/^grace\.\d+$/);
    });

    it('stores neither password nor token', async () => {
      const { body } = await signup(t, anEmail());
      const user = await t.db.manager.findOneByOrFail(User, { id: body.user.id });
      const session = await t.db.manager.findOneByOrFail(Session, { user_id: user.id });
      expect([user.password_hash, session.token_hash]).toEqual([expect.stringMatching(/^\$argon2id\$/), hashToken(body.session.token)]);
    });

    it('refuses an address that is known, in any case', async () => {
      const { email } = await aUser(t);
      expect(await signup(t, email.toUpperCase())).toMatchObject({
        status: 409,
        body: { code: 'email_taken', detail: expect.any(String) },
      });
    });

    it('lets one of two signups that race win, whatever speaks for the address', async () => {
      t.configure({ REGISTRATION_MODE: 'allowlist' });
      for (let round = 0; round < 5; round++) {
        // An admission is used up by the first signup: the second must still hear that the address is taken.
        const { email } = await aWaitlistEntry(t, { status: 'admitted', admitted_at: new Date() });
        const answers = await Promise.all([email, email.toUpperCase(), email].map((address) => signup(t, address)));
        expect(answers.map(outcome).sort()).toEqual([
          [201, undefined],
          [409, 'email_taken'],
          [409, 'email_taken'],
        ]);
        expect(await refusal(email)).toBe('email_taken');
        expect(answers.find((a) => a.status === 201)?.body.memberships).toHaveLength(1);
        expect(await t.db.manager.countBy(User, { email_canonical: email })).toBe(1);
      }
    });

    it('keeps out whom nothing speaks for, and says where to ask', async () => {
      t.configure({ REGISTRATION_MODE: 'allowlist' });
      const email = anEmail();
      expect(await signup(t, email)).toMatchObject({
        status: 403,
        body: { code: 'registration_not_allowed', context: { waitlist_url: 'https://app.example/waitlist' } },
      });
      expect(await usersOf(email)).toBe(0);
    });

    it.each(['pending', 'dismissed', 'registered'] as const)(
      'does not take a waitlist entry that is %s for an admission',
      async (status) => {
        t.configure({ REGISTRATION_MODE: 'allowlist' });
        expect(await refusal((await aWaitlistEntry(t, { status })).email)).toBe('registration_not_allowed');
      },
    );

    it('looks again when it makes the user: what spoke for the address may be gone', async () => {
      t.configure({ REGISTRATION_MODE: 'allowlist' });
      const email = anEmail();
      const invited = jest.spyOn(t.get(TestOrganizationAdapter), 'isInvited').mockResolvedValueOnce(true);
      expect(await refusal(email)).toBe('registration_not_allowed');
      expect(invited).toHaveBeenCalledTimes(2);
      expect(await usersOf(email)).toBe(0);
    });

    it('lets in an allowed, an invited and an admitted address', async () => {
      t.configure({ REGISTRATION_MODE: 'allowlist' });
      const [allowed, invited, adapter] = [anEmail(), anEmail(), t.get(TestOrganizationAdapter)];
      await allow(t, allowed.toUpperCase());
      const org_id = await adapter.makeOrg(t.db, (await aUser(t)).id, 'Host');
      await adapter.invite(t.db, org_id, invited.toUpperCase());
      const admitted = await aWaitlistEntry(t, { email: anEmail().toUpperCase(), status: 'admitted', admitted_at: new Date() });
      expect((await signup(t, allowed)).status).toBe(201);
      expect((await signup(t, invited)).status).toBe(201);
      expect((await signup(t, admitted.email.toLowerCase())).status).toBe(201);
    });

    it('lets nobody into a closed installation but the first administrator', async () => {
      const [boss, other] = [anEmail('boss'), anEmail()];
      t.configure({ REGISTRATION_MODE: 'closed', BOOTSTRAP_ADMIN_EMAIL: boss.toUpperCase() });
      await allow(t, other);
      expect(await refusal(other)).toBe('registration_not_allowed');
      const { status, body } = await signup(t, boss);
      expect([status, (await me(body.session)).is_platform_admin]).toEqual([201, true]);
      expect(await t.audit({ action: 'platform_admin.added' })).toMatchObject([
        { target_id: body.user.id, metadata: { email: boss, bootstrap: true } },
      ]);
    });

    it('leaves nothing behind when the organization cannot be made', async () => {
      const email = anEmail();
      jest.spyOn(t.get(TestOrganizationAdapter), 'onSignup').mockRejectedValueOnce(new Error('no room'));
      expect((await signup(t, email)).status).toBe(500);
      expect(await usersOf(email)).toBe(0);
      expect((await signup(t, email)).status).toBe(201);
    });

    it('lists every problem of a body at once', async () => {
      const { status, body, text } = await signup(t, 'nobody', { password: 'too short', name: 1 });
      expect(status).toBe(422);
      expect(body.detail).toEqual([
        { loc: ['body', 'email'], msg: expect.any(String), type: 'value_error' },
        { loc: ['body', 'password'], msg: expect.any(String), type: 'string_too_short' },
        { loc: ['body', 'name'], msg: expect.any(String), type: 'string_type' },
      ]);
      expect(text).not.toContain('too short');
    });
  });

  describe('login', () => {
    const attempt = (email: string, password = PASSWORD) =>
      t.call('POST', '/api/auth/login', { body: { email, password }, headers: { 'X-Request-Id': 'r' } });

    it('takes the address in any case', async () => {
      const { email, id } = await aUser(t);
      const { status, body, headers } = await attempt(email.toUpperCase());
      expect([status, headers.get('cache-control')]).toEqual([200, 'no-store']);
      expect(body).toMatchObject({ user: { id, email }, session: { token_type: 'bearer' }, memberships: [] });
    });

    it('answers a wrong password and an unknown address the same way', async () => {
      const wrong = await attempt((await aUser(t)).email, `${PASSWORD}!`);
      expect(outcome(wrong)).toEqual([401, 'invalid_credentials']);
      expect(await attempt(anEmail())).toEqual({ ...wrong, headers: expect.anything() });
    });

    it('tells a deactivated user so, with the right password only', async () => {
      const { email, id } = await aUser(t);
      await t.db.manager.update(User, id, { deactivated_at: new Date() });
      expect((await attempt(email)).body.code).toBe('user_deactivated');
      expect((await attempt(email, 'something else')).body.code).toBe('invalid_credentials');
      expect(await t.db.manager.countBy(Session, { user_id: id })).toBe(0);
    });

    it.each([
      ['is being deactivated', { deactivated_at: new Date() }, 'user_deactivated'],
      ['is getting another password', { password_hash: 'another' }, 'invalid_credentials'],
    ])('does not outrun what ends the sessions of who %s', async (_, change, code) => {
      const { email, id } = await aUser(t);
      let login: ReturnType<typeof attempt>;
      await t.db.transaction(NO_CALLER, async (tx) => {
        await tx.manager.update(User, id, change);
        let isOver = false;
        login = attempt(email).finally(() => (isOver = true));
        const waiting = sql(`SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`);
        while (!isOver && !(await t.db.query(waiting)).length) await sleep(10);
      });
      expect((await login!).body.code).toBe(code);
      expect(await t.db.manager.countBy(Session, { user_id: id })).toBe(0);
    });

    it('renews a hash that was made with weaker parameters', async () => {
      const user = await aUser(t);
      await t.db.manager.update(User, user.id, { password_hash: await hash(PASSWORD, { memoryCost: 4096, timeCost: 1 }) });
      await login(t, user);
      expect((await t.db.manager.findOneByOrFail(User, { id: user.id })).password_hash).toContain('$m=19456,t=2,p=1$');
      await login(t, user);
    });

    it('removes sessions that have long been over', async () => {
      const user = await aUser(t);
      await aSession(t, user, { expires_at: ago(25 * HOUR) });
      await login(t, user);
      expect(await t.db.manager.countBy(Session, { user_id: user.id })).toBe(1);
    });
  });

  describe('a session', () => {
    const unauthenticated = { detail: 'Not authenticated', code: 'not_authenticated', request_id: expect.any(String) };

    it.each<[string, Partial<Session>]>([
      ['expired', { expires_at: ago(1_000) }],
      ['unused for seven days', { last_used_at: ago(7 * DAY + 1_000) }],
      ['revoked', { revoked_at: new Date() }],
    ])('is refused when %s', async (_, state) => {
      const answer = await t.call('GET', '/api/auth/me', { as: await aSession(t, await aUser(t), state) });
      expect([answer.status, answer.body]).toEqual([401, unauthenticated]);
    });

    it('lives on while it is used', async () => {
      expect(await stateOf(t, await aSession(t, await aUser(t), { last_used_at: ago(6 * DAY + 23 * HOUR) }))).toBe('ok');
    });

    it('ends at the logout', async () => {
      const person = await aPerson(t);
      const other = await aSession(t, person);
      expect((await t.call('POST', '/api/auth/logout', { as: person })).status).toBe(204);
      expect([await stateOf(t, person), await stateOf(t, other)]).toEqual(['not_authenticated', 'ok']);
    });

    it('is exchanged by a refresh, once', async () => {
      const user = await aUser(t);
      const as = await aSession(t, user, { expires_at: ago(-HOUR) });
      const answers = await Promise.all(Array.from({ length: 6 }, () => t.call('POST', '/api/auth/refresh', { as })));
      expect(answers.map(outcome).sort()).toEqual([[200, undefined], ...Array<unknown>(5).fill([401, 'not_authenticated'])]);
      const { session, user: exchanged } = answers.find((a) => a.status === 200)!.body;
      expect(exchanged.id).toBe(user.id);
      expect(Date.parse(session.expires_at)).toBeGreaterThan(Date.now() + 29 * DAY);
      expect([await stateOf(t, as), await stateOf(t, session)]).toEqual(['not_authenticated', 'ok']);
    });
  });

  it('my profile changes in the fields that are given', async () => {
    const as = await aPerson(t);
    const patch = (body: unknown) => t.call('PATCH', '/api/auth/me', { as, body });
    const avatar_url = 'https://example.com/a.png';
    expect((await patch({ avatar_url })).body).toMatchObject({ name: as.name, avatar_url });
    expect((await patch({ name: 'New' })).body).toMatchObject({ name: 'New', avatar_url });
    expect((await patch({})).body).toMatchObject({ name: 'New', avatar_url });
    const more = { is_platform_admin: true, email: 'x@example.com' };
    expect((await patch({ avatar_url: null, ...more })).body).toMatchObject({ name: 'New', avatar_url: null, email: as.email });
    const bad = [...['', '  ', 'a\nb', null].map((name) => ({ name })), { avatar_url: 'javascript:alert(1)' }, { avatar_url: 1 }];
    for (const body of bad) expect((await patch(body)).status).toBe(422);
  });

  it.each(['/api/auth/signup', '/api/auth/login', '/api/waitlist'])('%s takes no more than anybody has to say there', async (path) => {
    const ask = (length: number) => t.call('POST', path, { body: { email: 'x'.repeat(length) } });
    expect([(await ask(60_000)).status, outcome(await ask(70_000))]).toEqual([422, [413, 'payload_too_large']]);
  });

  it.each([
    ['/api/auth/signup', 'RATE_LIMIT_SIGNUP'],
    ['/api/auth/login', 'RATE_LIMIT_LOGIN'],
    ['/api/auth/verify', 'RATE_LIMIT_VERIFICATION'],
    ['/api/auth/verify/resend', 'RATE_LIMIT_VERIFICATION'],
    ['/api/auth/password/forgot', 'RATE_LIMIT_PASSWORD_RESET'],
    ['/api/auth/password/reset', 'RATE_LIMIT_PASSWORD_RESET'],
    ['/api/waitlist', 'RATE_LIMIT_WAITLIST'],
  ])('%s is called no faster than it may', async (path, setting) => {
    // A prefix of its own: what other requests have used up does not count.
    t.configure({ RATE_LIMITS: 'on', [setting]: '1', REDIS_PREFIX: `limits${Math.random().toString(36).slice(2)}` });
    const ask = () => t.call('POST', path, { body: { email: 1 } });
    const [first, second] = [await ask(), await ask()];
    t.configure({ RATE_LIMITS: 'off' });
    expect([first.status, outcome(second)]).toEqual([422, [429, 'rate_limited']]);
    expect(Number(second.headers.get('retry-after'))).toBeGreaterThan(0);
  });
});
