import { Global, Module } from '@nestjs/common';
import { BillingModule } from '@aps/billing';
import { ENTITIES, MIGRATIONS } from '@aps/entities';
import { GuardsModule, OrgScope } from '@aps/guards';
import { OrganizationDoor, type MembershipSummary } from '@aps/identity';
import { loadConfig } from '@aps/platform/config';
import type { Database, Db } from '@aps/platform/database';
import { Egress } from '@aps/platform/egress';
import { RateLimitModule } from '@aps/platform/rate-limit';
import { PlatformModule } from '@aps/platform/runtime';
import {
  sql,
  createTestApp,
  createTestDatabase,
  httpCaller,
  insertOrganization,
  insertUser,
  type Answer,
  type TestApp,
} from '@aps/platform/testing';
import { InferenceHttpModule } from '../http/inference-http.module';
import { InferenceSettings } from '../inference.settings';
import { seedInference } from '../seed';

export interface TestOrg {
  id: string;
  scope: OrgScope;
  owner: string;
  member: string;
}

/** Inference behind HTTP, on a seeded database of its own. */
export interface InferenceTestApp {
  app: TestApp['app'];
  db: Database;
  /** An organization; `owner` and `member` are bearer tokens. */
  org(): Promise<TestOrg>;
  /** A user's bearer token. */
  user(roles?: Record<string, 'OWNER' | 'MEMBER'>): Promise<string>;
  call(method: string, path: string, token?: string, body?: unknown): Promise<Answer>;
  /** Changes settings for what follows; undefined unsets. */
  configure(settings: Record<string, string | undefined>): void;
  /** Forgets what is held of the platform: for specs that write its tables past the services. */
  forget(): void;
  close(): Promise<void>;
}

class TestDoor {
  membershipsOf(db: Db, userId: string): Promise<MembershipSummary[]> {
    return db.query(
      sql<MembershipSummary>(
        'SELECT o.id AS org_id, o.name AS org_name, o.slug, m.role FROM memberships m JOIN organizations o ON o.id = m.org_id WHERE m.user_id = $1',
      ),
      [userId],
    );
  }
}

@Global()
@Module({ providers: [{ provide: OrganizationDoor, useClass: TestDoor }], exports: [OrganizationDoor] })
class TestDoorModule {}

export async function inferenceTestApp(settings: Record<string, string> = {}): Promise<InferenceTestApp> {
  const schema = { entities: ENTITIES, migrations: MIGRATIONS };
  const database = await createTestDatabase(schema);
  const { db } = database;
  const configure = (changes: Record<string, string | undefined>) => {
    for (const [name, value] of Object.entries(changes)) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
    loadConfig();
  };
  for (const name of ['OPENAI_API_KEY', 'ANTHROPIC_API_KEY', 'GOOGLE_GENERATIVE_AI_API_KEY']) delete process.env[name];
  configure(settings);
  await seedInference(db, { mockBaseUrl: 'http://127.0.0.1:1/v1' });
  // Names resolve without a network; `internal.example` is a name of the inside.
  const egress = new Egress({ resolve: (name) => Promise.resolve([name === 'internal.example' ? '10.0.0.7' : '93.184.215.14']) });
  const test = await createTestApp(
    [PlatformModule.forRoot('test', schema), RateLimitModule, GuardsModule.forRoot(), BillingModule, TestDoorModule, InferenceHttpModule],
    (builder) => builder.overrideProvider(Egress).useValue(egress),
  );

  const call = httpCaller(test.url);
  return {
    app: test.app,
    db,
    user: async (roles) => (await insertUser(db, roles)).token,
    configure,
    async org() {
      const { id, owner, member } = await insertOrganization(db);
      return { id, scope: OrgScope.system(id, 'test'), owner: owner.token, member: member.token };
    },
    call: (method, path, as, body) => call(method, `/api${path}`, { as, body }),
    forget: () => test.app.get(InferenceSettings, { strict: false }).drop(null),
    async close() {
      await test.close();
      await egress.onApplicationShutdown();
      await database.drop();
    },
  };
}
