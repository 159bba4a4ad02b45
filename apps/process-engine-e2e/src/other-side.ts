import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

/** A call as the other side saw it. */
export interface Arrival {
  memo: string;
  at: number;
}

/** What the other side answers where it has done what it was asked for. */
export const bookedAnswer = (memo: string) => ({ status: 200, headers: {}, json: { booked: memo } });

/** Longer than the steps wait that ask `/late`. */
const LATE_MS = 4_000;

/**
 * The other side of the calls of steps: writes down each that arrives, and what it has done. Each call has a memo that no other step has,
 * so what is done twice is found whatever its key was. It knows no keys.
 *
 * `/book` books; `/flaky` answers 503 first, `/dropped` hangs up first, both with nothing done; `/late` books, and says so too late; `/refuse`
 * refuses.
 */
export class OtherSide {
  readonly arrived: Arrival[] = [];
  /** How often each memo was booked. */
  readonly booked = new Map<string, number>();
  /** Whoever asks is answered after this; what it wants is booked at once before that. */
  hold: () => Promise<unknown> = () => Promise.resolve();
  /** What has arrived is booked after this. */
  delay: () => Promise<unknown> = () => Promise.resolve();
  private readonly seen = new Set<string>();
  /** What has arrived and is not booked yet. */
  private readonly underWay = new Set<Promise<string | null>>();
  private readonly server = http.createServer((request, response) => {
    if (request.url === '/settled') return void response.end();
    // A worker that dies leaves half a request.
    this.take(request, response).catch(() => response.destroy());
  });

  async start(): Promise<this> {
    this.server.listen(0, '127.0.0.1').unref();
    await once(this.server, 'listening');
    return this;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  /** `host:port`, as the guard of outgoing calls wants it. */
  get address(): string {
    return `127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  get url(): string {
    return `http://${this.address}`;
  }

  has(memo: string): boolean {
    return this.booked.has(memo);
  }

  /** Until what has arrived so far is written in the book. What waits to be taken comes before a request that is made now. */
  async settled(): Promise<void> {
    await (await fetch(`${this.url}/settled`)).text();
    await Promise.allSettled(this.underWay);
  }

  private async take(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const booking = this.book(request, response);
    this.underWay.add(booking);
    const memo = await booking.finally(() => this.underWay.delete(booking));
    if (memo === null) return;
    await (request.url === '/late' ? sleep(LATE_MS) : this.hold());
    if (!response.destroyed) answer(response, 200, bookedAnswer(memo).json);
  }

  /** @returns the memo that it has booked; null where it has booked none, and has said so */
  private async book(request: http.IncomingMessage, response: http.ServerResponse): Promise<string | null> {
    const at = Date.now();
    const { memo } = (await json(request)) as { memo: string };
    this.arrived.push({ memo, at });
    const isFirst = !this.seen.has(memo);
    this.seen.add(memo);
    if (request.url === '/refuse') answer(response, 422, { error: 'no such account' });
    else if (request.url === '/flaky' && isFirst) answer(response, 503, { error: 'not now' });
    else if (request.url === '/dropped' && isFirst) response.destroy();
    else {
      // Whoever asked may be gone by then; what arrived is done.
      await this.delay();
      this.booked.set(memo, (this.booked.get(memo) ?? 0) + 1);
      return memo;
    }
    return null;
  }
}

function answer(response: http.ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
}
