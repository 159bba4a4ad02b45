import { once } from 'node:events';
import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { setImmediate as afterPolling } from 'node:timers/promises';
import v8 from 'node:v8';
import vm from 'node:vm';
import type { Express, Request, Response } from 'express';
import { HttpAdapter } from './express-adapter';

/** The next request to that path, and the response that the test gives it. */
function arrival(app: Express, path: string): Promise<[Request, Response]> {
  return new Promise((resolve) => app.all(path, (request, response) => resolve([request, response])));
}

it('requests and answers have room for what they carry, and are no dictionaries', async () => {
  v8.setFlagsFromString('--allow-natives-syntax');
  const isFast = new vm.Script('(object) => %HasFastProperties(object)').runInThisContext() as (object: object) => boolean;
  // Compiled when it is called.
  expect(isFast({})).toBe(true);
  v8.setFlagsFromString('--no-allow-natives-syntax');
  const adapter = new HttpAdapter();
  adapter.initHttpServer({});
  const server = (adapter.getHttpServer() as http.Server).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const arrived = arrival(adapter.getInstance(), '/');
  const asking = http.get({ host: '127.0.0.1', port: (server.address() as AddressInfo).port, agent: false });
  const [request, response] = await arrived;
  Object.assign(request, { principal: {}, orgScope: {}, confirm: () => undefined, requestId: '1', traceparent: '2' });
  expect([request, response].map(isFast)).toEqual([true, true]);
  response.json({});
  const [answer] = (await once(asking, 'response')) as [http.IncomingMessage];
  answer.resume();
  await adapter.close();
});

describe('the end of an HTTP server', () => {
  let adapter: HttpAdapter;
  let app: Express;
  let port: number;
  let agent: http.Agent;

  beforeEach(async () => {
    adapter = new HttpAdapter();
    adapter.initHttpServer({});
    app = adapter.getInstance<Express>();
    app.get('/', (_request, response) => void response.json({}));
    const server = adapter.getHttpServer() as http.Server;
    // No test waits for it.
    server.keepAliveTimeout = 600_000;
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    ({ port } = server.address() as AddressInfo);
    agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  });
  afterEach(async () => {
    agent.destroy();
    await adapter.close();
  });

  const get = async (path = '/', options: http.RequestOptions = {}) => {
    const request = http.get({ host: '127.0.0.1', port, path, agent, ...options });
    const [response] = (await once(request, 'response')) as [http.IncomingMessage];
    let text = '';
    for await (const chunk of response) text += String(chunk);
    return { status: response.statusCode, connection: response.headers.connection, reused: request.reusedSocket, text };
  };
  const connect = async () => {
    const socket = net.connect(port, '127.0.0.1');
    await once(socket, 'connect');
    return socket;
  };

  it('is told with every answer, on connections old and new, while both are still served', async () => {
    expect(await get()).toMatchObject({ connection: 'keep-alive' });
    adapter.release();
    expect(await get()).toMatchObject({ status: 200, connection: 'close', reused: true });
    expect(await get()).toMatchObject({ status: 200, connection: 'close', reused: false });
  });

  it('is told by an answer whose request had come before', async () => {
    const arrived = arrival(app, '/slow');
    const answer = get('/slow');
    const [, response] = await arrived;
    adapter.release();
    response.writeHead(200, { 'content-type': 'text/plain' }).end('here you are');
    expect(await answer).toMatchObject({ status: 200, connection: 'close', text: 'here you are' });
  });

  it('waits for running requests and for what is on its way to a slow client, but not for a client that goes on and on', async () => {
    const arrived = arrival(app, '/slow');
    const big = 'x'.repeat(8 * 1024 * 1024);
    const slow = get('/slow', { agent: undefined });
    const [, response] = await arrived;
    // More than sockets hold, read by nobody yet.
    app.get('/big', (_request, answer) => void answer.type('text').send(big));
    const request = http.get({ host: '127.0.0.1', port, path: '/big', agent: false });
    const [unread] = (await once(request, 'response')) as [http.IncomingMessage];
    const busy = (async () => {
      for (let answers = 1; ; answers++) {
        const { status, connection } = await get();
        expect(status).toBe(200);
        if (answers === 10) adapter.release();
        // From here on a load balancer would lead elsewhere.
        if (connection === 'close') return 'told';
      }
    })();
    expect(await busy).toBe('told');
    const ended = adapter.close().then(() => 'ended');
    response.end('late');
    expect(await slow).toMatchObject({ status: 200, text: 'late' });
    let length = 0;
    for await (const chunk of unread) length += (chunk as Buffer).length;
    expect(length).toBe(big.length);
    expect(await ended).toBe('ended');
  });

  it('closes idle connections last, and those that never sent anything', async () => {
    const arrived = arrival(app, '/slow');
    const [silent, slow] = [await connect(), get('/slow', { agent: undefined })];
    await get();
    const [idle] = Object.values(agent.freeSockets)[0]!;
    const [, response] = await arrived;
    adapter.release();
    expect([idle.destroyed, silent.destroyed]).toEqual([false, false]);
    const gone = [once(idle, 'close'), once(silent.resume(), 'close')];
    const ended = adapter.close();
    response.end();
    await Promise.all([slow, ended, ...gone]);
  });

  it('waits for the first request of a connection that was taken last', async () => {
    const taken = once(adapter.getHttpServer() as http.Server, 'connection');
    adapter.release();
    const socket = await connect();
    await taken;
    const ended = adapter.close();
    // Time enough to look for idle connections once.
    for (let i = 0; i < 4; i++) await afterPolling();
    let text = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(socket, 'end');
    expect(text).toMatch(/^HTTP\/1\.1 200 /);
    await ended;
  });

  it('does not cut off who still sends the body of a request that is answered already', async () => {
    app.post('/refused', (_request, response) => void response.status(401).json({}));
    adapter.release();
    const socket = await connect();
    socket.setEncoding('utf8');
    let text = '';
    socket.on('data', (chunk: string) => (text += chunk));
    socket.write('POST /refused HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nfirst');
    await once(socket, 'data');
    expect(text).toMatch(/^HTTP\/1\.1 401 /);
    expect(text).not.toMatch(/connection: close/i);
    socket.write('last.GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(socket, 'end');
    expect(text).toMatch(/HTTP\/1\.1 200 OK[^]*connection: close/i);
  });
});
