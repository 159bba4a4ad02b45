import http from 'node:http';
import { GatewayAuthenticator, InternalCallerModule, QueuePageSessionModule } from '@aps/administration/http';
import { QUEUES } from '@aps/contracts';
import { ENTITIES, MIGRATIONS } from '@aps/entities';
import { GuardsModule } from '@aps/guards';
import { anApiToken, aPerson, type Person } from '@aps/identity/testing';
import { PlatformModule } from '@aps/platform/runtime';
import { sql, type Bearer } from '@aps/platform/testing';
import { testService } from '@aps/testing';
import { ProxyModule } from '.';
import { ADMIN_API } from './testing/admin-api';

const PAGE = '/api/admin/queues';
const GATEWAY = [
  PlatformModule.forRoot('test', { entities: ENTITIES, migrations: MIGRATIONS }),
  InternalCallerModule,
  GuardsModule.forRoot(GatewayAuthenticator),
  QueuePageSessionModule,
  ProxyModule,
];

describe('The page of queues, through the gateway', () => {
  const t = testService(GATEWAY, { settings: { QUEUE_PAGE_WRITES: 'off' } });
  let admin: Person;

  const call = (path: string, init: RequestInit = {}) => fetch(`${t.url}${path}`, { redirect: 'manual', ...init });
  const open = (as: Bearer, headers: Record<string, string> = {}) =>
    call(`${PAGE}/session`, { method: 'POST', headers: { authorization: `Bearer ${as.token}`, ...headers } });
  /** The cookie as a browser sends it back. */
  const cookieOf = async (as: Bearer) => (await open(as)).headers.get('set-cookie')!.split(';')[0];
  const withCookie = (cookie: string, path = `${PAGE}/`, init: RequestInit = {}) =>
    call(path, { ...init, headers: { cookie, ...init.headers } });
  const codeOf = async (answer: Response) => [answer.status, ((await answer.json()) as { code: string }).code];

  beforeAll(async () => {
    t.configure({ ADMIN_API_URL: await t.serve(ADMIN_API) });
    admin = await aPerson(t, { admin: true });
  });

  it('is opened by a cookie that no script reads, and no other site or path gets', async () => {
    const answer = await open(admin);
    expect([answer.status, await answer.text()]).toEqual([204, '']);
    const attributes = answer.headers
      .get('set-cookie')!
      .split('; ')
      .slice(1)
      .filter((a) => !a.startsWith('Expires'));
    expect(attributes).toEqual(['Max-Age=1800', `Path=${PAGE}`, 'HttpOnly', 'SameSite=Strict']);
    expect(answer.headers.get('set-cookie')).not.toContain(admin.token);
  });

  it('shows what the service puts its work into, and loads nothing from elsewhere', async () => {
    const cookie = await cookieOf(admin);
    expect((await withCookie(cookie, PAGE)).headers.get('location')).toBe(`${PAGE}/`);
    const page = await withCookie(cookie);
    const html = await page.text();
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'; script-src 'self'");
    expect(html).toContain('<title>Queues</title>');
    for (const [, script] of html.matchAll(/src="(static[^"]+)"/g)) {
      const { status, headers } = await withCookie(cookie, `${PAGE}/${script}`);
      expect([status, headers.get('content-type')]).toEqual([200, 'text/javascript; charset=utf-8']);
    }
    const { queues } = (await (await withCookie(cookie, `${PAGE}/api/queues`)).json()) as {
      queues: { name: string; readOnlyMode: boolean }[];
    };
    expect(queues.map(({ name, readOnlyMode }) => [name, readOnlyMode])).toEqual(QUEUES.map((name) => [name, true]));
    expect((await withCookie(cookie, `${PAGE}/api/nothing`)).status).toBe(404);
  });

  it('is shut without it, and to who is no operator', async () => {
    expect(await codeOf(await call(`${PAGE}/`))).toEqual([401, 'not_authenticated']);
    expect(await codeOf(await call(`${PAGE}/api/queues`))).toEqual([401, 'not_authenticated']);
    for (const cookie of ['aps_queues=x', 'aps_queues=x.y', 'other=1'])
      expect(await codeOf(await withCookie(cookie))).toEqual([401, 'not_authenticated']);
    const member = await aPerson(t);
    expect(await codeOf(await open(member))).toEqual([403, 'platform_admin_required']);
    // A cookie of who was one.
    const former = await aPerson(t, { admin: true });
    const cookie = await cookieOf(former);
    await t.db.execute(sql('DELETE FROM platform_admins WHERE user_id = $1'), [former.id]);
    expect(await codeOf(await withCookie(cookie))).toEqual([403, 'platform_admin_required']);
  });

  it('takes the cookie nowhere else, and no cookie in the place of a bearer that is no good', async () => {
    const cookie = await cookieOf(admin);
    for (const spelled of ['session', 'SESSION', 'session/', 'Session?x']) {
      const answer = await withCookie(cookie, `${PAGE}/${spelled}`, { method: 'POST' });
      expect([spelled, answer.status, answer.headers.get('set-cookie')]).toEqual([spelled, 401, null]);
    }
    // As written: a client library resolves dots before it sends.
    const raw = (path: string) =>
      new Promise<number | undefined>((resolve, reject) => {
        const { hostname: host, port } = new URL(t.url);
        http.get({ host, port, path, headers: { cookie } }, (answer) => resolve(answer.resume().statusCode)).on('error', reject);
      });
    expect(await raw(`${PAGE}/`)).toBe(200);
    for (const path of [
      '/api/admin/orgs',
      '/api/admin/queuesx',
      `${PAGE}/../orgs`,
      `${PAGE}/%2e%2e/orgs`,
      `${PAGE}/..\\orgs`,
      '/api/admin',
    ])
      expect([path, await raw(path)]).toEqual([path, 401]);
    expect((await withCookie(cookie, `${PAGE}/`, { headers: { cookie, authorization: 'Bearer nonsense' } })).status).toBe(401);
  });

  it('is shut when the credential ends, whatever the cookie says', async () => {
    const token = await anApiToken(t, admin, { scope: 'admin:read' });
    expect(await codeOf(await open(token))).toEqual([403, 'insufficient_scope']);
    const writing = await anApiToken(t, admin, { scope: 'admin:write' });
    const cookie = await cookieOf(writing);
    expect((await withCookie(cookie)).status).toBe(200);
    await t.db.execute(sql('UPDATE api_tokens SET revoked_at = now() WHERE user_id = $1'), [admin.id]);
    // The gateway remembers for a second who somebody is.
    let shut: Response;
    do shut = await withCookie(cookie);
    while (shut.ok && (await shut.text()));
    expect(await codeOf(shut)).toEqual([401, 'not_authenticated']);
  });

  it('changes nothing', async () => {
    const cookie = await cookieOf(admin);
    const pause = await withCookie(cookie, `${PAGE}/api/queues/turns/pause`, { method: 'PUT' });
    expect(await codeOf(pause)).toEqual([403, 'read_only']);
    expect(await t.db.query(sql(`SELECT 1 FROM audit_log WHERE action = 'queue.changed'`))).toEqual([]);
  });
});

describe('The page of queues that takes changes', () => {
  const t = testService(GATEWAY, { settings: { QUEUE_PAGE_WRITES: 'on' } });

  it('records who makes each of them', async () => {
    t.configure({ ADMIN_API_URL: await t.serve(ADMIN_API) });
    const admin = await aPerson(t, { admin: true });
    const change = (verb: string) =>
      fetch(`${t.url}${PAGE}/api/queues/titles/${verb}`, { method: 'PUT', headers: { authorization: `Bearer ${admin.token}` } });
    expect((await change('pause')).status).toBe(200);
    expect((await change('resume')).status).toBe(200);
    expect(await t.db.query(sql(`SELECT actor_id, target_id, metadata FROM audit_log WHERE action = 'queue.changed' ORDER BY id`))).toEqual(
      [
        { actor_id: admin.id, target_id: 'titles', metadata: { method: 'PUT', path: '/api/queues/titles/pause' } },
        { actor_id: admin.id, target_id: 'titles', metadata: { method: 'PUT', path: '/api/queues/titles/resume' } },
      ],
    );
  });
});
