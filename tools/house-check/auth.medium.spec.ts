import { once } from 'node:events';
import net from 'node:net';
import { Membership } from '@aps/entities';
import { anApiToken, aPerson, aSession, type Person } from '@aps/identity/testing';
import type { Answer, Bearer } from '@aps/platform/testing';
import { setTimeout as sleep } from 'node:timers/promises';
import { InternalTokens, newApiToken, newSessionToken } from '@aps/platform/crypto';
import { bodySchema, buildDocument, type Document } from './testing/document';
import { House } from './testing/house';
import { sample } from './testing/sample';
import { allRoutes, routesOf, templateOf, type Route } from './testing/surface';
import { fill, isLetIn, NOBODY, OUTSIDE_OF_TENANTS, tenant, type Tenant } from './testing/tenant';
import { AppModule as AdminApi } from '../../apps/admin-api/src/app.module';

/** A credential is believed for one second after it was looked up. */
const MEMORY_MS = 1_050;

let house: House;
let org: Tenant;
let operator: Person;
let routes: Route[];
let document: Document;

beforeAll(async () => {
  house = await new House().start();
  document = await buildDocument();
  org = await tenant(house, 'a');
  operator = await aPerson(house, { admin: true });
  // The proxied path stands for the routes behind it; here each of those is called by itself.
  const all = await allRoutes();
  routes = all.filter((r) => r.method !== 'ALL' && r.access?.tier !== 'public');
});
afterAll(() => house?.close());

const pathOf = (r: Route) => fill(r.path, { ...OUTSIDE_OF_TENANTS, ...org.params });
const bodyOf = (r: Route) => {
  const op = document.paths[templateOf(r.path)]?.[r.method.toLowerCase()];
  return op && bodySchema(document, op) && sample(document, bodySchema(document, op));
};
const PAST = new Date(0);

const call = (r: Route, as?: Bearer, headers?: Record<string, string>) => house.call(r.method, pathOf(r), { as, headers, body: bodyOf(r) });

/** The answers of every route that are not as wanted. */
async function odd(of: Route[], ask: (r: Route) => Promise<Answer>, wanted: (answer: Answer, r: Route) => boolean): Promise<string[]> {
  const found: string[] = [];
  for (const r of of) {
    const answer = await ask(r);
    if (!wanted(answer, r)) found.push(`${r.method} ${r.path}: ${answer.status} ${answer.text.slice(0, 200)}`);
  }
  return found;
}

const is401 = ({ status, body, headers }: Answer) =>
  status === 401 &&
  headers.get('www-authenticate') === 'Bearer' &&
  JSON.stringify(Object.entries(body)) ===
    JSON.stringify([
      ['detail', 'Not authenticated'],
      ['code', 'not_authenticated'],
      ['request_id', headers.get('x-request-id')],
    ]);
const is403 =
  (code: string, required?: unknown) =>
  ({ status, body }: Answer) =>
    status === 403 && body.code === code && (required === undefined || JSON.stringify(body.context?.required) === JSON.stringify(required));

describe('a route that is not public', () => {
  it('there are many of them', () => expect(routes.length).toBeGreaterThan(80));

  it('answers 401 without a bearer, with and without a slash at its end', async () => {
    expect(await odd(routes, (r) => call(r), is401)).toEqual([]);
    expect(await odd(routes, (r) => house.call(r.method, `${pathOf(r)}/`), is401)).toEqual([]);
  });

  it.each([
    ['an empty header', () => ''],
    ['no scheme', () => org.owner.token],
    ['another scheme', () => `Basic ${Buffer.from('a:b').toString('base64')}`],
    ['an empty bearer', () => 'Bearer '],
    ['two tokens', () => `Bearer ${org.owner.token} ${org.owner.token}`],
    ['characters that no token has', () => `Bearer ${org.owner.token}'--`],
    ['bytes that are no ASCII', () => Buffer.from('Bearer ü').toString('latin1')],
    ['a token of no known kind', () => 'Bearer abcdefghijklmnopqrstuvwxyz'],
    ['an unknown session', () => `Bearer ${newSessionToken()}`],
    ['an unknown API token', () => `Bearer ${newApiToken()}`],
    ['an API token with a wrong checksum', () => `Bearer ${newApiToken().slice(0, -6)}000000`],
    ['a very long token', () => `Bearer ${'a'.repeat(6_000)}`],
  ])('answers 401 to %s', async (_, authorization) => {
    expect(await odd(routes, (r) => call(r, undefined, { authorization: authorization() }), is401)).toEqual([]);
  });

  it('answers 401 before it reads any of a body', async () => {
    const { hostname, port } = new URL(house.url);
    const asked = routes.filter(({ method }) => method !== 'GET');
    const answers = asked.map(async (r) => {
      const socket = net.connect(Number(port), hostname);
      socket.write(`${r.method} ${pathOf(r)} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{`);
      const [answer] = (await once(socket, 'data')) as [Buffer];
      socket.destroy();
      return [r.method, pathOf(r), answer.toString().slice(0, 12)];
    });
    expect(await Promise.all(answers)).toEqual(asked.map((r) => [r.method, pathOf(r), 'HTTP/1.1 401']));
  });

  it('answers 401 to expired and revoked sessions and API tokens', async () => {
    const dead = [
      await aSession(house, org.owner, { expires_at: PAST }),
      await aSession(house, org.owner, { revoked_at: PAST }),
      await anApiToken(house, org.owner, { expires_at: PAST }),
      await anApiToken(house, org.owner, { revoked_at: PAST }),
    ];
    for (const bearer of dead) expect(await odd(routes, (r) => call(r, bearer), is401)).toEqual([]);
  });

  it('believes no internal header from outside', async () => {
    const claims = { user_id: operator.id, email: operator.email, credential_id: NOBODY, scope: '*', request_id: 'r', aud: 'admin-api' };
    expect(
      await odd(routes, (r) => call(r, undefined, { 'x-aps-internal': new InternalTokens().sign(claims, new Date()) }), is401),
    ).toEqual([]);
  });
});

describe('admin-api itself', () => {
  const direct = (r: Route, headers: Record<string, string>) =>
    fetch(house.adminUrl + pathOf(r), { method: r.method, headers }).then(
      async (res) => ({ status: res.status, text: '', body: await res.json(), headers: res.headers }) as Answer,
    );

  it('takes neither bearers nor words of others, nor words for others', async () => {
    const admin = (await routesOf('admin-api', AdminApi)).map((r) => (r.method === 'ALL' ? { ...r, method: 'GET' } : r));
    const word = (claims: object, now = new Date()) =>
      new InternalTokens().sign(
        { user_id: operator.id, email: operator.email, credential_id: NOBODY, scope: '*', request_id: 'r', aud: 'admin-api', ...claims },
        now,
      );
    const attempts: Record<string, string>[] = [
      { authorization: `Bearer ${operator.token}` },
      { 'x-aps-internal': 'nonsense' },
      { 'x-aps-internal': word({ aud: 'billing-webhooks' }) },
      { 'x-aps-internal': word({}, new Date(Date.now() - 3_600_000)) },
      { 'x-aps-internal': `${word({})}x` },
    ];
    for (const headers of attempts) expect(await odd(admin, (r) => direct(r, headers), is401)).toEqual([]);
  });
});

describe('scopes of API tokens', () => {
  const inArea = () => routes.filter((r) => r.access?.area && r.access.tier !== 'platform_admin' && !r.access.sessionOnly);

  it('a token that may read an area may not write there', async () => {
    const writes = inArea().filter((r) => r.method !== 'GET' && !r.access!.reads);
    const tokens = new Map<string, Bearer>();
    for (const { access } of writes)
      if (!tokens.has(access!.area!)) tokens.set(access!.area!, await anApiToken(house, org.owner, { scope: `${access!.area}:read` }));
    expect(
      await odd(
        writes,
        (r) => call(r, tokens.get(r.access!.area!)),
        (answer, r) => is403('insufficient_scope', `${r.access!.area}:write`)(answer),
      ),
    ).toEqual([]);
  });

  it('a token of another area may not even read', async () => {
    const token = await anApiToken(house, org.owner, { scope: 'billing:write' });
    const reads = inArea().filter((r) => r.access!.area !== 'billing');
    expect(await odd(reads, (r) => call(r, token), is403('insufficient_scope'))).toEqual([]);
  });

  it('a token that may write an area may read it', async () => {
    const reads = inArea().filter((r) => r.method === 'GET');
    const token = await anApiToken(house, org.owner, { scope: [...new Set(reads.map((r) => `${r.access!.area}:write`))].join(' ') });
    expect(await odd(reads, (r) => call(r, token), isLetIn)).toEqual([]);
  });

  it('no token does what only a session may', async () => {
    const token = await anApiToken(house, org.owner);
    const sessionOnly = routes.filter((r) => r.access?.sessionOnly);
    expect(sessionOnly.length).toBeGreaterThan(3);
    expect(await odd(sessionOnly, (r) => call(r, token), is403('insufficient_scope'))).toEqual([]);
  });

  it('operators need the admin area, and no pinned token operates the platform', async () => {
    const admin = routes.filter((r) => r.access?.tier === 'platform_admin');
    const [narrow, reader, pinned] = [
      await anApiToken(house, operator, { scope: 'agents:write' }),
      await anApiToken(house, operator, { scope: 'admin:read' }),
      await anApiToken(house, operator, { org_id: org.id }),
    ];
    expect(await odd(admin, (r) => call(r, narrow), is403('insufficient_scope'))).toEqual([]);
    expect(
      await odd(
        admin.filter((r) => r.method !== 'GET'),
        (r) => call(r, reader),
        is403('insufficient_scope', 'admin:write'),
      ),
    ).toEqual([]);
    expect(await odd(admin, (r) => call(r, pinned), is403('insufficient_scope'))).toEqual([]);
  });
});

describe('roles', () => {
  it('members do nothing that takes an admin, admins nothing that takes an owner', async () => {
    const admin = routes.filter((r) => r.access?.tier === 'admin');
    const owner = routes.filter((r) => r.access?.tier === 'owner');
    expect([admin.length > 15, owner.length > 0]).toEqual([true, true]);
    expect(await odd(admin, (r) => call(r, org.member), is403('insufficient_role', ['ADMIN', 'OWNER']))).toEqual([]);
    expect(await odd(owner, (r) => call(r, org.member), is403('insufficient_role', ['OWNER']))).toEqual([]);
    expect(await odd(owner, (r) => call(r, org.admin), is403('insufficient_role', ['OWNER']))).toEqual([]);
  });

  it('an owner is no operator', async () => {
    const admin = routes.filter((r) => r.access?.tier === 'platform_admin');
    expect(admin.length).toBeGreaterThan(15);
    expect(await odd(admin, (r) => call(r, org.owner), is403('platform_admin_required'))).toEqual([]);
  });

  it('an operator who is no member is a stranger like anyone', async () => {
    const inOrg = routes.filter((r) => r.app === 'api-gateway' && r.path.includes(':org_id'));
    expect(await odd(inOrg, (r) => call(r, operator), is403('not_org_member'))).toEqual([]);
  });

  it('a suspended organization lets nobody in but an operator who is a member', async () => {
    const suspended = await tenant(house, 's');
    const member = await aPerson(house, { admin: true });
    await house.insert(Membership, { org_id: suspended.id, user_id: member.id, role: 'OWNER' });
    await house.make('POST', `/api/admin/orgs/${suspended.id}/suspend`, { as: operator });
    await sleep(MEMORY_MS);
    const inOrg = routes.filter((r) => r.app === 'api-gateway' && r.path.includes(':org_id'));
    const ask = (as: Bearer) => (r: Route) => house.call(r.method, fill(r.path, suspended.params), { as, body: bodyOf(r) });
    expect(await odd(inOrg, ask(suspended.owner), is403('org_suspended'))).toEqual([]);
    expect(await odd(inOrg, ask(suspended.member), is403('org_suspended'))).toEqual([]);
    const reads = inOrg.filter((r) => r.method === 'GET' && !r.path.includes(':chat_id'));
    expect(await odd(reads, ask(member), isLetIn)).toEqual([]);
  });
});

describe('within a second', () => {
  const me = (as: Bearer) => house.call('GET', '/api/auth/me', { as });
  const readOrg = (as: Bearer) => house.call('GET', `/api/orgs/${org.id}`, { as });

  it.each([
    ['a log-out', async (p: Person) => house.make('POST', '/api/auth/logout', { as: p }), 'not_authenticated', [200, undefined]],
    [
      'a deactivation',
      async (p: Person) => house.make('POST', `/api/admin/users/${p.id}/deactivate`, { as: operator }),
      'user_deactivated',
      [401, 'user_deactivated'],
    ],
  ])('%s ends sessions; API tokens follow the user', async (_, act, code, tokens) => {
    const person = await aPerson(house);
    const apiToken = await anApiToken(house, person);
    expect([(await me(person)).status, (await me(apiToken)).status]).toEqual([200, 200]);
    await act(person);
    await sleep(MEMORY_MS);
    const answer = await me(person);
    expect([answer.status, answer.body.code]).toEqual([401, code]);
    const other = await me(apiToken);
    expect([other.status, other.body.code]).toEqual(tokens);
  });

  it('a revoked API token is dead', async () => {
    const { token, token_info } = await house.make('POST', '/api/tokens', { as: org.owner, body: { name: 'short-lived' } });
    expect((await me({ token })).status).toBe(200);
    await house.make('DELETE', `/api/tokens/${token_info.id}`, { as: org.owner });
    await sleep(MEMORY_MS);
    expect(is401(await me({ token }))).toBe(true);
  });

  it('a removed member is out, a demoted one has the lower role', async () => {
    const [gone, lowered] = [await aPerson(house), await aPerson(house)];
    const [goneId, loweredId] = [
      await house.insert(Membership, { org_id: org.id, user_id: gone.id, role: 'ADMIN' }),
      await house.insert(Membership, { org_id: org.id, user_id: lowered.id, role: 'ADMIN' }),
    ];
    const audit = (as: Bearer) => house.call('GET', `/api/orgs/${org.id}/settings/limits`, { as });
    expect([(await readOrg(gone)).status, (await audit(lowered)).status]).toEqual([200, 200]);
    await house.make('DELETE', `/api/orgs/${org.id}/members/${goneId}`, { as: org.owner });
    await house.make('PATCH', `/api/orgs/${org.id}/members/${loweredId}`, { as: org.owner, body: { role: 'MEMBER' } });
    await sleep(MEMORY_MS);
    expect(is403('not_org_member')(await readOrg(gone))).toBe(true);
    expect(is403('insufficient_role')(await audit(lowered))).toBe(true);
  });
});
