import { BillingModule, OrgPlans } from '@aps/billing';
import { OrgsModule } from '@aps/orgs';
import { OrgsHttpModule } from '@aps/orgs/http';
import { MaintenanceModule } from '@aps/platform/maintenance';
import type { Bearer } from '@aps/platform/testing';
import { BASE_MODULES, TestService, type Settings } from '@aps/testing';
import { ConnectionsHttpModule } from '../http';
import { ConnectionsJobsModule } from '../jobs';
import { startToolServer, type TestToolServer, type ToolServerOptions } from '../mcp/testing/tool-server';

const MODULES = [
  ...BASE_MODULES,
  BillingModule,
  OrgsModule.forRoot(OrgPlans),
  OrgsHttpModule,
  ConnectionsHttpModule,
  MaintenanceModule,
  ConnectionsJobsModule,
];

/** What the tool server of specs wants as a bearer token, where it is asked below `/secret`. */
export const TOKEN = 'token-of-the-server-4f2a';

export const tool = (name: string, annotations: object = {}, description = `Does ${name}`) => ({
  ...{ name, description, annotations },
  inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
});

/** Connections behind HTTP, with a tool server at `url`, which is the demo of the catalog as well. */
export class ConnectionsTestService extends TestService {
  /** What the server has; specs change it. */
  readonly has: ToolServerOptions = {
    before: ({ url, headers }, response) => {
      const isRefused = url!.startsWith('/secret') && headers.authorization !== `Bearer ${TOKEN}`;
      if (isRefused) response.writeHead(401).end();
      return isRefused;
    },
  };
  server: TestToolServer;

  /** @param others starts servers that connections may name besides, and answers their addresses */
  constructor(private readonly others: () => Promise<string[]>) {
    super(MODULES);
  }

  /** An address of the server. */
  at(path: string): string {
    return new URL(path, this.server.url).href;
  }

  reset(): void {
    Object.assign(this.has, { tools: [tool('echo', { readOnlyHint: true }), tool('add_note')], resources: [] });
    this.server.seen.length = 0;
  }

  /** Makes a connection of the demo app. @returns it */
  async connect(org: { path: string }, as: Bearer, body: object = {}) {
    const made = await this.make('POST', `${org.path}/connections`, { as, body: { app_key: 'demo', method: 'none', ...body } });
    return made.connection as { id: string; integration_id: string; slug: string };
  }

  protected override async prepare(): Promise<void> {
    this.server = await startToolServer(this.has);
    const hosts = [this.server.url, ...(await this.others())].map((url) => new URL(url).host);
    const settings: Settings = { EGRESS_ALLOW: hosts.join(), DEMO_TOOLS_URL: this.server.url };
    this.configure(settings);
  }

  override async close(): Promise<void> {
    await super.close();
    await this.server?.close();
  }
}

export function connectionsService(others: () => Promise<string[]> = () => Promise.resolve([])): ConnectionsTestService {
  const service = new ConnectionsTestService(others);
  beforeAll(() => service.start());
  beforeEach(() => service.reset());
  afterAll(() => service.close());
  return service;
}
