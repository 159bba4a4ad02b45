import { PlatformAdminRow, Session, User } from '@aps/entities';
import { actingOperator } from '@aps/guards';
import { sql } from '@aps/platform/testing';
import { testService } from '@aps/testing';
import { IsNull } from 'typeorm';
import { AllowedEmailsService } from './allowed-emails.service';
import { PlatformAdminsService } from './platform-admins.service';
import { anApiToken, anEmail, aPerson, aUser, codeOf, login, stateOf, type TestUser } from './testing';
import { IDENTITY } from './testing/identity';
import { TestOrganizationAdapter } from './testing/test-organization-adapter';
import { UsersService } from './users.service';

// What each operation does is said over HTTP, in the specs of admin-api.
describe('what platform administrators do', () => {
  const t = testService(IDENTITY);
  let boss: TestUser;
  beforeEach(async () => {
    await t.db.execute(sql('TRUNCATE platform_admins, audit_log, allowed_emails'));
    boss = await aUser(t, { admin: true });
  });

  const by = ({ id } = boss) => actingOperator(id, { requestId: 'req-1' });
  const admins = () => t.get(PlatformAdminsService);
  const deactivate = (user: { id: string }, as = boss) => t.get(UsersService).deactivate(by(as), user.id);
  const five = <T>(work: () => Promise<T>) => Promise.all(Array.from({ length: 5 }, work));

  describe('platform administrators', () => {
    it('are added once, by however many at once', async () => {
      const user = await aUser(t);
      const codes = await five(() => codeOf(admins().add(by(), user.email)));
      expect(codes.sort()).toEqual(['already_admin', 'already_admin', 'already_admin', 'already_admin', 'ok']);
      expect(await t.audit({ action: 'platform_admin.added' })).toHaveLength(1);
    });

    it('never come to nothing, however many remove each other', async () => {
      const crew = [boss, await aUser(t), await aUser(t), await aUser(t)];
      for (let round = 0; round < 20; round++) {
        await t.db.manager.upsert(
          PlatformAdminRow,
          crew.map(({ id }) => ({ user_id: id })),
          ['user_id'],
        );
        const codes = await Promise.all(
          Array.from({ length: 50 }, (_, i) => codeOf(admins().remove(by(crew[i % 4]), crew[(i + 1 + (i >> 2)) % 4].id))),
        );
        expect(codes.filter((c) => c === 'ok')).toHaveLength(3);
        expect(await admins().list()).toHaveLength(1);
      }
      expect(await t.audit({ action: 'platform_admin.removed' })).toHaveLength(60);
    });

    it('are not made of who is shut out', async () => {
      const { id, email } = await aUser(t);
      await t.db.manager.update(User, id, { deactivated_at: new Date() });
      expect(await codeOf(admins().add(by(), email))).toBe('user_not_found');
    });

    it('do not count when they are deactivated', async () => {
      const user = await aUser(t, { admin: true });
      await t.db.manager.update(User, boss.id, { deactivated_at: new Date() });
      expect(await codeOf(admins().remove(by(), user.id))).toBe('last_admin');
    });

    it('begin with the one that the configuration names, as long as there is none', async () => {
      const first = await aUser(t);
      t.configure({ BOOTSTRAP_ADMIN_EMAIL: first.email.toUpperCase() });
      await admins().ensureBootstrapAdmin();
      expect((await admins().list()).map((a) => a.user_id)).toEqual([boss.id]);
      await t.db.execute(sql('DELETE FROM platform_admins'));
      await admins().ensureBootstrapAdmin();
      await admins().ensureBootstrapAdmin();
      expect((await admins().list()).map((a) => a.user_id)).toEqual([first.id]);
      expect(await t.audit({ action: 'platform_admin.added' })).toHaveLength(1);
      t.configure({ BOOTSTRAP_ADMIN_EMAIL: undefined });
    });
  });

  it('allowed addresses are the same once, when several add one', async () => {
    const email = anEmail();
    const codes = await five(() => codeOf(t.get(AllowedEmailsService).add(by(), email)));
    expect(codes.filter((c) => c === 'ok')).toHaveLength(1);
  });

  describe('users', () => {
    it('are shut out by a deactivation and let in again, without their sessions', async () => {
      const user = await aPerson(t);
      const orgId = await t.get(TestOrganizationAdapter).makeOrg(t.db, user.id, 'Alone');
      const token = await anApiToken(t, user);
      const states = async () => [await stateOf(t, user), await stateOf(t, token)];

      const off = await deactivate(user);
      expect(off).toMatchObject({ user: { id: user.id, deactivated_at: expect.any(Date) }, sole_owner_org_ids: [orgId], changed: true });
      expect(await states()).toEqual(['user_deactivated', 'user_deactivated']);
      expect(await deactivate(user)).toEqual({ ...off, changed: false });

      expect(await t.get(UsersService).reactivate(by(), user.id)).toMatchObject({ user: { deactivated_at: null }, changed: true });
      expect(await t.get(UsersService).reactivate(by(), user.id)).toMatchObject({ changed: false });
      expect(await states()).toEqual(['not_authenticated', 'ok']);
      expect(await t.audit({ target_id: user.id })).toMatchObject([
        { action: 'user.deactivated', metadata: { email: user.email, sole_owner_org_ids: [orgId] } },
        { action: 'user.reactivated' },
      ]);
    });

    it('do not slip in while they are being deactivated', async () => {
      for (let round = 0; round < 5; round++) {
        const user = await aUser(t);
        await Promise.all([codeOf(login(t, user)), codeOf(login(t, user)), deactivate(user)]);
        expect(await t.db.manager.countBy(Session, { user_id: user.id, revoked_at: IsNull() })).toBe(0);
      }
    });

    it('do not take the last administrator with them, when two deactivate each other', async () => {
      for (let round = 0; round < 10; round++) {
        await t.db.execute(sql('TRUNCATE platform_admins'));
        const [a, b] = [await aUser(t, { admin: true }), await aUser(t, { admin: true })];
        const codes = await Promise.all([codeOf(deactivate(b, a)), codeOf(deactivate(a, b))]);
        expect(codes.sort()).toEqual(['last_admin', 'ok']);
      }
    });
  });
});
