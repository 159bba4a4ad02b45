import { BillingModule, configuredEntitlements, Entitlements, type EntitlementSet } from '@aps/billing';
import { ENTITIES, MIGRATIONS } from '@aps/entities';
import { GuardsModule, OrgScope } from '@aps/guards';
import { InferenceModule } from '@aps/inference';
import { hashToken, newSessionToken } from '@aps/platform/crypto';
import type { Database } from '@aps/platform/database';
import { IdempotencyModule } from '@aps/platform/idempotency';
import { RateLimitModule } from '@aps/platform/rate-limit';
import { PlatformModule } from '@aps/platform/runtime';
import { createTestApp, createTestDatabase, type TestApp } from '@aps/platform/testing';
import { uuidv7 } from 'uuidv7';
import { AgentsHttpModule } from '../http';

/** A model that the catalog of the test app knows. */
export const MODEL = 'test-model';

export interface Answer {
  status: number;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- specs look into bodies of many shapes
  body: any;
  headers: Headers;
}

export interface TestOrg {
  id: string;
  /** `/api/orgs/<id>` */
  path: string;
  /** Bearer tokens. */
  owner: string;
  member: string;
  ownerId: string;
  /** As the owner. */
  scope: OrgScope;
}

/** Agents behind HTTP, on a database of its own. */
export interface AgentsTestApp {
  app: TestApp['app'];
  db: Database;
  call(method: string, path: string, options?: { as?: string; body?: unknown; headers?: Record<string, string> }): Promise<Answer>;
  /** An organization with an owner and a member. */
  org(): Promise<TestOrg>;
  /** An agent, made through the API. */
  agent(org: TestOrg, fields?: Record<string, unknown>): Promise<Answer['body']>;
  /** What every organization may do from now on, beyond what the configuration says. */
  entitle(changes: Partial<EntitlementSet>): void;
  /** Actions in the audit log about a target, oldest first. */
  audit(targetId: string): Promise<string[]>;
  close(): Promise<void>;
}

export async function agentsTestApp(): Promise<AgentsTestApp> {
  const schema = { entities: ENTITIES, migrations: MIGRATIONS };
  const database = await createTestDatabase(schema);
  const { db } = database;
  let changes: Partial<EntitlementSet> = {};
  class TestEntitlements extends Entitlements {
    of(): Promise<EntitlementSet> {
      return Promise.resolve({ ...configuredEntitlements(), ...changes });
    }
  }
  const imports = [PlatformModule.forRoot('test', schema), RateLimitModule, IdempotencyModule, GuardsModule.forRoot(), BillingModule, InferenceModule, AgentsHttpModule];
  const test = await createTestApp(imports, (builder) => builder.overrideProvider(Entitlements).useClass(TestEntitlements));
  await insertModel(db);

  const call: AgentsTestApp['call'] = async (method, path, { as, body, headers } = {}) => {
    const response = await fetch(test.url + path, {
      method,
      headers: { ...(as && { Authorization: `Bearer ${as}` }), ...(body !== undefined && { 'Content-Type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: text ? JSON.parse(text) : undefined, headers: response.headers };
  };

  return {
    app: test.app,
    db,
    call,
    async org() {
      const id = uuidv7();
      await db.execute('INSERT INTO organizations (id, name, slug) VALUES ($1, $2, $3)', [id, 'Test', `test-${id}`]);
      const owner = await insertMember(db, id, 'OWNER');
      const member = await insertMember(db, id, 'MEMBER');
      return { id, path: `/api/orgs/${id}`, owner: owner.token, member: member.token, ownerId: owner.id, scope: OrgScope.member(id, owner.id, 'OWNER') };
    },
    async agent(org, fields = {}) {
      const { status, body } = await call('POST', `${org.path}/agents`, { as: org.owner, body: { name: 'Agent', ...fields } });
      if (status !== 201) throw new Error(`Creating an agent answered ${status} ${JSON.stringify(body)}`);
      return body;
    },
    entitle(more) {
      changes = { ...changes, ...more };
    },
    async audit(targetId) {
      const rows = await db.query<{ action: string }>('SELECT action FROM audit_log WHERE target_id = $1 ORDER BY id', [targetId]);
      return rows.map((r) => r.action);
    },
    async close() {
      await test.close();
      await database.drop();
    },
  };
}

async function insertMember(db: Database, orgId: string, role: string): Promise<{ id: string; token: string }> {
  const id = uuidv7();
  const token = newSessionToken();
  await db.execute(`INSERT INTO users (id, email, name, password_hash) VALUES ($1, $2, $3, 'none')`, [id, `${id}@example.com`, role]);
  await db.execute('INSERT INTO memberships (id, org_id, user_id, role) VALUES ($1, $2, $3, $4)', [uuidv7(), orgId, id, role]);
  await db.execute(`INSERT INTO sessions (id, user_id, token_hash, expires_at) VALUES ($1, $2, $3, now() + interval '1 day')`, [uuidv7(), id, hashToken(token)]);
  return { id, token };
}

async function insertModel(db: Database): Promise<void> {
  const route = uuidv7();
  await db.execute(`INSERT INTO inference_routes (id, slug, label, dialect) VALUES ($1, 'test-route', 'Test', 'dialect_1')`, [route]);
  await db.execute(`INSERT INTO model_catalog (id, key, route_id, label, provider) VALUES ($1, $2, $3, 'Test', 'test')`, [uuidv7(), MODEL, route]);
}
