import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { createParser, type EventSourceParser } from 'eventsource-parser';
import type { Dispatcher } from 'undici';
import { badResponse, connectionError, timedOut } from './errors';
import type { Limits } from './retry';

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  /** Text of a body that was gathered; empty where the events were streamed to `onData`. */
  body: string;
}

/** A request of the lowest interface whose body is text. */
export type TextRequest = Omit<Dispatcher.DispatchOptions, 'body' | 'headers'> & { headers: Record<string, string>; body: string };

/** What a piece of an event stream has brought: all of the answer, more of it, or nothing of it. */
export type Received = 'whole' | 'further' | 'nothing';

/**
 * After the end mark the provider has this long to end the response too. Nearly all do in the same breath, and waiting for
 * it lets the next call have the connection; from one that does not, the answer is taken and the connection given up.
 */
const DRAIN_MS = 500;

/**
 * One HTTP request on the dispatcher's lowest interface: no stream objects, no promise per chunk, so that a held answer
 * costs little more than its socket. Redirects are not followed. The body of a 2xx event stream goes to `onData`, which
 * says what it has received; every other body is gathered up to its cap. Whoever does not get further in time, or is not at the
 * end when the whole time is over, has timed out.
 *
 * Rejects with a ProviderError, with what `onData` threw, or with the reason of the signal; in each case, and at the
 * moment of the abort, the socket is destroyed.
 */
export function exchange(
  dispatcher: Dispatcher,
  request: TextRequest,
  limits: Limits,
  signal: AbortSignal | undefined,
  onData?: (chunk: Buffer) => Received,
): Promise<Answer> {
  if (signal?.aborted) return Promise.reject(signal.reason as Error);
  return new Promise((resolve, reject) => {
    const handler = new ExchangeHandler(limits, signal, onData, resolve, reject);
    try {
      const body = Buffer.from(request.body);
      const headers = { ...request.headers, 'content-length': String(body.length) };
      dispatcher.dispatch({ ...request, headers, body: sentOnce(body) as unknown as Readable }, handler);
    } catch (error) {
      handler.fail(connectionError(error));
    }
  });
}

/**
 * A body that is let go when it has been sent. The client keeps what it was given until the answer has ended, and with it would keep as
 * much again as the request that it was made from. It takes any iterable, which its types do not say.
 */
function* sentOnce(body: Buffer | undefined): Generator<Buffer> {
  const sent = body!;
  body = undefined;
  yield sent;
}

class ExchangeHandler implements Dispatcher.DispatchHandler {
  private controller?: Dispatcher.DispatchController;
  private settled = false;
  private drain?: NodeJS.Timeout;
  private readonly began = performance.now();
  /** When the answer last got further. */
  private progressed = this.began;
  private clock: NodeJS.Timeout;
  private status = 0;
  private headers: IncomingHttpHeaders = {};
  private streaming = false;
  private bytes = 0;
  private readonly gathered: Buffer[] = [];

  constructor(
    private readonly limits: Limits,
    private readonly signal: AbortSignal | undefined,
    private readonly sink: ((chunk: Buffer) => Received) | undefined,
    private readonly resolve: (answer: Answer) => void,
    private readonly reject: (error: unknown) => void,
  ) {
    signal?.addEventListener('abort', this.aborted, { once: true });
    this.clock = setTimeout(this.tick, Math.min(limits.firstByteMs, limits.silenceMs, limits.totalMs));
  }

  /** One clock that looks when a bound may have passed: cheaper than to set it anew with each piece. The next one may be that of silence. */
  private readonly tick = (): void => {
    const { firstByteMs, silenceMs, totalMs } = this.limits;
    const now = performance.now();
    const whole = this.began + totalMs - now;
    const quiet = this.progressed + (this.status === 0 ? firstByteMs : silenceMs) - now;
    if (whole <= 0) return this.fail(timedOut('the whole answer'));
    if (quiet <= 0) return this.fail(timedOut(this.status === 0 ? 'the first byte' : 'silence'));
    this.clock = setTimeout(this.tick, Math.ceil(Math.min(whole, quiet, silenceMs)));
  };

  /** The answer is whole, whatever becomes of the rest of the response. */
  private readonly drained = (): void => {
    this.finish();
    this.destroy();
  };

  private readonly aborted = (): void => this.fail(this.signal!.reason);

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    // Given up while the connection was being made: the request must not be sent.
    if (this.settled) controller.abort(new Error('aborted'));
    this.progressed = performance.now();
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    // A second copy, that lasts as long as the answer.
    controller.rawHeaders = null;
    if (status < 200) return;
    this.status = status;
    this.headers = headers;
    this.progressed = performance.now();
    const encoding = headers['content-encoding'];
    if (encoding !== undefined && encoding !== 'identity')
      return this.fail(badResponse('the provider sent a compressed answer that was not asked for', status));
    this.streaming = this.sink !== undefined && status < 300 && /^text\/event-stream\b/i.test(headers['content-type'] ?? '');
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.settled || this.drain) return;
    this.bytes += chunk.length;
    if (!this.streaming) return this.gather(chunk);
    if (this.bytes > this.limits.maxResponseBytes) return this.fail(badResponse('the answer of the provider is too large'));
    try {
      const received = this.sink!(chunk);
      if (received !== 'nothing') this.progressed = performance.now();
      if (received !== 'whole') return;
      clearTimeout(this.clock);
      this.drain ??= setTimeout(this.drained, DRAIN_MS);
    } catch (error) {
      this.fail(error);
    }
  }

  private gather(chunk: Buffer): void {
    this.gathered.push(chunk);
    this.progressed = performance.now();
    if (this.status >= 300 && this.bytes >= this.limits.maxErrorBytes) {
      this.finish();
      this.destroy();
    } else if (this.bytes > this.limits.maxResponseBytes) {
      this.fail(badResponse('the answer of the provider is too large'));
    }
  }

  onResponseEnd(): void {
    this.finish();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.drain) this.finish();
    else this.fail(connectionError(error));
  }

  private finish(): void {
    if (this.settled) return;
    this.settle();
    const body =
      this.gathered.length === 0
        ? ''
        : Buffer.concat(this.gathered)
            .subarray(0, this.status >= 300 ? this.limits.maxErrorBytes : undefined)
            .toString('utf8');
    this.resolve({ status: this.status, headers: this.headers, body });
  }

  fail(error: unknown): void {
    if (this.settled) return;
    this.settle();
    this.reject(error);
    this.destroy();
  }

  private settle(): void {
    this.settled = true;
    clearTimeout(this.drain);
    clearTimeout(this.clock);
    this.signal?.removeEventListener('abort', this.aborted);
  }

  private destroy(): void {
    this.controller?.abort(new Error('aborted'));
  }
}

/** Bytes of an event stream, split anywhere, to the data of its events. */
export class EventReader {
  private readonly decoder = new StringDecoder('utf8');
  private readonly parser: EventSourceParser;
  private first = true;
  /** Bytes since the last line end. */
  private openLine = 0;

  constructor(
    private readonly maxEventBytes: number,
    onEvent: (data: string) => void,
  ) {
    this.parser = createParser({ onEvent: (event) => onEvent(event.data) });
  }

  feed(chunk: Buffer): void {
    const lineEnd = chunk.lastIndexOf(10);
    this.openLine = lineEnd === -1 ? this.openLine + chunk.length : chunk.length - lineEnd - 1;
    // The parser joins and searches an unfinished line anew with each chunk: an endless one would eat the processor.
    if (this.openLine > this.maxEventBytes) throw badResponse('the provider sent an event that is too large');
    let text = this.decoder.write(chunk);
    if (this.first && text !== '') {
      this.first = false;
      if (text.charCodeAt(0) === 0xfeff) text = text.slice(1);
    }
    this.parser.feed(text);
  }

  /** A last event that lacks its blank line. */
  flush(): void {
    this.parser.feed('\n\n');
  }
}
