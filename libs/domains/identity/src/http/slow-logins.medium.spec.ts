import { Session, User } from '@aps/entities';
import { verifyPassword } from '@aps/platform/crypto';
import { sql } from '@aps/platform/testing';
import { testService } from '@aps/testing';
import { anEmail, aPerson, aUser, mailedLinks, PASSWORD } from '../testing';
import { IDENTITY } from '../testing/identity';
import { TestOrganizationAdapter } from '../testing/test-organization-adapter';

describe('failed log-ins', () => {
  const t = testService(IDENTITY, { settings: { TRUST_PROXY: '1', RATE_LIMITS: 'on', RATE_LIMIT_LOGIN: '0', RATE_LIMIT_SIGNUP: '0' } });
  afterEach(() => jest.restoreAllMocks());

  const login = async (email: string, password = 'not the password', from = '198.51.100.1') => {
    const { status, body, headers } = await t.call('POST', '/api/auth/login', {
      body: { email, password },
      headers: { 'x-forwarded-for': from },
    });
    return { status, code: body.code as string | undefined, wait: headers.get('retry-after') };
  };
  /** As if the time had passed that the last answer asked for. */
  const pass = () => t.db.execute(sql(`UPDATE login_attempts SET blocked_until = now() WHERE isfinite(blocked_until)`));
  /** Whoever has to wait does so through the rest of a test, however slow the machine is. */
  const hold = () =>
    t.db.execute(sql(`UPDATE login_attempts SET blocked_until = now() + interval '1 minute' WHERE isfinite(blocked_until)`));
  const fail = async (email: string, times: number) => {
    for (let i = 0; i < times; i++) expect(await login(email)).toEqual({ status: 401, code: 'invalid_credentials', wait: null });
  };

  it('are answered 401 five times, then wait ever longer, whether the address has an account or not', async () => {
    for (const email of [(await aUser(t)).email, anEmail('nobody')]) {
      await fail(email, 5);
      const waits = [(await login(email, PASSWORD)).wait];
      for (let i = 0; i < 11; i++) {
        await pass();
        const { status, code, wait } = await login(i % 2 ? email : email.toUpperCase());
        expect([status, code]).toEqual([429, 'too_many_attempts']);
        waits.push(wait);
      }
      expect(waits).toEqual(['1', '2', '4', '8', '16', '32', '64', '128', '256', '512', '900', '900']);
      await t.db.execute(sql('DELETE FROM login_attempts'));
    }
  });

  it('are forgotten with a success, and after 15 minutes', async () => {
    const { email } = await aUser(t);
    await fail(email, 4);
    expect((await login(email, PASSWORD)).status).toBe(200);
    await fail(email, 5);
    await pass();
    expect((await login(email, PASSWORD)).status).toBe(200);
    await fail(email, 5);
    await t.db.execute(
      sql(`UPDATE login_attempts SET since = since - interval '15 minutes', blocked_until = blocked_until - interval '16 minutes'`),
    );
    await fail(email, 5);
  });

  it.each<[string, number, (id: string) => unknown]>([
    ['user_deactivated', 401, (id) => t.db.manager.update(User, id, { deactivated_at: new Date() })],
    ['sso_required', 403, () => jest.spyOn(t.get(TestOrganizationAdapter), 'requireSso').mockResolvedValue(true)],
  ])('are none with the right password, though it is answered %s', async (code, status, refuse) => {
    const { email, id } = await aUser(t);
    await refuse(id);
    for (let i = 0; i < 7; i++) expect(await login(email, PASSWORD)).toEqual({ status, code, wait: null });
    await fail(email, 5);
    expect((await login(email)).status).toBe(429);
    expect(await t.db.manager.countBy(Session, { user_id: id })).toBe(0);
  });

  it('do not shut out who has signed in from there before', async () => {
    const { email } = await aUser(t);
    expect((await login(email, PASSWORD, '2001:db8:1:2::7')).status).toBe(200);
    await fail(email, 5);
    await hold();
    expect((await login(email, PASSWORD, '2001:db8:1:3::7')).code).toBe('too_many_attempts');
    expect((await login(email, 'not the password', '2001:db8:1:2::8')).code).toBe('too_many_attempts');
    expect((await login(email, PASSWORD, '2001:db8:1:2::8')).status).toBe(200);
  });

  it('count by themselves where their user has signed in, so that nobody guesses there without end', async () => {
    const { email } = await aUser(t);
    const home = '203.0.113.9';
    expect((await login(email, PASSWORD, home)).status).toBe(200);
    await t.db.execute(sql(`UPDATE sessions SET revoked_at = now() - interval '25 hours' WHERE ip = $1`), [home]);
    await login(email, PASSWORD, '203.0.113.10');
    await fail(email, 5);
    await hold();
    for (let i = 0; i < 5; i++) expect((await login(email, 'not the password', home)).code).toBe('too_many_attempts');
    await hold();
    expect((await login(email, PASSWORD, home)).code).toBe('too_many_attempts');
    await pass();
    expect((await login(email, PASSWORD, home)).status).toBe(200);
  });

  it('do not delay who resets the password', async () => {
    const { email } = await aUser(t);
    await fail(email, 5);
    await t.call('POST', '/api/auth/password/forgot', { body: { email } });
    const [token] = await mailedLinks(t, email, 'reset-password');
    expect((await t.call('POST', '/api/auth/password/reset', { body: { token, password: 'staple battery horse' } })).status).toBe(204);
    expect((await login(email, 'staple battery horse')).status).toBe(200);
  });

  it('gain nothing by coming all at once', async () => {
    const { email, id } = await aUser(t);
    const answers = await Promise.all(Array.from({ length: 30 }, () => login(email)));
    expect(answers.filter((a) => a.status === 401)).toHaveLength(5);
    expect(answers.filter((a) => a.code === 'too_many_attempts').length).toBe(25);
    const audited = await t.audit({ action: 'user.login_slowed', target_id: id });
    expect(audited.length).toBeGreaterThan(0);
    expect(audited[0]).toMatchObject({ actor_id: null, metadata: { wait_s: 1 } });
    expect(JSON.stringify(audited)).not.toContain(email);
  });

  it('are not what others take that come at the same moment, with the right password', async () => {
    const { email } = await aUser(t);
    const answers = await Promise.all(Array.from({ length: 12 }, () => login(email, PASSWORD)));
    expect(answers.map((a) => a.status)).toEqual(Array(12).fill(200));
  });

  it('within a session are slowed down as well, where its password is to be changed, and by themselves', async () => {
    const person = await aPerson(t);
    const change = async (current_password: string, n = 1) => {
      const body = { current_password, new_password: 'staple battery horse' };
      return (await t.call('POST', '/api/auth/password/change', { as: person, body, headers: { 'x-forwarded-for': `198.51.100.${n}` } }))
        .status;
    };
    await fail(person.email, 6 - 1);
    for (let n = 1; n <= 5; n++) expect(await change('not the password', n)).toBe(422);
    await hold();
    expect([await change(PASSWORD, 6), (await login(person.email, PASSWORD, '198.51.100.9')).status]).toEqual([429, 429]);
    await pass();
    expect(await change(PASSWORD, 6)).toBe(204);
    expect(await change('not the password', 7)).toBe(422);
  });

  it('are none where the password is never compared, as too many wait', async () => {
    const [person, home] = [await aPerson(t), '203.0.113.20'];
    expect((await login(person.email, PASSWORD, home)).status).toBe(200);
    const change = () =>
      t.call('POST', '/api/auth/password/change', {
        as: person,
        body: { current_password: PASSWORD, new_password: 'staple battery horse' },
      });
    const storm = async (during: () => Promise<void>) => {
      let end!: (matches: boolean) => void;
      const held = new Promise<boolean>((resolve) => (end = resolve));
      const comparing = jest
        .spyOn(jest.requireActual<{ verify: () => Promise<boolean> }>('@node-rs/argon2'), 'verify')
        .mockReturnValue(held);
      const waiting = Promise.allSettled(Array.from({ length: 300 }, () => verifyPassword(null, '')));
      await during();
      comparing.mockRestore();
      end(false);
      await waiting;
    };
    const away = { status: 503, code: 'service_unavailable', wait: '5' };
    await storm(async () => {
      for (let i = 0; i < 6; i++) expect([await login(person.email, PASSWORD), (await change()).status]).toEqual([away, 503]);
    });
    await fail(person.email, 5);
    await hold();
    await storm(async () => {
      for (let i = 0; i < 6; i++) expect(await login(person.email, PASSWORD, home)).toEqual(away);
    });
    expect((await login(person.email, PASSWORD, home)).status).toBe(200);
    expect((await change()).status).toBe(204);
  });

  it('are not slowed down where rate limits are off', async () => {
    t.configure({ RATE_LIMITS: 'off' });
    await fail((await aUser(t)).email, 8);
  });
});
