import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { BadRequest, type ChatBody, FailureCounts, readChat, type Reply, replyTo, tokens } from './chat';
import { embed } from './embedding';

const MAX_BODY_BYTES = 32 * 1024 * 1024;
const DEFAULT_DIMENSIONS = 384;
const MODELS = ['mock', 'mock-vision', 'mock-unpriced', 'mock-embedding'];
const CREATED = Math.floor(Date.now() / 1000);
const MODEL_LIST = JSON.stringify({ object: 'list', data: MODELS.map((id) => ({ id, object: 'model', created: CREATED, owned_by: 'mock' })) });

export interface MockModel {
  url: string;
  port: number;
  close(): Promise<void>;
}

/**
 * A model server that speaks OpenAI Chat Completions and embeddings, for development, tests and benchmarks. README.md
 * says how a user message can script its answers. It stands in the path of the benchmarks: an answer without delays is
 * built as one string and written at once.
 */
export async function startMockModel({ port = 0, host = '127.0.0.1' }: { port?: number; host?: string } = {}): Promise<MockModel> {
  const failures = new FailureCounts();
  const server = createServer((req, res) => {
    route(req, res, failures).catch((error: unknown) => {
      if (res.headersSent) res.destroy();
      else if (error instanceof BadRequest) sendError(res, 400, error.message);
      else sendError(res, 500, 'the mock failed');
    });
  });
  server.keepAliveTimeout = 65_000;
  server.on('clientError', (_error, socket) => {
    if (socket.writable) socket.end('HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\r\n');
    else socket.destroy();
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host, backlog: 4096 }, resolve);
  });
  const address = server.address() as AddressInfo;
  const name = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return { port: address.port, url: `http://${name}:${address.port}`, close: () => close(server) };
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

async function route(req: IncomingMessage, res: ServerResponse, failures: FailureCounts): Promise<void> {
  const path = (req.url ?? '').split('?')[0];
  if (path === '/healthz') return send(res, 200, '{"status":"ok"}');
  if (path === '/v1/models' && req.method === 'GET') return send(res, 200, MODEL_LIST);
  const known = path === '/v1/chat/completions' || path === '/v1/embeddings';
  if (!known) return sendError(res, 404, `unknown path ${path.slice(0, 200)}`);
  if (req.method !== 'POST') return sendError(res, 405, 'use POST');
  const body = await readJson(req);
  if (path === '/v1/embeddings') return embeddings(res, body);
  const chat = readChat(body);
  const reply = replyTo(chat, req.headers['x-feature'] === 'turn', failures);
  if (reply.delayMs > 0) await pause(reply.delayMs, res);
  if (res.destroyed) return;
  if (reply.failure?.kind === 'status') return fail(res, reply);
  if (reply.failure) return disconnect(res, chat, reply);
  return chat.stream ? stream(res, chat, reply) : answer(res, chat, reply);
}

async function readJson(req: IncomingMessage): Promise<unknown> {
  const text = await readText(req);
  try {
    return JSON.parse(text);
  } catch {
    throw new BadRequest('the body is not JSON');
  }
}

/** By events: iterating the request costs more than all the rest of a short answer. */
function readText(req: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    req.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= MAX_BODY_BYTES) chunks.push(chunk);
      else reject(new BadRequest('the body is too large'));
    });
    req.on('end', () => resolve((chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)).toString('utf8')));
    req.on('error', reject);
  });
}

/** Resolves when the time is over or the caller has gone, whichever is first. */
function pause(ms: number, res: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      res.off('close', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    res.once('close', done);
  });
}

let answers = 0;

/** The chunks of an answer share everything but their delta. */
function frames(chat: ChatBody, reply: Reply): { deltas: string[]; tail: string } {
  const head = `data: {"id":"chatcmpl-mock-${++answers}","object":"chat.completion.chunk","created":${CREATED},"model":${JSON.stringify(chat.model)},"choices":[`;
  const frame = (delta: string, finish: string): string => `${head}{"index":0,"delta":${delta},"finish_reason":${finish}}]}\n\n`;
  const usage = chat.includeUsage ? `${head}],"usage":${reply.usage}}\n\n` : '';
  return {
    deltas: [frame('{"role":"assistant","content":""}', 'null'), ...reply.deltas.map((delta) => frame(delta, 'null'))],
    tail: `${frame('{}', `"${reply.finishReason}"`)}${usage}data: [DONE]\n\n`,
  };
}

const STREAM_HEADERS = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' };

async function stream(res: ServerResponse, chat: ChatBody, reply: Reply): Promise<void> {
  const { deltas, tail } = frames(chat, reply);
  res.writeHead(200, STREAM_HEADERS);
  if (reply.chunkDelayMs === 0) {
    res.end(deltas.join('') + tail);
    return;
  }
  if (await written(res, deltas, reply.chunkDelayMs)) res.end(tail);
}

/** Writes the frames at their pace, the first two (role and first delta) at once; false when the caller has gone. */
async function written(res: ServerResponse, deltas: string[], delayMs: number): Promise<boolean> {
  res.write(deltas.slice(0, 2).join(''));
  for (const delta of deltas.slice(2)) {
    await pause(delayMs, res);
    if (res.destroyed) return false;
    res.write(delta);
  }
  return !res.destroyed;
}

async function answer(res: ServerResponse, chat: ChatBody, reply: Reply): Promise<void> {
  if (reply.chunkDelayMs > 0) await pause(reply.chunkDelayMs * Math.max(0, reply.deltas.length - 1), res);
  if (res.destroyed) return;
  const choice = `{"index":0,"message":${reply.message},"logprobs":null,"finish_reason":"${reply.finishReason}"}`;
  send(res, 200, `{"id":"chatcmpl-mock-${++answers}","object":"chat.completion","created":${CREATED},"model":${JSON.stringify(chat.model)},"choices":[${choice}],"usage":${reply.usage}}`);
}

/** Half of the deltas, rounded up, then no more; without any, not even the head. */
async function disconnect(res: ServerResponse, chat: ChatBody, reply: Reply): Promise<void> {
  if (!chat.stream || reply.deltas.length === 0) {
    res.destroy();
    return;
  }
  const half = frames(chat, reply).deltas.slice(0, 1 + Math.ceil(reply.deltas.length / 2));
  res.writeHead(200, STREAM_HEADERS);
  if (reply.chunkDelayMs > 0) {
    if (!(await written(res, half, reply.chunkDelayMs))) return;
  } else {
    res.write(half.join(''));
  }
  res.write(':\n\n', () => res.destroy());
}

function fail(res: ServerResponse, { failure }: Reply): void {
  const { status, message, retryAfterS } = failure!;
  if (retryAfterS !== undefined) res.setHeader('retry-after', String(retryAfterS));
  sendError(res, status, message);
}

function embeddings(res: ServerResponse, body: unknown): void {
  if (typeof body !== 'object' || body === null) throw new BadRequest('the body must be an object');
  const { input, model, dimensions = DEFAULT_DIMENSIONS, encoding_format: format } = body as Record<string, unknown>;
  const texts = Array.isArray(input) ? (input as unknown[]) : [input];
  if (texts.length === 0 || !texts.every((text) => typeof text === 'string')) throw new BadRequest('input must be a string or a list of strings');
  if (!Number.isInteger(dimensions) || (dimensions as number) < 1 || (dimensions as number) > 4096) throw new BadRequest('dimensions must be a whole number from 1 to 4096');
  const data = texts.map((text, index) => {
    const vector = embed(text, dimensions as number);
    return { object: 'embedding', index, embedding: format === 'base64' ? Buffer.from(Float32Array.from(vector).buffer).toString('base64') : vector };
  });
  const used = texts.reduce((sum, text) => sum + tokens(text.length), 0);
  send(res, 200, JSON.stringify({ object: 'list', model: typeof model === 'string' ? model : 'mock-embedding', data, usage: { prompt_tokens: used, total_tokens: used } }));
}

const ERROR_TYPES: Record<number, string> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
};

function sendError(res: ServerResponse, status: number, message: string): void {
  const type = ERROR_TYPES[status] ?? (status >= 500 ? 'server_error' : 'invalid_request_error');
  // The rest of an unread body would be taken for the next request of the connection.
  if (!res.req.complete) res.setHeader('connection', 'close');
  send(res, status, JSON.stringify({ error: { message, type, param: null, code: null } }));
}

function send(res: ServerResponse, status: number, body: string): void {
  res.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }).end(body);
}
