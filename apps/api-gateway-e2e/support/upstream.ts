import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { until } from './until';

/** A request for an answer, as the provider saw it. */
export interface Asked {
  /** Of the newest message. */
  mark: string;
  /** Which of the upstream's addresses was asked. */
  address: string;
  /** Below that address. */
  path: string;
  /** The provider's name of the model, where the body or the path has it. */
  model: string;
  /** The header that carries the key, and what it carries; null without any. */
  key: string | null;
}

const KEY_HEADERS = ['authorization', 'x-api-key', 'x-goog-api-key'];
let marks = 0;

/** A word that no other message has, by which its requests are found. */
export const aMark = (): string => `mark-${process.pid}-${++marks}`;

/**
 * A provider of one test's own: writes down who asked what with which key, and has the mock model answer. What is held is answered when
 * the test says so, and not before.
 */
export class Upstream {
  private readonly ledger: Asked[] = [];
  private readonly held = new Map<string, { released: Promise<void>; release: () => void }>();
  private readonly server = http.createServer((request, response) => {
    // A worker that dies leaves half a request.
    this.take(request, response).catch(() => response.destroy());
  });
  private url = '';

  /** @param mock where the mock model listens */
  constructor(private readonly mock: string) {}

  async start(): Promise<void> {
    this.server.listen(0, '127.0.0.1').unref();
    await once(this.server, 'listening');
    this.url = `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  /** A base URL of its own for a route; all of them lead here. */
  base(address: string, dialect: string): string {
    return `${this.url}/${address}/${dialect === 'dialect_3' ? 'v1beta' : 'v1'}`;
  }

  /** What was asked for a message so far. */
  asked(mark: string): Asked[] {
    return this.ledger.filter((asked) => asked.mark === mark);
  }

  /** Every key that was spent here. */
  keys(): string[] {
    return [...new Set(this.ledger.flatMap(({ key }) => (key === null ? [] : [key.split(' ').at(-1)!])))];
  }

  /** Waits until a message was asked about so many times. */
  arrived(mark: string, times = 1, timeoutMs?: number): Promise<unknown> {
    return until(`the provider is asked ${times} times about ${mark}`, () => this.asked(mark).length >= times, timeoutMs, 10);
  }

  /** Whoever asks about these messages waits until they are released. */
  hold(...held: string[]): void {
    for (const mark of held) {
      let release!: () => void;
      const released = new Promise<void>((resolve) => (release = resolve));
      this.held.set(mark, { released, release });
    }
  }

  release(...held: string[]): void {
    for (const mark of held) this.held.get(mark)!.release();
  }

  private async take(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const [, address, path] = /^\/([^/]+)\/[^/]+(\/.*)$/.exec(request.url!)!;
    const text = body.toString('utf8');
    // Messages stand in their order, so the newest message has the last of the marks.
    const mark = text.match(/mark-\d+-\d+/g)?.at(-1) ?? '';
    const named = KEY_HEADERS.find((name) => request.headers[name] !== undefined);
    this.ledger.push({
      mark,
      address,
      path,
      model: (JSON.parse(text) as { model?: string }).model ?? /\/models\/([^:]+):/.exec(path)![1],
      key: named === undefined ? null : `${named}: ${String(request.headers[named])}`,
    });
    await this.held.get(mark)?.released;
    if (response.destroyed) return;
    const onward = http.request(
      this.mock + request.url!.slice(address.length + 1),
      { method: 'POST', headers: request.headers },
      (answer) => {
        response.writeHead(answer.statusCode!, answer.headers);
        answer.pipe(response);
      },
    );
    onward.on('error', () => response.destroy());
    response.on('close', () => onward.destroy());
    onward.end(body);
  }
}
