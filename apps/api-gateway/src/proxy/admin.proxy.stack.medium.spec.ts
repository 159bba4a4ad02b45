import { aPerson, type Person } from '@aps/identity/testing';
import { loadConfig } from '@aps/platform/config';
import { sql } from '@aps/platform/testing';
import { BASE_MODULES, testService } from '@aps/testing';
import { ProxyModule } from '.';
import { ADMIN_API } from './testing/admin-api';

describe('admin proxy with admin-api behind it', () => {
  const t = testService([...BASE_MODULES, ProxyModule]);
  let admin: Person;
  let behind: string;

  const call = async (method: string, path: string, options: { token?: string; body?: unknown; headers?: Record<string, string> } = {}) => {
    const response = await fetch(`${t.url}/api/admin${path}`, {
      method,
      headers: {
        ...(options.token !== '' && { authorization: `Bearer ${options.token ?? admin.token}` }),
        'content-type': 'application/json',
        ...options.headers,
      },
      body: options.body === undefined ? undefined : JSON.stringify(options.body),
    });
    const text = await response.text();
    return { status: response.status, body: text ? JSON.parse(text) : undefined, headers: response.headers };
  };

  beforeAll(async () => {
    behind = await t.serve(ADMIN_API);
    t.configure({ ADMIN_API_URL: behind });
    admin = await aPerson(t, { admin: true });
  });

  it('serves operators', async () => {
    expect(await call('POST', '/allowed-emails', { body: { email: 'a@example.com' } })).toMatchObject({
      status: 201,
      body: { added_by: { user_id: admin.id } },
    });
    expect(await call('GET', '/allowed-emails')).toMatchObject({ status: 200, body: [{ email: 'a@example.com' }] });
  });

  it('hands on which methods an address takes, and what bodies', async () => {
    const refused = await call('PUT', '/allowed-emails', { body: {} });
    expect([refused.status, refused.body.code, refused.headers.get('allow')]).toEqual([
      405,
      'method_not_allowed',
      'GET, HEAD, OPTIONS, POST',
    ]);
    const options = await call('OPTIONS', '/allowed-emails/');
    expect([options.status, options.headers.get('allow')]).toEqual([204, 'GET, HEAD, OPTIONS, POST']);
    expect((await call('HEAD', '/allowed-emails')).status).toBe(200);
    expect(await call('POST', '/allowed-emails', { body: {}, headers: { 'content-type': 'text/plain' } })).toMatchObject({
      status: 415,
      body: { code: 'unsupported_media_type' },
    });
    expect(await call('PUT', '/allowed-emails', { token: '' })).toMatchObject({ status: 401 });
    // Behind the gateway it is told to everybody, as there is nothing to hide.
    expect((await fetch(`${behind}/api/admin/allowed-emails`, { method: 'DELETE' })).headers.get('allow')).toBe('GET, HEAD, OPTIONS, POST');
  });

  it("takes nobody's own word for it", async () => {
    expect(await call('GET', '/admins', { token: '', headers: { 'x-aps-internal': 'anything' } })).toMatchObject({
      status: 401,
      body: { code: 'not_authenticated' },
    });
    expect((await fetch(`${behind}/api/admin/admins`, { headers: { authorization: `Bearer ${admin.token}` } })).status).toBe(401);
  });

  it('refuses a demoted operator at once, whatever the gateway remembers', async () => {
    const other = await aPerson(t, { admin: true });
    expect((await call('GET', '/admins', { token: other.token })).status).toBe(200);
    expect((await call('DELETE', `/admins/${other.id}`)).status).toBe(204);
    expect(await call('GET', '/admins', { token: other.token })).toMatchObject({ status: 403, body: { code: 'platform_admin_required' } });
  });

  it('answers in one shape, under the id of the request', async () => {
    const headers = { 'x-request-id': 'through-the-proxy' };
    expect(await call('GET', '/nothing', { headers })).toMatchObject({
      status: 404,
      body: { code: 'not_found', request_id: 'through-the-proxy' },
    });
    expect(await call('POST', '/admins', { body: {}, headers })).toMatchObject({
      status: 422,
      body: { code: 'validation_error', request_id: 'through-the-proxy' },
    });
    const refused = await call('POST', '/admins', { body: { email: 'x'.repeat(2 * 1024 * 1024) }, headers });
    expect(refused).toMatchObject({ status: 413, body: { code: 'payload_too_large', request_id: 'through-the-proxy' } });
    const audit = await t.db.query(sql('SELECT 1 FROM audit_log WHERE request_id IS NULL'));
    expect(audit).toEqual([]);
  });

  it('is counted once against the limit of a token', async () => {
    const counted = await aPerson(t, { admin: true });
    Object.assign(process.env, { RATE_LIMITS: 'on', RATE_LIMIT_TOKEN: '1', RATE_LIMIT_TOKEN_BURST: '2' });
    loadConfig();
    try {
      const statuses = [];
      for (let i = 0; i < 3; i++) statuses.push((await call('GET', '/admins', { token: counted.token })).status);
      expect(statuses).toEqual([200, 200, 429]);
    } finally {
      process.env.RATE_LIMITS = 'off';
      loadConfig();
    }
  });

  it('replays repeats of a key', async () => {
    const options = { body: { email: 'once@example.com' }, headers: { 'idempotency-key': 'once' } };
    const first = await call('POST', '/allowed-emails', options);
    const again = await call('POST', '/allowed-emails', options);
    expect([again.status, again.body, again.headers.get('idempotency-replayed')]).toEqual([201, first.body, 'true']);
    const stranger = await aPerson(t, { admin: true });
    expect(await call('POST', '/allowed-emails', { ...options, token: stranger.token })).toMatchObject({
      status: 409,
      body: { code: 'already_allowed' },
    });
  });
});
