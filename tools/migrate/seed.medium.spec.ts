import { aUser } from '@aps/identity/testing';
import { PlatformAdminRow } from '@aps/entities';
import { BASE_MODULES, testService } from '@aps/testing';
import { seedBase } from './seed';

describe('what every installation needs', () => {
  const t = testService(BASE_MODULES);

  it('has an operator when the setting names who has proven the address before, and never a second one by it', async () => {
    const admins = async () => (await t.db.manager.find(PlatformAdminRow)).map((row) => row.user_id);
    const [first, second] = [await aUser(t), await aUser(t)];
    await seedBase(t.db);
    expect(await admins()).toEqual([]);
    for (const { email } of [first, first, second]) {
      t.configure({ BOOTSTRAP_ADMIN_EMAIL: email });
      await seedBase(t.db);
      expect(await admins()).toEqual([first.id]);
    }
    expect(await t.audit({ action: 'platform_admin.added' })).toHaveLength(1);
  });
});
