import { createHmac } from 'node:crypto';
import { sql } from '@aps/platform/testing';
import { World, type Person } from './testing/world';

describe('admin-api', () => {
  let world: World;
  const ask = async (headers: Record<string, string>, method = 'GET') => {
    const response = await fetch(`${world.app.url}/api/admin/admins`, { method, headers });
    return { status: response.status, body: (await response.json()) as { code: string }, headers: response.headers };
  };
  const bring = (token: string, method?: string) => ask({ 'x-aps-internal': token }, method);

  beforeAll(async () => {
    process.env.RATE_LIMITS = 'on';
    world = await World.create();
  });
  afterAll(async () => {
    await world?.destroy();
    delete process.env.RATE_LIMITS;
  });

  it('believes the signed word of the gateway', async () => {
    expect((await bring(world.internalToken())).status).toBe(200);
  });

  it('believes it by the time of the database, whatever its own clock says', async () => {
    const token = world.internalToken();
    for (const minutes of [-5, 5]) {
      const wrong = Date.now() + minutes * 60_000;
      jest.spyOn(Date, 'now').mockReturnValue(wrong);
      expect([minutes, (await bring(token)).status]).toEqual([minutes, 200]);
      jest.restoreAllMocks();
    }
  });

  describe('answers 401', () => {
    const MINUTE = 60_000;
    const forged = (body: string, secret: string, label: string) =>
      `${body}.${createHmac('sha256', secret).update(`${label}${body}`).digest('base64url')}`;
    const claims = () => world.internalToken().split('.')[0];

    it.each<[string, () => Record<string, string>]>([
      ['without a token', () => ({})],
      ['to a bearer token', () => ({ authorization: `Bearer ${world.internalToken()}` })],
      ['to nonsense', () => ({ 'x-aps-internal': 'nonsense' })],
      ['to claims without a signature', () => ({ 'x-aps-internal': claims() })],
      ['to claims with an empty signature', () => ({ 'x-aps-internal': `${claims()}.` })],
      ['to a signature by another secret', () => ({ 'x-aps-internal': forged(claims(), 'x'.repeat(43), 'internal-token.') })],
      [
        'to a signature of another kind by the same secret',
        () => ({ 'x-aps-internal': forged(claims(), process.env.INTERNAL_TOKEN_SECRET ?? '', '') }),
      ],
      [
        'to changed claims',
        () => ({
          'x-aps-internal': `${Buffer.from(JSON.stringify({ a: 1 })).toString('base64url')}.${world.internalToken().split('.')[1]}`,
        }),
      ],
      [
        'to an expired token',
        () => ({ 'x-aps-internal': world.internalToken(world.operator, { now: new Date(Date.now() - 2 * MINUTE) }) }),
      ],
      [
        'to a token for another service',
        () => ({ 'x-aps-internal': world.internalToken(world.operator, { audience: 'billing-webhooks' }) }),
      ],
      ['to two tokens', () => ({ 'x-aps-internal': `${world.internalToken()}, ${world.internalToken()}` })],
    ])('%s', async (_, headers) => {
      const { status, body } = await ask(headers());
      expect([status, body.code]).toEqual([401, 'not_authenticated']);
    });

    it('to a user who is gone', async () => {
      const ghost: Person = { ...world.operator, id: '01890000-0000-7000-8000-000000000000' };
      expect(await bring(world.internalToken(ghost))).toMatchObject({ status: 401, body: { code: 'not_authenticated' } });
    });

    it('to an operator who was deactivated since the token was signed', async () => {
      const operator = await world.person({ admin: true });
      const token = world.internalToken(operator);
      expect((await bring(token)).status).toBe(200);
      await world.db.execute(sql('UPDATE users SET deactivated_at = now() WHERE id = $1'), [operator.id]);
      expect(await bring(token)).toMatchObject({ status: 401, body: { code: 'user_deactivated' } });
    });
  });

  describe('answers 403', () => {
    it('to an operator who was demoted since the token was signed', async () => {
      const operator = await world.person({ admin: true });
      const token = world.internalToken(operator);
      expect((await bring(token)).status).toBe(200);
      expect((await world.call('DELETE', `/admins/${operator.id}`)).status).toBe(204);
      expect(await bring(token)).toMatchObject({ status: 403, body: { code: 'platform_admin_required' } });
    });

    it('to somebody who never was one', async () => {
      expect(await bring(world.internalToken(await world.person()))).toMatchObject({
        status: 403,
        body: { code: 'platform_admin_required' },
      });
    });

    it('to a scope that does not allow it', async () => {
      expect(await bring(world.internalToken(world.operator, { scope: 'chats:write' }))).toMatchObject({
        status: 403,
        body: { code: 'insufficient_scope' },
      });
      const reading = world.internalToken(world.operator, { scope: 'admin:read' });
      expect((await bring(reading)).status).toBe(200);
      expect(await bring(reading, 'POST')).toMatchObject({ status: 403, body: { code: 'insufficient_scope' } });
    });
  });

  it('leaves counting requests to the gateway', async () => {
    expect((await bring(world.internalToken())).headers.has('ratelimit-limit')).toBe(false);
  });

  it('checks the caller, then the path, then the body', async () => {
    const bad = { email: 'no address' };
    expect((await ask({}, 'POST')).status).toBe(401);
    expect(await world.call('PATCH', '/orgs/not-an-id/members/neither', { role: 'KING' })).toMatchObject({
      status: 422,
      body: {
        code: 'validation_error',
        detail: [
          { loc: ['path', 'org_id'], type: 'uuid_parsing' },
          { loc: ['path', 'user_id'], type: 'uuid_parsing' },
        ],
      },
    });
    expect(await world.call('POST', '/admins', bad, { as: await world.person() })).toMatchObject({ status: 403 });
    expect(await world.call('POST', '/admins', bad)).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', 'email'] }] } });
  });
});
