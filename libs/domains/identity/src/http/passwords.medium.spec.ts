import { hashToken } from '@aps/platform/crypto';
import { sql } from '@aps/platform/testing';
import { anEmail, identityTestApp, PASSWORD, type IdentityTestApp } from '../testing/identity-test-app';

const NEW_PASSWORD = 'staple battery horse';

describe('passwords', () => {
  let t: IdentityTestApp;
  beforeAll(async () => {
    t = await identityTestApp();
  });
  afterAll(() => t.close());

  const forgot = (email: string) => t.call('POST', '/api/auth/password/forgot', { body: { email } });
  const reset = (token: string, password = NEW_PASSWORD) => t.call('POST', '/api/auth/password/reset', { body: { token, password } });
  const tryLogin = async (email: string, password: string) =>
    (await t.call('POST', '/api/auth/login', { body: { email, password } })).status;
  /** Tokens of the links that an address was mailed. */
  const links = async (email: string) =>
    (await t.mails(email)).flatMap((m) => /https:\/\/app\.example\/reset-password\/(\S+)/.exec(m.text)?.[1] ?? []);

  describe('forgot', () => {
    it('answers a known, an unknown and a deactivated address the same way, and mails the known one', async () => {
      const [known, gone] = [await t.user(), await t.user()];
      await t.db.execute(sql('UPDATE users SET deactivated_at = now() WHERE id = $1'), [gone.id]);
      const unknown = anEmail();
      for (const email of [known.email.toUpperCase(), gone.email, unknown]) {
        const { status, body } = await forgot(email);
        expect([status, body]).toEqual([202, { status: 'received' }]);
      }
      const mails = await t.mails(known.email);
      expect(mails.map((m) => m.subject)).toEqual(['Choose a new password']);
      const [token] = await links(known.email);
      expect(await t.db.query(sql('SELECT user_id FROM mailed_links WHERE token_hash = $1'), [hashToken(token)])).toEqual([
        { user_id: known.id },
      ]);
      expect([...(await t.mails(gone.email)), ...(await t.mails(unknown))]).toEqual([]);
    });

    it('does not flood a mailbox, not even when asked all at once', async () => {
      const { email } = await t.user();
      const answers = await Promise.all(Array.from({ length: 12 }, () => forgot(email)));
      expect(answers.every((a) => a.status === 202)).toBe(true);
      expect(await t.mails(email)).toHaveLength(5);
    });
  });

  describe('reset', () => {
    it('sets the password once, ends all sessions, voids other links and tells the user', async () => {
      const { email, id } = await t.user();
      const session = await t.login(email);
      await forgot(email);
      await forgot(email);
      const [first, second] = await links(email);
      expect((await reset(first)).status).toBe(204);
      expect([await tryLogin(email, PASSWORD), await tryLogin(email, NEW_PASSWORD)]).toEqual([401, 200]);
      expect(await t.bearer(session)).toBe('not_authenticated');
      for (const used of [first, second]) {
        const again = await reset(used, 'one more password');
        expect(again.status).toBe(422);
        expect(again.body).toMatchObject({
          code: 'reset_token_invalid',
          detail: [{ loc: ['body', 'token'], type: 'semantic.reset_token_invalid' }],
        });
      }
      expect(await tryLogin(email, NEW_PASSWORD)).toBe(200);
      expect((await t.mails(email)).at(-1)?.subject).toBe('Your password was changed');
      expect(await t.audit('user.password_reset')).toEqual([expect.objectContaining({ actor_id: id, target_id: id, source: 'business' })]);
    });

    it('lets one of several that race win', async () => {
      const { email } = await t.user();
      await forgot(email);
      const [token] = await links(email);
      const answers = await Promise.all(Array.from({ length: 5 }, (_, i) => reset(token, `password number ${i}`)));
      expect(answers.map((a) => a.status).sort()).toEqual([204, 422, 422, 422, 422]);
      expect(await tryLogin(email, `password number ${answers.findIndex((a) => a.status === 204)}`)).toBe(200);
    });

    it('refuses a link that is too old, and one of a user who was deactivated since', async () => {
      const [late, gone] = [await t.user(), await t.user()];
      for (const { email } of [late, gone]) await forgot(email);
      const [[lateToken], [goneToken]] = [await links(late.email), await links(gone.email)];
      const [{ minutes }] = await t.db.query(
        sql<{ minutes: number }>(
          `SELECT round(extract(epoch FROM expires_at - created_at) / 60)::int AS minutes FROM mailed_links WHERE user_id = $1`,
        ),
        [late.id],
      );
      expect(minutes).toBe(60);
      await t.db.execute(sql(`UPDATE mailed_links SET expires_at = now() - interval '1 second' WHERE user_id = $1`), [late.id]);
      await t.db.execute(sql('UPDATE users SET deactivated_at = now() WHERE id = $1'), [gone.id]);
      for (const token of [lateToken, goneToken, 'never-issued']) expect((await reset(token)).body.code).toBe('reset_token_invalid');
      await t.db.execute(sql('UPDATE users SET deactivated_at = NULL WHERE id = $1'), [gone.id]);
      expect(await tryLogin(gone.email, PASSWORD)).toBe(200);
    });

    it('refuses a short password without using the link up', async () => {
      const { email } = await t.user();
      await forgot(email);
      const [token] = await links(email);
      expect((await reset(token, 'elevenchars')).body).toMatchObject({ code: 'validation_error', detail: [{ type: 'string_too_short' }] });
      expect((await reset(token)).status).toBe(204);
    });
  });

  describe('change', () => {
    const change = (token: string, current_password: string, new_password = NEW_PASSWORD) =>
      t.call('POST', '/api/auth/password/change', { token, body: { current_password, new_password } });

    it('replaces the password and ends all other sessions', async () => {
      const { email, id } = await t.user();
      const [mine, other] = [await t.login(email), await t.login(email)];
      await forgot(email);
      const [link] = await links(email);
      expect((await change(mine, PASSWORD)).status).toBe(204);
      expect([await t.bearer(mine), await t.bearer(other)]).toEqual(['ok', 'not_authenticated']);
      expect([await tryLogin(email, PASSWORD), await tryLogin(email, NEW_PASSWORD)]).toEqual([401, 200]);
      expect((await reset(link, 'by an older link')).body.code).toBe('reset_token_invalid');
      expect((await t.mails(email)).at(-1)?.subject).toBe('Your password was changed');
      expect(await t.audit('user.password_changed')).toEqual([expect.objectContaining({ actor_id: id })]);
    });

    it('wants the present one', async () => {
      const { email } = await t.user();
      const token = await t.login(email);
      const { status, body } = await change(token, 'not my password');
      expect(status).toBe(422);
      expect(body).toMatchObject({ code: 'password_incorrect', detail: [{ loc: ['body', 'current_password'] }] });
      expect(await tryLogin(email, PASSWORD)).toBe(200);
    });

    it('lets one of two that race win', async () => {
      const { email } = await t.user();
      const token = await t.login(email);
      const wishes = ['first new password', 'second new password'];
      const answers = await Promise.all(wishes.map((wish) => change(token, PASSWORD, wish)));
      expect(answers.map((a) => a.status).sort()).toEqual([204, 422]);
      expect(await tryLogin(email, wishes[answers.findIndex((a) => a.status === 204)])).toBe(200);
    });
  });
});
