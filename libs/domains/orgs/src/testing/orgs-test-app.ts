import { NO_CALLER } from '@aps/platform/database';
import { Global, Injectable, Module } from '@nestjs/common';
import { DomainError } from '@aps/contracts';
import { ENTITIES, MIGRATIONS } from '@aps/entities';
import { GuardsModule, type OrgRole } from '@aps/guards';
import { SessionsService, UsersService } from '@aps/identity';
import { IdentityHttpModule } from '@aps/identity/http';
import { loadConfig } from '@aps/platform/config';
import { EnvelopeCrypto, hashPassword, hashToken, newApiToken, tokenHint } from '@aps/platform/crypto';
import type { Database } from '@aps/platform/database';
import { canonicalEmail, parseEmail } from '@aps/platform/email';
import { IdempotencyModule } from '@aps/platform/idempotency';
import { MailModule } from '@aps/platform/mail';
import { RateLimitModule } from '@aps/platform/rate-limit';
import { PlatformModule } from '@aps/platform/runtime';
import { sql, createTestApp, createTestDatabase, httpCaller, type Answer, type CallOptions, type TestApp } from '@aps/platform/testing';
import { uuidv7 } from 'uuidv7';
import { OrgsHttpModule } from '../http/orgs-http.module';
import { OrgLimits } from '../org-limits';
import { OrgsModule } from '../orgs.module';

/** Plans whose answers a test sets; by default they allow everything. */
@Injectable()
export class TestLimits extends OrgLimits {
  maxSeats = Infinity;
  auditLog = true;

  async require(): Promise<void> {
    if (!this.auditLog) throw new DomainError('entitlement_required', 'Not in this plan.', { context: { entitlement: 'audit_log' } });
  }

  async requireRoom(_orgId: string, entitlement: string, current: number): Promise<void> {
    if (current >= this.maxSeats)
      throw new DomainError('entitlement_exceeded', 'No room.', { context: { entitlement, limit: this.maxSeats, current } });
  }
}

@Global()
@Module({ providers: [TestLimits], exports: [TestLimits] })
class TestLimitsModule {}

/** Somebody who is signed in. */
export interface Person {
  userId: string;
  email: string;
  token: string;
}

export interface Member extends Person {
  /** Of the membership. */
  memberId: string;
}

let made = 0;
/** An address that no other test of this file uses. */
export const anEmail = (name = 'user') => `${name}.${++made}@example.com`;

/** Organizations and identity behind HTTP, on a database of their own. */
export class OrgsTestApp {
  private constructor(
    private readonly test: TestApp,
    private readonly database: { drop(): Promise<void> },
    readonly db: Database,
    private readonly passwordHash: string,
  ) {}

  static async start(settings: Record<string, string> = {}): Promise<OrgsTestApp> {
    const schema = { entities: ENTITIES, migrations: MIGRATIONS };
    const database = await createTestDatabase(schema);
    Object.assign(process.env, {
      REGISTRATION_MODE: 'allowlist',
      APP_URL: 'https://app.example',
      EMAIL_PROOF: 'required',
      MAX_OWNED_ORGS: '',
      ...settings,
    });
    loadConfig();
    const test = await createTestApp([
      PlatformModule.forRoot('test', schema),
      MailModule,
      RateLimitModule,
      IdempotencyModule,
      GuardsModule.forRoot(),
      TestLimitsModule,
      OrgsModule.forRoot(TestLimits),
      IdentityHttpModule,
      OrgsHttpModule,
    ]);
    return new OrgsTestApp(test, database, database.db, await hashPassword('correct horse battery'));
  }

  get<T>(type: abstract new (...args: never[]) => T): T {
    return this.test.app.get<T>(type, { strict: false });
  }

  get url(): string {
    return this.test.url;
  }

  get limits(): TestLimits {
    return this.get(TestLimits);
  }

  call(method: string, path: string, { as, ...options }: Omit<CallOptions, 'as'> & { as?: { token: string } } = {}): Promise<Answer> {
    return httpCaller(this.test.url)(method, path, { as: as?.token, ...options });
  }

  async person(email = anEmail()): Promise<Person> {
    return this.db.transaction(NO_CALLER, async (tx) => {
      const user = await this.get(UsersService).create(tx, {
        email,
        name: email.split('@')[0],
        password_hash: this.passwordHash,
        proven: true,
      });
      const { session } = await this.get(SessionsService).signIn(tx, user, { userAgent: null, ip: null });
      return { userId: user.id, email, token: session.token };
    });
  }

  async signup(email: string, extra: Record<string, unknown> = {}): Promise<Answer> {
    return this.call('POST', '/api/auth/signup', { body: { email, password: 'correct horse battery', ...extra } });
  }

  /** An API token of the person that is good for one organization only. */
  async pinnedToken(person: Person, orgId: string): Promise<{ token: string }> {
    const token = newApiToken();
    const { prefix, last4 } = tokenHint(token);
    await this.db.execute(
      sql('INSERT INTO api_tokens (id, user_id, name, org_id, token_hash, prefix, last4) VALUES ($1, $2, $3, $4, $5, $6, $7)'),
      [uuidv7(), person.userId, 'test', orgId, hashToken(token), prefix, last4],
    );
    return { token };
  }

  async org(owner: Person, name = 'Acme'): Promise<string> {
    const { status, body } = await this.call('POST', '/api/orgs', { as: owner, body: { name } });
    if (status !== 201) throw new Error(`Making an organization answered ${status} ${JSON.stringify(body)}`);
    return body.id as string;
  }

  /** An organization with its owner. */
  async orgWithOwner(name?: string): Promise<{ orgId: string; owner: Member }> {
    const person = await this.person();
    const orgId = await this.org(person, name);
    const [{ id }] = await this.db.query(sql<{ id: string }>('SELECT id FROM memberships WHERE org_id = $1'), [orgId]);
    return { orgId, owner: { ...person, memberId: id } };
  }

  /** Makes a member without any command. */
  async member(orgId: string, role: OrgRole, person?: Person): Promise<Member> {
    const who = person ?? (await this.person());
    const memberId = uuidv7();
    await this.db.execute(sql('INSERT INTO memberships (id, org_id, user_id, role) VALUES ($1, $2, $3, $4)'), [
      memberId,
      orgId,
      who.userId,
      role,
    ]);
    return { ...who, memberId };
  }

  /** Role by address, as stored. */
  async roles(orgId: string): Promise<Record<string, OrgRole>> {
    const rows = await this.db.query(
      sql<{ email: string; role: OrgRole }>(
        'SELECT u.email, m.role FROM memberships m JOIN users u ON u.id = m.user_id WHERE m.org_id = $1',
      ),
      [orgId],
    );
    return Object.fromEntries(rows.map((r) => [r.email, r.role]));
  }

  /** Lets an address sign up. */
  async allow(email: string): Promise<void> {
    await this.db.execute(sql('INSERT INTO allowed_emails (id, email, email_canonical) VALUES (gen_random_uuid(), $1, $2)'), [
      email,
      canonicalEmail(email),
    ]);
  }

  /** Texts of the mails to an address, oldest first. */
  async mails(to: string): Promise<string[]> {
    const rows = await this.db.query(
      sql<{ id: string; body: string }>('SELECT id, body FROM outbound_mails WHERE recipient = $1 ORDER BY id'),
      [parseEmail(to)?.mailbox],
    );
    const crypto = this.get(EnvelopeCrypto);
    return Promise.all(
      rows.map(
        async ({ id, body }) =>
          JSON.parse(await crypto.decrypt(this.db, { orgId: null, table: 'outbound_mails', column: 'body', rowId: id }, body))
            .text as string,
      ),
    );
  }

  /** The secret of the newest invitation mail to an address. */
  async linkOf(email: string): Promise<string> {
    const [, token] = /https:\/\/app\.example\/invite\/([\w-]{43})\n/.exec((await this.mails(email)).at(-1) ?? '') ?? [];
    if (!token) throw new Error(`No invitation was mailed to ${email}`);
    return token;
  }

  /** Audit rows of an organization, oldest first, with what makes a row. */
  async audit(orgId: string): Promise<
    {
      source: string;
      action: string;
      actor_id: string | null;
      target_kind: string;
      target_id: string | null;
      metadata: Record<string, unknown>;
      request_id: string | null;
    }[]
  > {
    return this.db.query(
      sql('SELECT source, action, actor_id, target_kind, target_id, metadata, request_id FROM audit_log WHERE org_id = $1 ORDER BY id'),
      [orgId],
    );
  }

  async close(): Promise<void> {
    await this.test.close();
    await this.database.drop();
  }
}
