import { NO_CALLER } from '@aps/platform/database';
import { ENTITIES, MIGRATIONS } from '@aps/entities';
import { GuardsModule, PrincipalStore } from '@aps/guards';
import { loadConfig } from '@aps/platform/config';
import { EnvelopeCrypto, hashPassword } from '@aps/platform/crypto';
import type { Database } from '@aps/platform/database';
import { canonicalEmail, parseEmail } from '@aps/platform/email';
import { IdempotencyModule } from '@aps/platform/idempotency';
import { MailModule } from '@aps/platform/mail';
import { RateLimitModule } from '@aps/platform/rate-limit';
import { PlatformModule } from '@aps/platform/runtime';
import { sql, createTestApp, createTestDatabase, httpCaller, type Answer, type CallOptions, type TestApp } from '@aps/platform/testing';
import { IdentityHttpModule } from '../http/identity-http.module';
import { UsersService, type UserRow } from '../users.service';
import { TestOrganizationDoor, TestOrganizationsModule } from './test-organization-door';

export const PASSWORD = 'correct horse battery';

/** Identity behind HTTP, on a database of its own. */
export interface IdentityTestApp {
  app: TestApp['app'];
  db: Database;
  orgs: TestOrganizationDoor;
  call(method: string, path: string, options?: Omit<CallOptions, 'as'> & { token?: string }): Promise<Answer>;
  /** Changes settings for what follows. */
  configure(settings: Record<string, string>): void;
  /** A user with {@link PASSWORD}, made without the signup. */
  user(email?: string): Promise<UserRow>;
  /** A session of the user. */
  login(email: string, password?: string): Promise<string>;
  /** What the guard makes of a bearer right now: `ok` or the error's code. Asks past the guard's memory of one second. */
  bearer(token: string): Promise<string>;
  /** Lets an address sign up. */
  allow(email: string): Promise<void>;
  /** Mails to an address, oldest first. */
  mails(to: string): Promise<{ subject: string; text: string }[]>;
  audit(
    action: string,
  ): Promise<
    { actor_id: string | null; source: string; target_id: string | null; metadata: Record<string, unknown>; request_id: string | null }[]
  >;
  close(): Promise<void>;
}

let made = 0;
/** An address that no other test of this file uses. */
export const anEmail = (name = 'user') => `${name}.${++made}@example.com`;

export async function identityTestApp(settings: Record<string, string> = {}): Promise<IdentityTestApp> {
  const schema = { entities: ENTITIES, migrations: MIGRATIONS };
  const database = await createTestDatabase(schema);
  const { db } = database;
  const configure = (changes: Record<string, string>) => {
    Object.assign(process.env, changes);
    loadConfig();
  };
  configure({ REGISTRATION_MODE: 'open', BOOTSTRAP_ADMIN_EMAIL: '', APP_URL: 'https://app.example', EMAIL_PROOF: 'required', ...settings });
  const test = await createTestApp([
    PlatformModule.forRoot('test', schema),
    MailModule,
    RateLimitModule,
    IdempotencyModule,
    GuardsModule.forRoot(),
    TestOrganizationsModule,
    IdentityHttpModule,
  ]);
  const crypto = test.app.get(EnvelopeCrypto, { strict: false });
  const users = test.app.get(UsersService, { strict: false });
  // One hash for everybody: specs make many users.
  const password_hash = await hashPassword(PASSWORD);

  const http = httpCaller(test.url);
  const call: IdentityTestApp['call'] = (method, path, { token, ...options } = {}) => http(method, path, { as: token, ...options });

  return {
    app: test.app,
    db,
    orgs: test.app.get(TestOrganizationDoor, { strict: false }),
    call,
    configure,
    user: (email = anEmail()) =>
      db.transaction(NO_CALLER, (tx) => users.create(tx, { email, name: email.split('@')[0], password_hash, proven: true })),
    async login(email, password = PASSWORD) {
      const { status, body } = await call('POST', '/api/auth/login', { body: { email, password } });
      if (status !== 200) throw new Error(`Log-in answered ${status} ${JSON.stringify(body)}`);
      return body.session.token as string;
    },
    bearer: (token) =>
      new PrincipalStore(db).byToken(token).then(
        () => 'ok',
        (error: { code: string }) => error.code,
      ),
    async allow(email) {
      await db.execute(sql('INSERT INTO allowed_emails (id, email, email_canonical) VALUES (gen_random_uuid(), $1, $2)'), [
        email,
        canonicalEmail(email),
      ]);
    },
    async mails(to) {
      const rows = await db.query(
        sql<{ id: string; subject: string; body: string }>('SELECT id, subject, body FROM outbound_mails WHERE recipient = $1 ORDER BY id'),
        [parseEmail(to)?.mailbox],
      );
      const text = async (id: string, body: string) =>
        JSON.parse(await crypto.decrypt(db, { orgId: null, table: 'outbound_mails', column: 'body', rowId: id }, body)).text as string;
      return Promise.all(rows.map(async ({ id, subject, body }) => ({ subject, text: await text(id, body) })));
    },
    audit: (action) =>
      db.query(sql('SELECT actor_id, source, target_id, metadata, request_id FROM audit_log WHERE action = $1 ORDER BY id'), [action]),
    async close() {
      await test.close();
      await database.drop();
    },
  };
}
