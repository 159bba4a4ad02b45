import { ApiToken, MailedLink, User } from '@aps/entities';
import { hashToken } from '@aps/platform/crypto';
import { sql, type Bearer } from '@aps/platform/testing';
import { testService } from '@aps/testing';
import { IsNull } from 'typeorm';
import { anApiToken, anEmail, aPerson, aSession, aUser, login, mailedLinks, mails, PASSWORD, signup, stateOf } from '../testing';
import { IDENTITY } from '../testing/identity';

const NEW_PASSWORD = 'staple battery horse';

describe('passwords', () => {
  const t = testService(IDENTITY, { settings: { REGISTRATION_MODE: 'open' } });

  const forgot = (email: string) => t.call('POST', '/api/auth/password/forgot', { body: { email } });
  const reset = (token: string, password = NEW_PASSWORD, more = {}) =>
    t.call('POST', '/api/auth/password/reset', { body: { token, password, ...more } });
  const change = (as: Bearer, current_password: string, new_password = NEW_PASSWORD, more = {}) =>
    t.call('POST', '/api/auth/password/change', { as, body: { current_password, new_password, ...more } });
  const told = async (email: string) => (await mails(t, email)).at(-1);
  const tryLogin = async (email: string, password: string) =>
    (await t.call('POST', '/api/auth/login', { body: { email, password } })).status;
  /** The secret of the newest link of somebody who has just forgotten the password. */
  const linkOf = async ({ email }: { email: string }) => {
    await forgot(email);
    return (await mailedLinks(t, email, 'reset-password')).at(-1)!;
  };

  describe('forgot', () => {
    it('answers a known, an unknown and a deactivated address the same way, and mails the known one', async () => {
      const [known, gone, unknown] = [await aUser(t), await aUser(t), anEmail()];
      await t.db.manager.update(User, gone.id, { deactivated_at: new Date() });
      for (const email of [known.email.toUpperCase(), gone.email, unknown])
        expect(await forgot(email)).toMatchObject({ status: 202, body: { status: 'received' } });
      expect((await mails(t, known.email)).map((m) => m.subject)).toEqual(['Choose a new password']);
      const [token] = await mailedLinks(t, known.email, 'reset-password');
      expect(await t.db.manager.findBy(MailedLink, { token_hash: hashToken(token) })).toMatchObject([{ user_id: known.id }]);
      expect([await mails(t, gone.email), await mails(t, unknown)]).toEqual([[], []]);
    });

    it('does not flood a mailbox, not even when asked all at once', async () => {
      const { email } = await aUser(t);
      const answers = await Promise.all(Array.from({ length: 12 }, () => forgot(email)));
      expect(answers.every((a) => a.status === 202)).toBe(true);
      expect(await mails(t, email)).toHaveLength(5);
    });
  });

  describe('reset', () => {
    it('sets the password once, ends all sessions, voids other links and tells the user', async () => {
      const person = await aPerson(t);
      const { email, id } = person;
      const [first, second] = [await linkOf(person), await linkOf(person)];
      expect((await reset(first)).status).toBe(204);
      expect([await tryLogin(email, PASSWORD), await tryLogin(email, NEW_PASSWORD)]).toEqual([401, 200]);
      expect(await stateOf(t, person)).toBe('not_authenticated');
      for (const used of [first, second])
        expect(await reset(used, 'one more password')).toMatchObject({
          status: 422,
          body: { code: 'reset_token_invalid', detail: [{ loc: ['body', 'token'], type: 'semantic.reset_token_invalid' }] },
        });
      expect(await tryLogin(email, NEW_PASSWORD)).toBe(200);
      expect((await told(email))?.subject).toBe('Your password was changed');
      expect(await t.audit({ action: 'user.password_reset' })).toMatchObject([{ actor_id: id, target_id: id, source: 'business' }]);
    });

    it('lets one of several that race win', async () => {
      const user = await aUser(t);
      const token = await linkOf(user);
      const answers = await Promise.all(Array.from({ length: 5 }, (_, i) => reset(token, `password number ${i}`)));
      expect(answers.map((a) => a.status).sort()).toEqual([204, 422, 422, 422, 422]);
      expect(await tryLogin(user.email, `password number ${answers.findIndex((a) => a.status === 204)}`)).toBe(200);
    });

    it('refuses a link that is too old, and one of a user who was deactivated since', async () => {
      const [late, gone] = [await aUser(t), await aUser(t)];
      const [lateToken, goneToken] = [await linkOf(late), await linkOf(gone)];
      const lasts = sql(`SELECT expires_at - created_at = interval '60 minutes' AS hour FROM mailed_links WHERE user_id = $1`);
      expect(await t.db.query(lasts, [late.id])).toEqual([{ hour: true }]);
      await t.db.manager.update(MailedLink, { user_id: late.id }, { expires_at: new Date(Date.now() - 1_000) });
      await t.db.manager.update(User, gone.id, { deactivated_at: new Date() });
      for (const token of [lateToken, goneToken, 'never-issued']) expect((await reset(token)).body.code).toBe('reset_token_invalid');
      await t.db.manager.update(User, gone.id, { deactivated_at: null });
      expect(await tryLogin(gone.email, PASSWORD)).toBe(200);
    });

    it('refuses a short password without using the link up', async () => {
      const token = await linkOf(await aUser(t));
      expect((await reset(token, 'elevenchars')).body).toMatchObject({ code: 'validation_error', detail: [{ type: 'string_too_short' }] });
      expect((await reset(token)).status).toBe(204);
    });
  });

  describe('change', () => {
    it('replaces the password and ends all other sessions', async () => {
      const mine = await aPerson(t);
      const [other, link] = [await aSession(t, mine), await linkOf(mine)];
      expect((await change(mine, PASSWORD)).status).toBe(204);
      expect([await stateOf(t, mine), await stateOf(t, other)]).toEqual(['ok', 'not_authenticated']);
      expect([await tryLogin(mine.email, PASSWORD), await tryLogin(mine.email, NEW_PASSWORD)]).toEqual([401, 200]);
      expect((await reset(link, 'by an older link')).body.code).toBe('reset_token_invalid');
      expect((await told(mine.email))?.subject).toBe('Your password was changed');
      expect(await t.audit({ action: 'user.password_changed' })).toMatchObject([{ actor_id: mine.id }]);
    });

    it('wants the present one', async () => {
      const person = await aPerson(t);
      expect(await change(person, 'not my password')).toMatchObject({
        status: 422,
        body: { code: 'password_incorrect', detail: [{ loc: ['body', 'current_password'] }] },
      });
      expect(await tryLogin(person.email, PASSWORD)).toBe(200);
    });

    it('lets one of two that race win', async () => {
      const person = await aPerson(t);
      const wishes = ['first new password', 'second new password'];
      const answers = await Promise.all(wishes.map((wish) => change(person, PASSWORD, wish)));
      expect(answers.map((a) => a.status).sort()).toEqual([204, 422]);
      expect(await tryLogin(person.email, wishes[answers.findIndex((a) => a.status === 204)])).toBe(200);
    });
  });

  describe('beside API tokens', () => {
    const alsoTokens = { revoke_tokens: true };

    it('leaves them alone and says how many there are', async () => {
      const person = await aPerson(t);
      const [first] = [await anApiToken(t, person), await anApiToken(t, person)];
      expect((await change(person, PASSWORD)).status).toBe(204);
      expect([await stateOf(t, first), await stateOf(t, person)]).toEqual(['ok', 'ok']);
      expect((await told(person.email))?.text).toContain('2 API tokens are still valid');
    });

    it('ends them where that is asked for, by change and by reset', async () => {
      const person = await aPerson(t);
      const first = await anApiToken(t, person);
      await change(person, PASSWORD, NEW_PASSWORD, alsoTokens);
      expect([await stateOf(t, first), await stateOf(t, person)]).toEqual(['not_authenticated', 'ok']);
      expect((await told(person.email))?.text).toContain('One API token is revoked. No API token of yours is valid.');
      const second = await anApiToken(t, person);
      expect((await reset(await linkOf(person), PASSWORD, alsoTokens)).status).toBe(204);
      expect([await stateOf(t, second), await stateOf(t, person)]).toEqual(['not_authenticated', 'not_authenticated']);
      const resets = await t.audit({ action: 'user.password_reset', actor_id: person.id });
      expect(resets).toMatchObject([{ metadata: { revoked_tokens: 1 } }]);
    });

    it('leaves no way in to who signed up with the address of somebody else', async () => {
      const email = anEmail();
      const token = await anApiToken(t, (await signup(t, email)).body.user);
      expect((await reset(await linkOf({ email }))).status).toBe(204);
      expect(await stateOf(t, token)).toBe('not_authenticated');
      expect((await told(email))?.text).toContain('One API token is revoked.');
    });

    it('is outrun by none that is made at the same moment', async () => {
      const person = await aPerson(t);
      const other = await login(t, person);
      const [changed, ...made] = await Promise.all([
        change(person, PASSWORD, NEW_PASSWORD, alsoTokens),
        ...Array.from({ length: 8 }, () => t.call('POST', '/api/tokens', { as: other, body: { name: 'fast' } })),
      ]);
      expect(changed.status).toBe(204);
      // What was made before is revoked, and what comes after is refused: the other session has ended.
      expect(made.every((m) => m.status === 201 || m.status === 401)).toBe(true);
      expect(await t.db.manager.countBy(ApiToken, { user_id: person.id, revoked_at: IsNull() })).toBe(0);
    });
  });
});
