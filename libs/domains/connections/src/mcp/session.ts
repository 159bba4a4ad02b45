import { setTimeout as sleep } from 'node:timers/promises';
import { EgressError, type Egress, type FetchLike } from '@aps/platform/egress';
import { Cutoff } from '@aps/platform/signals';
import type { z } from 'zod';
import { loadSdk, type Sdk } from './sdk';
import { ServerFailed, ServerRefused, Unauthorized, type ServerAddress } from './tool-server';

/** Times are the caller's. */
const NEVER_MS = 2_147_483_647;
/** For telling a server that a call is cancelled, or the session over; nobody waits for it. */
const FAREWELL_MS = 2_000;
/** For what has arrived to be read, after the end of the answer that it arrived by. */
const READING_MS = 50;
/** Requests of a session that wait for an answer. A server may ask us things, and each such question is answered by a request. */
const MAX_WAITING = 16;
/** The protocol's error for a resource that is not there. */
const NOT_FOUND = -32_002;
/** How a server that knows only the older transport answers the first request of the newer one. */
const IS_OLDER = new Set([400, 404, 405, 406, 415, 501]);
/** What a message is that is none. */
const UNREADABLE = new Set(['SyntaxError', 'ZodError', '$ZodError']);
/** The SDK makes a validator of results for each client, which is costly, and of no use here: no result is compared with its schema. */
const NO_VALIDATOR = { getValidator: () => () => ({ valid: false as const, data: undefined, errorMessage: 'is not validated' }) };

type Send = (message: object, options?: unknown) => Promise<void>;

/** An HTTP status that is no answer to what was asked. */
export class Answered extends ServerFailed {
  constructor(readonly status: number) {
    super(status === 403 ? 'The server does not permit this with these credentials.' : `The server answered with status ${status}.`);
  }
}

/**
 * What is said with a server for one purpose, over Streamable HTTP, or where it does not know that over SSE. We offer it nothing: no
 * sampling, no roots, no elicitation, and no stream to speak on beside its answers.
 */
export class Session {
  private readonly origin: string;
  private readonly fetch: FetchLike;
  private readonly cut: Cutoff;
  private readonly client: InstanceType<Sdk['Client']>;
  private readonly transport: InstanceType<Sdk['StreamableHTTPClientTransport']> | InstanceType<Sdk['SSEClientTransport']>;
  /** Rejects when nothing more can be expected of the session. */
  private readonly broken: Promise<never>;
  private break: (reason: Error) => void;
  private failure?: Error;
  /** Changes when something is asked, and when it is answered. */
  private turn = 0;
  /** The answer that is waited for can be asked for again where it breaks off. */
  private isResumable = false;
  private waiting = 0;
  /** Messages that nobody answers, on their way. */
  private readonly notes = new Set<Promise<void>>();

  private constructor(
    egress: Egress,
    private readonly server: ServerAddress,
    private readonly sdk: Sdk,
    private readonly isOlder: boolean,
    maxBytes: number,
    signal: AbortSignal,
  ) {
    const url = new URL(server.url);
    this.origin = url.origin;
    this.fetch = egress.fetchFor({ purpose: server.trusted ? 'platform' : 'tool', maxBytes });
    this.client = new sdk.Client({ name: 'agent-platform', version: '1' }, { capabilities: {}, jsonSchemaValidator: NO_VALIDATOR });
    this.transport = isOlder
      ? new sdk.SSEClientTransport(url, { fetch: this.exchange })
      : new sdk.StreamableHTTPClientTransport(url, { fetch: this.exchange });
    this.broken = new Promise((_resolve, reject) => {
      this.break = (reason) => reject((this.failure ??= reason));
    });
    this.broken.catch(() => undefined);
    // Besides, it tells what whoever made a request is told, and of streams that have ended, which is noticed where they are read.
    this.transport.onerror = ({ name }) => {
      if (UNREADABLE.has(name) && !this.isResumable) this.break(new ServerFailed('The server does not speak the protocol.'));
    };
    this.transport.onmessage = (message) => void ('method' in message || this.turn++);
    const send = this.transport.send.bind(this.transport) as Send;
    this.transport.send = (message: object, options?: unknown) =>
      'id' in message ? send(message, options) : this.noted(send(message, options));
    this.cut = new Cutoff(signal);
    const onAbort = (): void => this.break(new ServerFailed('The server took too long to answer.'));
    this.cut.signal.addEventListener('abort', onAbort, { once: true });
    if (this.cut.signal.aborted) onAbort();
  }

  /**
   * Opens one; whoever does ends it.
   *
   * @param maxBytes of all that the server says
   * @param signal ends it: whoever waits for an answer gets ServerFailed, and the server is told
   * @throws Unauthorized, EgressError, ServerFailed
   */
  static async open(egress: Egress, server: ServerAddress, maxBytes: number, signal: AbortSignal): Promise<Session> {
    const sdk = await loadSdk();
    const opened = (isOlder: boolean) => new Session(egress, server, sdk, isOlder, maxBytes, signal).connected();
    try {
      return await opened(false);
    } catch (error) {
      if (!(error instanceof Answered) || !IS_OLDER.has(error.status)) throw error;
      return await opened(true).catch((second: unknown) => {
        // It knows neither; what it said first is what it said of what was meant.
        throw second instanceof Answered ? error : second;
      });
    }
  }

  /** Whether the server has declared this. */
  has(capability: 'tools' | 'resources'): boolean {
    return this.client.getServerCapabilities()?.[capability] !== undefined;
  }

  /**
   * @param progressed called whenever the server tells of progress
   * @throws ServerRefused, Unauthorized, EgressError, ServerFailed
   */
  async ask<S extends z.ZodType>(method: string, params: Record<string, unknown>, answer: S, progressed?: () => void): Promise<z.infer<S>> {
    return this.untilBroken((options) => this.client.request({ method, params }, answer, { ...options, onprogress: progressed }));
  }

  /** The pages of a list, by all cursors. @throws as `ask` */
  async *pages<S extends z.ZodType<{ nextCursor?: string | null }>>(method: string, answer: S): AsyncGenerator<z.infer<S>> {
    for (let cursor: string | null | undefined; ;) {
      const page: z.infer<S> = await this.ask(method, cursor ? { cursor } : {}, answer);
      yield page;
      if (!page.nextCursor) return;
      if (page.nextCursor === cursor) throw new ServerFailed('The list of the server does not end.');
      cursor = page.nextCursor;
    }
  }

  /** Takes leave of the server, within a bound, and lets go of all connections. Need not be awaited, and throws nothing. */
  async end(): Promise<void> {
    this.cut.release();
    const farewell = Promise.allSettled(this.notes).then(() =>
      'terminateSession' in this.transport ? this.transport.terminateSession() : undefined,
    );
    await Promise.race([farewell, sleep(FAREWELL_MS, undefined, { ref: false })]).catch(() => undefined);
    await this.client.close().catch(() => undefined);
  }

  private async connected(): Promise<this> {
    try {
      await this.untilBroken((options) => this.client.connect(this.transport as Parameters<typeof this.client.connect>[0], options));
      return this;
    } catch (error) {
      void this.end();
      // An error of the protocol is an answer, but there is no session in which it could be one.
      throw error instanceof ServerRefused ? new ServerFailed(error.message) : error;
    }
  }

  private async untilBroken<T>(
    work: (options: { signal: AbortSignal; timeout: number; onresumptiontoken: () => void }) => Promise<T>,
  ): Promise<T> {
    this.turn++;
    this.isResumable = false;
    const options = { signal: this.cut.signal, timeout: NEVER_MS, onresumptiontoken: () => void (this.isResumable = true) };
    try {
      if (this.failure) throw this.failure;
      return await Promise.race([work(options), this.broken]);
    } catch (error) {
      throw this.failure ?? this.told(error);
    }
  }

  private told(error: unknown): unknown {
    if (isOurs(error)) return error;
    if (error instanceof this.sdk.McpError)
      return new ServerRefused(error.message.replace(/^MCP error -?\d+: /, ''), error.code === NOT_FOUND);
    return new ServerFailed('The server does not speak the protocol.', { cause: error });
  }

  private noted(sending: Promise<void>): Promise<void> {
    this.notes.add(sending);
    void sending.catch(() => undefined).finally(() => this.notes.delete(sending));
    return sending;
  }

  /** The one way of the SDK to the server. */
  private readonly exchange: FetchLike = async (address, init = {}) => {
    const isGet = init.method !== 'POST' && init.method !== 'DELETE';
    const headers = new Headers(this.server.headers);
    new Headers(init.headers).forEach((value, name) => headers.set(name, value));
    // The stream on which a server may speak unasked: what it would say, nobody here listens to.
    if (isGet && !this.isOlder && !headers.has('last-event-id')) return new Response(null, { status: 405 });
    try {
      return this.heard(await this.answered(address, { ...init, headers }));
    } catch (error) {
      // Of an event stream it is not waited for who asked, and not thrown what was thrown.
      if (isGet) this.break(this.isOlder ? (error as Error) : brokenOff());
      throw error;
    }
  };

  private async answered(address: string | URL, init: RequestInit): Promise<Response> {
    if (new URL(address).origin !== this.origin) throw new ServerFailed('The server wants to be asked somewhere else.');
    if (this.waiting >= MAX_WAITING) throw new ServerFailed('The server asks too much.');
    this.waiting++;
    try {
      const response = await this.fetch(address, init);
      if (response.ok) return response;
      void response.body?.cancel();
      const { status } = response;
      if (status !== 401) throw new Answered(status);
      throw new Unauthorized('The server wants other credentials.', response.headers.get('www-authenticate'));
    } finally {
      this.waiting--;
    }
  }

  /** The SDK waits on for an answer whose stream has ended without it, so that is noticed here. */
  private heard(response: Response): Response {
    if (!response.body || !/^text\/event-stream\b/i.test(response.headers.get('content-type') ?? '')) return response;
    const { turn } = this;
    const look = (): void => {
      if (this.isOlder || (this.turn === turn && !this.isResumable)) this.break(brokenOff());
    };
    const ended = (error?: unknown): void => {
      if (error instanceof EgressError && error.refused) this.break(error);
      else if (error) look();
      else setTimeout(look, READING_MS).unref();
    };
    return new Response(watched(response.body, ended), response);
  }
}

/** An error that says what has happened; those of the SDK are of its own making. */
function isOurs(error: unknown): boolean {
  return error instanceof ServerFailed || error instanceof Unauthorized || error instanceof EgressError;
}

const brokenOff = () => new ServerFailed('The server broke off its answer.');

/** The same stream; `ended` learns of its end, and of what ended it too early. */
function watched(body: ReadableStream<Uint8Array>, ended: (error?: unknown) => void): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { value, done } = await reader.read();
        if (!done) return controller.enqueue(value);
        controller.close();
        ended();
      } catch (error) {
        controller.error(error);
        ended(error);
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}
