import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { DemoApps, type Before } from './apps';
import { demoServer } from './demo-server';
import { Notes, type DemoCall } from './notes';

/** Sessions that nobody has ended; the oldest goes first. */
const MAX_SESSIONS = 1_000;

export interface DemoToolsOptions {
  port?: number;
  host?: string;
  /** Who brings a key must bring this one; without one here, every key does. Nobody needs to bring any. */
  apiKey?: string;
  /** Answers questions to the provider of managed apps in its place. */
  before?: Before;
}

export interface DemoTools {
  /** Where its tools are asked: http://127.0.0.1:4020/mcp */
  url: string;
  port: number;
  /** The calls that have arrived, the last thousand of them, in their order. */
  calls: readonly DemoCall[];
  /** The provider of managed apps, which is asked at the origin of `url`. */
  apps: DemoApps;
  close(): Promise<void>;
}

/** A server of tools and resources, and a provider of managed apps, for development and tests. README.md says what it has. */
export async function startDemoTools({ port = 0, host = '127.0.0.1', apiKey, before }: DemoToolsOptions = {}): Promise<DemoTools> {
  const notes = new Notes();
  let origin = '';
  const apps = new DemoApps(() => origin, before);
  const sessions = new Map<string, StreamableHTTPServerTransport>();

  const open = async (): Promise<StreamableHTTPServerTransport> => {
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => {
        sessions.set(id, transport);
        if (sessions.size > MAX_SESSIONS) void sessions.values().next().value!.close();
      },
    });
    const server = demoServer(notes);
    await server.connect(transport as Parameters<typeof server.connect>[0]);
    server.server.onclose = () => void (transport.sessionId && sessions.delete(transport.sessionId));
    return transport;
  };

  const answer = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const path = (req.url ?? '').split('?')[0];
    if (path === '/healthz') return send(res, 200, { status: 'ok' });
    if (await apps.answer(req, res)) return;
    if (path !== '/mcp') return send(res, 404, { error: 'The tools are at /mcp.' });
    const key = keyOf(req);
    if (apiKey && key !== undefined && key !== apiKey)
      return send(res, 401, { error: 'This is another key.' }, { 'www-authenticate': 'Bearer' });
    const id = req.headers['mcp-session-id'];
    const known = sessions.get(String(id));
    if (id && !known) return send(res, 404, { error: 'There is no such session.' });
    await (known ?? (await open())).handleRequest(req, res);
  };

  const server = createServer((req, res) => void answer(req, res).catch(() => res.destroy()));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const address = server.address() as AddressInfo;
  const name = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  origin = `http://${name}:${address.port}`;
  return {
    port: address.port,
    url: `${origin}/mcp`,
    calls: notes.calls,
    apps,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** In either of the two headers that keys travel in. */
function keyOf({ headers }: IncomingMessage): string | undefined {
  return headers.authorization?.replace(/^Bearer /i, '') ?? (headers['x-api-key'] as string | undefined);
}

function send(res: ServerResponse, status: number, body: object, headers: Record<string, string> = {}): void {
  res.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}
