import type http from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Abstract, ModuleMetadata, Type } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { Test } from '@nestjs/testing';
import { AuditLogRow, ENTITIES, MIGRATIONS } from '@aps/entities';
import { GuardsModule } from '@aps/guards';
import { broadcastListener } from '@aps/platform/broadcast';
import { loadConfig } from '@aps/platform/config';
import type { Database } from '@aps/platform/database';
import { configureHttpApp, HttpAdapter } from '@aps/platform/http';
import { IdempotencyModule } from '@aps/platform/idempotency';
import { MailModule } from '@aps/platform/mail';
import { createLogger, NestLogger } from '@aps/platform/observability';
import { PlatformModule } from '@aps/platform/runtime';
import { createTestDatabase, httpCaller, watchErrors, type Answer, type CallOptions, type TestDatabase } from '@aps/platform/testing';
import type { FindOptionsWhere } from 'typeorm';
import { uuidv7 } from 'uuidv7';
import { makeTestPlan, TEST_PLAN } from './plan';

type Modules = NonNullable<ModuleMetadata['imports']>;

const SCHEMA = { entities: ENTITIES, migrations: MIGRATIONS };

/** What every application of the public API stands on, below the modules of its domains. */
export const BASE_MODULES: Modules = [PlatformModule.forRoot('test', SCHEMA), MailModule, IdempotencyModule, GuardsModule.forRoot()];

/** Settings by variable; undefined unsets. */
export type Settings = Record<string, string | undefined>;

export interface ServiceOptions {
  settings?: Settings;
  /** Parts that stand outside of the service, and what plays them. */
  played?: readonly (readonly [part: Type<unknown> | Abstract<unknown>, by: object])[];
}

/**
 * The service under test: modules behind the real HTTP edge, on a migrated database of its own and a real Redis.
 *
 * A spec names the modules (each domain's testing room has its list, an app its `AppModule`), because a domain's specs may load that
 * domain and those before it, no more. It stands in a library of its own below the domains, which the source may not import: factories
 * of each domain furnish it, and nothing here knows one.
 */
export class TestService {
  private readonly apps: { app: NestExpressApplication; judgeErrors: () => void }[] = [];
  private database: TestDatabase;
  app: NestExpressApplication;
  /** `http://127.0.0.1:<port>` */
  url: string;

  constructor(
    private readonly modules: Modules,
    private readonly options: ServiceOptions = {},
  ) {}

  async start(): Promise<this> {
    this.database = await createTestDatabase(SCHEMA);
    this.configure({ APP_URL: 'https://app.example', CREDITS_DEFAULT_NEW_ORG_PLAN: TEST_PLAN.code, ...this.options.settings });
    await makeTestPlan(this.db);
    await this.prepare();
    this.url = await this.serve(this.modules);
    this.app = this.apps[this.apps.length - 1].app;
    return this;
  }

  /** What must be there before the application is. */
  protected async prepare(): Promise<void> {}

  /** Serves modules in an application of their own, beside what runs already and on the same database. @returns its address */
  async serve(imports: Modules): Promise<string> {
    const logger = createLogger('test');
    const builder = Test.createTestingModule({ imports }).setLogger(new NestLogger(logger));
    for (const [part, by] of this.options.played ?? []) builder.overrideProvider(part).useValue(by);
    const module = await builder.compile();
    const app = module.createNestApplication<NestExpressApplication>(new HttpAdapter(), {
      bodyParser: false,
      logger: new NestLogger(logger),
    });
    this.apps.push({ app, judgeErrors: watchErrors(app) });
    configureHttpApp(app, logger);
    app.connectMicroservice(broadcastListener(), { inheritAppConfig: false });
    await app.startAllMicroservices();
    await app.listen(0, '127.0.0.1');
    const { port } = (app.getHttpServer() as http.Server).address() as AddressInfo;
    return `http://127.0.0.1:${port}`;
  }

  get db(): Database {
    return this.database.db;
  }

  /** A provider of each application. */
  all<T>(type: Type<T> | Abstract<T>): T[] {
    return this.apps.map(({ app }) => app.get<T>(type, { strict: false }));
  }

  /** A provider of the application. */
  get<T>(type: Type<T> | Abstract<T>): T {
    return this.app.get<T>(type, { strict: false });
  }

  call(method: string, path: string, options?: CallOptions): Promise<Answer> {
    return httpCaller(this.url)(method, path, options);
  }

  /** A call that must succeed, for furnishing. @returns the body of its answer */
  async make(method: string, path: string, options?: CallOptions): Promise<Answer['body']> {
    const { status, text, body } = await this.call(method, path, options);
    if (status >= 300) throw new Error(`${method} ${path} answered ${status} ${text}`);
    return body;
  }

  /** Writes a row past the domain; what is not given is the column's default. @returns its id */
  async insert<T extends { id: string }>(entity: Type<T>, row: Partial<T>): Promise<string> {
    const id = row.id ?? uuidv7();
    await this.db.manager.getRepository(entity as Type<{ id: string }>).insert({ ...row, id });
    return id;
  }

  /** What the audit log says, oldest first. */
  audit(where: FindOptionsWhere<AuditLogRow>): Promise<AuditLogRow[]> {
    return this.db.manager.find(AuditLogRow, { where, order: { id: 'ASC' } });
  }

  /** Changes settings for what follows. */
  configure(settings: Settings): void {
    for (const [name, value] of Object.entries(settings)) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
    loadConfig();
  }

  /** Fails where an operation has answered an error that the API document does not know of it. */
  async close(): Promise<void> {
    for (const { app } of this.apps) await app.close();
    await this.database?.drop();
    for (const { judgeErrors } of this.apps) judgeErrors();
  }
}

/** A service for all cases of the file, or of the `describe` in which it is made: it starts before the first and ends after the last. */
export function testService(modules: Modules, options?: ServiceOptions): TestService {
  const service = new TestService(modules, options);
  beforeAll(() => service.start());
  afterAll(() => service.close());
  return service;
}
