import { sql } from '@aps/platform/testing';
import { anEmail, identityTestApp, PASSWORD, type IdentityTestApp } from '../testing/identity-test-app';

const NEW_PASSWORD = 'staple battery horse';

describe('sessions', () => {
  let t: IdentityTestApp;
  beforeAll(async () => {
    t = await identityTestApp();
  });
  afterAll(() => t.close());

  const list = async (token: string, query = '') => (await t.call('GET', `/api/auth/sessions${query}`, { token })).body;
  const end = (token: string, id: string) => t.call('DELETE', `/api/auth/sessions/${id}`, { token });
  const makeToken = async (token: string) =>
    (await t.call('POST', '/api/tokens', { token, body: { name: 'program' } })).body.token as string;

  it('are listed newest first, with where they come from, and the current one marked', async () => {
    const email = anEmail();
    const { body } = await t.call('POST', '/api/auth/signup', {
      body: { email, password: PASSWORD },
      headers: { 'user-agent': 'First/1.0' },
    });
    const signIn = await t.call('POST', '/api/auth/login', {
      body: { email, password: PASSWORD },
      headers: { 'user-agent': `Second/${'x'.repeat(400)}\u00e9` },
    });
    const { items, total, next_offset } = await list(signIn.body.session.token);
    expect([total, next_offset]).toEqual([2, null]);
    expect(items[0]).toEqual({
      id: expect.any(String),
      created_at: expect.any(String),
      last_used_at: expect.any(String),
      expires_at: signIn.body.session.expires_at,
      user_agent: `Second/${'x'.repeat(249)}`,
      ip: '127.0.0.1',
      current: true,
    });
    expect([items[1].user_agent, items[1].current]).toEqual(['First/1.0', false]);
    expect((await list(signIn.body.session.token, '?limit=1&offset=1')).items).toEqual([items[1]]);
    const refreshed = await t.call('POST', '/api/auth/refresh', { token: body.session.token, headers: { 'user-agent': 'First/1.1' } });
    expect(
      (await list(refreshed.body.session.token)).items.map((s: { user_agent: string; current: boolean }) => [
        s.user_agent.slice(0, 9),
        s.current,
      ]),
    ).toEqual([
      ['First/1.1', true],
      ['Second/xx', false],
    ]);
  });

  it('are ended one by one, also the current one, and nobody else’s', async () => {
    const { email, id: userId } = await t.user();
    const [lost, here] = [await t.login(email), await t.login(email)];
    const stranger = await t.login((await t.user()).email);
    const [current, other] = (await list(here)).items as { id: string }[];
    const foreign = await end(stranger, other.id);
    expect([foreign.status, foreign.body.code]).toEqual([404, 'not_found']);
    expect((await end(here, other.id)).status).toBe(204);
    expect([await t.bearer(lost), await t.bearer(here), (await end(here, other.id)).status]).toEqual(['not_authenticated', 'ok', 404]);
    expect((await end(here, current.id)).status).toBe(204);
    expect(await t.bearer(here)).toBe('not_authenticated');
    expect((await t.audit('session.ended')).filter((row) => row.actor_id === userId).map((row) => row.target_id)).toEqual([
      other.id,
      current.id,
    ]);
    expect((await end(stranger, 'x')).status).toBe(422);
  });

  it('that have run out, or were not used for a week, are not listed', async () => {
    const { email, id } = await t.user();
    await Promise.all([t.login(email), t.login(email)]);
    const [first, second] = await t.db.query(sql<{ id: string }>('SELECT id FROM sessions WHERE user_id = $1'), [id]);
    await t.db.execute(sql(`UPDATE sessions SET expires_at = now() WHERE id = $1`), [first.id]);
    await t.db.execute(sql(`UPDATE sessions SET last_used_at = now() - interval '8 days' WHERE id = $1`), [second.id]);
    expect((await list(await t.login(email))).total).toBe(1);
  });

  it('are no matter of API tokens', async () => {
    const session = await t.login((await t.user()).email);
    const token = await makeToken(session);
    const [{ id }] = (await list(session)).items;
    for (const answer of [await t.call('GET', '/api/auth/sessions', { token }), await end(token, id)])
      expect([answer.status, answer.body.code]).toEqual([403, 'insufficient_scope']);
  });

  describe('a new password', () => {
    const told = async (email: string) => (await t.mails(email)).at(-1)?.text;

    it('leaves API tokens alone and says how many there are', async () => {
      const { email } = await t.user();
      const session = await t.login(email);
      const [first] = [await makeToken(session), await makeToken(session)];
      expect(
        (
          await t.call('POST', '/api/auth/password/change', {
            token: session,
            body: { current_password: PASSWORD, new_password: NEW_PASSWORD },
          })
        ).status,
      ).toBe(204);
      expect([await t.bearer(first), await t.bearer(session)]).toEqual(['ok', 'ok']);
      expect(await told(email)).toContain('2 API tokens are still valid');
    });

    it('ends them where that is asked for, by change and by reset', async () => {
      const { email, id } = await t.user();
      const session = await t.login(email);
      const first = await makeToken(session);
      await t.call('POST', '/api/auth/password/change', {
        token: session,
        body: { current_password: PASSWORD, new_password: NEW_PASSWORD, revoke_tokens: true },
      });
      expect([await t.bearer(first), await t.bearer(session)]).toEqual(['not_authenticated', 'ok']);
      expect(await told(email)).toContain('One API token is revoked. No API token of yours is valid.');
      const second = await makeToken(session);
      await t.call('POST', '/api/auth/password/forgot', { body: { email } });
      const link = /reset-password\/(\S+)/.exec((await told(email)) ?? '')?.[1];
      expect(
        (await t.call('POST', '/api/auth/password/reset', { body: { token: link, password: PASSWORD, revoke_tokens: true } })).status,
      ).toBe(204);
      expect([await t.bearer(second), await t.bearer(session)]).toEqual(['not_authenticated', 'not_authenticated']);
      expect(await t.audit('user.password_reset')).toEqual([expect.objectContaining({ actor_id: id, metadata: { revoked_tokens: 1 } })]);
    });

    it('leaves no way in to who signed up with the address of somebody else', async () => {
      t.configure({ REGISTRATION_MODE: 'open', EMAIL_PROOF: 'required' });
      const email = anEmail();
      const { body } = await t.call('POST', '/api/auth/signup', { body: { email, password: PASSWORD } });
      const token = await makeToken(body.session.token);
      await t.call('POST', '/api/auth/password/forgot', { body: { email } });
      const link = /reset-password\/(\S+)/.exec((await told(email)) ?? '')?.[1];
      expect((await t.call('POST', '/api/auth/password/reset', { body: { token: link, password: NEW_PASSWORD } })).status).toBe(204);
      expect(await t.bearer(token)).toBe('not_authenticated');
      expect(await told(email)).toContain('One API token is revoked.');
    });

    it('is outrun by no token that is made at the same moment', async () => {
      const { email, id } = await t.user();
      const session = await t.login(email);
      const body = { current_password: PASSWORD, new_password: NEW_PASSWORD, revoke_tokens: true };
      const other = await t.login(email);
      const [change, ...made] = await Promise.all([
        t.call('POST', '/api/auth/password/change', { token: session, body }),
        ...Array.from({ length: 8 }, () => t.call('POST', '/api/tokens', { token: other, body: { name: 'fast' } })),
      ]);
      expect(change.status).toBe(204);
      // What was made before is revoked, and what comes after is refused: the other session has ended.
      expect(made.every((m) => m.status === 201 || m.status === 401)).toBe(true);
      expect(await t.db.query(sql('SELECT 1 FROM api_tokens WHERE user_id = $1 AND revoked_at IS NULL'), [id])).toEqual([]);
    });
  });
});
