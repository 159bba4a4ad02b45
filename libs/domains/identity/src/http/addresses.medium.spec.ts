import { actingOperator } from '@aps/guards';
import { sql } from '@aps/platform/testing';
import { testService } from '@aps/testing';
import { AllowedEmailsService } from '../allowed-emails.service';
import { anEmail, aUser, PASSWORD, signup } from '../testing';
import { IDENTITY } from '../testing/identity';

/** Addresses that one rule takes for `i…@` or `k…@` and another does not; PostgreSQL's `lower()` and JavaScript's differ in all of them. */
const LOOKALIKES = [
  ['U+0130', 'ivo', '\u0130vo'],
  ['U+0131', 'ivo', '\u0131vo'],
  ['U+212A', 'karl', '\u212aarl'],
  ['U+017F', 'sam', '\u017fam'],
  ['full-width', 'ada', '\uff41da'],
  ['zero-width', 'ada', 'a\u200bda'],
  ['bidi', 'ada', '\u202eada'],
] as const;

describe('one address', () => {
  const t = testService(IDENTITY, { settings: { EMAIL_PROOF: 'off' } });
  beforeEach(() => t.configure({ REGISTRATION_MODE: 'open', BOOTSTRAP_ADMIN_EMAIL: '' }));

  const allow = async (email: string) => t.get(AllowedEmailsService).add(actingOperator((await aUser(t)).id, {}), email);
  let made = 0;
  /** A domain that no other test uses: the local part is what is tried. */
  const aDomain = () => `d${++made}.example`;

  it.each(LOOKALIKES)('lets nobody else in who is allowed, and is taken by nobody else (%s)', async (_, plain, lookalike) => {
    t.configure({ REGISTRATION_MODE: 'allowlist' });
    const domain = aDomain();
    await allow(`${plain}@${domain}`);
    const impostor = await signup(t, `${lookalike}@${domain}`);
    expect([
      [403, 'registration_not_allowed'],
      [422, 'validation_error'],
    ]).toContainEqual([impostor.status, impostor.body.code]);
    expect((await signup(t, `${plain}@${domain}`)).status).toBe(201);
  });

  it.each(LOOKALIKES)('is no administrator by looking like one (%s)', async (_, plain, lookalike) => {
    const domain = aDomain();
    t.configure({ REGISTRATION_MODE: 'closed', BOOTSTRAP_ADMIN_EMAIL: `${plain}@${domain}` });
    expect([403, 422]).toContain((await signup(t, `${lookalike}@${domain}`)).status);
    expect((await signup(t, `${plain}@${domain}`)).status).toBe(201);
  });

  it.each([
    ['case', 'Ada', 'aDA'],
    ['composition', 'ren\u00e9', 'rene\u0301'],
    ['case and composition', 'REN\u00c9', 'rene\u0301'],
    ['case beyond ASCII', '\u00c5sa', '\u00e5sa'],
    ['case that has two characters', '\u0130vo', 'i\u0307vo'],
  ])('has one account, one place in each list and one log-in, whatever %s', async (_, one, other) => {
    const domain = aDomain();
    const [typed, again] = [`${one}@${domain}`, `${other}@${domain.toUpperCase()}`];
    await allow(typed);
    await expect(allow(again)).rejects.toMatchObject({ code: 'already_allowed' });
    for (const email of [typed, again]) expect((await t.call('POST', '/api/waitlist', { body: { email } })).status).toBe(202);
    expect(await t.db.query(sql('SELECT email FROM waitlist_entries WHERE email LIKE $1'), [`%${domain}`])).toEqual([{ email: typed }]);

    t.configure({ REGISTRATION_MODE: 'allowlist' });
    const answers = await Promise.all([typed, again, typed, again].map((email) => signup(t, email)));
    expect(answers.map((a) => a.status).sort()).toEqual([201, 409, 409, 409]);
    const { user } = answers.find((a) => a.status === 201)?.body as { user: { email: string } };
    for (const email of [typed, again])
      expect((await t.call('POST', '/api/auth/login', { body: { email, password: PASSWORD } })).body.user.email).toBe(user.email);
    expect(await t.db.query(sql('SELECT DISTINCT status FROM waitlist_entries WHERE email = $1'), [typed])).toEqual([
      { status: 'registered' },
    ]);
  });

  it('has one account, however its domain is written', async () => {
    const email = `${anEmail().split('@')[0]}@b\u00fccher.example`;
    expect((await signup(t, email)).body.user.email).toBe(email);
    expect((await signup(t, email.replace('b\u00fccher', 'B\u00dcCHER'))).body.code).toBe('email_taken');
    expect((await signup(t, email.replace('b\u00fccher', 'xn--bcher-kva'))).body.code).toBe('email_taken');
    await t.call('POST', '/api/auth/password/forgot', { body: { email } });
    expect(await t.db.query(sql('SELECT recipient FROM outbound_mails WHERE recipient LIKE $1'), [`${email.split('@')[0]}%`])).toEqual([
      { recipient: email.replace('b\u00fccher', 'xn--bcher-kva') },
    ]);
  });

  it.each([
    '\u212a@example.com',
    '\uff41@example.com',
    'a\u200b@example.com',
    '\u202ea@example.com',
    'a\u0007@example.com',
    'a@exam\u00adple.com',
    '=?utf-8?q?a?=@example.com',
  ])('is refused as a value: %j', async (email) => {
    for (const path of ['/api/auth/signup', '/api/auth/login', '/api/auth/password/forgot', '/api/waitlist']) {
      const { status, body } = await t.call('POST', path, { body: { email, password: PASSWORD } });
      expect([path, status, body.detail]).toEqual([path, 422, [{ loc: ['body', 'email'], msg: expect.any(String), type: 'value_error' }]]);
    }
  });
});
