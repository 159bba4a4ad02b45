import { actingOperator } from '@aps/guards';
import { ENTITIES, MIGRATIONS } from '@aps/entities';
import { OrganizationsService, MembersService } from '@aps/orgs';
import { InternalTokens } from '@aps/platform/crypto';
import { sql, createTestApp, createTestDatabase, type TestApp, type TestDatabase } from '@aps/platform/testing';
import { uuidv7 } from 'uuidv7';
import { AppModule } from '../app.module';

export interface Person {
  id: string;
  email: string;
  name: string;
  /** Of the session that the gateway would have seen. */
  credentialId: string;
}

export interface Answered {
  status: number;
  /* eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests look into it with matchers */
  body: any;
  headers: Headers;
}

/** admin-api on a database of its own, called as the gateway calls it. */
export class World {
  readonly tokens = new InternalTokens();
  private people = 0;

  private constructor(
    readonly database: TestDatabase,
    readonly app: TestApp,
    /** A platform administrator, the caller unless a test says otherwise. */
    public operator: Person,
  ) {}

  static async create(): Promise<World> {
    const database = await createTestDatabase({ entities: ENTITIES, migrations: MIGRATIONS });
    const app = await createTestApp([AppModule]);
    const world = new World(database, app, undefined as unknown as Person);
    world.operator = await world.person({ admin: true });
    return world;
  }

  get db() {
    return this.database.db;
  }

  async destroy(): Promise<void> {
    await this.app.close();
    await this.database.drop();
  }

  async person({ admin = false, email }: { admin?: boolean; email?: string } = {}): Promise<Person> {
    const n = ++this.people;
    const person = { id: uuidv7(), email: email ?? `person-${n}@example.com`, name: `Person ${n}`, credentialId: uuidv7() };
    await this.db.execute(
      sql('INSERT INTO users (id, email, email_canonical, name, password_hash, email_verified_at) VALUES ($1, $2, $2, $3, $4, now())'),
      [person.id, person.email, person.name, 'x'],
    );
    await this.db.execute(sql(`INSERT INTO sessions (id, user_id, token_hash, expires_at) VALUES ($1, $2, $3, now() + interval '1 day')`), [
      person.credentialId,
      person.id,
      Buffer.from(person.credentialId),
    ]);
    if (admin) await this.db.execute(sql('INSERT INTO platform_admins (user_id) VALUES ($1)'), [person.id]);
    return person;
  }

  async organization(owner: Person, name: string): Promise<{ id: string; slug: string }> {
    return this.app.app.get(OrganizationsService, { strict: false }).create(this.db, actingOperator(owner.id, {}), { name });
  }

  async member(orgId: string, person: Person, role: 'OWNER' | 'ADMIN' | 'MEMBER' = 'MEMBER'): Promise<void> {
    await this.app.app.get(MembersService, { strict: false }).adminAdd(actingOperator(this.operator.id, {}), orgId, person.email, role);
  }

  /** The gateway's word about a caller. */
  internalToken(person: Person = this.operator, { scope = '*', audience = 'admin-api', now = new Date() } = {}): string {
    const claims = { user_id: person.id, email: person.email, credential_id: person.credentialId, scope, request_id: 'req', aud: audience };
    return this.tokens.sign(claims, now);
  }

  async call(
    method: string,
    path: string,
    body?: unknown,
    options: { as?: Person; headers?: Record<string, string> } = {},
  ): Promise<Answered> {
    const response = await fetch(`${this.app.url}/api/admin${path}`, {
      method,
      headers: {
        'x-aps-internal': this.internalToken(options.as),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...options.headers,
      },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await response.text();
    return { status: response.status, body: text ? JSON.parse(text) : undefined, headers: response.headers };
  }

  /** What the audit log says about a thing, oldest first. */
  async audited(targetId: string): Promise<{ source: string; action: string; org_id: string | null; actor_id: string | null }[]> {
    return this.db.query(sql('SELECT source, action, org_id, actor_id FROM audit_log WHERE target_id = $1 ORDER BY created_at, id'), [
      targetId,
    ]);
  }
}
