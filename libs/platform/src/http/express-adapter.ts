import http from 'node:http';
import type { NestApplicationOptions } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import type { Express } from 'express';

/** A constructor of the same objects as `base`, born with another prototype. */
function bornWith<T extends typeof http.IncomingMessage | typeof http.ServerResponse>(base: T, prototype: object): T {
  // Node's own constructors are functions, which a class could not give a prototype of its choice.
  const construct = base as unknown as { call(self: object, first: unknown, second: unknown): void };
  function Born(this: object, first: unknown, second: unknown): void {
    construct.call(this, first, second);
  }
  Born.prototype = prototype;
  return Born as unknown as T;
}

/**
 * Nest's adapter for Express, with a server whose requests and responses have Express' prototypes from the beginning. Express exchanges
 * the prototypes of both for every request, after which V8 treats each as an object that it has never seen. Here the exchange
 * changes nothing, and a request costs half as much; see docs/adr/0013-prototypes-of-requests.md.
 */
export class HttpAdapter extends ExpressAdapter {
  override initHttpServer(options: NestApplicationOptions): void {
    // TLS ends in front of us, and connections are closed by our own shutdown.
    if (options?.httpsOptions || options?.forceCloseConnections) return super.initHttpServer(options);
    const app = this.getInstance<Express>();
    const born = { IncomingMessage: bornWith(http.IncomingMessage, app.request), ServerResponse: bornWith(http.ServerResponse, app.response) };
    this.httpServer = http.createServer(born, app);
  }
}
