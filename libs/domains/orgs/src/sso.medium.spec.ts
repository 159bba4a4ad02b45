import { PrincipalStore, SignInRules, Tickets } from '@aps/guards';
import { UserIdentity } from '@aps/entities';
import { anApiToken, aPerson, aSession, PASSWORD, type TestUser } from '@aps/identity/testing';
import { eventually, testService } from '@aps/testing';
import { aMember, anOrg, type TestOrg } from './testing';
import { ORGS, TestLimits } from './testing/orgs';

const t = testService(ORGS);
const OIDC_PROVIDERS = JSON.stringify([{ name: 'corp', issuer: 'https://id.example', client_id: 'us' }]);
let org: TestOrg;
beforeEach(async () => {
  t.configure({ OIDC_PROVIDERS });
  org = await anOrg(t);
  t.get(TestLimits).sso.add(org.id);
});

const login = ({ email }: TestUser, password = PASSWORD) => t.call('POST', '/api/auth/login', { body: { email, password } });
const REQUIRED = { status: 403, body: { code: 'sso_required' } };

describe('an organization that wants single sign-on', () => {
  it('refuses what a password has opened, and nothing else to the same person', async () => {
    const other = await anOrg(t, { owner: await aMember(t, org, 'ADMIN') });
    const { status, body } = await login(other.owner);
    expect(status).toBe(200);
    for (const as of [body.session as { token: string }, other.owner]) {
      expect(await t.call('GET', org.path, { as })).toMatchObject(REQUIRED);
      expect(await t.call('PATCH', org.path, { as, body: { name: 'New' } })).toMatchObject(REQUIRED);
      expect((await t.call('GET', other.path, { as })).status).toBe(200);
      expect((await t.call('GET', '/api/auth/me', { as })).status).toBe(200);
    }
  });

  it('is opened by API tokens that are confined to it alone, and a password makes none', async () => {
    const { owner } = await anOrg(t, { owner: org.owner });
    const make = (body: object) => t.call('POST', '/api/tokens', { as: owner, body: { name: 'ci', ...body } });
    expect(await make({ org_id: org.id })).toMatchObject(REQUIRED);
    const { status, body } = await make({});
    expect(status).toBe(201);
    expect(await t.call('GET', org.path, { as: body as { token: string } })).toMatchObject(REQUIRED);
    const before = await anApiToken(t, owner, { org_id: org.id });
    expect((await t.call('GET', org.path, { as: before })).status).toBe(200);
  });

  it('is opened by what has begun at an identity provider, and that makes tokens for it', async () => {
    const there = await aSession(t, org.owner, { provider: 'corp' });
    expect((await t.call('GET', org.path, { as: there })).status).toBe(200);
    const { session } = await t.make('POST', '/api/auth/refresh', { as: there });
    const { token } = await t.make('POST', '/api/tokens', { as: session, body: { name: 'ci', org_id: org.id } });
    for (const as of [session, { token }]) expect((await t.call('PATCH', org.path, { as, body: { name: 'New' } })).status).toBe(200);
    const unconfined = await t.make('POST', '/api/tokens', { as: session, body: { name: 'all' } });
    expect(await t.call('GET', org.path, { as: unconfined })).toMatchObject(REQUIRED);
  });

  it('is opened by passwords where there is no identity provider, unless people have signed in by one', async () => {
    t.configure({ OIDC_PROVIDERS: undefined });
    expect((await login(org.owner)).status).toBe(200);
    expect((await t.call('GET', org.path, { as: org.owner })).status).toBe(200);
    await t.insert(UserIdentity, { user_id: org.owner.id, issuer: 'https://id.example', subject: '1' });
    await eventually(
      () => t.call('GET', org.path, { as: org.owner }),
      ({ status }) => status === 403,
    );
    expect(await login(org.owner)).toMatchObject(REQUIRED);
    // Nor is it by what has begun at one that is none any more.
    const there = await aSession(t, org.owner, { provider: 'corp' });
    expect(await t.call('GET', org.path, { as: there })).toMatchObject({ status: 401, body: { code: 'not_authenticated' } });
  });

  it('opens no stream by a ticket of another API token', async () => {
    const tokens = [await anApiToken(t, org.owner), await anApiToken(t, org.owner, { org_id: org.id })];
    const answers = [];
    for (const { token } of tokens) {
      const ticket = await t.get(Tickets).issue(await t.get(PrincipalStore).byToken(token), { orgId: org.id, topics: ['org'] });
      const { principal } = await t.get(Tickets).redeem(ticket);
      answers.push(await t.get(SignInRules).admits(principal, org.id));
    }
    expect(answers).toEqual([false, true]);
  });

  it('tells nobody of it who is no member', async () => {
    expect(await t.call('GET', org.path, { as: await aPerson(t) })).toMatchObject({ status: 403, body: { code: 'not_org_member' } });
  });

  it('is told of at the log-in of who belongs to no other, and has the right password', async () => {
    expect(await login(org.owner)).toMatchObject(REQUIRED);
    expect(await login(org.owner, 'wrong')).toMatchObject({ status: 401, body: { code: 'invalid_credentials' } });
  });

  it('keeps no operator from what is an operator’s', async () => {
    const operator = await aMember(t, org, 'MEMBER', await aPerson(t, { admin: true }));
    expect((await login(operator)).status).toBe(200);
  });
});
