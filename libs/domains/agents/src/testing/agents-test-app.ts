import { BillingModule, configuredEntitlements, Entitlements, type EntitlementSet } from '@aps/billing';
import { ENTITIES, MIGRATIONS } from '@aps/entities';
import { GuardsModule, OrgScope } from '@aps/guards';
import { InferenceModule } from '@aps/inference';
import type { Database } from '@aps/platform/database';
import { IdempotencyModule } from '@aps/platform/idempotency';
import { RateLimitModule } from '@aps/platform/rate-limit';
import { PlatformModule } from '@aps/platform/runtime';
import {
  sql,
  createTestApp,
  createTestDatabase,
  httpCaller,
  insertOrganization,
  type Answer,
  type HttpCaller,
  type TestApp,
} from '@aps/platform/testing';
import { uuidv7 } from 'uuidv7';
import { AgentsHttpModule } from '../http';

/** A model that the catalog of the test app knows. */
export const MODEL = 'test-model';

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
  call: HttpCaller;
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
  const imports = [
    PlatformModule.forRoot('test', schema),
    RateLimitModule,
    IdempotencyModule,
    GuardsModule.forRoot(),
    BillingModule,
    InferenceModule,
    AgentsHttpModule,
  ];
  const test = await createTestApp(imports, (builder) => builder.overrideProvider(Entitlements).useClass(TestEntitlements));
  await insertModel(db);

  const call = httpCaller(test.url);

  return {
    app: test.app,
    db,
    call,
    async org() {
      const { id, owner, member } = await insertOrganization(db);
      return {
        id,
        path: `/api/orgs/${id}`,
        owner: owner.token,
        member: member.token,
        ownerId: owner.id,
        scope: OrgScope.member(id, owner.id, 'OWNER'),
      };
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
      const rows = await db.query(sql<{ action: string }>('SELECT action FROM audit_log WHERE target_id = $1 ORDER BY id'), [targetId]);
      return rows.map((r) => r.action);
    },
    async close() {
      await test.close();
      await database.drop();
    },
  };
}

async function insertModel(db: Database): Promise<void> {
  const route = uuidv7();
  await db.execute(sql(`INSERT INTO inference_routes (id, slug, label, dialect) VALUES ($1, 'test-route', 'Test', 'dialect_1')`), [route]);
  await db.execute(sql(`INSERT INTO model_catalog (id, key, route_id, label, provider) VALUES ($1, $2, $3, 'Test', 'test')`), [
    uuidv7(),
    MODEL,
    route,
  ]);
}
