import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { loadConfig } from '@aps/platform/config';
import { createDataSource, Database } from '@aps/platform/database';
import { copyOfMade, sql, testEnvironment, type DatabaseCopy } from '@aps/platform/testing';
import { Balancer } from './balancer';
import { ApiClient } from './client';
import { built, freePort, NodeProcess, ROOT } from './process';
import { OwnServer, type ServerKind } from './servers';
import { until } from './until';

export type AppName = 'api-gateway' | 'admin-api' | 'billing-webhooks' | 'inbox-intake' | 'chat-worker' | 'process-engine';
/** An app, or one of several processes of it: `chat-worker:2`. */
export type Instance = AppName | `${AppName}:${string}`;

/** Those that listen for no requests. */
const WORKERS: AppName[] = ['chat-worker', 'process-engine'];

/** The plan of every organization: no test meets a limit that it does not look for. Its people sign in by password, as there is no identity provider. */
const PLAN = 'enterprise';
const BE_GENEROUS = sql('UPDATE plans SET max_concurrent_chats = $2 WHERE code = $1');

/** The mock's route leads to the server of this platform. */
const LEAD_TO_MOCK = sql(`UPDATE inference_routes SET base_url = $1 WHERE slug = 'mock' AND owner_org_id IS NULL`);

/** Of deliveries. */
const WEBHOOK_SECRET = `whsec_${randomBytes(24).toString('base64')}`;

const nameOf = (instance: Instance): AppName => instance.split(':')[0] as AppName;

/** What the seed of the demo wrote down. */
export interface Demo {
  org_id: string;
  agent_id: string;
  user: { email: string; password: string };
  /** Of the organization's OWNER. */
  api_token: string;
  platform_admin: { email: string; password: string };
  /** Of a platform administrator who is no member. */
  admin_token: string;
  inbox: { id: string; address: string };
}

export interface PlatformOptions {
  /** Beyond what every app gets; also overrides that. */
  env?: Record<string, string>;
  /** Default: the gateway and one worker. */
  apps?: Instance[];
  /** Clients reach the gateways, and gateways admin-api, through a balancer. Without it the first process of each is the way in. */
  balanced?: boolean;
  /** Servers of this test's own, which it may take away. A PgBouncer stands between the apps and PostgreSQL. */
  own?: ServerKind[];
  /** Turns of an organization that run at once. */
  maxConcurrentChats?: number;
  /** Entry points below dist that stand in for those of apps: what they run, and more. */
  entries?: Partial<Record<AppName, string>>;
  /** What the database must have besides, before any app starts. */
  tables?: string[];
  /** With a payment provider, which delivers through the gateway. */
  provider?: boolean;
}

/** One running process of the platform. */
export class AppProcess extends NodeProcess {
  constructor(
    readonly instance: Instance,
    env: NodeJS.ProcessEnv,
    readonly internalUrl: string,
    /** Of an app with an HTTP port: where clients reach this process. */
    readonly url: string,
    /** Where this process takes mail in; 0 of all but inbox-intake. */
    readonly smtpPort: number,
    entry?: string,
  ) {
    super(instance, entry ? path.join(ROOT, 'dist', entry) : built('bundles', nameOf(instance)), env);
  }

  async readyz(): Promise<{ status: number; body: { ready: boolean; checks: Record<string, string> } }> {
    const response = await fetch(`${this.internalUrl}/readyz`);
    return { status: response.status, body: (await response.json()) as { ready: boolean; checks: Record<string, string> } };
  }

  async metrics(): Promise<string> {
    return (await fetch(`${this.internalUrl}/metrics`)).text();
  }

  /** Waits until it says that it can work. */
  async ready(timeoutMs?: number): Promise<void> {
    await until(
      `${this.instance} becomes ready`,
      async () => {
        if (!this.isRunning) throw new Error(`${this.instance} ended before it was ready:\n${this.logs().slice(-3_000)}`);
        return (await this.readyz().catch(() => undefined))?.body.ready;
      },
      timeoutMs,
    );
  }
}

/** The built apps as processes, on a database of their own, with a model server. Everything ends with this process. */
export class Platform extends ApiClient {
  private constructor(
    url: string,
    demo: Demo,
    /** What every app was started with; behind a PgBouncer with another DATABASE_URL. */
    readonly env: NodeJS.ProcessEnv,
    readonly mock: NodeProcess,
    private readonly apps: Map<Instance, AppProcess>,
    /** Of this test's own; undefined where the shared one is used. */
    readonly postgres: OwnServer | undefined,
    readonly redis: OwnServer | undefined,
    readonly pgbouncer: OwnServer | undefined,
    private readonly balancers: Balancer[],
    private readonly cleanups: (() => Promise<unknown>)[],
  ) {
    super(url, demo);
  }

  static async start(options: PlatformOptions = {}): Promise<Platform> {
    const cleanups: (() => Promise<unknown>)[] = [];
    try {
      return await Platform.bringUp(options, cleanups);
    } catch (error) {
      await cleanUp(cleanups);
      throw error;
    }
  }

  private static async bringUp(
    {
      env = {},
      apps: instances = ['api-gateway', 'chat-worker'],
      balanced = false,
      own = [],
      maxConcurrentChats = 2_000,
      provider = false,
      entries = {},
      tables = [],
    }: PlatformOptions,
    cleanups: (() => Promise<unknown>)[],
  ): Promise<Platform> {
    const dir = mkdtempSync(path.join(tmpdir(), 'aps-e2e-'));
    cleanups.push(async () => rmSync(dir, { recursive: true, force: true }));
    const ownServer = async (kind: ServerKind, upstream?: string) => {
      if (!own.includes(kind)) return undefined;
      const server = await OwnServer.start(kind, upstream);
      cleanups.push(() => server.stop());
      return server;
    };
    const [postgres, redis, ports] = await Promise.all([
      ownServer('postgres'),
      ownServer('redis'),
      Promise.all(['mock', ...instances, 'provider'].map(() => freePort())),
    ]);
    const [mockPort] = ports;
    const mockUrl = `http://127.0.0.1:${mockPort}/v1`;
    const providerUrl = `http://127.0.0.1:${ports.at(-1)}`;

    const internal = new Map(instances.map((instance, i) => [instance, `http://127.0.0.1:${ports[i + 1]}`]));
    const httpPorts = new Map<Instance, number>();
    for (const instance of instances) if (!WORKERS.includes(nameOf(instance))) httpPorts.set(instance, await freePort());
    /** Where the processes of an app are reached. */
    const wayIn = new Map<AppName, number>();
    for (const [instance, port] of httpPorts)
      if (!wayIn.has(nameOf(instance))) wayIn.set(nameOf(instance), balanced ? await freePort() : port);
    const url = `http://127.0.0.1:${wayIn.get('api-gateway')}`;
    const database = await seeded({ own: postgres, isPooled: own.includes('pgbouncer') }, env, path.join(dir, 'seed.json'));
    cleanups.push(database.drop);
    const common: NodeJS.ProcessEnv = {
      ...settings(database.url),
      ...(redis && { REDIS_URL: redis.url }),
      APP_URL: url,
      MAIL_DIR: path.join(dir, 'mail'),
      FILES_DIR: path.join(dir, 'files'),
      MOCK_ROUTE_BASE_URL: mockUrl,
      ...(wayIn.has('admin-api') && { ADMIN_API_URL: `http://127.0.0.1:${wayIn.get('admin-api')}` }),
      ...(wayIn.has('billing-webhooks') && { BILLING_WEBHOOKS_URL: `http://127.0.0.1:${wayIn.get('billing-webhooks')}` }),
      ...(wayIn.has('inbox-intake') && { INBOX_INTAKE_URL: `http://127.0.0.1:${wayIn.get('inbox-intake')}` }),
      ...(provider && { POLAR_API_URL: providerUrl, POLAR_ACCESS_TOKEN: 'polar_oat_test', POLAR_WEBHOOK_SECRETS: WEBHOOK_SECRET }),
      ...env,
    };

    const mock = new NodeProcess('mock-model', built('tools', 'mock-model'), { ...common, PORT: String(mockPort) }).spawn();
    cleanups.push(() => mock.kill());
    await withDatabase(database.url, async (db) => {
      await db.execute(BE_GENEROUS, [PLAN, maxConcurrentChats]);
      await db.execute(LEAD_TO_MOCK, [mockUrl]);
      for (const table of tables) await db.execute(sql(table));
    });
    await mock.said(/"port"/);
    if (provider) {
      const delivering = { PORT: new URL(providerUrl).port, WEBHOOK_URL: `${url}/api/webhooks/polar`, WEBHOOK_SECRET };
      const books = new NodeProcess('local-provider', built('tools', 'local-provider'), {
        ...common,
        ...delivering,
        APS_DATA_DIR: dir,
      }).spawn();
      cleanups.push(() => books.kill());
      await books.said(/"port"/);
    }
    // Sessions that it had opened before the migration would be without what that gives them.
    const pgbouncer = await ownServer('pgbouncer', database.url);

    const processes = new Map<Instance, AppProcess>();
    for (const [instance, internalUrl] of internal) {
      const port = httpPorts.get(instance) ?? 0;
      const smtpPort = nameOf(instance) === 'inbox-intake' ? await freePort() : 0;
      const ports = {
        PORT: String(port),
        INTERNAL_PORT: new URL(internalUrl).port,
        SMTP_LISTEN_PORT: String(smtpPort),
        SMTP_CONNECTIONS_PER_ADDRESS: '100',
      };
      const app = new AppProcess(
        instance,
        { ...common, ...(pgbouncer && { DATABASE_URL: pgbouncer.url }), ...ports },
        internalUrl,
        `http://127.0.0.1:${port}`,
        smtpPort,
        entries[nameOf(instance)],
      );
      processes.set(instance, app);
      cleanups.push(() => app.terminate(10_000));
    }
    const balancers: Balancer[] = [];
    for (const [name, port] of balanced ? wayIn : []) {
      const balancer = await Balancer.start(
        port,
        [...processes.values()].filter(({ instance }) => nameOf(instance) === name),
      );
      balancers.push(balancer);
      cleanups.push(() => balancer.stop());
    }
    const platform = new Platform(
      url,
      JSON.parse(database.note) as Demo,
      common,
      mock,
      processes,
      postgres,
      redis,
      pgbouncer,
      balancers,
      cleanups,
    );
    for (const app of processes.values()) app.spawn();
    await Promise.all([...processes.keys()].map((instance) => platform.inService(instance)));
    return platform;
  }

  app(instance: Instance): AppProcess {
    const app = this.apps.get(instance);
    if (!app) throw new Error(`This platform has no ${instance}.`);
    return app;
  }

  /** Where the first inbox-intake takes mail in. */
  get smtpPort(): number {
    const intake = [...this.apps.values()].find(({ smtpPort }) => smtpPort > 0);
    if (!intake) throw new Error('This platform has no inbox-intake.');
    return intake.smtpPort;
  }

  /** Waits until a process can work, and until a balancer before it leads there. */
  async inService(instance: Instance): Promise<void> {
    const app = this.app(instance);
    await app.ready();
    const balancer = this.balancers.find((one) => one.balances(app));
    if (balancer) await until(`the balancer leads to ${instance}`, () => balancer.leadsTo(app));
  }

  /** Kills a process (SIGKILL), or sends it another signal. */
  kill(instance: Instance, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    return this.app(instance).kill(signal);
  }

  /** Starts a process again that has ended, or ends it first, and waits until it is ready. */
  async restart(instance: Instance, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const app = this.app(instance);
    if (signal === 'SIGTERM') await app.terminate();
    else await app.kill(signal);
    await app.spawn().ready();
  }

  /** What a process has written so far. */
  logs(instance: Instance): string {
    return this.app(instance).logs();
  }

  /** Reads the database, to check at the end what must hold. */
  async database<T>(fn: (db: Database) => Promise<T>): Promise<T> {
    return withDatabase(this.env.DATABASE_URL!, fn);
  }

  /** Ends everything, in order, and removes the database. */
  async stop(): Promise<void> {
    this.closeStreams();
    // Side by side: each drains what it runs. Then what they stand on.
    await Promise.all([...this.apps.values()].map((app) => app.terminate(10_000)));
    await cleanUp(this.cleanups);
  }
}

/** The default way in. */
export function startPlatform(options: PlatformOptions = {}): Promise<Platform> {
  return Platform.start(options);
}

async function cleanUp(cleanups: (() => Promise<unknown>)[]): Promise<void> {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
}

function setting(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: run the tests by \`npm test\`.`);
  return value;
}

/** Reads or changes a database from this process. */
export async function withDatabase<T>(url: string, fn: (db: Database) => Promise<T>): Promise<T> {
  // The data source reads the other settings (time-outs) from the configuration of this process.
  const before = { ...process.env };
  const environment = testEnvironment(url);
  Object.assign(process.env, environment);
  try {
    loadConfig();
    const dataSource = await createDataSource({ entities: [] }, { url, poolSize: 2, applicationName: 'aps-e2e' }).initialize();
    try {
      return await fn(new Database(dataSource));
    } finally {
      await dataSource.destroy();
    }
  } finally {
    for (const name of Object.keys(environment)) {
      if (before[name] === undefined) delete process.env[name];
      else process.env[name] = before[name];
    }
  }
}

/** What every process of a platform is told, before what depends on the others. */
function settings(databaseUrl: string): NodeJS.ProcessEnv {
  const { TEST_DATABASE_URL: _d, TEST_REDIS_URL: _r, ...inherited } = process.env;
  return {
    ...inherited,
    ...testEnvironment(databaseUrl),
    DATABASE_DIRECT_URL: databaseUrl,
    NODE_ENV: 'development',
    LOG_LEVEL: process.env.TEST_LOG_LEVEL ?? 'info',
    CREDITS_DEFAULT_NEW_ORG_PLAN: PLAN,
    MOCK_ROUTE_ENABLED: 'true',
  };
}

/**
 * A database with the demo, and what the seed wrote down of that. An own server has what the migration makes of an empty one; elsewhere that
 * is done once for all platforms with the same settings. A copy has no limits of sessions, which come by a pooler's one way: there it is
 * migrated once more.
 */
async function seeded(
  { own, isPooled }: { own: OwnServer | undefined; isPooled: boolean },
  env: Record<string, string>,
  file: string,
): Promise<DatabaseCopy> {
  const migrate = async (url: string) => {
    const migration = new NodeProcess('migrate', built('bundles', 'migrate'), { ...settings(url), ...env, DEV_SEED_FILE: file }).spawn();
    const { code } = await migration.ended;
    if (code !== 0) throw new Error(`The migration failed:\n${migration.logs()}`);
    return readFileSync(file, 'utf8');
  };
  if (own) {
    await withDatabase(own.url, (db) => db.execute(sql('CREATE DATABASE aps')));
    const url = Object.assign(new URL(own.url), { pathname: '/aps' }).toString();
    return { url, note: await migrate(url), drop: () => Promise.resolve() };
  }
  const version = JSON.stringify([statSync(built('bundles', 'migrate')).mtimeMs, env]);
  const copy = await withDatabase(setting('TEST_DATABASE_URL'), () => copyOfMade(version, migrate));
  // Whose demo is there is not given another.
  writeFileSync(file, copy.note);
  if (isPooled) await migrate(copy.url);
  return copy;
}
