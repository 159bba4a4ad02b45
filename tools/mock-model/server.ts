import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { BadRequest, type Chat, type Dialect, type Frames, PlayCounts, type Reply, replyTo, tokens } from './chat';
import { dialect1 } from './dialect-1';
import { dialect2 } from './dialect-2';
import { dialect3 } from './dialect-3';
import { embed } from './embedding';
import { asObject } from './values';

const MAX_BODY_BYTES = 32 * 1024 * 1024;
const DEFAULT_DIMENSIONS = 384;
const MODELS = ['mock', 'mock-vision', 'mock-unpriced', 'mock-embedding'];
const CREATED = Math.floor(Date.now() / 1000);
const MODEL_LIST = JSON.stringify({
  object: 'list',
  data: MODELS.map((id) => ({ id, object: 'model', created: CREATED, owned_by: 'mock' })),
});

export interface MockModel {
  url: string;
  port: number;
  close(): Promise<void>;
}

/**
 * A model server that speaks the three dialects of chat, embeddings and reranking, for development, tests and benchmarks. README.md
 * says how a user message can script its answers. It stands in the path of the benchmarks: an answer without delays is
 * built as one string and written at once.
 */
export async function startMockModel({ port = 0, host = '127.0.0.1' }: { port?: number; host?: string } = {}): Promise<MockModel> {
  const counts = new PlayCounts();
  const server = createServer((req, res) => {
    const path = (req.url ?? '').split('?')[0];
    const place = placeOf(path);
    const dialect = place?.dialect ?? dialect1;
    route(req, res, path, place, counts).catch((error: unknown) => {
      if (res.headersSent) res.destroy();
      else if (error instanceof BadRequest) sendError(res, dialect, 400, error.message);
      else sendError(res, dialect, 500, 'the mock failed');
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

/** Where a dialect's chats are answered. */
interface Place {
  dialect: Dialect;
  /** Where the path names it. */
  model?: string;
  /** Likewise. */
  stream?: boolean;
}

const GOOGLE_PATH = /^\/v1beta\/models\/([^/:]+):(streamGenerateContent|generateContent)$/;

function placeOf(path: string): Place | undefined {
  if (path === '/v1/chat/completions') return { dialect: dialect1 };
  if (path === '/v1/messages') return { dialect: dialect2 };
  const google = GOOGLE_PATH.exec(path);
  return google ? { dialect: dialect3, model: google[1], stream: google[2] === 'streamGenerateContent' } : undefined;
}

/** What is answered beside chats. */
const BESIDE: Record<string, (res: ServerResponse, body: unknown) => void> = { '/v1/embeddings': embeddings, '/v1/rerank': ranking };

async function route(req: IncomingMessage, res: ServerResponse, path: string, place: Place | undefined, counts: PlayCounts): Promise<void> {
  if (path === '/healthz') return send(res, 200, '{"status":"ok"}');
  if (path === '/v1/models' && req.method === 'GET') return send(res, 200, MODEL_LIST);
  const beside = BESIDE[path];
  if (!place && !beside) return sendError(res, dialect1, 404, `unknown path ${path.slice(0, 200)}`);
  if (req.method !== 'POST') return sendError(res, dialect1, 405, 'use POST');
  const body = await readJson(req);
  if (!place) return beside(res, body);
  const { dialect } = place;
  const chat = dialect.read(asObject(body), place.model ?? 'mock', place.stream ?? false);
  const reply = replyTo(chat, req.headers['x-feature'], counts);
  if (reply.delayMs > 0 || reply.chunkDelayMs > 0) {
    pausing.set(res, { chat: JSON.stringify(body) });
    res.once('close', () => pausing.delete(res));
  }
  if (reply.delayMs > 0) await pause(reply.delayMs, res);
  if (res.destroyed) return;
  if (reply.failure?.kind === 'status') return fail(res, dialect, reply);
  if (reply.failure) return disconnect(res, dialect, chat, reply);
  return chat.stream ? stream(res, dialect, chat, reply) : answer(res, dialect, chat, reply);
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

/** Chats whose answers pause no longer, by a text that they hold. */
const free: string[] = [];
/** Answers that are to pause, by what they answer. */
const pausing = new Map<ServerResponse, { chat: string; end?: () => void }>();

/** Ends the pauses of all answers to chats that hold this text, and lets none begin, whichever server of this process plays them. */
export function letGo(text: string): void {
  free.push(text);
  for (const { chat, end } of pausing.values()) if (chat.includes(text)) end?.();
}

/** Resolves when the time is over, the caller has gone or the answer is let go, whichever is first. */
function pause(ms: number, res: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const answer = pausing.get(res);
    const done = (): void => {
      clearTimeout(timer);
      res.off('close', done);
      resolve();
    };
    const timer = setTimeout(done, answer && free.some((text) => answer.chat.includes(text)) ? 0 : ms);
    res.once('close', done);
    if (answer) answer.end = done;
  });
}

const STREAM_HEADERS = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' };

async function stream(res: ServerResponse, dialect: Dialect, chat: Chat, reply: Reply): Promise<void> {
  const frames = dialect.frames(chat, reply);
  res.writeHead(200, STREAM_HEADERS);
  if (reply.chunkDelayMs === 0 && reply.pingMs === 0) {
    res.end(frames.head + frames.deltas.join('') + frames.tail);
    return;
  }
  if (!(await written(res, frames, reply.chunkDelayMs))) return;
  if (reply.pingMs === 0) return void res.end(frames.tail);
  while (!res.destroyed) {
    res.write(dialect.ping);
    await pause(reply.pingMs, res);
  }
}

/** Writes what comes before the end at its pace, the first delta at once; false when the caller has gone. */
async function written(res: ServerResponse, { head, deltas }: Frames, delayMs: number): Promise<boolean> {
  if (delayMs === 0) return res.write(head + deltas.join('')) || true;
  res.write(head + (deltas[0] ?? ''));
  for (const delta of deltas.slice(1)) {
    await pause(delayMs, res);
    if (res.destroyed) return false;
    res.write(delta);
  }
  return !res.destroyed;
}

async function answer(res: ServerResponse, dialect: Dialect, chat: Chat, reply: Reply): Promise<void> {
  if (reply.chunkDelayMs > 0) await pause(reply.chunkDelayMs * Math.max(0, dialect.frames(chat, reply).deltas.length - 1), res);
  if (!res.destroyed && dialect.whole) send(res, 200, dialect.whole(chat, reply));
}

/** Half of the deltas, rounded up, then no more; without any, not even the head. */
async function disconnect(res: ServerResponse, dialect: Dialect, chat: Chat, reply: Reply): Promise<void> {
  const { head, deltas } = dialect.frames(chat, reply);
  if (!chat.stream || deltas.length === 0) {
    res.destroy();
    return;
  }
  res.writeHead(200, STREAM_HEADERS);
  if (!(await written(res, { head, deltas: deltas.slice(0, Math.ceil(deltas.length / 2)), tail: '' }, reply.chunkDelayMs))) return;
  res.write(':\n\n', () => res.destroy());
}

function fail(res: ServerResponse, dialect: Dialect, { failure }: Reply): void {
  const { status, message, retryAfterS } = failure!;
  if (retryAfterS !== undefined) res.setHeader('retry-after', String(retryAfterS));
  sendError(res, dialect, status, message);
}

function embeddings(res: ServerResponse, body: unknown): void {
  if (typeof body !== 'object' || body === null) throw new BadRequest('the body must be an object');
  const { input, model, dimensions = DEFAULT_DIMENSIONS, encoding_format: format } = body as Record<string, unknown>;
  const texts = Array.isArray(input) ? (input as unknown[]) : [input];
  if (texts.length === 0 || !texts.every((text) => typeof text === 'string'))
    throw new BadRequest('input must be a string or a list of strings');
  if (!Number.isInteger(dimensions) || (dimensions as number) < 1 || (dimensions as number) > 4096)
    throw new BadRequest('dimensions must be a whole number from 1 to 4096');
  const data = texts.map((text, index) => {
    const vector = embed(text, dimensions as number);
    return {
      object: 'embedding',
      index,
      embedding: format === 'base64' ? Buffer.from(Float32Array.from(vector).buffer).toString('base64') : vector,
    };
  });
  const used = texts.reduce((sum, text) => sum + tokens(text.length), 0);
  send(
    res,
    200,
    JSON.stringify({
      object: 'list',
      model: typeof model === 'string' ? model : 'mock-embedding',
      data,
      usage: { prompt_tokens: used, total_tokens: used },
    }),
  );
}

/** The more of the words of the query a document has, the more it is worth. */
function ranking(res: ServerResponse, body: unknown): void {
  const { query, documents, model } = asObject(body);
  if (typeof query !== 'string' || !Array.isArray(documents) || !documents.length || !documents.every((text) => typeof text === 'string'))
    throw new BadRequest('query must be a string, and documents a list of strings');
  const asked = embed(query, DEFAULT_DIMENSIONS);
  const results = (documents as string[])
    .map((text, index) => ({
      index,
      relevance_score: embed(text, DEFAULT_DIMENSIONS).reduce((sum, value, i) => sum + value * asked[i], 0),
    }))
    .sort((a, b) => b.relevance_score - a.relevance_score);
  const used = (documents as string[]).reduce((sum, text) => sum + tokens(query.length + text.length), 0);
  send(res, 200, JSON.stringify({ model: typeof model === 'string' ? model : 'mock-rerank', results, usage: { total_tokens: used } }));
}

function sendError(res: ServerResponse, dialect: Dialect, status: number, message: string): void {
  // The rest of an unread body would be taken for the next request of the connection.
  if (!res.req.complete) res.setHeader('connection', 'close');
  send(res, status, dialect.error(status, message));
}

function send(res: ServerResponse, status: number, body: string): void {
  res.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }).end(body);
}
