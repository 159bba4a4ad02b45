import { createHmac } from 'node:crypto';
import { User } from '@aps/entities';
import { aPerson } from '@aps/identity/testing';
import { outcome } from '@aps/platform/testing';
import { adminService } from './testing/admin-service';

const MINUTE = 60_000;

describe('admin-api', () => {
  const admin = adminService({ RATE_LIMITS: 'on' });
  const { t, call, internalToken } = admin;
  const ask = (headers: Record<string, string>, method = 'GET') => t.call(method, '/api/admin/admins', { headers });
  const bring = (token: string, method?: string) => ask({ 'x-aps-internal': token }, method);

  it('believes the signed word of the gateway', async () => {
    expect((await bring(internalToken())).status).toBe(200);
  });

  it('believes it by the time of the database, whatever its own clock says', async () => {
    const token = internalToken();
    for (const minutes of [-5, 5]) {
      jest.spyOn(Date, 'now').mockReturnValue(Date.now() + minutes * MINUTE);
      expect([minutes, (await bring(token)).status]).toEqual([minutes, 200]);
      jest.restoreAllMocks();
    }
  });

  describe('answers 401', () => {
    const forged = (body: string, secret: string, label: string) =>
      `${body}.${createHmac('sha256', secret).update(`${label}${body}`).digest('base64url')}`;
    const claims = () => internalToken().split('.')[0];
    const secret = () => process.env.INTERNAL_TOKEN_SECRET ?? '';

    it.each<[string, () => string]>([
      ['to nonsense', () => 'nonsense'],
      ['to claims without a signature', claims],
      ['to claims with an empty signature', () => `${claims()}.`],
      ['to a signature by another secret', () => forged(claims(), 'x'.repeat(43), 'internal-token.')],
      ['to a signature of another kind by the same secret', () => forged(claims(), secret(), '')],
      ['to changed claims', () => `${Buffer.from(JSON.stringify({ a: 1 })).toString('base64url')}.${internalToken().split('.')[1]}`],
      ['to an expired token', () => internalToken(undefined, { now: new Date(Date.now() - 2 * MINUTE) })],
      ['to a token for another service', () => internalToken(undefined, { audience: 'billing-webhooks' })],
      ['to two tokens', () => `${internalToken()}, ${internalToken()}`],
      ['to a user who is gone', () => internalToken({ ...admin.operator, id: '01890000-0000-7000-8000-000000000000' })],
    ])('%s', async (_, token) => {
      expect(outcome(await bring(token()))).toEqual([401, 'not_authenticated']);
    });

    it('without a token, and to a bearer token', async () => {
      for (const headers of [{}, { authorization: `Bearer ${internalToken()}` }])
        expect(outcome(await ask(headers as Record<string, string>))).toEqual([401, 'not_authenticated']);
    });

    it('to an operator who was deactivated since the token was signed', async () => {
      const operator = await aPerson(t, { admin: true });
      const token = internalToken(operator);
      expect((await bring(token)).status).toBe(200);
      await t.db.manager.update(User, operator.id, { deactivated_at: new Date() });
      expect(outcome(await bring(token))).toEqual([401, 'user_deactivated']);
    });
  });

  describe('answers 403', () => {
    it('to an operator who was demoted since the token was signed', async () => {
      const operator = await aPerson(t, { admin: true });
      const token = internalToken(operator);
      expect((await bring(token)).status).toBe(200);
      expect((await call('DELETE', `/admins/${operator.id}`)).status).toBe(204);
      expect(outcome(await bring(token))).toEqual([403, 'platform_admin_required']);
    });

    it('to somebody who never was one', async () => {
      expect(outcome(await bring(internalToken(await aPerson(t))))).toEqual([403, 'platform_admin_required']);
    });

    it('to a scope that does not allow it', async () => {
      expect(outcome(await bring(internalToken(undefined, { scope: 'chats:write' })))).toEqual([403, 'insufficient_scope']);
      const reading = internalToken(undefined, { scope: 'admin:read' });
      expect((await bring(reading)).status).toBe(200);
      expect(outcome(await bring(reading, 'POST'))).toEqual([403, 'insufficient_scope']);
    });
  });

  it('leaves counting requests to the gateway', async () => {
    expect((await bring(internalToken())).headers.has('ratelimit-limit')).toBe(false);
  });

  it('checks the caller, then the path, then the body', async () => {
    const bad = { email: 'no address' };
    expect((await ask({}, 'POST')).status).toBe(401);
    expect(await call('PATCH', '/orgs/not-an-id/members/neither', { role: 'KING' })).toMatchObject({
      status: 422,
      body: {
        code: 'validation_error',
        detail: [
          { loc: ['path', 'org_id'], type: 'uuid_parsing' },
          { loc: ['path', 'user_id'], type: 'uuid_parsing' },
        ],
      },
    });
    expect((await call('POST', '/admins', bad, { as: await aPerson(t) })).status).toBe(403);
    expect(await call('POST', '/admins', bad)).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', 'email'] }] } });
  });
});
