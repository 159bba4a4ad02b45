import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';

export type Answer = (request: http.IncomingMessage, response: http.ServerResponse) => void;

/** A service behind the gateway that does what a test wants, and remembers what reached it. */
export class Upstream {
  readonly seen: { method: string; url: string; headers: http.IncomingHttpHeaders }[] = [];
  /** Set by the test. */
  answer: Answer = (_, response) => response.end();

  private readonly server = http.createServer((request, response) => {
    this.seen.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers });
    this.answer(request, response);
  });

  async start(): Promise<string> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }
}

/** All of a body. */
export async function bodyOf(stream: http.IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** A promise and what settles it, for tests that make two parties wait for each other. */
export function gate<T = void>(): { opened: Promise<T>; open: (value: T) => void } {
  let open!: (value: T) => void;
  const opened = new Promise<T>((resolve) => (open = resolve));
  return { opened, open };
}
