import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Dialect } from '../types';

export interface SeenRequest {
  url: string;
  headers: IncomingHttpHeaders;
  body: Record<string, unknown>;
}

/** Answers one request; `seen` is its number, from 0. */
export type Script = (res: ServerResponse, seen: number, req: IncomingMessage) => void | Promise<void>;

export interface FakeProvider {
  url: string;
  requests: SeenRequest[];
  /** Sockets that the other side has closed before the answer was complete. */
  aborted(): Promise<void>;
  close(): Promise<void>;
}

/** A provider on a real socket that answers as the test says. */
export async function startProvider(script: Script): Promise<FakeProvider> {
  const requests: SeenRequest[] = [];
  let onAbort: () => void = () => undefined;
  const abort = new Promise<void>((resolve) => (onAbort = resolve));
  const server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      requests.push({ url: req.url!, headers: req.headers, body: text ? (JSON.parse(text) as Record<string, unknown>) : {} });
      res.on('close', () => {
        if (!res.writableFinished) onAbort();
      });
      void script(res, requests.length - 1, req);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    aborted: () => abort,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export function sse(...data: unknown[]): string {
  return data.map((item) => `data: ${typeof item === 'string' ? item : JSON.stringify(item)}\n\n`).join('');
}

/** Streams the text cut into pieces of `size` bytes, each in its own write. */
export async function inPieces(res: ServerResponse, text: string, size: number): Promise<void> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) {
    res.write(bytes.subarray(at, at + size));
    await new Promise((resolve) => setImmediate(resolve));
  }
}

export function eventStream(res: ServerResponse): ServerResponse {
  return res.writeHead(200, { 'content-type': 'text/event-stream' });
}

export function json(res: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  res.writeHead(status, { 'content-type': 'application/json', ...headers }).end(typeof body === 'string' ? body : JSON.stringify(body));
}

/** A whole Chat Completions answer. */
export function completion(text: string, usage: unknown = { prompt_tokens: 10, completion_tokens: 2 }): string {
  return sse(
    { id: 'c', model: 'real-model', choices: [{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }] },
    { id: 'c', model: 'real-model', choices: [{ index: 0, delta: { content: text }, finish_reason: null }] },
    { id: 'c', model: 'real-model', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
    { id: 'c', model: 'real-model', choices: [], usage },
    '[DONE]',
  );
}

/** A whole answer of each dialect. */
export const ANSWERS: Record<Dialect, string> = {
  dialect_1: completion('grüße 🌍 «ok»'),
  dialect_2: [
    ['message_start', { message: { model: 'real-model', usage: { input_tokens: 10, output_tokens: 1 } } }],
    ['ping', {}],
    ['content_block_start', { index: 0, content_block: { type: 'text', text: '' } }],
    ['content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'grüße 🌍 «ok»' } }],
    ['content_block_stop', { index: 0 }],
    ['message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } }],
    ['message_stop', {}],
  ]
    .map(([type, event]) => `event: ${type as string}\ndata: ${JSON.stringify({ type, ...(event as object) })}\n\n`)
    .join(''),
  dialect_3: sse(
    { candidates: [{ content: { role: 'model', parts: [{ text: 'grüße 🌍 ' }] } }], modelVersion: 'real-model' },
    {
      candidates: [{ content: { role: 'model', parts: [{ text: '«ok»' }] }, finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 2 },
    },
  ),
};
