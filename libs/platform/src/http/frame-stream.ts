import type { Response } from 'express';

const PING_MS = 15_000;

/** Aborted when the client goes before the end of its answer. */
export function goneSignal(response: Response): AbortSignal {
  const gone = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) gone.abort();
  });
  response.on('error', () => gone.abort());
  if (response.destroyed) gone.abort();
  return gone.signal;
}

/**
 * The server-sent events of one answer. It begins with the first frame, so what fails before that is answered like any other error;
 * from then on the client is kept from giving up by comments.
 */
export class FrameStream {
  /** Aborted when the client goes before the end. */
  readonly signal: AbortSignal;
  private ping?: NodeJS.Timeout;

  constructor(private readonly response: Response) {
    response.once('close', () => clearInterval(this.ping));
    this.signal = goneSignal(response);
  }

  send(event: string, data: object): void {
    if (this.signal.aborted) return;
    if (!this.response.headersSent) this.begin();
    this.response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  }

  end(): void {
    clearInterval(this.ping);
    this.response.end();
  }

  private begin(): void {
    this.response.writeHead(200, {
      'Content-Type': 'text/event-stream; charset=utf-8',
      'Cache-Control': 'no-store',
      'X-Accel-Buffering': 'no',
    });
    this.ping = setInterval(() => this.response.write(': ping\n\n'), PING_MS).unref();
  }
}
