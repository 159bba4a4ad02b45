import http from 'node:http';
import { Logger, StreamableFile, type NestApplicationOptions } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import { DomainError } from '@aps/contracts';
import type { Express, NextFunction, Request, RequestHandler, Response } from 'express';
import { Connections } from './connections';
import { sendError } from './error.filter';
import { PageStream } from './pagination';
import type { RequestContext } from './request-context';

/** A row of Express' table of routes. */
interface Layer {
  route?: { methods: Record<string, boolean> };
  match(path: string): unknown;
}

/** A constructor of the same objects as `base`, born with another prototype. */
function bornWith<T extends typeof http.IncomingMessage | typeof http.ServerResponse>(base: T, prototype: object): T {
  // Node's own constructors are functions, which a class could not give a prototype of its choice.
  const construct = base as unknown as { call(self: object, first: unknown, second: unknown): void };
  function Born(this: object, first: unknown, second: unknown): void {
    construct.call(this, first, second);
  }
  Born.prototype = prototype;
  // Room in an object is made for what its constructor and those that it inherits from assign. With too little, V8 turns it into a dictionary.
  return Object.setPrototypeOf(Born, base) as T;
}

/**
 * Nest's adapter for Express, with a server whose requests and responses have Express' prototypes from the beginning. Express exchanges
 * the prototypes of both for every request, after which V8 treats each as an object that it has never seen. Here the exchange
 * changes nothing, and a request costs half as much; see docs/adr/0013-prototypes-of-requests.md.
 */
export class HttpAdapter extends ExpressAdapter {
  private connections: Connections | undefined;
  private readonly http = new Logger('Http');

  override initHttpServer(options: NestApplicationOptions): void {
    // TLS ends in front of us, and connections are closed by our own shutdown.
    if (options?.httpsOptions || options?.forceCloseConnections) return super.initHttpServer(options);
    const app = this.getInstance<Express>();
    const born = {
      IncomingMessage: bornWith(http.IncomingMessage, app.request),
      ServerResponse: bornWith(http.ServerResponse, app.response),
    };
    const server = http.createServer(born, app);
    this.httpServer = server;
    this.connections = new Connections(server);
  }

  /** What breaks while an answer is streamed is an error like any other: the filter of errors does not see it. */
  override reply(response: Response, body: unknown, status?: number): unknown {
    if (body instanceof StreamableFile)
      body.setErrorHandler((error) => {
        if (!response.headersSent) response.removeHeader('Content-Type');
        sendError(error, response.req, response, this.http);
      });
    return body instanceof PageStream ? this.replyPiecewise(response, body, status) : (super.reply(response, body, status) as unknown);
  }

  /** A list that is read while it is written is counted, held to a pace, and its reader's for as long as they may read it. */
  private async replyPiecewise(response: Response, list: PageStream<unknown>, status?: number): Promise<unknown> {
    list.cutOff = () => response.destroy();
    const confirm = await (response.req as Request & Partial<RequestContext>).openList?.(response);
    if (confirm) list.confirm = confirm;
    return super.reply(response, list, status) as unknown;
  }

  /** The process is going to end: from now on answers ask clients to connect anew. New connections are still taken until {@link close}. */
  release(): void {
    this.connections?.release();
  }

  override async close(): Promise<void> {
    await this.connections?.end();
  }

  /** What no route takes: by another method of the same address (405, and an answer to OPTIONS), or by no address at all. */
  override setNotFoundHandler(notFound: RequestHandler): void {
    super.setNotFoundHandler((request: Request, response: Response, next: NextFunction) => {
      const methods = this.methodsAt(request.path);
      if (!methods.length) return notFound(request, response, next);
      response.setHeader('Allow', methods.join(', '));
      if (request.method === 'OPTIONS') return response.status(204).end();
      // Whoever asks: which methods an address takes stands in the public document.
      sendError(new DomainError('method_not_allowed', `This address takes ${methods.join(', ')}.`), request, response);
    });
  }

  private methodsAt(path: string): string[] {
    const layers = this.getInstance<Express>().router.stack as unknown as Layer[];
    const found = new Set(layers.flatMap((layer) => (layer.route && layer.match(path) ? Object.keys(layer.route.methods) : [])));
    if (!found.size) return [];
    if (found.has('get')) found.add('head');
    return [...found.add('options')].map((method) => method.toUpperCase()).sort();
  }
}
