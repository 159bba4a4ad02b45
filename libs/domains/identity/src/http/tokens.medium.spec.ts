import { ApiToken, IdempotencyKeyEntity } from '@aps/entities';
import { hashToken } from '@aps/platform/crypto';
import type { Bearer } from '@aps/platform/testing';
import { testService } from '@aps/testing';
import { PURGE_API_TOKENS } from '../api-tokens.sql';
import { anApiToken, aPerson, stateOf, type Person } from '../testing';
import { IDENTITY } from '../testing/identity';
import { TestOrganizationAdapter } from '../testing/test-organization-adapter';

describe('API tokens', () => {
  const t = testService(IDENTITY);
  let me: Person;
  beforeEach(async () => {
    me = await aPerson(t);
  });

  const create = (body: Record<string, unknown>, as: Bearer = me, headers?: Record<string, string>) =>
    t.call('POST', '/api/tokens', { as, body: { name: 'CI', ...body }, headers });
  const list = async (as: Bearer = me, query = '') => (await t.call('GET', `/api/tokens${query}`, { as })).body;
  const revoke = (id: string, as: Bearer = me) => t.call('DELETE', `/api/tokens/${id}`, { as });
  const anOrg = (owner: Person, name: string) => t.get(TestOrganizationAdapter).makeOrg(t.db, owner.id, name);

  it('are shown once and then only in part', async () => {
    const { status, body } = await create({ description: 'Nightly', scope: 'agents:read chats:write agents:read', expires_in_days: 90 });
    expect([status, body.token]).toEqual([201, expect.stringMatching(/^apt_[A-Za-z0-9]{32}_[A-Za-z0-9]{6}$/)]);
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
    const row = await t.db.manager.findOneByOrFail(ApiToken, { id: body.token_info.id });
    expect(row.token_hash).toEqual(hashToken(body.token));
    expect(Object.values(row)).not.toContain(body.token);
    expect(await t.audit({ action: 'api_token.created' })).toMatchObject([
      { target_id: row.id, metadata: { name: 'CI', scope: 'agents:read chats:write' } },
    ]);
  });

  it('may do everything and for ever unless something else is asked for', async () => {
    expect((await create({})).body.token_info).toMatchObject({ scope: '*', expires_at: null, org_id: null, description: null });
  });

  it('that have been of no use for 30 days are removed', async () => {
    const ago = (days: number) => new Date(Date.now() - days * 86_400_000);
    for (const days of [31, 29]) {
      await anApiToken(t, me, { name: `${days}`, expires_at: ago(days) });
      await anApiToken(t, me, { name: `${days}, revoked`, revoked_at: ago(days) });
    }
    await anApiToken(t, me, { name: 'live' });
    expect(await t.db.execute(PURGE_API_TOKENS, [10])).toBe(2);
    const names = (await t.db.manager.findBy(ApiToken, { user_id: me.id })).map(({ name }) => name);
    expect(names.sort()).toEqual(['29', '29, revoked', 'live']);
    expect(await list()).toMatchObject({ total: 2 });
  });

  it('are listed newest first, in pages', async () => {
    for (const name of ['a', 'b', 'c']) await create({ name });
    const page = async (query: string) => {
      const { items, total, next_offset } = await list(me, query);
      return [items.map((i: { name: string }) => i.name), total, next_offset];
    };
    expect(await page('')).toEqual([['c', 'b', 'a'], 3, null]);
    expect(await page('?limit=2')).toEqual([['c', 'b'], 3, 2]);
    expect(await page('?limit=2&offset=2')).toEqual([['a'], 3, null]);
    for (const bad of ['limit=0', 'limit=101', 'limit=x', 'offset=-1'])
      expect((await t.call('GET', `/api/tokens?${bad}`, { as: me })).status).toBe(422);
  });

  it('are revoked with one that may change settings', async () => {
    const as = await anApiToken(t, me, { scope: 'settings:write' });
    expect((await revoke((await create({})).body.token_info.id, as)).status).toBe(204);
  });

  it('see only their kin when they are pinned to an organization', async () => {
    const org_id = await anOrg(me, 'Pinned');
    await anOrg(me, 'Other');
    const free = (await create({ name: 'free' })).body.token_info.id as string;
    const pinned = (await create({ name: 'pinned', org_id: org_id.toUpperCase() })).body;
    expect(pinned.token_info.org_id).toBe(org_id);
    expect((await list(pinned)).items).toMatchObject([{ id: pinned.token_info.id }]);
    expect((await revoke(free, pinned)).status).toBe(404);
    expect((await t.call('GET', '/api/auth/me', { as: pinned })).body.memberships).toMatchObject([{ org_id }]);
  });

  it('can be pinned only to an organization of their user', async () => {
    for (const org_id of [await anOrg(await aPerson(t), 'Foreign'), '00000000-0000-7000-8000-000000000000'])
      expect(await create({ org_id })).toMatchObject({
        status: 422,
        body: { code: 'unknown_reference', detail: [{ loc: ['body', 'org_id'] }] },
      });
  });

  it('are refused from the moment when they are revoked, however lately they were used', async () => {
    for (let i = 0; i < 10; i++) {
      const { token, token_info } = (await create({})).body;
      const used = () => t.call('GET', '/api/auth/me', { as: { token } });
      expect((await used()).status).toBe(200);
      expect((await revoke(token_info.id)).status).toBe(204);
      expect((await used()).status).toBe(401);
    }
  });

  it('are revoked by their user alone, and once', async () => {
    const made = (await create({})).body;
    const { id } = made.token_info;
    expect((await revoke(id, await aPerson(t))).status).toBe(404);
    expect(await stateOf(t, made)).toBe('ok');
    expect((await revoke(id)).status).toBe(204);
    expect([await stateOf(t, made), (await list()).items]).toEqual(['not_authenticated', []]);
    expect((await revoke(id)).status).toBe(404);
    expect((await revoke('not-an-id')).body.detail).toMatchObject([{ loc: ['path', 'token_id'], type: 'uuid_parsing' }]);
    expect(await t.audit({ action: 'api_token.revoked', target_id: id })).toHaveLength(1);
  });

  it('end at their time, but stay listed', async () => {
    const token = await anApiToken(t, me, { expires_at: new Date(Date.now() - 1_000) });
    expect([await stateOf(t, token), (await list()).total]).toEqual(['not_authenticated', 1]);
  });

  it('are made once for a repeated request, whose answer is not kept in the clear', async () => {
    const ask = () => create({ name: 'repeated' }, me, { 'Idempotency-Key': 'once' });
    const [first, again] = [await ask(), await ask()];
    expect([first.body.token, again.body]).toEqual([expect.stringMatching(/^apt_/), { ...first.body, token: null }]);
    expect([first.headers.get('cache-control'), again.headers.get('idempotency-replayed')]).toEqual(['no-store', 'true']);
    expect((await list()).total).toBe(1);
    const kept = await t.db.manager.findBy(IdempotencyKeyEntity, { key: 'once' });
    expect([kept.length, JSON.stringify(kept).includes(first.body.token)]).toEqual([1, false]);
  });

  it('are at most fifty that work, however many are asked for at once', async () => {
    const ask = () => create({ expires_in_days: 1 });
    const answers = await Promise.all(Array.from({ length: 60 }, ask));
    const made = answers.filter((a) => a.status === 201).map((a) => a.body.token_info.id as string);
    expect(made).toHaveLength(50);
    expect(answers.find((a) => a.status !== 201)).toMatchObject({
      status: 403,
      body: { code: 'entitlement_exceeded', context: { entitlement: 'max_api_tokens', limit: 50, current: 50 } },
    });
    // Neither revoked nor expired ones count.
    await revoke(made[0]);
    await t.db.manager.update(ApiToken, made[1], { expires_at: new Date() });
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
