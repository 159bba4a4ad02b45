import { anEmail, identityTestApp, type IdentityTestApp } from '../testing/identity-test-app';

const VALUES: unknown[] = [
  null,
  true,
  0,
  -1,
  1e308,
  '',
  ' ',
  'a\0b',
  '\ud800',
  '\u202e',
  'x'.repeat(300_000),
  '{}',
  "'; DROP TABLE users; --",
  'a@b.example\r\nBcc: c@d.example',
  `${'a'.repeat(64)}@${'b.'.repeat(90)}example`,
  [],
  [[['x']]],
  {},
  { toString: 1 },
  { $ne: null },
  { __proto__: { admin: true } },
];

const BODIES: unknown[] = [
  '',
  '{',
  '[]',
  'null',
  '"text"',
  '1',
  '{"email":',
  `${'['.repeat(5_000)}${']'.repeat(5_000)}`,
  '{"email":"\ufffe","email":1}',
];

describe('hostile input', () => {
  let t: IdentityTestApp;
  let session: string;
  beforeAll(async () => {
    t = await identityTestApp();
    session = await t.login((await t.user()).email);
  });
  afterAll(() => t.close());

  const good = { password: 'x'.repeat(12), token: 'x', name: 'x', current_password: 'x', new_password: 'x'.repeat(12) };
  it.each([
    ['POST', '/api/auth/signup', ['email', 'password', 'name', 'invitation_token', 'org_name']],
    ['POST', '/api/auth/login', ['email', 'password']],
    ['POST', '/api/auth/verify', ['token']],
    ['POST', '/api/auth/verify/resend', ['email']],
    ['POST', '/api/auth/password/forgot', ['email']],
    ['POST', '/api/auth/password/reset', ['token', 'password']],
    ['POST', '/api/auth/password/change', ['current_password', 'new_password']],
    ['PATCH', '/api/auth/me', ['name', 'avatar_url']],
    ['POST', '/api/tokens', ['name', 'description', 'scope', 'expires_in_days', 'org_id']],
    ['POST', '/api/waitlist', ['email', 'name', 'note']],
  ])('is refused, never a fault: %s %s', async (method, path, fields) => {
    const requests = [
      ...BODIES,
      // A key that has a field's name counts; `__proto__` inside a value is a key like any other.
      ...fields.flatMap((field) => VALUES.map((value) => ({ email: anEmail('h'), ...good, [field]: value }))),
    ];
    const statuses = new Map<number, unknown>();
    for (const body of requests) {
      const answer = await t.call(method, path, { token: session, body });
      statuses.set(answer.status, body);
      if (answer.status === 422)
        expect(answer.body).toMatchObject({ detail: expect.any(Array), code: expect.any(String), request_id: expect.any(String) });
    }
    expect([...statuses].filter(([status]) => status >= 500)).toEqual([]);
    expect([...statuses.keys()]).toContain(422);
  });

  it.each(['\0', '%00', '%ff', '..%2f..', "'", 'x'.repeat(5_000)])('in a path is refused: %p', async (id) => {
    const { status } = await t.call('DELETE', `/api/tokens/${encodeURIComponent(id)}`, { token: session });
    expect([404, 422]).toContain(status);
  });

  it('finds nothing to say about the caller in a 422', async () => {
    const { body } = await t.call('POST', '/api/auth/login', { body: { email: 'secret-input', password: 'also-secret'.repeat(100) } });
    expect(JSON.stringify(body)).not.toContain('secret');
  });

  it.each([
    ['/api/auth/signup', 'RATE_LIMIT_SIGNUP'],
    ['/api/auth/login', 'RATE_LIMIT_LOGIN'],
    ['/api/auth/verify', 'RATE_LIMIT_VERIFICATION'],
    ['/api/auth/verify/resend', 'RATE_LIMIT_VERIFICATION'],
    ['/api/auth/password/forgot', 'RATE_LIMIT_PASSWORD_RESET'],
    ['/api/auth/password/reset', 'RATE_LIMIT_PASSWORD_RESET'],
    ['/api/waitlist', 'RATE_LIMIT_WAITLIST'],
  ])('comes no faster than it may: %s', async (path, setting) => {
    // A prefix of its own: what other requests have used up does not count.
    t.configure({ RATE_LIMITS: 'on', [setting]: '1', REDIS_PREFIX: `limits${Math.random().toString(36).slice(2)}` });
    const answers = [await t.call('POST', path, { body: { email: 1 } }), await t.call('POST', path, { body: { email: 1 } })];
    t.configure({ RATE_LIMITS: 'off' });
    expect(answers.map((a) => a.status)).toEqual([422, 429]);
    expect(answers[1].body.code).toBe('rate_limited');
    expect(Number(answers[1].headers.get('retry-after'))).toBeGreaterThan(0);
  });
});
