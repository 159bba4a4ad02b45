import { setTimeout as sleep } from 'node:timers/promises';
import { loadConfig } from '@aps/platform/config';
import { Egress } from '@aps/platform/egress';
import { NotSent } from '@aps/tools';
import { McpToolServers } from './mcp-tool-servers';
import { Answered } from './session';
import { startToolServer, type Extra, type TestToolServer, type ToolServerOptions } from './testing/tool-server';
import { ServerFailed, Unauthorized, type ServerAddress, type ServerCall } from './tool-server';

const TOOL = { name: 'echo', description: 'says it again', inputSchema: { type: 'object', properties: { text: { type: 'string' } } } };
const text = (words: string) => ({ content: [{ type: 'text', text: words }] });

let egress: Egress;
let servers: McpToolServers;
let running: TestToolServer;

beforeEach(() => {
  loadConfig({ DATABASE_URL: 'postgres://nobody@127.0.0.1/none' });
  egress = new Egress();
  servers = new McpToolServers(egress);
});
afterEach(async () => {
  await egress.onApplicationShutdown();
  await running?.close();
});

const start = async (options: ToolServerOptions = {}): Promise<ServerAddress> => {
  running = await startToolServer(options);
  return { url: running.url, headers: { Authorization: 'Bearer secret' }, trusted: true };
};
const soon = (ms = 10_000): AbortSignal => AbortSignal.timeout(ms);
const aCall = (name: string, rest: Partial<ServerCall> = {}): ServerCall => ({
  name,
  args: { text: 'hi' },
  idempotencyKey: 'turn/1/call',
  signal: soon(),
  progressed: () => undefined,
  ...rest,
});
const failed = (message: string) => ({ constructor: ServerFailed, message });
const until = async (holds: () => boolean): Promise<void> => {
  for (let waited = 0; !holds() && waited < 5_000; waited += 10) await sleep(10);
  expect(holds()).toBe(true);
};

describe.each(['http', 'json', 'sse'] as const)('over %s', (transport) => {
  it('lists by all cursors, and calls under a key', async () => {
    const tools = [
      { ...TOOL, title: 'Echo', annotations: { readOnlyHint: true, openWorldHint: true } },
      { name: 'plain', inputSchema: { type: 'object' } },
      { ...TOOL, name: 'third' },
    ];
    const server = await start({ transport, tools, pageSize: 2, calls: { echo: ({ text: words }) => text(`you said ${String(words)}`) } });
    const listing = await servers.list(server, soon());
    expect(listing.hasResources).toBe(false);
    expect(listing.tools.map(({ name }) => name)).toEqual(['echo', 'plain', 'third']);
    expect(listing.tools[0]).toEqual({
      name: 'echo',
      title: 'Echo',
      description: 'says it again',
      input_schema: TOOL.inputSchema,
      hints: { readOnlyHint: true },
    });
    expect(await servers.call(server, aCall('echo'))).toEqual({ content: 'you said hi', isError: false });
    const call = running.seen.find(({ rpc }) => rpc === 'tools/call')!;
    expect(call.params).toMatchObject({ arguments: { text: 'hi' }, _meta: { idempotency_key: 'turn/1/call' } });
    expect(running.seen.every(({ headers }) => headers.authorization === 'Bearer secret')).toBe(true);
    // We offer nothing that a server could ask for.
    expect(running.seen.find(({ rpc }) => rpc === 'initialize')!.params!.capabilities).toEqual({});
  });

  it('tells of progress, and what the server says instead of a result', async () => {
    const notify = (extra: Extra) =>
      extra.sendNotification({
        method: 'notifications/progress',
        params: { progressToken: extra._meta!.progressToken!, progress: 1 },
      });
    let progress = 0;
    const server = await start({
      transport,
      calls: {
        work: async (_args, extra) => {
          await notify(extra);
          // A server that answers by one JSON text has no way to tell of any.
          if (transport !== 'json') await until(() => progress === 1);
          return text('worked');
        },
        fails: () => ({ ...text('no such note'), isError: true }),
        throws: () => Promise.reject(new Error('what is that?')),
      },
    });
    expect(await servers.call(server, aCall('work', { progressed: () => progress++ }))).toEqual({ content: 'worked', isError: false });
    expect(await servers.call(server, aCall('fails'))).toEqual({ content: 'no such note', isError: true });
    expect(await servers.call(server, aCall('throws'))).toEqual({ content: 'what is that?', isError: true });
  });

  it('tells the server that a call is cancelled', async () => {
    let isCancelled = false;
    const stop = new AbortController();
    const server = await start({
      transport,
      calls: {
        hang: (_args, { signal }) =>
          new Promise((resolve) => {
            signal.addEventListener('abort', () => resolve((isCancelled = true)));
            stop.abort();
          }),
      },
    });
    await expect(servers.call(server, aCall('hang', { signal: stop.signal }))).rejects.toThrow(ServerFailed);
    await until(() => isCancelled);
    expect(running.methods()).toContain('notifications/cancelled');
  });

  it('does not know what became of a call in the middle of which the server breaks off', async () => {
    const server = await start({ transport, calls: { leave: () => setImmediate(() => running.drop()) && new Promise(() => undefined) } });
    const failure = await servers.call(server, aCall('leave')).catch((error: unknown) => error);
    expect(failure).toMatchObject(
      failed(transport === 'json' ? 'The exchange with the address failed.' : 'The server broke off its answer.'),
    );
  });

  it('takes no more of a list or of a result than may be', async () => {
    const many = (count: number, description = '') => Array.from({ length: count }, (_, i) => ({ ...TOOL, name: `t${i}`, description }));
    const big = { big: () => text('x'.repeat(5 * 1024 * 1024)), near: () => text('x'.repeat(2_000_000)) };
    const server = await start({ transport, tools: many(501), pageSize: 100, calls: big });
    await expect(servers.list(server, soon())).rejects.toThrow('The server has more than 500 tools.');
    await expect(servers.call(server, aCall('big'))).rejects.toThrow('The answer is too large.');
    expect((await servers.call(server, aCall('near'))).content).toHaveLength(2_000_000);
    await running.close();
    const wordy = await start({ transport, tools: many(400, 'x'.repeat(3_000)), pageSize: 50 });
    await expect(servers.list(wordy, soon())).rejects.toMatchObject(failed('The answer is too large.'));
  });

  it('lists and reads resources', async () => {
    const resources = Array.from({ length: 25 }, (_, i) => ({
      uri: `notes://demo/${i}`,
      name: `note ${i}`,
      mimeType: 'text/plain',
      text: `n${i}`,
    }));
    const bytes = Buffer.from([0, 255, 1]);
    const server = await start({
      transport,
      pageSize: 10,
      resources: [...resources, { uri: 'notes://demo/blob', name: 'blob', blob: bytes.toString('base64') }],
    });
    expect((await servers.list(server, soon())).hasResources).toBe(true);
    const listed = await servers.resources(server, soon());
    expect(listed).toHaveLength(26);
    expect(listed[7]).toEqual({ uri: 'notes://demo/7', name: 'note 7', media_type: 'text/plain', modified: null });
    expect(await servers.read(server, 'notes://demo/7', soon())).toEqual({ media_type: 'text/plain', bytes: Buffer.from('n7') });
    expect(await servers.read(server, 'notes://demo/blob', soon())).toEqual({ media_type: null, bytes });
    await expect(servers.read(server, 'notes://demo/none', soon())).rejects.toThrow(ServerFailed);
  });
});

it('tells who wants other credentials from all others, with its challenge', async () => {
  const server = await start({
    before: (_req, res) => !!res.writeHead(401, { 'www-authenticate': 'Bearer resource_metadata="x"' }).end(),
  });
  for (const asked of [servers.list(server, soon()), servers.call(server, aCall('echo')), servers.read(server, 'a:b', soon())]) {
    const failure = await asked.catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(Unauthorized);
    expect(failure).toMatchObject({ challenge: 'Bearer resource_metadata="x"' });
  }
});

it('does not take what credentials may not do for a fault of these', async () => {
  const server = await start({ before: (_req, res) => !!res.writeHead(403).end() });
  for (const asked of [servers.list(server, soon()), servers.resources(server, soon()), servers.read(server, 'a:b', soon())])
    await expect(asked).rejects.toMatchObject({
      constructor: Answered,
      message: 'The server does not permit this with these credentials.',
    });
});

describe('a call that surely never got there', () => {
  const notSent = async (server: ServerAddress, rest?: Partial<ServerCall>) => {
    const failure = await servers.call(server, aCall('echo', rest)).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(NotSent);
    return (failure as Error).message;
  };

  it.each([400, 404, 429, 500])('is one whose session is answered by %i', async (status) => {
    const server = await start({ before: (req, res) => !!res.writeHead(req.method === 'GET' ? 405 : status).end() });
    expect(await notSent(server)).toBe(`The server answered with status ${status}.`);
  });

  it('is one to an address that is refused, or that nobody listens at', async () => {
    const server = await start();
    expect(await notSent({ ...server, trusted: false })).toContain('https://');
    expect(await notSent({ ...server, trusted: false, url: server.url.replace('http', 'https') })).toContain('public internet');
    expect(running.seen).toEqual([]);
    await running.close();
    expect(await notSent(server)).toBe('The address does not accept connections.');
  });

  it('is one that its server says it has not taken, and none that it may have', async () => {
    let status = 404;
    const server = await start({ before: (_req, res, rpc) => rpc === 'tools/call' && !!res.writeHead(status).end() });
    expect(await notSent(server)).toBe('The server answered with status 404.');
    status = 403;
    expect(await notSent(server)).toBe('The server does not permit this with these credentials.');
    status = 502;
    const failure = await servers.call(server, aCall('echo')).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ServerFailed);
    expect(failure).toMatchObject({ message: 'The server answered with status 502.' });
  });

  it('is one that ends before there is a session', async () => {
    const server = await start({ before: () => true });
    expect(await notSent(server, { signal: soon(50) })).toBe('The server took too long to answer.');
  });
});

it.each([301, 302, 303, 307, 308])('follows no redirect, %i, with its credentials', async (status) => {
  const server = await start({ before: (req, res) => req.url === '/mcp' && !!res.writeHead(status, { location: '/other' }).end() });
  await expect(servers.list(server, soon())).rejects.toMatchObject(failed('The address redirects elsewhere.'));
  expect(new Set(running.seen.map(({ http }) => http))).toEqual(new Set(['POST']));
});

it('takes its credentials to no other origin, wherever a server wants to be asked', async () => {
  const other = await startToolServer();
  const endpoint = `event: endpoint\ndata: ${other.url}\n\n`;
  const server = await start({
    transport: 'sse',
    before: (req, res) => req.method === 'GET' && res.writeHead(200, { 'content-type': 'text/event-stream' }).write(endpoint),
  });
  await expect(servers.list(server, soon())).rejects.toThrow(ServerFailed);
  expect(other.seen).toEqual([]);
  await other.close();
});

it.each([
  ['a page', 'text/html', '<html>'],
  ['no JSON', 'application/json', '{"jsonrpc":'],
  ['another JSON', 'application/json', '{"ok":true}'],
  ['an event of none', 'text/event-stream', 'data: {"ok":true}\n\n'],
  ['an empty stream', 'text/event-stream', ''],
])('gives a server up that answers %s', async (_what, type, body) => {
  const server = await start({ before: (_req, res) => !!res.writeHead(200, { 'content-type': type }).end(body) });
  const failure = await servers.list(server, soon()).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(ServerFailed);
  expect(failure).not.toMatchObject({ message: expect.stringContaining('too long') });
});

it('gives a server up that answers nothing in time, over either transport', async () => {
  for (const transport of ['http', 'sse'] as const) {
    const server = await start({
      transport,
      before: (req, res) =>
        transport === 'http' || (req.method === 'GET' && !!res.writeHead(200, { 'content-type': 'text/event-stream' }).write(':\n\n')),
    });
    await expect(servers.list(server, soon(100))).rejects.toMatchObject(failed('The server took too long to answer.'));
    if (transport === 'http') await running.close();
  }
});

it('hears the end of an answer that its server lets be asked for again', async () => {
  const server = await start({
    resumable: true,
    calls: {
      slow: async (_args, extra) => {
        extra.closeSSEStream!();
        await sleep(50);
        return text('late');
      },
    },
  });
  expect(await servers.call(server, aCall('slow'))).toEqual({ content: 'late', isError: false });
  expect(running.seen.some(({ http, headers }) => http === 'GET' && headers['last-event-id'])).toBe(true);
});

it('does not go in circles where cursors do', async () => {
  const server = await start({ pageSize: 0, tools: [TOOL] });
  await expect(servers.list(server, soon())).rejects.toThrow('does not end');
});
