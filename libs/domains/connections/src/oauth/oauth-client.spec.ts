import { createHash } from 'node:crypto';
import { loadConfig } from '@aps/platform/config';
import { Egress } from '@aps/platform/egress';
import { startToolServer } from '../mcp/testing/tool-server';
import { GrantInvalid, OAuthFailed, type ConsentRequest } from '@aps/platform/oauth';
import { startAuthorizationServer, type AuthorizationServer, type Switches } from '@aps/platform/testing';
import { OAuthClient } from './oauth-client';

const CALLBACK = 'https://app.example/api/oauth/callback';

let auth: AuthorizationServer;
let egress: Egress;
let client: OAuthClient;

beforeEach(async () => {
  auth = await startAuthorizationServer();
  vouchFor(auth.url);
});
afterEach(async () => {
  await egress.onApplicationShutdown();
  await auth.close();
});

function vouchFor(...urls: string[]): void {
  loadConfig({
    DATABASE_URL: 'postgres://unused',
    REDIS_URL: 'redis://unused',
    APP_URL: 'https://app.example',
    EGRESS_ALLOW: urls.map((url) => new URL(url).host).join(),
  });
  egress = new Egress();
  client = new OAuthClient(egress);
}

const soon = () => AbortSignal.timeout(10_000);
const begin = (credentials?: { client_id: string; client_secret?: string }) =>
  client.begin({ serverUrl: auth.resource, challenge: `Bearer resource_metadata="${auth.url}/resource"`, credentials }, soon());
const exchange = async (consent: ConsentRequest) => {
  const { code, iss } = await auth.visit(consent.authorizeUrl);
  return client.exchange(consent, { code, iss }, soon());
};
const paths = () => auth.seen.map(({ path }) => path);

it('registers, asks for consent, and takes tokens for it', async () => {
  auth.scopes = ['notes.read', 'notes.write'];
  const consent = await begin();
  const { searchParams: asked, origin } = new URL(consent.authorizeUrl);
  expect(origin).toBe(auth.url);
  expect(Object.fromEntries(asked)).toEqual({
    tenant: '1',
    response_type: 'code',
    client_id: consent.client.clientId,
    redirect_uri: CALLBACK,
    state: consent.state,
    code_challenge: createHash('sha256').update(consent.verifier).digest('base64url'),
    code_challenge_method: 'S256',
    resource: auth.resource,
    scope: 'notes.read notes.write',
  });
  expect(consent.client).toEqual({ clientId: expect.any(String), clientSecret: null, authMethod: 'none' });

  const before = Date.now();
  const tokens = await exchange(consent);
  expect(tokens).toEqual({
    accessToken: expect.stringMatching(/^at-/),
    refreshToken: expect.stringMatching(/^rt-/),
    expiresAt: expect.any(Date),
    scope: null,
  });
  expect(tokens.expiresAt!.getTime()).toBeGreaterThanOrEqual(before + 3_600_000);
  expect(auth.seen.at(-1)!.form).toMatchObject({ resource: auth.resource, redirect_uri: CALLBACK, code_verifier: consent.verifier });
  expect((await begin()).state).not.toBe(consent.state);
});

it('gives an authorization server up that answers nothing in time', async () => {
  const { issuer, client: known } = await begin();
  auth.silent = true;
  const failure = await client.refresh(issuer, known, 'rt-1', AbortSignal.timeout(100)).catch((error: unknown) => error);
  expect(failure).toMatchObject({ constructor: OAuthFailed, message: 'The authorization server took too long to answer.' });
});

it('sends nobody away with the query of an address', async () => {
  const { authorizeUrl, issuer } = await client.begin({ serverUrl: `${auth.resource}?key=in-the-query`, challenge: '' }, soon());
  expect([new URL(authorizeUrl).searchParams.get('resource'), issuer.resource]).toEqual([auth.resource, auth.resource]);
});

it('takes no token to be good for longer than a time can be written', async () => {
  auth.expiresIn = 1e13;
  const { expiresAt } = await exchange(await begin());
  expect(expiresAt!.getTime() - Date.now()).toBeLessThan(11 * 365 * 86_400_000);
});

it('takes new tokens for old, and keeps the refresh token where it gets none', async () => {
  const consent = await begin();
  const first = await exchange(consent);
  const refresh = (token: string) => client.refresh(consent.issuer, consent.client, token, soon());
  const second = await refresh(first.refreshToken!);
  expect(second.accessToken).not.toBe(first.accessToken);
  expect(second.refreshToken).not.toBe(first.refreshToken);
  expect(auth.seen.at(-1)!.form).toMatchObject({ resource: auth.resource });
  auth.rotates = false;
  expect((await refresh(second.refreshToken!)).refreshToken).toBe(second.refreshToken);
  // Used once before, and ended by that.
  await expect(refresh(first.refreshToken!)).rejects.toBeInstanceOf(GrantInvalid);
  await client.revoke(consent.issuer, consent.client, { token: second.refreshToken!, hint: 'refresh_token' }, soon());
  await expect(refresh(second.refreshToken!)).rejects.toBeInstanceOf(GrantInvalid);
});

it('tells a grant that is over from all other failures', async () => {
  const consent = await begin();
  const { refreshToken } = await exchange(consent);
  const failure = () => client.refresh(consent.issuer, consent.client, refreshToken!, soon()).catch((error: Error) => error);
  for (const tokenStatus of [400, 401, 429, 500, 503]) {
    auth.tokenStatus = tokenStatus;
    expect((await failure()).constructor).toBe(OAuthFailed);
  }
  auth.tokenStatus = undefined;
  const unknown = { ...consent.client, clientId: 'nobody' };
  await expect(client.refresh(consent.issuer, unknown, refreshToken!, soon())).rejects.toMatchObject({ constructor: OAuthFailed });
  auth.invalidGrant = true;
  const over = await failure();
  expect(over).toBeInstanceOf(GrantInvalid);
  // Of what was sent, and of what the server says, nothing is in the sentence.
  expect(JSON.stringify([over, (over as Error).message])).not.toMatch(/rt-|not shown/);
  await auth.close();
  expect((await failure()).constructor).toBe(OAuthFailed);
});

it.each<[string, Partial<Switches>, object]>([
  ['basic', { authMethods: ['client_secret_basic'] }, { authMethod: 'client_secret_basic' }],
  ['post', { authMethods: ['client_secret_post', 'private_key_jwt'] }, { authMethod: 'client_secret_post' }],
])('proves who it is by %s where the server wants that', async (_name, switches, expected) => {
  Object.assign(auth, switches);
  const consent = await begin();
  expect(consent.client).toMatchObject({ ...expected, clientSecret: expect.stringContaining(' ') });
  await exchange(consent);
  const given = await begin({ client_id: 'known', client_secret: 's3cret' });
  expect(given.client).toEqual({ clientId: 'known', clientSecret: 's3cret', ...expected });
  await exchange(given);
});

it('registers nowhere where it is given a client', async () => {
  auth.registers = false;
  await expect(begin()).rejects.toThrow('registers no clients');
  const consent = await begin({ client_id: 'known' });
  expect(consent.client).toEqual({ clientId: 'known', clientSecret: null, authMethod: 'none' });
  expect(new URL(consent.authorizeUrl).searchParams.get('client_id')).toBe('known');
  expect(paths()).not.toContain('/register');
});

it.each<[string, Partial<Switches>]>([
  ['supports no S256', { challengeMethods: ['plain'] }],
  ['does not say whether it does', { challengeMethods: undefined }],
  ['says that it is another', { metadata: { issuer: 'https://somebody.example' } }],
  ['sends people to a script', { metadata: { authorization_endpoint: 'javascript:alert(1)' } }],
  ['has no token endpoint', { metadata: { token_endpoint: undefined } }],
  ['is to give tokens for another server', { resourceMetadata: { resource: 'https://somebody.example/mcp' } }],
])('asks nobody to consent where the authorization server %s', async (_what, switches) => {
  Object.assign(auth, switches);
  await expect(begin()).rejects.toBeInstanceOf(OAuthFailed);
  expect(paths()).not.toContain('/register');
});

describe('the issuer of an answer', () => {
  it.each<[string, Partial<Switches>, boolean]>([
    ['announced and right', {}, true],
    ['announced and wrong', { iss: 'wrong' }, false],
    ['announced and missing', { iss: null }, false],
    ['not announced and missing', { announcesIss: false, iss: null }, true],
    ['not announced and wrong', { announcesIss: false, iss: 'wrong' }, false],
  ])('is %s', async (_what, switches, isTaken) => {
    Object.assign(auth, switches);
    const taken = exchange(await begin());
    if (isTaken) return void expect(await taken).toHaveProperty('accessToken');
    await expect(taken).rejects.toThrow('does not come from the authorization server');
    expect(paths()).not.toContain('/token');
  });
});

it('finds the metadata of an OpenID provider, and asks such a one for a token to refresh by', async () => {
  Object.assign(auth, { place: 'openid-configuration', metadata: { scopes_supported: ['openid', 'offline_access'] } });
  const asked = new URL((await begin()).authorizeUrl).searchParams;
  expect([asked.get('scope'), asked.get('prompt')]).toEqual(['offline_access', 'consent']);
});

it('asks a server for its challenge, and does without one where it gives none', async () => {
  let isChallenging = true;
  const tools = await startToolServer({
    before: (req, res) => (isChallenging ? !auth.lets(req, res) : !!res.writeHead(404).end()),
  });
  auth.resource = tools.url;
  vouchFor(auth.url, tools.url);
  expect((await client.begin({ serverUrl: tools.url }, soon())).issuer).toMatchObject({ issuer: auth.url, resource: tools.url });
  isChallenging = false;
  await expect(client.begin({ serverUrl: tools.url }, soon())).rejects.toThrow('does not say how it is asked');
  await tools.close();
  // The server is its own authorization server, and says nothing of what it protects.
  expect((await client.begin({ serverUrl: `${auth.url}/old` }, soon())).issuer).toMatchObject({
    issuer: auth.url,
    resource: `${auth.url}/old`,
  });
});

describe('addresses', () => {
  it('are guarded, wherever they come from', async () => {
    const other = await startAuthorizationServer();
    const refused = async (change: Partial<Switches>) => {
      Object.assign(auth, { metadata: {}, resourceMetadata: {}, ...change });
      await expect(begin().then(exchange)).rejects.toThrow('cannot be asked');
    };
    await refused({ resourceMetadata: { authorization_servers: [other.url] } });
    await refused({ metadata: { registration_endpoint: `${other.url}/register` } });
    await refused({ metadata: { token_endpoint: `${other.url}/token` } });
    await expect(
      client.begin({ serverUrl: auth.resource, challenge: `Bearer resource_metadata="${other.url}/resource"` }, soon()),
    ).rejects.toThrow('cannot be asked');
    expect(other.seen).toEqual([]);
    await other.close();
  });

  it('are not left for where a token request is led to', async () => {
    const consent = await begin();
    auth.tokenRedirect = `${auth.url}/token-2`;
    await expect(exchange(consent)).rejects.toThrow('redirects');
    await expect(client.refresh(consent.issuer, consent.client, 'rt', soon())).rejects.toMatchObject({ constructor: OAuthFailed });
    expect(paths()).not.toContain('/token-2');
  });
});
