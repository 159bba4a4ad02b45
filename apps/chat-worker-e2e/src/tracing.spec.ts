import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { script, startPlatform, until, type Platform } from '../../api-gateway-e2e/support';

interface SeenSpan {
  service: string;
  name: string;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  attributes: Record<string, unknown>;
  failed: boolean;
}

type Attribute = { key: string; value: Record<string, unknown> };
const asRecord = (attributes: Attribute[]) => Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));

/** A collector that takes OTLP as JSON over HTTP and remembers what it was sent. */
class Collector {
  readonly bodies: string[] = [];
  readonly spans: SeenSpan[] = [];
  private readonly server = http.createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8');
      if (request.url !== '/v1/traces' || request.headers['content-type'] !== 'application/json') return response.writeHead(404).end();
      this.bodies.push(body, JSON.stringify(request.headers));
      this.take(JSON.parse(body));
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });

  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- the wire form of OTLP
  private take(body: any): void {
    for (const { resource, scopeSpans } of body.resourceSpans) {
      const service = asRecord(resource.attributes)['service.name'] as string;
      for (const { spans } of scopeSpans) {
        for (const span of spans) {
          this.spans.push({
            service,
            name: span.name,
            traceId: span.traceId,
            spanId: span.spanId,
            parentSpanId: span.parentSpanId,
            attributes: asRecord(span.attributes),
            failed: span.status.code === 2,
          });
        }
      }
    }
  }

  async start(): Promise<string> {
    this.server.listen(0, '127.0.0.1').unref();
    await once(this.server, 'listening');
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }
}

describe('traces', () => {
  const collector = new Collector();
  let platform: Platform;

  beforeAll(async () => {
    platform = await startPlatform({
      apps: ['api-gateway', 'admin-api', 'chat-worker'],
      env: { OTEL_EXPORTER_OTLP_ENDPOINT: await collector.start() },
    });
  });
  afterAll(async () => {
    await platform?.stop();
  });

  const named = (service: string, name: string) => collector.spans.filter((s) => s.service === service && s.name === name);
  const childrenOf = (parent: SeenSpan) => collector.spans.filter((s) => s.parentSpanId === parent.spanId && s.traceId === parent.traceId);

  it('follow a turn through gateway and worker, and an operator’s request to admin-api', async () => {
    const todo = { name: 'todo_write', arguments: { todos: [{ title: 'buy-plutonium', status: 'pending' }] } };
    const chat = await platform.openChat();
    const sent = await platform.send(
      chat,
      `hush-hush ${script({ text: 'thinking-aloud', tool_calls: [todo, { name: 'made_up_name', arguments: {} }] }, { text: 'answered-in-secret' })}`,
    );
    expect(sent.status).toBe(202);
    await platform.settled(chat, 1);
    await platform.call('GET', '/api/orgs/hush-path?token=hush-query');
    const caller = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    expect((await platform.admin('GET', '/orgs?q=hush-query')).status).toBe(200);
    expect((await platform.call('GET', '/api/orgs', { headers: { traceparent: caller } })).status).toBe(200);
    // Ended at once, long before the next batch is due: what is left is sent first.
    await Promise.all([
      platform.restart('chat-worker', 'SIGTERM'),
      platform.restart('api-gateway', 'SIGTERM'),
      platform.restart('admin-api', 'SIGTERM'),
    ]);

    const [post] = named('aps-api-gateway', 'POST /api/orgs/:org_id/agents/:agent_id/chats/:chat_id/messages');
    expect(post).toMatchObject({
      failed: false,
      attributes: { 'http.response.status_code': 202, 'http.request.method': 'POST', 'aps.request_id': expect.any(String) },
    });
    expect(post.parentSpanId || undefined).toBeUndefined();
    const [job, ...noOther] = childrenOf(post);
    expect([job.service, job.name, noOther]).toEqual(['aps-chat-worker', 'job turn.run', []]);
    expect(job.attributes).toMatchObject({
      'aps.job.id': sent.body.turn_id,
      'aps.queue': 'turns',
      'aps.request_id': post.attributes['aps.request_id'],
    });
    const turn = childrenOf(job).find((s) => s.name === 'turn')!;
    expect(turn.attributes).toMatchObject({ 'aps.turn.id': sent.body.turn_id, 'aps.chat.id': chat, 'aps.outcome': 'done' });
    expect(
      childrenOf(turn)
        .map((s) => [s.name, s.failed])
        .sort(),
    ).toEqual([
      ['model call', false],
      ['model call', false],
      ['tool todo_write', false],
      ['tool unknown', true],
    ]);
    expect(childrenOf(turn)[0].attributes).toMatchObject({
      'aps.route': expect.any(String),
      'aps.model': 'mock',
      'aps.tokens.input': expect.anything(),
      'aps.tokens.output': expect.anything(),
    });

    const [hop] = named('aps-api-gateway', 'GET /api/admin/*path');
    const admin = collector.spans.find((s) => s.service === 'aps-admin-api' && s.name === 'GET /api/admin/orgs')!;
    const hops = collector.spans.filter((s) => s.spanId === admin.parentSpanId);
    expect(hops).toMatchObject([{ service: 'aps-api-gateway', traceId: admin.traceId, name: hop.name }]);
    expect(collector.spans.find((s) => s.spanId === hops[0].parentSpanId)).toMatchObject({
      service: 'aps-api-gateway',
      traceId: admin.traceId,
    });
    expect(named('aps-api-gateway', 'GET /api/orgs')).toMatchObject([{ traceId: caller.slice(3, 35), parentSpanId: caller.slice(36, 52) }]);

    const everything = collector.bodies.join('\n');
    const { api_token: token, admin_token: adminToken } = platform.demo;
    for (const secret of [
      'hush',
      'buy-plutonium',
      'thinking-aloud',
      'answered-in-secret',
      'made_up_name',
      'You said',
      token,
      adminToken,
      platform.env.MASTER_KEYS!,
      platform.env.INTERNAL_TOKEN_SECRET!,
      new URL(platform.env.DATABASE_URL!).password,
    ]) {
      expect(secret.length).toBeGreaterThan(3);
      expect(everything).not.toContain(secret);
    }
  });

  it('do no harm when the collector is gone', async () => {
    await collector.stop();
    const chat = await platform.openChat();
    await platform.say(chat, 'hello');
    await platform.settled(chat, 1);
    await until('it says so', () => platform.logs('chat-worker').includes('Spans could not be sent'));
    await platform.restart('chat-worker', 'SIGTERM');
  });
});
