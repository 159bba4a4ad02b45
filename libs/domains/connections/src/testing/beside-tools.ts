import type { TestService } from '@aps/testing';
import { startToolServer, type TestToolServer, type ToolServerOptions } from '../mcp/testing/tool-server';

/** The same test service with a tool server beside it, which is the demo of the catalog. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- what a class that is extended in this way has to be
export function besideTools<Service extends new (...args: any[]) => TestService>(service: Service) {
  return class extends service {
    /** What the server has; specs change it. */
    readonly has: ToolServerOptions = {};
    server: TestToolServer;

    protected override async prepare(): Promise<void> {
      await super.prepare();
      this.server = await startToolServer(this.has);
      this.configure({ EGRESS_ALLOW: new URL(this.server.url).host, DEMO_TOOLS_URL: this.server.url });
    }

    override async close(): Promise<void> {
      await super.close();
      await this.server?.close();
    }
  };
}
