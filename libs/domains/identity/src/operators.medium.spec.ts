import { actingOperator } from '@aps/guards';
import { sql } from '@aps/platform/testing';
import { randomUUID } from 'node:crypto';
import { AllowedEmailsService } from './allowed-emails.service';
import { PlatformAdminsService } from './platform-admins.service';
import { anEmail, identityTestApp, type IdentityTestApp } from './testing/identity-test-app';
import { UsersService, type UserRow } from './users.service';

const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'ok',
    (error: { code: string }) => error.code,
  );

describe('what platform administrators do', () => {
  let t: IdentityTestApp;
  let admins: PlatformAdminsService;
  let allowed: AllowedEmailsService;
  let users: UsersService;
  let boss: UserRow;
  const actor = () => actingOperator(boss.id, { requestId: 'req-1' });

  beforeAll(async () => {
    t = await identityTestApp();
    admins = t.app.get(PlatformAdminsService, { strict: false });
    allowed = t.app.get(AllowedEmailsService, { strict: false });
    users = t.app.get(UsersService, { strict: false });
  });
  afterAll(() => t.close());
  beforeEach(async () => {
    await t.db.execute(sql('TRUNCATE platform_admins, audit_log, allowed_emails'));
    boss = await t.user();
    await makeAdmin(boss);
  });

  const makeAdmin = (user: UserRow) => t.db.execute(sql('INSERT INTO platform_admins (user_id) VALUES ($1)'), [user.id]);

  describe('platform administrators', () => {
    it('are added by address, in any case', async () => {
      const user = await t.user();
      const added = await admins.add(actor(), user.email.toUpperCase());
      expect(added).toEqual({
        user_id: user.id,
        email: user.email,
        name: user.name,
        added_by: { user_id: boss.id, email: boss.email },
        created_at: expect.any(Date),
      });
      expect(await admins.list()).toEqual([expect.objectContaining({ user_id: boss.id, added_by: null }), added]);
      expect(await t.audit('platform_admin.added')).toEqual([
        { actor_id: boss.id, source: 'admin', target_id: user.id, metadata: { email: user.email }, request_id: 'req-1' },
      ]);
    });

    it('must be registered, and are added once', async () => {
      const user = await t.user();
      expect(await codeOf(admins.add(actor(), anEmail()))).toBe('user_not_found');
      const codes = await Promise.all(Array.from({ length: 5 }, () => codeOf(admins.add(actor(), user.email))));
      expect(codes.sort()).toEqual(['already_admin', 'already_admin', 'already_admin', 'already_admin', 'ok']);
      expect(await t.audit('platform_admin.added')).toHaveLength(1);
    });

    it('are removed by another one', async () => {
      const user = await t.user();
      await makeAdmin(user);
      expect(await codeOf(admins.remove(actor(), boss.id))).toBe('self_action');
      await admins.remove(actor(), user.id);
      expect((await admins.list()).map((a) => a.user_id)).toEqual([boss.id]);
      expect(await codeOf(admins.remove(actor(), user.id))).toBe('user_not_found');
      expect(await codeOf(admins.remove(actor(), randomUUID()))).toBe('user_not_found');
      expect(await t.audit('platform_admin.removed')).toEqual([
        expect.objectContaining({ actor_id: boss.id, target_id: user.id, source: 'admin' }),
      ]);
    });

    it('never come to nothing, however many remove each other', async () => {
      const crew = [boss, await t.user(), await t.user(), await t.user()];
      for (let round = 0; round < 20; round++) {
        for (const member of crew)
          await t.db.execute(sql('INSERT INTO platform_admins (user_id) VALUES ($1) ON CONFLICT DO NOTHING'), [member.id]);
        const codes = await Promise.all(
          Array.from({ length: 50 }, (_, i) => codeOf(admins.remove(actingOperator(crew[i % 4].id, {}), crew[(i + 1 + (i >> 2)) % 4].id))),
        );
        expect(codes.filter((c) => c === 'ok')).toHaveLength(3);
        expect(await admins.list()).toHaveLength(1);
      }
      expect(await t.audit('platform_admin.removed')).toHaveLength(60);
    });

    it('do not count when they are deactivated', async () => {
      const user = await t.user();
      await makeAdmin(user);
      await t.db.execute(sql('UPDATE users SET deactivated_at = now() WHERE id = $1'), [boss.id]);
      expect(await codeOf(admins.remove(actor(), user.id))).toBe('last_admin');
    });

    it('begin with the one that the configuration names, as long as there is none', async () => {
      const first = await t.user();
      t.configure({ BOOTSTRAP_ADMIN_EMAIL: first.email.toUpperCase() });
      await admins.ensureBootstrapAdmin();
      expect((await admins.list()).map((a) => a.user_id)).toEqual([boss.id]);
      await t.db.execute(sql('DELETE FROM platform_admins'));
      await admins.ensureBootstrapAdmin();
      await admins.ensureBootstrapAdmin();
      expect((await admins.list()).map((a) => a.user_id)).toEqual([first.id]);
      expect(await t.audit('platform_admin.added')).toHaveLength(1);
      t.configure({ BOOTSTRAP_ADMIN_EMAIL: '' });
    });
  });

  describe('allowed emails', () => {
    it('are added once, whatever the case, and removed', async () => {
      const email = anEmail();
      const added = await allowed.add(actor(), email);
      expect(added).toEqual({
        id: expect.any(String),
        email,
        added_by: { user_id: boss.id, email: boss.email },
        created_at: expect.any(Date),
      });
      expect(await codeOf(allowed.add(actor(), email.toUpperCase()))).toBe('already_allowed');
      expect(await allowed.list()).toEqual([added]);
      await allowed.remove(actor(), added.id);
      expect(await codeOf(allowed.remove(actor(), added.id))).toBe('not_found');
      expect(await allowed.list()).toEqual([]);
      for (const action of ['allowed_email.added', 'allowed_email.removed']) {
        expect(await t.audit(action)).toEqual([
          { actor_id: boss.id, source: 'admin', target_id: added.id, metadata: { email }, request_id: 'req-1' },
        ]);
      }
    });

    it('are the same address once, when several add it', async () => {
      const email = anEmail();
      const codes = await Promise.all(Array.from({ length: 5 }, () => codeOf(allowed.add(actor(), email))));
      expect(codes.filter((c) => c === 'ok')).toHaveLength(1);
    });
  });

  describe('users', () => {
    it('are shut out by a deactivation and let in again, without their sessions', async () => {
      const user = await t.user();
      const orgId = await t.orgs.makeOrg(t.db, user.id, 'Alone');
      const session = await t.login(user.email);
      const { token } = (await t.call('POST', '/api/tokens', { token: session, body: { name: 'x' } })).body as { token: string };

      const off = await users.deactivate(actor(), user.id);
      expect(off).toMatchObject({ user: { id: user.id, deactivated_at: expect.any(Date) }, sole_owner_org_ids: [orgId], changed: true });
      expect(off.user).not.toHaveProperty('password_hash');
      expect(await t.bearer(session)).toBe('user_deactivated');
      expect(await t.bearer(token)).toBe('user_deactivated');

      const again = await users.deactivate(actor(), user.id);
      expect(again).toMatchObject({ user: { deactivated_at: off.user.deactivated_at }, sole_owner_org_ids: [orgId], changed: false });
      expect(again.user).not.toHaveProperty('password_hash');

      expect(await users.reactivate(actor(), user.id)).toMatchObject({ user: { deactivated_at: null }, changed: true });
      expect(await users.reactivate(actor(), user.id)).toMatchObject({ changed: false });
      expect(await t.bearer(session)).toBe('not_authenticated');
      expect(await t.bearer(token)).toBe('ok');

      expect(await t.audit('user.deactivated')).toEqual([
        {
          actor_id: boss.id,
          source: 'admin',
          target_id: user.id,
          metadata: { email: user.email, sole_owner_org_ids: [orgId] },
          request_id: 'req-1',
        },
      ]);
      expect(await t.audit('user.reactivated')).toHaveLength(1);
    });

    it('answer a bearer in use with 401 as soon as the guard looks again', async () => {
      const user = await t.user();
      const session = await t.login(user.email);
      const { token } = (await t.call('POST', '/api/tokens', { token: session, body: { name: 'x' } })).body as { token: string };
      await users.deactivate(actor(), user.id);
      const answer = await t.call('GET', '/api/auth/me', { token });
      expect([answer.status, answer.body]).toEqual([
        401,
        { detail: expect.any(String), code: 'user_deactivated', request_id: expect.any(String) },
      ]);
    });

    it('do not slip in while they are being deactivated', async () => {
      for (let round = 0; round < 5; round++) {
        const user = await t.user();
        await Promise.all([codeOf(t.login(user.email)), codeOf(t.login(user.email)), users.deactivate(actor(), user.id)]);
        expect(await t.db.query(sql('SELECT 1 FROM sessions WHERE user_id = $1 AND revoked_at IS NULL'), [user.id])).toEqual([]);
      }
    });

    it('are not deactivated by themselves, nor when unknown', async () => {
      expect(await codeOf(users.deactivate(actor(), boss.id))).toBe('self_action');
      expect(await codeOf(users.deactivate(actor(), randomUUID()))).toBe('user_not_found');
      expect(await codeOf(users.reactivate(actor(), randomUUID()))).toBe('user_not_found');
    });

    it('do not take the last administrator with them, when two deactivate each other', async () => {
      for (let round = 0; round < 10; round++) {
        const [a, b] = [await t.user(), await t.user()];
        await t.db.execute(sql('TRUNCATE platform_admins'));
        for (const user of [a, b]) await makeAdmin(user);
        const codes = await Promise.all([
          codeOf(users.deactivate(actingOperator(a.id, {}), b.id)),
          codeOf(users.deactivate(actingOperator(b.id, {}), a.id)),
        ]);
        expect(codes.sort()).toEqual(['last_admin', 'ok']);
      }
    });

    it('are found by address', async () => {
      const user = await t.user();
      expect(await users.findByEmail(t.db, user.email.toUpperCase())).toEqual(user);
      expect(await users.findByEmail(t.db, anEmail())).toBeNull();
    });
  });
});
