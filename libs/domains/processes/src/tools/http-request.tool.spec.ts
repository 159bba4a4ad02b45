import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { loadConfig } from '@aps/platform/config';
import { Egress } from '@aps/platform/egress';
import { NotSent } from '@aps/tools';
import { HttpRequestTool } from './http-request.tool';
import { StepTools, type StepToolResult } from './step-tools';

let seen: string[];
let answer: (request: http.IncomingMessage, response: http.ServerResponse) => void;
const server = http.createServer((request, response) => {
  seen.push(`${request.method} ${request.url}`);
  answer(request, response);
});
let url: string;
/** Nobody listens there. */
let closed: string;
const egress = new Egress();
const tools = new StepTools();

beforeAll(async () => {
  const port = (of: http.Server) =>
    new Promise<number>((done) => of.listen(0, '127.0.0.1', () => done((of.address() as AddressInfo).port)));
  const gone = http.createServer();
  const ports = [await port(server), await port(gone)];
  await new Promise((done) => gone.close(done));
  [url, closed] = ports.map((of) => `http://127.0.0.1:${of}`);
  const EGRESS_ALLOW = ports.map((of) => `127.0.0.1:${of}`).join(',');
  const DATABASE_URL = 'postgres://localhost/none';
  loadConfig({
    DATABASE_URL,
    EGRESS_ALLOW,
    EGRESS_HEADERS_TIMEOUT_MS: '100',
    EGRESS_BODY_TIMEOUT_MS: '100',
    EGRESS_TOTAL_TIMEOUT_MS: '100',
  });
  new HttpRequestTool(egress, tools);
});
beforeEach(() => (seen = []));
afterAll(async () => {
  await egress.onApplicationShutdown();
  await new Promise((done) => server.close(done));
});

const call = async (args: Record<string, unknown>): Promise<StepToolResult> => {
  const context = { orgId: 'o', runId: 'r', envelope: {}, idempotencyKey: 'r/a', timeoutMs: 60_000, signal: new AbortController().signal };
  return (await tools.find('o', 'core.http_request'))!.call({ method: 'POST', url, ...args }, context);
};

describe('a request of a step', () => {
  it('is told not to have been sent where nobody is there', async () => {
    await expect(call({ url: closed })).rejects.toBeInstanceOf(NotSent);
    expect(await call({ url: 'ftp://127.0.0.1' })).toMatchObject({ rejected: expect.any(String), mendable: false });
  });

  it.each([
    ['where nobody is there', () => closed],
    ['where none may go', () => 'ftp://127.0.0.1'],
    ['nowhere', () => 'https://'],
  ])('has been sent where a redirect leads %s', async (_, location) => {
    answer = (_request, response) => response.writeHead(303, { location: location() }).end();
    await expect(call({})).rejects.not.toBeInstanceOf(NotSent);
    expect(seen).toEqual(['POST /']);
  });

  it('that may be made again is no matter of what a redirect leads to', async () => {
    answer = (_request, response) => response.writeHead(302, { location: closed }).end();
    await expect(call({ method: 'GET' })).rejects.toBeInstanceOf(NotSent);
    answer = (_request, response) => response.writeHead(302, { location: 'ftp://127.0.0.1' }).end();
    expect(await call({ method: 'GET' })).toMatchObject({ rejected: expect.any(String), mendable: false });
  });

  it('has not been sent with a header that cannot be', async () => {
    const message = 'A header of the request cannot be sent.';
    expect(await call({ headers: { 'x-a': '✓' } })).toEqual({ rejected: message, mendable: false });
    expect(seen).toEqual([]);
  });

  it('has the time of its step, whatever fetches have', async () => {
    answer = (_, response) =>
      setTimeout(() => {
        response.writeHead(200).write('a');
        setTimeout(() => response.end('b'), 1_500);
      }, 1_500);
    expect(await call({})).toMatchObject({ output: { text: 'ab' } });
  });

  it('is answered no more than expressions may come to', async () => {
    const body = Buffer.alloc(1024 * 1024, 'x');
    answer = (_request, response) => response.writeHead(200).end(body);
    expect(await call({})).toMatchObject({ output: { status: 200 } });
    answer = (_request, response) => response.writeHead(200).end(Buffer.concat([body, Buffer.from('x')]));
    await expect(call({})).rejects.toMatchObject({ reason: 'too_large' });
  });

  it.each<[string, string, object]>([
    ['JSON', '{"a":1}', { json: { a: 1 } }],
    ['JSON with numbers that a double would change, which are their text', '{"id":9007199254740993}', { json: { id: '9007199254740993' } }],
    ['text that says that it is JSON', '{a', { text: '{a' }],
    ['JSON that nobody could walk', '['.repeat(20_000) + ']'.repeat(20_000), { text: expect.stringMatching(/^\[{20000}\]/) as string }],
  ])('is answered %s', async (_, body, output) => {
    answer = (_request, response) => response.writeHead(200, { 'content-type': 'application/json' }).end(body);
    expect(await call({})).toEqual({ output: { status: 200, headers: expect.any(Object) as object, ...output } });
  });
});
