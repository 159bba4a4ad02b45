import { uuidv7 } from 'uuidv7';
import { sql } from '@aps/platform/testing';
import { World } from './testing/world';

describe('people, administered', () => {
  let world: World;
  const nobody = uuidv7();

  beforeAll(async () => {
    world = await World.create();
  });
  afterAll(() => world?.destroy());

  describe('platform administrators', () => {
    it('are added by address, whatever its case, and listed with who added them', async () => {
      const user = await world.person();
      const added = await world.call('POST', '/admins', { email: user.email.toUpperCase() });
      const expected = {
        user_id: user.id,
        email: user.email,
        name: user.name,
        added_by: { user_id: world.operator.id, email: world.operator.email },
        created_at: expect.any(String),
      };
      expect(added).toMatchObject({ status: 201, body: expected });
      const list = await world.call('GET', '/admins');
      expect(list.status).toBe(200);
      expect(list.body).toEqual([expect.objectContaining({ user_id: world.operator.id, added_by: null }), expected]);
      expect(await world.audited(user.id)).toEqual([
        { source: 'admin', action: 'platform_admin.added', org_id: null, actor_id: world.operator.id },
      ]);
      expect(await world.call('POST', '/admins', { email: user.email })).toMatchObject({ status: 409, body: { code: 'already_admin' } });
    });

    it('are registered users', async () => {
      expect(await world.call('POST', '/admins', { email: 'unknown@example.com' })).toMatchObject({
        status: 404,
        body: { code: 'user_not_found' },
      });
      expect(await world.call('POST', '/admins', {})).toMatchObject({
        status: 422,
        body: { detail: [{ loc: ['body', 'email'], type: 'missing' }] },
      });
    });

    it('are removed, but not by themselves, however they write their id', async () => {
      const other = await world.person({ admin: true });
      expect((await world.call('DELETE', `/admins/${other.id}`)).status).toBe(204);
      expect(await world.call('DELETE', `/admins/${other.id}`)).toMatchObject({ status: 404 });
      for (const id of [world.operator.id, world.operator.id.toUpperCase()]) {
        expect(await world.call('DELETE', `/admins/${id}`)).toMatchObject({
          status: 422,
          body: { code: 'self_action', detail: [{ type: 'semantic.self_action' }] },
        });
      }
      expect(await world.call('DELETE', `/admins/${nobody}`)).toMatchObject({ status: 404 });
    });

    it('are added once for an Idempotency-Key', async () => {
      const user = await world.person();
      const headers = { 'idempotency-key': 'add-once' };
      const first = await world.call('POST', '/admins', { email: user.email }, { headers });
      const again = await world.call('POST', '/admins', { email: user.email }, { headers });
      expect([again.status, again.body, again.headers.get('idempotency-replayed')]).toEqual([201, first.body, 'true']);
    });
  });

  describe('allowed addresses', () => {
    it('are added, listed and removed', async () => {
      const added = await world.call('POST', '/allowed-emails', { email: ' Grace@Example.com ' });
      const expected = {
        id: expect.any(String),
        email: 'Grace@Example.com',
        added_by: { user_id: world.operator.id, email: world.operator.email },
        created_at: expect.any(String),
      };
      expect(added).toMatchObject({ status: 201, body: expected });
      expect(await world.call('GET', '/allowed-emails')).toMatchObject({ status: 200, body: [expected] });
      expect(await world.call('POST', '/allowed-emails', { email: 'grace@example.com' })).toMatchObject({
        status: 409,
        body: { code: 'already_allowed' },
      });
      expect((await world.call('DELETE', `/allowed-emails/${added.body.id}`)).status).toBe(204);
      expect(await world.call('DELETE', `/allowed-emails/${added.body.id}`)).toMatchObject({ status: 404, body: { code: 'not_found' } });
      expect((await world.audited(added.body.id as string)).map((row) => row.action)).toEqual([
        'allowed_email.added',
        'allowed_email.removed',
      ]);
    });

    it('are addresses', async () => {
      expect(await world.call('POST', '/allowed-emails', { email: 'nonsense' })).toMatchObject({ status: 422 });
    });
  });

  describe('users', () => {
    it('are deactivated with their sessions, and told what they alone own', async () => {
      const user = await world.person();
      const { id: orgId } = await world.organization(user, 'Lonely');
      await world.db.execute(
        sql(`INSERT INTO sessions (id, user_id, token_hash, expires_at) VALUES ($1, $2, '\\x00', now() + interval '1 day')`),
        [uuidv7(), user.id],
      );
      const first = await world.call('POST', `/users/${user.id}/deactivate`);
      expect(first).toMatchObject({
        status: 200,
        body: { user_id: user.id, email: user.email, active: false, deactivated_at: expect.any(String), sole_owner_org_ids: [orgId] },
      });
      const [{ live }] = await world.db.query(
        sql<{ live: number }>('SELECT count(*)::int AS live FROM sessions WHERE user_id = $1 AND revoked_at IS NULL'),
        [user.id],
      );
      expect(live).toBe(0);
      expect((await world.call('POST', `/users/${user.id}/deactivate`)).body).toEqual(first.body);
      expect(await world.call('POST', `/users/${user.id}/reactivate`)).toMatchObject({
        status: 200,
        body: { active: true, deactivated_at: null },
      });
      expect((await world.audited(user.id)).map((row) => row.action)).toEqual(['user.deactivated', 'user.reactivated']);
    });

    it('are others, and there', async () => {
      for (const id of [world.operator.id, world.operator.id.toUpperCase()]) {
        expect(await world.call('POST', `/users/${id}/deactivate`)).toMatchObject({ status: 422, body: { code: 'self_action' } });
      }
      expect(await world.call('POST', `/users/${nobody}/deactivate`)).toMatchObject({ status: 404 });
      expect(await world.call('POST', `/users/${nobody}/reactivate`)).toMatchObject({ status: 404 });
    });
  });

  describe('the waitlist', () => {
    const ask = async (email: string, minutesAgo: number) => {
      const id = uuidv7();
      await world.db.execute(
        sql(
          `INSERT INTO waitlist_entries (id, email, email_canonical, name, note, asked_at) VALUES ($1, $2, $2, 'N', NULL, now() - make_interval(mins => $3))`,
        ),
        [id, email, minutesAgo],
      );
      return id;
    };
    const mails = async (to: string) => (await world.db.query(sql('SELECT 1 FROM outbound_mails WHERE recipient = $1'), [to])).length;

    it('is listed by who asked last, by status and by page', async () => {
      const [older, newer] = [await ask('older@example.com', 2), await ask('newer@example.com', 1)];
      expect(await world.call('GET', '/waitlist?limit=1')).toMatchObject({
        status: 200,
        body: { items: [{ id: newer }], total: 2, next_offset: 1 },
      });
      expect(await world.call('GET', '/waitlist?limit=1&offset=1')).toMatchObject({
        body: { items: [{ id: older }], total: 2, next_offset: null },
      });
      expect((await world.call('GET', '/waitlist')).body.items[0]).toEqual({
        id: newer,
        email: 'newer@example.com',
        name: 'N',
        note: null,
        status: 'pending',
        asked_at: expect.any(String),
        admitted_at: null,
        dismissed_at: null,
        last_mailed_at: null,
      });
      expect(await world.call('GET', '/waitlist?status=admitted')).toMatchObject({ body: { items: [], total: 0 } });
      expect(await world.call('GET', '/waitlist?status=unheard&limit=0')).toMatchObject({
        status: 422,
        body: {
          detail: expect.arrayContaining([
            expect.objectContaining({ loc: ['query', 'status'], type: 'enum' }),
            expect.objectContaining({ loc: ['query', 'limit'] }),
          ]),
        },
      });
    });

    it('lets people in, with one mail, and mails again on demand', async () => {
      const id = await ask('in@example.com', 0);
      expect(await world.call('POST', `/waitlist/${id}/resend`)).toMatchObject({ status: 409, body: { code: 'never_admitted' } });
      expect(await world.call('POST', `/waitlist/${id}/invite`)).toMatchObject({
        status: 200,
        body: { status: 'admitted', admitted_at: expect.any(String), last_mailed_at: expect.any(String) },
      });
      expect(await world.call('POST', `/waitlist/${id}/invite`)).toMatchObject({ status: 200, body: { status: 'admitted' } });
      expect(await mails('in@example.com')).toBe(1);
      expect(await world.call('POST', `/waitlist/${id}/resend`)).toMatchObject({ status: 200, body: { status: 'admitted' } });
      expect(await mails('in@example.com')).toBe(2);
      expect((await world.audited(id)).map((row) => row.action)).toEqual(['waitlist.invited', 'waitlist.resent']);
    });

    it('puts requests aside, once, and may still let them in', async () => {
      const id = await ask('aside@example.com', 0);
      expect(await world.call('POST', `/waitlist/${id}/dismiss`)).toMatchObject({
        status: 200,
        body: { status: 'dismissed', dismissed_at: expect.any(String) },
      });
      expect(await world.call('POST', `/waitlist/${id}/dismiss`)).toMatchObject({ status: 409, body: { code: 'not_pending' } });
      expect(await world.call('POST', `/waitlist/${id}/invite`)).toMatchObject({
        status: 200,
        body: { status: 'admitted', dismissed_at: null },
      });
    });

    it('knows whom it lists', async () => {
      for (const verb of ['dismiss', 'invite', 'resend'])
        expect(await world.call('POST', `/waitlist/${nobody}/${verb}`)).toMatchObject({ status: 404, body: { code: 'not_found' } });
    });
  });
});
