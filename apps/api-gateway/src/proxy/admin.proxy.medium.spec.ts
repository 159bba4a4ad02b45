import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';
import { anApiToken, aPerson, type Person } from '@aps/identity/testing';
import { InternalTokens } from '@aps/platform/crypto';
import { metrics } from '@aps/platform/observability';
import type { Bearer } from '@aps/platform/testing';
import { BASE_MODULES, testService } from '@aps/testing';
import { uuidv7 } from 'uuidv7';
import { PROXIED_PATHS, ProxyModule } from '.';
import { bodyOf, gate, Upstream } from './testing/upstream';

describe('admin proxy', () => {
  const t = testService([...BASE_MODULES, ProxyModule]);
  const upstream = new Upstream();
  let upstreamUrl: string;
  let admin: Person;

  const target = (url: string, timeoutMs = 10_000) => t.configure({ ADMIN_API_URL: url, ADMIN_API_TIMEOUT_MS: String(timeoutMs) });
  const call = (path: string, init: RequestInit & { duplex?: 'half' } = {}, as: Bearer | null = admin) =>
    fetch(`${t.url}${path}`, {
      ...init,
      headers: { ...(as && { authorization: `Bearer ${as.token}` }), ...(init.headers as Record<string, string>) },
    });

  beforeAll(async () => {
    upstreamUrl = await upstream.start();
    admin = await aPerson(t, { admin: true });
  });
  afterAll(() => upstream.stop());
  beforeEach(() => {
    upstream.seen.length = 0;
    upstream.answer = (_, response) => response.end();
    target(upstreamUrl);
  });

  describe('lets in operators only', () => {
    const refused = async (as: Bearer | null, method = 'GET') => {
      const response = await call('/api/admin/orgs', { method }, as);
      expect(upstream.seen).toEqual([]);
      return { status: response.status, body: (await response.json()) as { code: string }, headers: response.headers };
    };

    it('401 without a token', async () => {
      const { status, body, headers } = await refused(null);
      expect([status, body.code, headers.get('www-authenticate')]).toEqual([401, 'not_authenticated', 'Bearer']);
    });

    it('403 platform_admin_required for everybody else', async () => {
      expect(await refused(await aPerson(t))).toMatchObject({ status: 403, body: { code: 'platform_admin_required' } });
    });

    it('403 insufficient_scope for an API token without the area', async () => {
      expect(await refused(await anApiToken(t, admin, { scope: 'chats:write' }))).toMatchObject({
        status: 403,
        body: { code: 'insufficient_scope', context: { required: 'admin:read' } },
      });
    });

    it('403 insufficient_scope for a write with admin:read', async () => {
      const token = await anApiToken(t, admin, { scope: 'admin:read' });
      expect(await refused(token, 'POST')).toMatchObject({ status: 403, body: { code: 'insufficient_scope' } });
      expect((await call('/api/admin/orgs', {}, token)).status).toBe(200);
    });

    it('403 for an API token that is confined to an organization', async () => {
      expect(await refused(await anApiToken(t, admin, { org_id: uuidv7() }))).toMatchObject({
        status: 403,
        body: { code: 'insufficient_scope' },
      });
    });
  });

  describe('tells the service who calls', () => {
    const headersSeen = () => upstream.seen[0].headers;

    it('by a token that only admin-api takes', async () => {
      const token = await anApiToken(t, admin, { scope: 'admin:write chats:read' });
      await call('/api/admin/orgs', { headers: { 'x-request-id': 'r-1' } }, token);
      const internal = headersSeen()['x-aps-internal'] as string;
      expect(new InternalTokens().verify(internal, 'admin-api', new Date())).toMatchObject({
        user_id: admin.id,
        email: admin.email,
        scope: 'admin:write chats:read',
        request_id: 'r-1',
      });
      expect(new InternalTokens().verify(internal, 'billing-webhooks', new Date())).toBeUndefined();
    });

    it('and drops what outsiders claim', async () => {
      await call('/api/admin/orgs', { headers: { 'x-aps-internal': 'forged', 'X-Aps-Anything': 'x', cookie: 'a=b' } });
      expect(headersSeen()['x-aps-internal']).not.toBe('forged');
      expect(headersSeen()).not.toHaveProperty('x-aps-anything');
      expect(headersSeen()).not.toHaveProperty('authorization');
      expect(headersSeen()).not.toHaveProperty('cookie');
    });

    it('with the ids of the request', async () => {
      const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
      const response = await call('/api/admin/orgs', { headers: { 'x-request-id': 'r-2', traceparent } });
      expect(headersSeen()).toMatchObject({ 'x-request-id': 'r-2', traceparent });
      expect(response.headers.get('x-request-id')).toBe('r-2');
    });

    it('with an id that the gateway made when the caller gave none', async () => {
      const response = await call('/api/admin/orgs');
      expect(headersSeen()['x-request-id']).toMatch(/^[\w-]{36}$/);
      expect(response.headers.get('x-request-id')).toBe(headersSeen()['x-request-id']);
    });
  });

  describe('stays below its prefix', () => {
    /** A request target as written, which no client library would send. */
    const raw = (requestTarget: string) =>
      new Promise<number>((resolve, reject) => {
        const socket = net.connect(Number(new URL(t.url).port), '127.0.0.1', () =>
          socket.write(`GET ${requestTarget} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${admin.token}\r\nconnection: close\r\n\r\n`),
        );
        socket.once('error', reject);
        socket.once('data', (data) => resolve(Number(/^HTTP\/1\.1 (\d+)/.exec(data.toString())?.[1])));
      });

    it.each([
      ['an absolute form', () => `${upstreamUrl}/api/admin/orgs`],
      ['an absolute form of the name that targets are resolved against', () => 'http://proxy/api/admin/orgs'],
      ['dot segments', () => '/api/admin/../secrets'],
      ['encoded dot segments', () => '/api/admin/%2e%2e/secrets'],
      ['backslashes', () => '/api/admin/..\\..\\secrets'],
      ['another case', () => '/API/Admin/orgs'],
    ])('with %s', async (_, requestTarget) => {
      target('http://127.0.0.1:1');
      expect(await raw(requestTarget())).toBe(404);
      target(upstreamUrl);
      expect(await raw(requestTarget())).toBe(404);
      expect(upstream.seen).toEqual([]);
    });

    it('and hands on what is below its prefix, query and all', async () => {
      expect(await raw('/api/admin/a%2Fb/c/?q=%25x&q=y')).toBe(200);
      expect(upstream.seen[0].url).toBe('/api/admin/a%2Fb/c/?q=%25x&q=y');
      expect(await raw('/api/admin')).toBe(200);
    });
  });

  describe('streams', () => {
    it.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])('%s and the answer to it', async (method) => {
      upstream.answer = (_, response) => response.writeHead(418, { 'content-type': 'text/plain', 'x-own': 'yes' }).end('short and stout');
      const response = await call('/api/admin/teapot', { method });
      expect([response.status, response.headers.get('x-own'), await response.text(), upstream.seen[0].method]).toEqual([
        418,
        'yes',
        'short and stout',
        method,
      ]);
    });

    it('bodies as they are, parsing nothing', async () => {
      upstream.answer = (request, response) => void bodyOf(request).then((body) => response.end(body));
      const response = await call('/api/admin/x', { method: 'POST', body: '{"not json', headers: { 'content-type': 'application/json' } });
      expect([response.status, await response.text()]).toEqual([200, '{"not json']);
    });

    it('bodies larger than any that the gateway itself takes', async () => {
      const sent = randomBytes(16 * 1024 * 1024);
      upstream.answer = (request, response) =>
        void bodyOf(request).then((body) => response.end(createHash('sha256').update(body).digest('hex')));
      const response = await call('/api/admin/x', { method: 'POST', body: sent, headers: { 'content-type': 'application/json' } });
      expect(await response.text()).toBe(createHash('sha256').update(sent).digest('hex'));
    });

    it('chunk by chunk, both ways, holding nothing back', async () => {
      const firstArrived = gate();
      upstream.answer = (request, response) => {
        response.write('early ');
        request.once('data', () => firstArrived.open());
        request.on('end', () => response.end('late'));
      };
      const request = http.request(`${t.url}/api/admin/x`, { method: 'POST', headers: { authorization: `Bearer ${admin.token}` } });
      request.write('first');
      // The rest is only sent once the first part has arrived, and once the answer has begun: a hop that collects would hang here.
      const [response] = (await once(request, 'response')) as [http.IncomingMessage];
      await firstArrived.opened;
      request.end('second');
      expect((await bodyOf(response)).toString()).toBe('early late');
      expect(upstream.seen[0].headers['transfer-encoding']).toBe('chunked');
    });

    it('and cuts the answer when the service breaks off', async () => {
      upstream.answer = (_, response) => {
        response.writeHead(200, { 'content-length': '100' }).write('half');
        setImmediate(() => response.destroy());
      };
      await expect(call('/api/admin/x').then((response) => response.text())).rejects.toThrow();
    });
  });

  describe('answers for the service', () => {
    it('502 in the house shape when it is down', async () => {
      target('http://127.0.0.1:1');
      const response = await call('/api/admin/orgs', { headers: { 'x-request-id': 'r-3' } });
      expect(response.status).toBe(502);
      expect(await response.json()).toEqual({ detail: expect.any(String), code: 'upstream_unavailable', request_id: 'r-3' });
    });

    it('504 in the house shape when it does not begin to answer, and lets it go', async () => {
      target(upstreamUrl, 50);
      const left = gate();
      upstream.answer = (_, response) => response.once('close', () => left.open());
      const response = await call('/api/admin/orgs', { headers: { 'x-request-id': 'r-4' } });
      expect(response.status).toBe(504);
      expect(await response.json()).toEqual({ detail: expect.any(String), code: 'upstream_timeout', request_id: 'r-4' });
      await left.opened;
    });

    it('and counts it by path, from 0 on', async () => {
      const failures = async () => {
        const { values } = await metrics.getSingleMetric('proxy_failures_total')!.get();
        return Object.fromEntries(values.map(({ labels, value }) => [`${labels.path} ${labels.code}`, value]));
      };
      const before = await failures();
      expect(Object.keys(before)).toEqual(
        PROXIED_PATHS.flatMap(({ prefix }) => ['upstream_timeout', 'upstream_unavailable'].map((code) => `${prefix} ${code}`)),
      );
      target('http://127.0.0.1:1');
      await call('/api/admin/orgs');
      // What the service answers by itself, it counts.
      target(upstreamUrl);
      upstream.answer = (_, response) => response.writeHead(503).end();
      await call('/api/admin/orgs');
      // Nor what has not come whole: anybody can send slowly.
      target(upstreamUrl, 50);
      upstream.answer = () => undefined;
      const slow = http.request(`${t.url}/api/admin/x`, { method: 'POST', headers: { Authorization: `Bearer ${admin.token}` } });
      slow.write('half of it');
      const [late] = (await once(slow, 'response')) as [http.IncomingMessage];
      expect(late.statusCode).toBe(504);
      slow.destroy();
      expect(await failures()).toEqual({ ...before, '/api/admin upstream_unavailable': before['/api/admin upstream_unavailable'] + 1 });
    });
  });

  describe('holds connections to the service', () => {
    /** Answers, and closes the connection when another request comes on it, as a service does that ends just then. */
    const closingOnReuse = () => {
      const used = new WeakSet<object>();
      upstream.answer = (request, response) => {
        if (used.has(request.socket)) request.socket.destroy();
        else response.end(request.method);
        used.add(request.socket);
      };
    };

    it('and reads once more when a kept one turns out to be closed', async () => {
      closingOnReuse();
      for (const method of ['GET', 'GET', 'OPTIONS', 'GET'])
        expect([method, (await call('/api/admin/x', { method })).status]).toEqual([method, 200]);
      // Both: the one that was cut off, and the one after it.
      expect(upstream.seen.length).toBeGreaterThan(4);
    });

    it('and reads no third time', async () => {
      upstream.answer = (request) => void request.socket.destroy();
      expect((await call('/api/admin/x')).status).toBe(502);
    });

    it('and never sends a change over a kept one, after which nobody would know whether it was made', async () => {
      closingOnReuse();
      await (await call('/api/admin/x')).text();
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'POST'])
        expect([method, (await call('/api/admin/x', { method, body: 'once' })).status]).toEqual([method, 200]);
      expect((await call('/api/admin/x', { method: 'POST' })).status).toBe(200);
      expect(upstream.seen.filter(({ method }) => method !== 'GET').map(({ method }) => method)).toEqual([
        'POST',
        'PUT',
        'PATCH',
        'DELETE',
        'POST',
        'POST',
      ]);
    });

    it('and cuts a change off that got no answer', async () => {
      upstream.answer = (request) => void request.socket.destroy();
      expect((await call('/api/admin/x', { method: 'POST', body: 'once' })).status).toBe(502);
      expect(upstream.seen).toHaveLength(1);
    });
  });

  describe('tells the service that the caller is gone', () => {
    const begin = (method: string) =>
      http.request(`${t.url}/api/admin/x`, { method, headers: { authorization: `Bearer ${admin.token}` } }).on('error', () => undefined);

    it('in the middle of a body', async () => {
      const [arrived, left] = [gate(), gate()];
      upstream.answer = (request, response) => {
        request.on('error', () => undefined).once('data', () => arrived.open());
        response.once('close', () => left.open());
      };
      const request = begin('POST');
      request.write('begun');
      await arrived.opened;
      request.destroy();
      await left.opened;
    });

    it('while it thinks', async () => {
      const [arrived, left] = [gate(), gate()];
      upstream.answer = (_, response) => {
        arrived.open();
        response.once('close', () => left.open());
      };
      const request = begin('GET');
      request.end();
      await arrived.opened;
      request.destroy();
      await left.opened;
    });

    it('while it answers', async () => {
      const left = gate();
      upstream.answer = (_, response) => {
        response.write('first');
        response.once('close', () => left.open());
      };
      const request = begin('GET');
      request.end();
      const [response] = (await once(request, 'response')) as [http.IncomingMessage];
      await once(response, 'data');
      request.destroy();
      await left.opened;
    });
  });
});
