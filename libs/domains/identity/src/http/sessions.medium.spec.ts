import { Session } from '@aps/entities';
import { outcome, sql, type Bearer } from '@aps/platform/testing';
import { testService } from '@aps/testing';
import { MAX_SESSIONS } from '../sessions.repository';
import { anEmail, aPerson, aSession, login, PASSWORD, signup, stateOf } from '../testing';
import { IDENTITY } from '../testing/identity';

describe('sessions', () => {
  const t = testService(IDENTITY, { settings: { REGISTRATION_MODE: 'open' } });

  const list = async (as: Bearer, query = '') => (await t.call('GET', `/api/auth/sessions${query}`, { as })).body;
  const end = (as: Bearer, id: string) => t.call('DELETE', `/api/auth/sessions/${id}`, { as });

  it('are listed newest first, with where they come from, and the current one marked', async () => {
    const email = anEmail();
    const from = (agent: string) => ({ 'user-agent': agent });
    const { body } = await signup(t, email, {}, from('First/1.0'));
    const { session } = await t.make('POST', '/api/auth/login', {
      body: { email, password: PASSWORD },
      headers: from(`Second/${'x'.repeat(400)}\u00e9`),
    });
    const { items, total, next_offset } = await list(session);
    expect([total, next_offset]).toEqual([2, null]);
    expect(items[0]).toEqual({
      id: expect.any(String),
      created_at: expect.any(String),
      last_used_at: expect.any(String),
      expires_at: session.expires_at,
      user_agent: `Second/${'x'.repeat(249)}`,
      ip: '127.0.0.1',
      provider: null,
      current: true,
    });
    expect(items[1]).toMatchObject({ user_agent: 'First/1.0', current: false });
    expect((await list(session, '?limit=1&offset=1')).items).toEqual([items[1]]);
    const refreshed = await t.make('POST', '/api/auth/refresh', { as: body.session, headers: from('First/1.1') });
    expect((await list(refreshed.session)).items).toMatchObject([
      { user_agent: 'First/1.1', current: true },
      { user_agent: items[0].user_agent, current: false },
    ]);
  });

  it('are ended one by one, also the current one, and nobody else’s', async () => {
    const here = await aPerson(t);
    const [lost, stranger] = [await aSession(t, here), await aPerson(t)];
    expect(outcome(await end(stranger, lost.sessionId))).toEqual([404, 'not_found']);
    expect((await end(here, lost.sessionId)).status).toBe(204);
    expect([await stateOf(t, lost), await stateOf(t, here), (await end(here, lost.sessionId)).status]).toEqual([
      'not_authenticated',
      'ok',
      404,
    ]);
    expect((await end(here, here.sessionId)).status).toBe(204);
    expect(await stateOf(t, here)).toBe('not_authenticated');
    expect(await t.audit({ action: 'session.ended', actor_id: here.id })).toMatchObject([
      { target_id: lost.sessionId },
      { target_id: here.sessionId },
    ]);
    expect((await end(stranger, 'x')).status).toBe(422);
  });

  it('that have run out, or were not used for a week, are not listed', async () => {
    const person = await aPerson(t);
    await aSession(t, person, { expires_at: new Date() });
    await aSession(t, person, { last_used_at: new Date(Date.now() - 8 * 86_400_000) });
    expect((await list(person)).total).toBe(1);
  });

  it('are at most a thousand of one user: the next ends what was not used for longest', async () => {
    const person = await aPerson(t);
    await t.db.query(
      sql(`INSERT INTO sessions (id, user_id, token_hash, expires_at, last_used_at)
        SELECT gen_random_uuid(), $1::uuid, decode(md5($1::text || n), 'hex'), now() + interval '1 day', now() - n * interval '1 minute' FROM generate_series(1, $2::int) n`),
      [person.id, MAX_SESSIONS - 2],
    );
    const oldest = await aSession(t, person, { last_used_at: new Date(Date.now() - 2 * 86_400_000) });
    expect((await list(person, '?limit=1')).total).toBe(MAX_SESSIONS);
    const next = await login(t, person);
    expect((await list(next, '?limit=1')).total).toBe(MAX_SESSIONS);
    expect([await stateOf(t, person), (await list(person, '?limit=1')).total]).toEqual(['ok', MAX_SESSIONS]);
    expect(await t.db.manager.findOneBy(Session, { id: oldest.sessionId })).toMatchObject({ revoked_at: expect.any(Date) });
  });

  it('leave no more behind, however many there were, than from where they came', async () => {
    const person = await aPerson(t);
    // Of each place some that have ended lately, some that were left unused, and some that have ended long ago.
    const seed = sql(`INSERT INTO sessions (id, user_id, token_hash, ip, created_at, expires_at, last_used_at, revoked_at)
      SELECT gen_random_uuid(), $1::uuid, decode(md5($1::text || n), 'hex'), (ARRAY['192.0.2.1', '192.0.2.2', '2001:db8::' || to_hex(n), NULL])[n % 4 + 1]::inet,
        now() - n * interval '1 minute', now() + interval '1 day', now() - CASE n % 3 WHEN 0 THEN interval '8 days' ELSE '0' END,
        CASE n % 3 WHEN 0 THEN NULL WHEN 1 THEN now() - interval '1 hour' ELSE now() - interval '31 days' END FROM generate_series(1, 2100) n`);
    await t.db.execute(seed, [person.id]);
    const places = async () =>
      (await t.db.manager.findBy(Session, { user_id: person.id })).map(({ ip }) => ip?.replace(/::.*/, '::') ?? '').sort();
    for (const refresh of [false, true]) {
      const { session } = refresh
        ? await t.make('POST', '/api/auth/refresh', { as: await login(t, person) })
        : await t.make('POST', '/api/auth/login', { body: { email: person.email, password: PASSWORD } });
      expect([(await list(session as Bearer)).total, (await places()).filter((ip) => ip !== '127.0.0.1')]).toEqual([
        refresh ? 3 : 2,
        // The one without an address goes on, and is the newest of its place.
        ['', '192.0.2.1', '192.0.2.2', '2001:db8::'],
      ]);
    }
  });
});
