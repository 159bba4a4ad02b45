import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { InMemoryEventStore } from '@modelcontextprotocol/sdk/examples/shared/inMemoryEventStore.js';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import {
  CallToolRequestSchema,
  ListResourcesRequestSchema,
  ListToolsRequestSchema,
  McpError,
  ReadResourceRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';

type Schema = Parameters<Server['setRequestHandler']>[0];
type Handler = Parameters<Server['setRequestHandler']>[1];
/** What a handler may do beside answering. */
export type Extra = Parameters<Handler>[1];
export type ToolHandler = (args: Record<string, unknown>, extra: Extra) => unknown;

export interface ToolServerOptions {
  /** `sse` is the older transport. */
  transport?: 'http' | 'sse' | 'json';
  tools?: Record<string, unknown>[];
  /** Of tools and resources. Default: all on one. */
  pageSize?: number;
  calls?: Record<string, ToolHandler>;
  resources?: { uri: string; name: string; mimeType?: string; text?: string; blob?: string; annotations?: object }[];
  /** Resources that are listed and not there any more. */
  unreadable?: string[];
  /** Its answers by Streamable HTTP can be asked for again where they break off. */
  resumable?: boolean;
  /** Makes what answers in a session, as with the SDK's `McpServer`; none of the others counts then. */
  sdk?: () => Server;
  /** Answers a request itself when it returns true. `rpc` is the method that the body names. */
  before?: (req: IncomingMessage, res: ServerResponse, rpc: string) => boolean;
}

export interface Seen {
  http: string;
  headers: IncomingMessage['headers'];
  rpc: string;
  params?: Record<string, unknown>;
}

export interface TestToolServer {
  url: string;
  seen: Seen[];
  /** The methods of the protocol that were heard, in their order. */
  methods: () => string[];
  /** Cuts all connections off. */
  drop: () => void;
  close: () => Promise<void>;
}

/** A server of tools made with the SDK's own server, on a real socket. */
export async function startToolServer(options: ToolServerOptions = {}): Promise<TestToolServer> {
  const seen: Seen[] = [];
  const sessions = new Map<string, StreamableHTTPServerTransport | SSEServerTransport>();

  const open = async (): Promise<StreamableHTTPServerTransport> => {
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      enableJsonResponse: options.transport === 'json',
      ...(options.resumable && { eventStore: new InMemoryEventStore(), retryInterval: 10 }),
      onsessioninitialized: (id) => void sessions.set(id, transport),
    });
    await serverOf(options).connect(transport as Parameters<Server['connect']>[0]);
    return transport;
  };

  const answer = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const raw = await text(req);
    const body = (raw ? JSON.parse(raw) : {}) as { method?: string; params?: Record<string, unknown> };
    const rpc = body.method ?? '';
    seen.push({ http: req.method!, headers: req.headers, rpc, params: body.params });
    if (options.before?.(req, res, rpc)) return;
    const url = new URL(req.url!, 'http://tools.example');
    if (options.transport !== 'sse') {
      const known = sessions.get(String(req.headers['mcp-session-id'])) as StreamableHTTPServerTransport | undefined;
      if (!known && req.headers['mcp-session-id']) return void res.writeHead(404).end();
      return (known ?? (await open())).handleRequest(req, res, raw ? body : undefined);
    }
    if (req.method === 'GET') {
      const transport = new SSEServerTransport('/messages', res);
      sessions.set(transport.sessionId, transport);
      return serverOf(options).connect(transport);
    }
    const known = sessions.get(url.searchParams.get('sessionId') ?? '') as SSEServerTransport | undefined;
    return known ? known.handlePostMessage(req, res, body) : void res.writeHead(405).end();
  };

  const server = createServer((req, res) => void answer(req, res).catch(() => res.destroy()));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    seen,
    methods: () => seen.map(({ rpc }) => rpc).filter(Boolean),
    drop: () => server.closeAllConnections(),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function serverOf({ sdk, tools = [], calls = {}, resources, unreadable = [], pageSize = Infinity }: ToolServerOptions): Server {
  if (sdk) return sdk();
  const server = new Server({ name: 'test', version: '1' }, { capabilities: { tools: {}, ...(resources && { resources: {} }) } });
  const on = (schema: unknown, handler: (params: Record<string, unknown>, extra: Extra) => unknown): void =>
    server.setRequestHandler(
      schema as Schema,
      ((request: { params?: Record<string, unknown> }, extra: Extra) => handler(request.params ?? {}, extra)) as Handler,
    );
  const paged = <T>(all: T[], cursor: unknown) => {
    const from = Number(cursor ?? 0);
    const to = from + pageSize;
    return { page: all.slice(from, to), ...(to < all.length && { nextCursor: String(to) }) };
  };
  on(ListToolsRequestSchema, ({ cursor }) => {
    const { page, ...rest } = paged(tools, cursor);
    return { tools: page, ...rest };
  });
  on(CallToolRequestSchema, ({ name, arguments: args }, extra) => calls[name as string](args as Record<string, unknown>, extra));
  if (!resources) return server;
  on(ListResourcesRequestSchema, ({ cursor }) => {
    const { page, ...rest } = paged(resources, cursor);
    return { resources: page.map(({ text: _text, blob: _blob, ...listed }) => listed), ...rest };
  });
  on(ReadResourceRequestSchema, ({ uri }) => {
    if (unreadable.includes(uri as string)) throw new McpError(-32_002, 'Resource not found');
    return { contents: resources.filter((resource) => resource.uri === uri) };
  });
  return server;
}
