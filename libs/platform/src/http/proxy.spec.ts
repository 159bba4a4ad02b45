import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo, Server } from 'node:net';
import express, { type Request } from 'express';
import { pino } from 'pino';
import { Histogram } from 'prom-client';
import { sendError } from './error.filter';
import { proxyRequest } from './proxy';
import { requestContext, type RequestContext } from './request-context';

const listening = async (server: Server): Promise<number> => {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
};

/** A gateway that sends all requests on to a service. */
const gatewayTo = (baseUrl: string): Server => {
  const logger = pino({ enabled: false });
  const duration = new Histogram({ name: 'test_seconds', help: 'test', labelNames: ['method', 'route', 'status'], registers: [] });
  const app = express().use(requestContext(logger, duration));
  app.use((request, response) => void proxyRequest(request as Request & RequestContext, response, { baseUrl, timeoutMs: 10_000 }, {}));
  return http.createServer(app);
};

describe('a body of no announced length', () => {
  it.each(['DELETE', 'GET', 'POST'])('of a %s is a body behind, too, and no request of its own', async (method) => {
    const smuggled = 'POST /internal HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n';
    const reached: string[] = [];
    const upstream = http.createServer((request, response) => {
      let body = '';
      request
        .on('data', (piece: Buffer) => (body += piece.toString()))
        .on('end', () => {
          reached.push(`${request.method} ${request.url} ${body}`);
          response.end();
        });
    });
    const gateway = gatewayTo(`http://127.0.0.1:${await listening(upstream)}`);
    const request = http.request({ port: await listening(gateway), method, path: '/api/x', headers: { 'transfer-encoding': 'chunked' } });
    request.end(smuggled);
    const [answer] = (await once(request, 'response')) as [http.IncomingMessage];
    answer.resume();
    await once(answer, 'end');
    expect(reached).toEqual([`${method} /api/x ${smuggled}`]);
    gateway.close();
    upstream.close();
  });
});

describe('a service that answers before it has the whole body', () => {
  it('is heard, and the connection of the client goes on', async () => {
    const upstream = http.createServer((request, response) => {
      const status = Number(request.headers['content-length']) > 1_000 ? 413 : 200;
      response.writeHead(status).end(`${status}`);
    });
    const gateway = gatewayTo(`http://127.0.0.1:${await listening(upstream)}`);
    const port = await listening(gateway);
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    const statuses: (number | undefined)[] = [];
    let connections = 0;
    gateway.on('connection', () => connections++);
    for (const size of [8 * 1024 * 1024, 10, 8 * 1024 * 1024, 10]) {
      const request = http.request({ port, agent, method: 'POST', path: '/api/admin/x', headers: { 'content-length': size } });
      request.end(Buffer.alloc(size));
      const [answer] = (await once(request, 'response')) as [http.IncomingMessage];
      answer.resume();
      await once(answer, 'end');
      statuses.push(answer.statusCode);
    }
    expect([statuses, connections]).toEqual([[413, 200, 413, 200], 1]);
    agent.destroy();
    gateway.close();
    upstream.close();
  });
});

describe('a client that has left before the proxy runs', () => {
  it.each(['GET', 'POST'])('is no error, and nothing of its %s reaches the service', async (method) => {
    const reached: string[] = [];
    const upstream = http.createServer((request, response) => {
      reached.push(request.url ?? '');
      response.end();
    });
    const baseUrl = `http://127.0.0.1:${await listening(upstream)}`;

    const lines: Record<string, unknown>[] = [];
    const logger = pino({ base: undefined }, { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) });
    const duration = new Histogram({ name: 'test_seconds', help: 'test', labelNames: ['method', 'route', 'status'], registers: [] });
    const app = express().use(requestContext(logger, duration));
    const handled = new Promise<void>((resolve) => {
      app.all('/api/admin/x', (request, response) => {
        client.destroy();
        // What happens while a guard looks into the database.
        response.once('close', () => {
          void proxyRequest(request as Request & RequestContext, response, { baseUrl, timeoutMs: 10_000 }, {})
            .catch((error: unknown) => sendError(error, request, response, logger as never))
            .finally(resolve);
        });
      });
    });
    const gateway = http.createServer(app);
    const client = http.request({
      port: await listening(gateway),
      method,
      path: '/api/admin/x',
      headers: method === 'POST' ? { 'content-length': '1000' } : {},
    });
    client.on('error', () => undefined).flushHeaders();

    await handled;
    expect(lines).toEqual([expect.objectContaining({ level: 30, status: 499, aborted: true, route: '/api/admin/x' })]);
    expect((await duration.get()).values.find((v) => v.labels.status === '499')).toBeDefined();
    gateway.close();
    upstream.close();
    await once(upstream, 'close');
    expect(reached).toEqual([]);
  });
});
