import { hashToken } from '@aps/platform/crypto';
import { sql } from '@aps/platform/testing';
import { identityTestApp, type IdentityTestApp } from '../testing/identity-test-app';
import type { UserRow } from '../users.service';

describe('API tokens', () => {
  let t: IdentityTestApp;
  let user: UserRow;
  let session: string;
  beforeAll(async () => {
    t = await identityTestApp();
  });
  afterAll(() => t.close());
  beforeEach(async () => {
    user = await t.user();
    session = await t.login(user.email);
  });

  const create = (body: Record<string, unknown>, token = session, headers?: Record<string, string>) =>
    t.call('POST', '/api/tokens', { token, body: { name: 'CI', ...body }, headers });
  const list = async (token = session, query = '') => (await t.call('GET', `/api/tokens${query}`, { token })).body;

  it('are shown once and then only in part', async () => {
    const { status, body } = await create({ description: 'Nightly', scope: 'agents:read chats:write agents:read', expires_in_days: 90 });
    expect(status).toBe(201);
    expect(body.token).toMatch(/^apt_[A-Za-z0-9]{32}_[A-Za-z0-9]{6}$/);
    expect(body.token_info).toEqual({
      id: expect.any(String),
      name: 'CI',
      description: 'Nightly',
      scope: 'agents:read chats:write',
      org_id: null,
      prefix: body.token.slice(0, 8),
      last4: body.token.slice(-4),
      last_used_at: null,
      expires_at: expect.any(String),
      created_at: expect.any(String),
      updated_at: body.token_info.created_at,
    });
    expect(Math.round((Date.parse(body.token_info.expires_at) - Date.now()) / 86_400_000)).toBe(90);
    expect(await list()).toEqual({ items: [body.token_info], total: 1, next_offset: null });
    const [row] = await t.db.query(sql<{ token_hash: Buffer }>('SELECT * FROM api_tokens WHERE id = $1'), [body.token_info.id]);
    expect(row.token_hash.equals(hashToken(body.token))).toBe(true);
    expect(Object.values(row)).not.toContain(body.token);
    expect(await t.audit('api_token.created')).toContainEqual(
      expect.objectContaining({ target_id: body.token_info.id, metadata: { name: 'CI', scope: 'agents:read chats:write' } }),
    );
  });

  it('may do everything and for ever unless something else is asked for', async () => {
    expect((await create({})).body.token_info).toMatchObject({ scope: '*', expires_at: null, org_id: null, description: null });
  });

  it('are listed newest first, in pages', async () => {
    for (const name of ['a', 'b', 'c']) await create({ name });
    const page = async (query: string) => {
      const { items, total, next_offset } = await list(session, query);
      return [items.map((i: { name: string }) => i.name), total, next_offset];
    };
    expect(await page('')).toEqual([['c', 'b', 'a'], 3, null]);
    expect(await page('?limit=2')).toEqual([['c', 'b'], 3, 2]);
    expect(await page('?limit=2&offset=2')).toEqual([['a'], 3, null]);
    for (const bad of ['limit=0', 'limit=101', 'limit=x', 'offset=-1'])
      expect((await t.call('GET', `/api/tokens?${bad}`, { token: session })).status).toBe(422);
  });

  it('cannot make tokens, nor end sessions, nor change the user', async () => {
    const { token } = (await create({})).body;
    expect((await t.call('GET', '/api/auth/me', { token })).body.user.id).toBe(user.id);
    for (const [method, path, body] of [
      ['POST', '/api/tokens', { name: 'more' }],
      ['POST', '/api/auth/logout', undefined],
      ['POST', '/api/auth/refresh', undefined],
      ['PATCH', '/api/auth/me', { name: 'x' }],
      ['POST', '/api/auth/password/change', { current_password: 'x', new_password: 'x'.repeat(12) }],
    ] as const) {
      const answer = await t.call(method, path, { token, body });
      expect([path, answer.status, answer.body.code]).toEqual([path, 403, 'insufficient_scope']);
    }
  });

  it('reach the list of tokens only with the settings', async () => {
    const id = (await create({ name: 'target' })).body.token_info.id as string;
    const reader = (await create({ scope: 'settings:read' })).body.token as string;
    const other = (await create({ scope: 'agents:write' })).body.token as string;
    const writer = (await create({ scope: 'settings:write' })).body.token as string;
    const get = async (token: string) => (await t.call('GET', '/api/tokens', { token })).status;
    const remove = async (token: string) => (await t.call('DELETE', `/api/tokens/${id}`, { token })).status;
    expect([await get(reader), await get(other), await get(writer)]).toEqual([200, 403, 200]);
    expect([await remove(reader), await remove(other), await remove(writer)]).toEqual([403, 403, 204]);
  });

  it('see only their kin when they are pinned to an organization', async () => {
    const orgId = await t.orgs.makeOrg(t.db, user.id, 'Pinned');
    await t.orgs.makeOrg(t.db, user.id, 'Other');
    const free = (await create({ name: 'free' })).body.token_info.id as string;
    const pinned = (await create({ name: 'pinned', org_id: orgId.toUpperCase() })).body;
    expect(pinned.token_info.org_id).toBe(orgId);
    expect((await list(pinned.token)).items).toEqual([expect.objectContaining({ id: pinned.token_info.id })]);
    expect((await t.call('DELETE', `/api/tokens/${free}`, { token: pinned.token })).status).toBe(404);
    expect((await t.call('GET', '/api/auth/me', { token: pinned.token })).body.memberships).toEqual([
      expect.objectContaining({ org_id: orgId }),
    ]);
  });

  it('can be pinned only to an organization of their user', async () => {
    const stranger = await t.user();
    const foreign = await t.orgs.makeOrg(t.db, stranger.id, 'Foreign');
    for (const org_id of [foreign, '00000000-0000-7000-8000-000000000000']) {
      const { status, body } = await create({ org_id });
      expect([status, body.code, body.detail[0].loc]).toEqual([422, 'unknown_reference', ['body', 'org_id']]);
    }
  });

  it('are revoked by their user alone, and once', async () => {
    const made = (await create({})).body;
    const path = `/api/tokens/${made.token_info.id}`;
    const stranger = await t.login((await t.user()).email);
    expect((await t.call('DELETE', path, { token: stranger })).status).toBe(404);
    expect(await t.bearer(made.token)).toBe('ok');
    expect((await t.call('DELETE', path, { token: session })).status).toBe(204);
    expect(await t.bearer(made.token)).toBe('not_authenticated');
    expect((await list()).items).toEqual([]);
    expect((await t.call('DELETE', path, { token: session })).status).toBe(404);
    expect((await t.call('DELETE', '/api/tokens/not-an-id', { token: session })).body.detail).toEqual([
      expect.objectContaining({ loc: ['path', 'token_id'], type: 'uuid_parsing' }),
    ]);
    expect((await t.audit('api_token.revoked')).filter((a) => a.target_id === made.token_info.id)).toHaveLength(1);
  });

  it('end at their time, but stay listed', async () => {
    const made = (await create({ expires_in_days: 1 })).body;
    await t.db.execute(sql(`UPDATE api_tokens SET expires_at = now() - interval '1 second' WHERE id = $1`), [made.token_info.id]);
    expect(await t.bearer(made.token)).toBe('not_authenticated');
    expect((await list()).total).toBe(1);
  });

  it('are made once for a repeated request, whose answer is not kept in the clear', async () => {
    const headers = { 'Idempotency-Key': 'once' };
    const [first, again] = [await create({ name: 'repeated' }, session, headers), await create({ name: 'repeated' }, session, headers)];
    expect([first.body.token, again.body]).toEqual([expect.stringMatching(/^apt_/), { ...first.body, token: null }]);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect((await list()).total).toBe(1);
    const rows = await t.db.query(sql<{ body: string }>(`SELECT body FROM idempotency_keys WHERE key = 'once'`));
    expect(rows).toHaveLength(1);
    expect(rows[0].body).not.toContain(first.body.token);
    expect(first.headers.get('cache-control')).toBe('no-store');
  });

  it('are at most fifty that work, however many are asked for at once', async () => {
    const session = await t.login((await t.user()).email);
    const ask = () => t.call('POST', '/api/tokens', { token: session, body: { name: 'one of many', expires_in_days: 1 } });
    const answers = await Promise.all(Array.from({ length: 60 }, ask));
    expect(answers.filter((a) => a.status === 201)).toHaveLength(50);
    const refused = answers.find((a) => a.status !== 201)!;
    expect([refused.status, refused.body.code, refused.body.context]).toEqual([
      403,
      'entitlement_exceeded',
      { entitlement: 'max_api_tokens', limit: 50, current: 50 },
    ]);
    // Neither revoked nor expired ones count.
    const [revoked, expired] = answers.filter((a) => a.status === 201).map((a) => a.body.token_info.id as string);
    await t.call('DELETE', `/api/tokens/${revoked}`, { token: session });
    await t.db.execute(sql('UPDATE api_tokens SET expires_at = now() WHERE id = $1'), [expired]);
    expect((await Promise.all([ask(), ask(), ask()])).map((a) => a.status).sort()).toEqual([201, 201, 403]);
  });

  it.each([
    { name: undefined },
    { name: '' },
    { name: ' ' },
    { name: 'x'.repeat(201) },
    { scope: 'everything' },
    { scope: null },
    { expires_in_days: 0 },
    { expires_in_days: 1.5 },
    { expires_in_days: 1e9 },
    { org_id: 'acme' },
  ])('are refused with %p', async (bad) => {
    expect((await create(bad)).status).toBe(422);
  });
});
