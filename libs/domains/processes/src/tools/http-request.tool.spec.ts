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
  loadConfig({ EGRESS_ALLOW: ports.map((of) => `127.0.0.1:${of}`).join(',') });
  new HttpRequestTool(egress, tools);
});
beforeEach(() => (seen = []));
afterAll(async () => {
  await egress.onApplicationShutdown();
  await new Promise((done) => server.close(done));
});

const call = async (args: Record<string, unknown>): Promise<StepToolResult> => {
  const context = { orgId: 'o', runId: 'r', envelope: {}, idempotencyKey: 'r/a', signal: new AbortController().signal };
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
});
