import { Session, User, UserIdentity } from '@aps/entities';
import { outcome, sql, type Bearer } from '@aps/platform/testing';
import { testService } from '@aps/testing';
import { aPerson, anApiToken, anEmail, aSession, aUser, login, mails, signup, stateOf } from '../testing';
import { IDENTITY } from '../testing/identity';
import { startOidcServer, type OidcServer } from '../testing/oidc-server';

let server: OidcServer;
beforeAll(async () => (server = await startOidcServer()));
afterAll(() => server.close());

describe('signing in by an identity provider', () => {
  const t = testService(IDENTITY, { settings: { REGISTRATION_MODE: 'open' } });
  let subjects = 0;

  beforeEach(async () => {
    Object.assign(server, { instead: {}, isUnsigned: false, isTerse: false, silent: false, tokenStatus: undefined, refuses: false });
    server.iss = 'right';
    t.configure({ OIDC_PROVIDERS: server.setting(), REGISTRATION_MODE: 'open', BOOTSTRAP_ADMIN_EMAIL: '' });
    await somebody();
  });

  const somebody = async (email = anEmail(), more: object = {}) => {
    server.person = { sub: `sub-${++subjects}`, email, email_verified: true, name: 'Ada Lovelace', ...more };
    return email;
  };
  const cookieIn = (headers: Headers): string => /^[^;]+/.exec(headers.get('set-cookie') ?? '')?.[0] ?? '';
  /** Goes to the provider and comes back. @returns with what, and the cookie of the browser */
  const away = async (name = 'corp') => {
    const start = await t.call('GET', `/api/auth/oidc/${name}/start`);
    const cookie = cookieIn(start.headers);
    const query = await server.visit(start.headers.get('location')!);
    const callback = await t.call('GET', `/api/auth/oidc/${name}/callback?${new URLSearchParams(query).toString()}`);
    const at = new URL(callback.headers.get('location')!);
    return { start, at, cookie, back: Object.fromEntries(at.searchParams) };
  };
  const exchange = ({ cookie, back }: { cookie: string; back: object }, name = 'corp') =>
    t.call('POST', `/api/auth/oidc/${name}/session`, { body: back, headers: { cookie } });
  const signIn = async () => exchange(await away());
  const identities = (user_id: string) => t.db.manager.findBy(UserIdentity, { user_id });
  const userOf = (email: string) => t.db.manager.findOneBy(User, { email });
  /** That nothing has come of an answer. */
  const nothing = async (email: string) => {
    const user = await userOf(email);
    expect([user && (await identities(user.id)), user && (await t.db.manager.countBy(Session, { user_id: user.id }))]).toEqual(
      user ? [[], 0] : [null, null],
    );
  };

  it('signs up whom nobody knows, with an address that counts as proven, and knows them again', async () => {
    const email = await somebody();
    const trip = await away();
    expect(trip.start.status).toBe(302);
    expect(trip.start.headers.get('set-cookie')).toMatch(
      /^aps_consent_\w{16}=[\w-]{43}; Max-Age=600; Path=\/api\/auth\/oidc; Expires=[^;]+; HttpOnly; SameSite=Lax$/,
    );
    expect([trip.at.origin + trip.at.pathname, Object.keys(trip.back).sort()]).toEqual([
      'https://app.example/sign-in/corp',
      ['code', 'iss', 'state'],
    ]);
    const { status, body } = await exchange(trip);
    expect([status, body]).toEqual([
      200,
      expect.objectContaining({
        user: expect.objectContaining({ email, name: 'Ada Lovelace', email_verified: true }),
        memberships: [expect.objectContaining({ role: 'OWNER' })],
      }),
    ]);
    const { id } = body.user;
    const [me, sessions] = await Promise.all(['me', 'sessions'].map((path) => t.call('GET', `/api/auth/${path}`, { as: body.session })));
    expect([me.status, sessions.body.items]).toEqual([200, [expect.objectContaining({ provider: 'corp', current: true })]]);
    expect(await userOf(email)).toMatchObject({ password_hash: null });
    // Another address does not make another person of them.
    server.person = { ...server.person, email: anEmail(), email_verified: false };
    expect((await signIn()).body).toMatchObject({ user: { id, email } });
    expect(await identities(id)).toMatchObject([{ issuer: server.url, subject: server.person.sub }]);
    expect((await t.audit({ target_id: id })).map(({ action, metadata }) => [action, metadata])).toEqual([
      ['user.signed_up', { provider: 'corp' }],
      ['user.signed_in', { provider: 'corp' }],
      ['user.signed_in', { provider: 'corp' }],
    ]);
    expect(outcome(await t.call('POST', '/api/auth/login', { body: { email, password: '' } }))).toEqual([401, 'invalid_credentials']);
  });

  it('proves who we are to the provider, and what came back to be what was asked for', async () => {
    server.seen.length = 0;
    const { start } = await away();
    const asked = new URL(start.headers.get('location')!).searchParams;
    expect(Object.fromEntries(asked)).toMatchObject({
      client_id: 'known',
      redirect_uri: 'https://app.example/api/auth/oidc/corp/callback',
      scope: 'openid email profile',
      code_challenge_method: 'S256',
      nonce: expect.stringMatching(/^[\w-]{43}$/),
    });
    expect(asked.get('nonce')).not.toBe(asked.get('code_challenge'));
    await signIn();
    expect(server.seen.find(({ path }) => path === '/token')).toMatchObject({
      authorization: `Basic ${Buffer.from('known:s3cret').toString('base64')}`,
    });
  });

  it('links who has proven the same address, once, and tells them', async () => {
    const user = await aUser(t);
    await somebody(user.email.toUpperCase());
    const answers = await Promise.all((await Promise.all([away(), away(), away()])).map((trip) => exchange(trip)));
    expect(answers.map(({ status, body }) => [status, body.user?.id])).toEqual(Array(3).fill([200, user.id]));
    expect(await identities(user.id)).toHaveLength(1);
    expect(await t.audit({ action: 'user.identity_linked', target_id: user.id })).toMatchObject([
      { actor_id: user.id, metadata: { provider: 'corp', issuer: server.url } },
    ]);
    const told = (await mails(t, user.email)).map(({ text }) => text);
    expect(told).toEqual([expect.stringContaining('by Corp,')]);
    expect(told[0]).not.toContain('tokens of machines');
    // Their password is as good as before.
    expect((await login(t, user)).token).toMatch(/^aps_/);
  });

  it('makes one user of many who come at once', async () => {
    const email = await somebody();
    const trips = await Promise.all(Array.from({ length: 4 }, () => away()));
    const answers = await Promise.all(trips.map((trip) => exchange(trip)));
    expect(answers.map(({ status }) => status)).toEqual(Array(4).fill(200));
    expect(new Set(answers.map(({ body }) => body.user.id)).size).toBe(1);
    expect(await t.db.manager.countBy(User, { email })).toBe(1);
  });

  it('leaves no way in to who has signed up with an address that is another’s', async () => {
    const email = anEmail();
    const { user, session } = (await signup(t, email)).body as { user: { id: string }; session: Bearer };
    const [other, token] = [await aSession(t, user), await anApiToken(t, user)];
    await somebody(email);
    const { status, body } = await signIn();
    expect([status, body.user.id, body.user.email_verified]).toEqual([200, user.id, true]);
    for (const lost of [session, other, token]) expect(await stateOf(t, lost)).toBe('not_authenticated');
    expect(await stateOf(t, body.session as Bearer)).toBe('ok');
    expect(await userOf(email)).toMatchObject({ password_hash: null });
    expect(await t.audit({ action: 'user.email_verified', target_id: user.id })).toMatchObject([{ metadata: { by: 'provider' } }]);
    // Where that one may still be heard and obeyed, they are told to look.
    expect((await mails(t, email)).at(-1)!.text).toContain('look through members, tokens of machines, webhooks, connections and keys');
  });

  it.each([
    ['does not call it verified', { email_verified: false }],
    ['does not say', { email_verified: undefined }],
    ['says something else', { email_verified: 'yes' }],
    ['knows none', { email: undefined }],
    ['says what is no address', { email: 'ada' }],
  ])('takes no address for theirs where the provider %s', async (_what, claims) => {
    for (const email of [(await aUser(t)).email, anEmail()]) {
      await somebody(email, claims);
      expect(outcome(await signIn())).toEqual([401, 'provider_sign_in_failed']);
      await nothing(email);
    }
  });

  it('believes addresses of the domains that the operator trusts the provider with, unless it says no', async () => {
    const [provider] = JSON.parse(server.setting()) as object[];
    t.configure({ OIDC_PROVIDERS: JSON.stringify([{ ...provider, trusted_domains: ['xn--bcher-kva.example', 'corp.example'] }]) });
    for (const domain of ['CORP.example', 'b\u00fccher.example']) {
      const email = await somebody(anEmail().replace(/@.*/, `@${domain}`), { email_verified: undefined });
      expect((await signIn()).body).toMatchObject({ user: { email, email_verified: true } });
    }
    for (const [domain, claims] of [
      ['corp.example', { email_verified: false }],
      ['corp.example', { email_verified: 'false' }],
      ['sub.corp.example', { email_verified: undefined }],
      ['acorp.example', { email_verified: undefined }],
    ] as const) {
      const email = await somebody(anEmail().replace(/@.*/, `@${domain}`), claims);
      expect(outcome(await signIn())).toEqual([401, 'provider_sign_in_failed']);
      await nothing(email);
    }
  });

  it('believes a provider of no address outside its own domains, where it has some, and goes on with whom it has brought before', async () => {
    const [provider] = JSON.parse(server.setting()) as object[];
    const { id, email: of } = (await aUser(t)) as { id: string; email: string };
    await somebody(of);
    expect((await signIn()).body).toMatchObject({ user: { id } });
    const known = server.person;
    t.configure({ OIDC_PROVIDERS: JSON.stringify([{ ...provider, domains: ['corp.example'], trusted_domains: ['other.example'] }]) });
    for (const [domain, claims] of [
      ['other.example', {}],
      ['other.example', { email_verified: undefined }],
      ['sub.corp.example', {}],
    ] as const) {
      const email = await somebody(anEmail().replace(/@.*/, `@${domain}`), claims);
      expect(outcome(await signIn())).toEqual([401, 'provider_sign_in_failed']);
      await nothing(email);
    }
    const email = await somebody(anEmail().replace(/@.*/, '@CORP.example'));
    expect((await signIn()).body).toMatchObject({ user: { email } });
    server.person = known;
    expect((await signIn()).body).toMatchObject({ user: { id } });
  });

  it('asks further whether an address is proven where the token does not say', async () => {
    const [provider] = JSON.parse(server.setting()) as object[];
    const email = await somebody();
    server.instead = { email_verified: undefined };
    expect((await signIn()).body).toMatchObject({ user: { email, email_verified: true } });
    t.configure({ OIDC_PROVIDERS: JSON.stringify([{ ...provider, trusted_domains: ['corp.example'] }]) });
    const unproven = await somebody(anEmail().replace(/@.*/, '@corp.example'), { email_verified: false });
    server.instead = { email_verified: undefined };
    expect(outcome(await signIn())).toEqual([401, 'provider_sign_in_failed']);
    await nothing(unproven);
  });

  it('takes nobody for who had their address before', async () => {
    const email = await somebody();
    const { body } = await signIn();
    await somebody(email);
    expect(outcome(await signIn())).toEqual([409, 'email_taken']);
    expect(await identities(body.user.id)).toHaveLength(1);
  });

  it('reads what the provider says for the access token alone', async () => {
    server.isTerse = true;
    const email = await somebody(anEmail(), { email_verified: 'true' });
    expect((await signIn()).body.user).toMatchObject({ email, name: 'Ada Lovelace' });
    await somebody();
    const trip = await away();
    server.instead = { sub: 'somebody-else' };
    expect(outcome(await exchange(trip))).toEqual([401, 'provider_sign_in_failed']);
  });

  it.each<[string, Partial<OidcServer>]>([
    ['for another request', { instead: { nonce: 'another' } }],
    ['for no request', { instead: { nonce: undefined } }],
    ['for another client', { instead: { aud: 'another' } }],
    ['for several, of whom it was another’s', { instead: { aud: ['known', 'another'], azp: 'another' } }],
    ['of another issuer', { instead: { iss: 'https://somebody.example' } }],
    ['that is over', { instead: { exp: Math.floor(Date.now() / 1_000) - 120 } }],
    ['without an end', { instead: { exp: undefined } }],
    ['of nobody', { instead: { sub: undefined } }],
    ['that nobody has signed', { isUnsigned: true }],
  ])('trusts no token %s', async (_what, change) => {
    const email = await somebody();
    const trip = await away();
    Object.assign(server, change);
    const answer = await exchange(trip);
    expect(outcome(answer)).toEqual([401, 'provider_sign_in_failed']);
    // Neither what the provider has said nor why it is not believed is told to a stranger.
    expect(answer.text).not.toContain(server.token.split('.')[1]);
    await nothing(email);
  });

  it('trusts keys that the provider has changed, and none that are not its own or of another kind', async () => {
    await signIn();
    for (const alg of ['RS256', 'ES256'] as const) {
      await server.rotate(alg);
      await somebody();
      expect((await signIn()).status).toBe(200);
    }
    for (const [alg, announced] of [
      ['ES256', false],
      ['PS256', true],
    ] as const) {
      await server.rotate(alg, announced);
      const email = await somebody();
      expect(outcome(await signIn())).toEqual([401, 'provider_sign_in_failed']);
      await nothing(email);
    }
    await server.rotate();
  });

  it('is done once, in the browser that was sent, within its time, at the provider that was asked', async () => {
    const states = JSON.parse(server.setting()) as object[];
    t.configure({ OIDC_PROVIDERS: JSON.stringify([...states, { ...states[0], name: 'other' }]) });
    const email = await somebody();
    const [mine, theirs] = [await away(), await away()];
    const refused = async (trip: { cookie: string; back: object }, name?: string) =>
      expect(outcome(await exchange(trip, name))).toEqual([400, 'invalid_state']);
    await refused({ ...mine, cookie: '' });
    await refused({ ...mine, cookie: theirs.cookie });
    await refused({ ...mine, cookie: mine.cookie.replace(/=.*/, theirs.cookie.replace(/^[^=]+/, '')) });
    await refused({ ...mine, back: { ...mine.back, state: theirs.back.state } });
    await refused(mine, 'other');
    await nothing(email);
    // Those have used up nothing; of many with the right one, one is let in.
    const answers = await Promise.all(Array.from({ length: 4 }, () => exchange(mine)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400]);
    await t.db.execute(sql(`UPDATE sign_in_requests SET expires_at = now()`));
    await refused(theirs);
  });

  it('takes no code for another, and no answer of another provider', async () => {
    const [one, other] = [await away(), await away()];
    expect(outcome(await exchange({ ...one, back: { ...one.back, code: other.back.code } }))).toEqual([401, 'provider_sign_in_failed']);
    server.iss = 'wrong';
    expect(outcome(await signIn())).toEqual([401, 'provider_sign_in_failed']);
  });

  it('leads on who has said no', async () => {
    server.refuses = true;
    expect((await away()).back).toMatchObject({ error: 'access_denied' });
  });

  it('says so where the provider is away, and goes on when it is back', async () => {
    const trip = await away();
    server.tokenStatus = 503;
    expect(outcome(await exchange(trip))).toEqual([502, 'upstream_unavailable']);
    server.tokenStatus = undefined;
    expect((await signIn()).status).toBe(200);
    const gone = await startOidcServer();
    t.configure({ OIDC_PROVIDERS: gone.setting() });
    await gone.close();
    expect(outcome(await t.call('GET', '/api/auth/oidc/corp/start'))).toEqual([502, 'upstream_unavailable']);
  });

  it('leads a browser on with why nobody can be sent there', async () => {
    const visit = async (path: string) => {
      const { status, headers } = await t.call('GET', `/api/auth/oidc/${path}`, { headers: { accept: 'text/html,*/*;q=0.8' } });
      return [status, headers.get('location'), headers.get('vary')];
    };
    const ledOn = (name: string, code: string) => [
      302,
      `https://app.example/sign-in/${name}?error=${code}`,
      expect.stringContaining('Accept'),
    ];
    expect(await visit('other/start')).toEqual(ledOn('other', 'not_found'));
    expect(await visit('other/callback?code=c')).toEqual(ledOn('other', 'not_found'));
    const gone = await startOidcServer();
    t.configure({ OIDC_PROVIDERS: gone.setting() });
    await gone.close();
    expect(await visit('corp/start')).toEqual(ledOn('corp', 'upstream_unavailable'));
  });

  it('is good for nothing any more where the provider is none, and again once it is one', async () => {
    const { session } = (await signIn()).body as { session: Bearer };
    const token = await anApiToken(t, await aUser(t));
    t.configure({ OIDC_PROVIDERS: server.setting('other') });
    expect([await stateOf(t, session), await stateOf(t, token)]).toEqual(['not_authenticated', 'ok']);
    expect(outcome(await t.call('POST', '/api/auth/refresh', { as: session }))).toEqual([401, 'not_authenticated']);
    t.configure({ OIDC_PROVIDERS: server.setting() });
    expect((await t.call('GET', '/api/auth/me', { as: session })).status).toBe(200);
  });

  it('is there for providers that are set, which anybody may list', async () => {
    expect((await t.call('GET', '/api/auth/oidc')).body).toEqual([{ name: 'corp', label: 'Corp' }]);
    for (const [method, path] of [
      ['GET', 'start'],
      ['GET', 'callback'],
      ['POST', 'session'],
    ] as const) {
      const body = method === 'POST' ? { code: 'c', state: 's' } : undefined;
      expect(outcome(await t.call(method, `/api/auth/oidc/other/${path}`, { body }))).toEqual([404, 'not_found']);
    }
    t.configure({ OIDC_PROVIDERS: undefined });
    expect((await t.call('GET', '/api/auth/oidc')).body).toEqual([]);
  });

  it.each([
    ['{', 'expected array'],
    ['[{"name":"Corp"}]', 'slug'],
    ['[{"name":"corp","issuer":"http://id.example","client_id":"x"}]', 'https://'],
    ['[{"name":"a","issuer":"https://a.example","client_id":"x","trusted_domains":["A.example"]}]', 'lower case'],
    ['[{"name":"a","issuer":"https://a.example","client_id":"x"},{"name":"a","issuer":"https://b.example","client_id":"x"}]', 'another'],
  ])('is not begun with %s', (setting, said) => {
    const before = process.env.OIDC_PROVIDERS;
    expect(() => t.configure({ OIDC_PROVIDERS: setting })).toThrow(said);
    t.configure({ OIDC_PROVIDERS: before });
  });

  it('lets in by the rules of signing up', async () => {
    t.configure({ REGISTRATION_MODE: 'allowlist' });
    const email = await somebody();
    expect(outcome(await signIn())).toEqual([403, 'registration_not_allowed']);
    await nothing(email);
    t.configure({ REGISTRATION_MODE: 'closed', BOOTSTRAP_ADMIN_EMAIL: email });
    const { body } = await signIn();
    expect((await t.call('GET', '/api/auth/me', { as: body.session })).body).toMatchObject({ is_platform_admin: true });
  });

  it('lets in nobody who is locked out', async () => {
    for (const isLinked of [true, false]) {
      const person = await aPerson(t);
      await somebody(person.email);
      if (isLinked) await signIn();
      await t.db.manager.update(User, { id: person.id }, { deactivated_at: new Date() });
      expect(outcome(await signIn())).toEqual([401, 'user_deactivated']);
    }
  });

  it('lasts no longer by being refreshed', async () => {
    const { session } = (await signIn()).body;
    const refreshed = await t.make('POST', '/api/auth/refresh', { as: session });
    expect([refreshed.session.expires_at, refreshed.session.token === session.token]).toEqual([session.expires_at, false]);
    const { items } = (await t.call('GET', '/api/auth/sessions', { as: refreshed.session })).body;
    expect(items).toMatchObject([{ provider: 'corp', current: true }]);
  });
});
