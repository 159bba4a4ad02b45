import { BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import { isDelta, type MessageDelta, type SpineEvent, type TopicSignal } from '@aps/contracts';
import { gauge } from '@aps/platform/observability';
import type { Request, Response } from 'express';
import { RealtimeHub } from './hub';
import { EventSpine } from './spine';

/** A reader that leaves this much unread is cut off; it resumes from its last id. */
const MAX_BUFFERED = 1024 * 1024;
const PING_MS = 15_000;
/** How often streams ask the spine when signals may be missing. */
const POLL_MS = 2_000;
/** How often every stream asks the spine anyway: a worker that died between its commit and its signal told nobody. */
const SWEEP_MS = 5_000;
const PAGE = 500;

export interface StreamOptions {
  topic: string;
  orgId: string;
  /** The last id that the client has, from `Last-Event-ID` or `?after=`; undefined for a fresh stream. */
  after?: number;
  /** The state of the resource now, with the newest id that is part of it. Asked once, after the subscription stands. */
  snapshot: () => Promise<{ data: Record<string, unknown>; newestId: number }>;
  /** Who reads, in the words of {@link stillAllowed}. */
  reader: unknown;
  /**
   * Which of these readers may still read; asked every five seconds, once for all streams that were opened with the same function.
   * `no` ends a stream, a reason ends it with an event of that name. A failure decides nothing: the database may be away.
   *
   * @returns one answer per reader, in their order
   */
  stillAllowed: (readers: never[]) => Promise<Permission[]>;
}

export type Permission = 'yes' | 'no' | 'org_suspended';

// One frame is sent to many readers: it is built once per event object.
const frames = new WeakMap<object, string>();

function frame(topic: string, orgId: string, event: SpineEvent): string {
  let text = frames.get(event);
  if (!text) {
    const body = { id: String(event.id), type: event.type, topic, org_id: orgId, at: event.at, data: event.data };
    text = `event: ${event.type}\nid: ${event.id}\ndata: ${JSON.stringify(body)}\n\n`;
    frames.set(event, text);
  }
  return text;
}

function unnumbered(type: string, topic: string, orgId: string, data: Record<string, unknown>): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, topic, org_id: orgId, at: new Date().toISOString(), data })}\n\n`;
}

/** The id a client resumes from: `Last-Event-ID` wins over `?after=`. Undefined when neither is a whole number. */
export function resumePoint(request: Request): number | undefined {
  const raw = request.headers['last-event-id'] ?? (request.query as Record<string, unknown>).after;
  return typeof raw === 'string' && /^\d{1,15}$/.test(raw) ? Number(raw) : typeof raw === 'number' ? raw : undefined;
}

class Stream {
  /** Number of the newest event that the reader has. */
  last = 0;
  /** Work on this stream is done in order; signals that come meanwhile wait in `pending`. */
  private catchingUp = true;
  private again = false;
  private unsent = '';
  readonly closed = new AbortController();

  constructor(
    private readonly response: Response,
    readonly options: StreamOptions,
    private readonly spine: EventSpine,
  ) {}

  /** First frame, then everything after the client's last id. */
  async open(snapshot: { data: Record<string, unknown>; newestId: number }): Promise<void> {
    const { topic, orgId, after } = this.options;
    const { data, newestId } = snapshot;
    // An id from the future belongs to no event of this topic: such a client gets the snapshot and what follows.
    const resumes = after !== undefined && after <= newestId;
    this.last = resumes ? after : newestId;
    const body = { id: String(newestId), type: 'snapshot', topic, org_id: orgId, at: new Date().toISOString(), data };
    // A resuming client still has events to come below the snapshot's id, so its frame must not move the client's cursor.
    this.write(`event: snapshot\n${resumes ? '' : `id: ${newestId}\n`}data: ${JSON.stringify(body)}\n\n`);
    this.catchingUp = false;
    // The snapshot was read after the subscription stood: without a gap to fill there is nothing to ask for.
    if (resumes || this.again) await this.catchUp();
  }

  onSignal(signal: TopicSignal | null): void {
    if (signal === null) {
      void this.catchUp();
      return;
    }
    for (const item of signal) {
      if (isDelta(item)) {
        if (!this.catchingUp) this.writeDelta(item);
      } else if (this.catchingUp) {
        this.again = true;
      } else if (item.id === this.last + 1) {
        this.last = item.id;
        this.write(frame(this.options.topic, this.options.orgId, item));
      } else if (item.id > this.last) {
        void this.catchUp();
      }
    }
  }

  async catchUp(): Promise<void> {
    if (this.catchingUp) {
      this.again = true;
      return;
    }
    this.catchingUp = true;
    try {
      do {
        this.again = false;
        let events: SpineEvent[];
        do {
          events = await this.spine.after(this.options.topic, this.last, PAGE);
          for (const event of events) {
            this.last = event.id;
            this.write(frame(this.options.topic, this.options.orgId, event));
          }
        } while (events.length === PAGE && !this.closed.signal.aborted);
      } while (this.again && !this.closed.signal.aborted);
    } catch {
      // The database is away; the next sweep asks again.
    } finally {
      this.catchingUp = false;
    }
  }

  writeDelta(delta: MessageDelta): void {
    let text = frames.get(delta);
    if (!text) frames.set(delta, (text = unnumbered('message_delta', this.options.topic, this.options.orgId, { ...delta })));
    this.write(text);
  }

  ping(): void {
    this.write(unnumbered('ping', this.options.topic, this.options.orgId, {}));
  }

  /** Ends the stream unless it may go on. */
  judge(permission: Permission): void {
    if (permission === 'yes') return;
    if (permission !== 'no') this.write(unnumbered(permission, this.options.topic, this.options.orgId, {}));
    this.end();
  }

  end(retryMs?: number): void {
    if (retryMs !== undefined) this.write(`retry: ${retryMs}\n\n`);
    this.flush();
    this.response.end();
  }

  /** Frames of one moment go out together: a write to the socket costs more than everything else that a frame does. */
  private write(text: string): void {
    if (this.closed.signal.aborted) return;
    if (this.unsent === '') setImmediate(() => this.flush());
    this.unsent += text;
  }

  private flush(): void {
    const text = this.unsent;
    this.unsent = '';
    if (text === '' || this.closed.signal.aborted || this.response.writableEnded) return;
    if (this.response.writableLength > MAX_BUFFERED) {
      this.response.destroy();
      return;
    }
    this.response.write(text);
  }
}

/** Server-sent event streams over a topic: snapshot first, then every event once and in order, deltas in between. */
@Injectable()
export class SseStreams implements BeforeApplicationShutdown {
  private readonly logger = new Logger('SseStreams');
  private readonly streams = new Set<Stream>();
  private readonly timers: NodeJS.Timeout[];

  constructor(
    private readonly hub: RealtimeHub,
    private readonly spine: EventSpine,
  ) {
    const every = (ms: number, fn: () => void) => setInterval(fn, ms).unref();
    this.timers = [
      every(PING_MS, () => this.streams.forEach((s) => s.ping())),
      every(POLL_MS, () => !this.hub.connected && this.streams.forEach((s) => void s.catchUp())),
      every(SWEEP_MS, () => {
        // A failure decides nothing; the next sweep asks again.
        this.findMissed().catch(() => undefined);
        this.checkAccess().catch(() => undefined);
      }),
    ];
    gauge('sse_streams', 'Open event streams', [], (g) => g.set(this.streams.size));
  }

  /** Answers a request with a stream that ends when the client goes, loses access, or this process shuts down. */
  async serve(request: Request, response: Response, options: StreamOptions): Promise<void> {
    const stream = new Stream(response, options, this.spine);
    const stop = await this.hub.listen(options.topic, (signal) => stream.onSignal(signal));
    const cleanup = () => {
      stream.closed.abort();
      stop();
      this.streams.delete(stream);
    };
    // The client may have gone while the subscription was made.
    if (request.destroyed || response.destroyed) return cleanup();
    response.on('close', cleanup);
    response.on('error', cleanup);
    try {
      // May refuse (404): nothing has been written yet, so the caller answers it like any other error.
      const snapshot = await options.snapshot();
      response.writeHead(200, {
        'Content-Type': 'text/event-stream; charset=utf-8',
        'Cache-Control': 'no-store',
        'X-Accel-Buffering': 'no',
        Connection: 'keep-alive',
      });
      await stream.open(snapshot);
      this.streams.add(stream);
    } catch (error) {
      cleanup();
      if (!response.headersSent) throw error;
      this.logger.warn(`A stream could not be opened: ${(error as Error).message}`);
      response.destroy();
    }
  }

  /** One question for all streams: which topics have gone on without their readers? */
  private async findMissed(): Promise<void> {
    const newest = await this.spine.newestOf([...new Set([...this.streams].map((s) => s.options.topic))]);
    for (const stream of this.streams) if ((newest.get(stream.options.topic) ?? 0) > stream.last) void stream.catchUp();
  }

  private async checkAccess(): Promise<void> {
    const groups = new Map<StreamOptions['stillAllowed'], Stream[]>();
    for (const stream of this.streams) {
      const { stillAllowed } = stream.options;
      const group = groups.get(stillAllowed);
      if (group) group.push(stream);
      else groups.set(stillAllowed, [stream]);
    }
    for (const [stillAllowed, streams] of groups) {
      const permissions = await stillAllowed(streams.map((s) => s.options.reader) as never[]);
      streams.forEach((stream, i) => stream.judge(permissions[i]));
    }
  }

  /** Clients are told to come back soon; another replica resumes them from their last id. */
  beforeApplicationShutdown(): void {
    this.timers.forEach(clearInterval);
    this.streams.forEach((s) => s.end(500));
  }
}
