import { Session } from '@aps/entities';
import { aPerson, aUser, aWaitlistEntry, mails } from '@aps/identity/testing';
import { outcome, sql } from '@aps/platform/testing';
import { anOrg } from '@aps/orgs/testing';
import { uuidv7 } from 'uuidv7';
import { adminService } from './testing/admin-service';

describe('people, administered', () => {
  const admin = adminService();
  const { t, call } = admin;
  const nobody = uuidv7();
  const addedBy = () => ({ user_id: admin.operator.id, email: admin.operator.email });
  const self = { status: 422, body: { code: 'self_action', detail: [{ type: 'semantic.self_action' }] } };

  describe('platform administrators', () => {
    const add = (email: string, headers?: Record<string, string>) => call('POST', '/admins', { email }, { headers });

    it('are added by address, whatever its case, and listed with who added them', async () => {
      const { id, email, name } = await aUser(t);
      const added = await add(email.toUpperCase());
      const expected = { user_id: id, email, name, added_by: addedBy(), created_at: expect.any(String) };
      expect(added).toMatchObject({ status: 201, body: expected });
      const { status, body } = await call('GET', '/admins');
      expect([status, body]).toEqual([200, [expect.objectContaining({ user_id: admin.operator.id, added_by: null }), expected]]);
      expect(await t.audit({ target_id: id })).toMatchObject([
        {
          source: 'admin',
          action: 'platform_admin.added',
          org_id: null,
          actor_id: admin.operator.id,
          metadata: { email },
          request_id: 'req',
        },
      ]);
      expect(outcome(await add(email))).toEqual([409, 'already_admin']);
    });

    it('are registered users', async () => {
      expect(outcome(await add('unknown@example.com'))).toEqual([404, 'user_not_found']);
      expect((await call('POST', '/admins', {})).body.detail).toMatchObject([{ loc: ['body', 'email'], type: 'missing' }]);
    });

    it('are removed, but not by themselves, however they write their id', async () => {
      const other = await aUser(t, { admin: true });
      expect((await call('DELETE', `/admins/${other.id}`)).status).toBe(204);
      for (const id of [other.id, nobody]) expect(outcome(await call('DELETE', `/admins/${id}`))).toEqual([404, 'user_not_found']);
      for (const id of [admin.operator.id, admin.operator.id.toUpperCase()])
        expect(await call('DELETE', `/admins/${id}`)).toMatchObject(self);
      expect((await call('GET', '/admins')).body.map((a: { user_id: string }) => a.user_id)).not.toContain(other.id);
      expect(await t.audit({ target_id: other.id })).toMatchObject([
        { source: 'admin', action: 'platform_admin.removed', actor_id: admin.operator.id },
      ]);
    });

    it('are added once for an Idempotency-Key', async () => {
      const { email } = await aUser(t);
      const headers = { 'idempotency-key': 'add-once' };
      const [first, again] = [await add(email, headers), await add(email, headers)];
      expect([again.status, again.body, again.headers.get('idempotency-replayed')]).toEqual([201, first.body, 'true']);
    });
  });

  describe('allowed addresses', () => {
    const add = (email: string) => call('POST', '/allowed-emails', { email });

    it('are added, listed and removed', async () => {
      const email = 'Grace@Example.com';
      const added = await add(` ${email} `);
      const expected = { id: expect.any(String), email, added_by: addedBy(), created_at: expect.any(String) };
      expect(added).toMatchObject({ status: 201, body: expected });
      expect(await call('GET', '/allowed-emails')).toMatchObject({ status: 200, body: [expected] });
      expect(outcome(await add('grace@example.com'))).toEqual([409, 'already_allowed']);
      const remove = () => call('DELETE', `/allowed-emails/${added.body.id}`);
      expect((await remove()).status).toBe(204);
      expect(outcome(await remove())).toEqual([404, 'not_found']);
      expect((await call('GET', '/allowed-emails')).body).toEqual([]);
      const facts = { source: 'admin', actor_id: admin.operator.id, metadata: { email }, request_id: 'req' };
      expect(await t.audit({ target_id: added.body.id })).toMatchObject([
        { action: 'allowed_email.added', ...facts },
        { action: 'allowed_email.removed', ...facts },
      ]);
    });

    it('are listed piece by piece where they are many', async () => {
      await t.db.execute(
        sql(
          `INSERT INTO allowed_emails (id, email, email_canonical) SELECT gen_random_uuid(), n || '@many.example', n || '@many.example' FROM generate_series(1, 250) n`,
        ),
      );
      const { status, headers, body } = await call('GET', '/allowed-emails');
      expect([status, headers.get('content-length'), new Set(body.map(({ email }: { email: string }) => email)).size]).toEqual([
        200,
        null,
        250,
      ]);
    });

    it('are addresses', async () => expect((await add('nonsense')).status).toBe(422));
  });

  describe('users', () => {
    it('are deactivated with their sessions, and told what they alone own', async () => {
      const user = await aPerson(t);
      const { id: orgId } = await anOrg(t, { owner: user });
      const post = (verb: string) => call('POST', `/users/${user.id}/${verb}`);
      const first = await post('deactivate');
      expect(first).toMatchObject({
        status: 200,
        body: { user_id: user.id, email: user.email, active: false, deactivated_at: expect.any(String), sole_owner_org_ids: [orgId] },
      });
      expect(await t.db.manager.findBy(Session, { user_id: user.id })).toMatchObject([{ revoked_at: expect.any(Date) }]);
      expect((await post('deactivate')).body).toEqual(first.body);
      expect(await post('reactivate')).toMatchObject({ status: 200, body: { active: true, deactivated_at: null } });
      const facts = { source: 'admin', actor_id: admin.operator.id, request_id: 'req' };
      expect(await t.audit({ target_id: user.id })).toMatchObject([
        { action: 'user.deactivated', ...facts },
        { action: 'user.reactivated', ...facts },
      ]);
    });

    it('are others, and there', async () => {
      for (const id of [admin.operator.id, admin.operator.id.toUpperCase()])
        expect(await call('POST', `/users/${id}/deactivate`)).toMatchObject(self);
      for (const verb of ['deactivate', 'reactivate'])
        expect(outcome(await call('POST', `/users/${nobody}/${verb}`))).toEqual([404, 'user_not_found']);
    });
  });

  describe('the waitlist', () => {
    const act = (id: string, verb: string) => call('POST', `/waitlist/${id}/${verb}`);
    const page = async (query: string) => (await call('GET', `/waitlist${query}`)).body;
    const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000);

    it('is listed by who asked last, by status and by page', async () => {
      const [older, newer, aside] = [
        await aWaitlistEntry(t, { asked_at: minutesAgo(3) }),
        await aWaitlistEntry(t, { asked_at: minutesAgo(1), name: 'N' }),
        await aWaitlistEntry(t, { asked_at: minutesAgo(2), status: 'dismissed' }),
      ];
      expect(await page('?limit=1')).toMatchObject({ items: [{ id: newer.id }], total: 3, next_offset: 1 });
      expect(await page('?limit=1&offset=2')).toMatchObject({ items: [{ id: older.id }], total: 3, next_offset: null });
      expect((await page('')).items[0]).toEqual({
        id: newer.id,
        email: newer.email,
        name: 'N',
        note: null,
        status: 'pending',
        asked_at: expect.any(String),
        admitted_at: null,
        dismissed_at: null,
        last_mailed_at: null,
      });
      expect(await page('?status=pending')).toMatchObject({ items: [{ id: newer.id }, { id: older.id }], total: 2 });
      expect(await page('?status=dismissed')).toMatchObject({ items: [{ id: aside.id }], total: 1 });
      expect(await page('?status=admitted')).toMatchObject({ items: [], total: 0 });
      expect((await page('?status=unheard&limit=0')).detail).toMatchObject([
        { loc: ['query', 'status'], type: 'enum' },
        { loc: ['query', 'limit'] },
      ]);
    });

    it('lets people in, with one mail, and mails again on demand', async () => {
      const { id, email } = await aWaitlistEntry(t);
      expect(outcome(await act(id, 'resend'))).toEqual([409, 'never_admitted']);
      const first = await act(id, 'invite');
      expect(first).toMatchObject({
        status: 200,
        body: { status: 'admitted', admitted_at: expect.any(String), last_mailed_at: expect.any(String) },
      });
      expect(await act(id, 'invite')).toMatchObject({ status: 200, body: { status: 'admitted' } });
      expect(await mails(t, email)).toHaveLength(1);
      const again = await act(id, 'resend');
      expect(again).toMatchObject({ status: 200, body: { status: 'admitted', admitted_at: first.body.admitted_at } });
      expect(Date.parse(again.body.last_mailed_at)).toBeGreaterThan(Date.parse(first.body.last_mailed_at));
      expect(await mails(t, email)).toHaveLength(2);
      expect(await t.audit({ target_id: id })).toMatchObject([{ action: 'waitlist.invited' }, { action: 'waitlist.resent' }]);
    });

    it('puts requests aside, once, and may still let them in', async () => {
      const { id, email } = await aWaitlistEntry(t);
      expect(await act(id, 'dismiss')).toMatchObject({ status: 200, body: { status: 'dismissed', dismissed_at: expect.any(String) } });
      expect(outcome(await act(id, 'dismiss'))).toEqual([409, 'not_pending']);
      expect(await act(id, 'invite')).toMatchObject({ status: 200, body: { status: 'admitted', dismissed_at: null } });
      expect(await mails(t, email)).toHaveLength(1);
      expect(outcome(await act(id, 'dismiss'))).toEqual([409, 'not_pending']);
      expect(await t.audit({ target_id: id })).toMatchObject([{ action: 'waitlist.dismissed' }, { action: 'waitlist.invited' }]);
    });

    it.each(['dismiss', 'invite', 'resend'])('knows whom it lists: %s', async (verb) => {
      expect(outcome(await act(nobody, verb))).toEqual([404, 'not_found']);
    });
  });
});
