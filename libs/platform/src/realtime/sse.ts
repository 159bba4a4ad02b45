import { BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import { gauge } from '@aps/platform/observability';
import type { Request, Response } from 'express';
import { RealtimeHub } from './hub';
import { EventLog } from './event-log';
import { Stream, type Feed, type Snapshot, type StreamTopic } from './stream';

const PING_S = 15;
/** How often streams ask the event log when signals may be missing. */
const POLL_MS = 2_000;
/**
 * How often every stream asks the event log anyway (a worker that died between its commit and its signal told nobody), and whether its
 * reader may go on. With the second for which an answer about a credential is believed it makes five.
 */
const SWEEP_MS = 4_000;
const RETRY_MS = 500;

/**
 * Whether a reader may go on with a topic: `yes` as before, or with what is concealed from now on; `topic_lost` ends that topic, the others end
 * the stream.
 */
export type Permission = 'yes' | Pick<Snapshot, 'conceal'> | 'topic_lost' | 'no' | 'org_suspended';

/**
 * Decides who may go on reading; asked for all open streams of the same audience at once. A failure decides nothing: the database may be
 * away.
 *
 * @returns one answer per question, in their order
 */
export type Audience<R> = (questions: { reader: R; topic: string }[]) => Promise<Permission[]>;

export interface StreamOptions<R> {
  orgId: string;
  /** At least one. */
  topics: StreamTopic[];
  /** Ids of frames are cursors over all topics, instead of the numbers of the one. */
  multiplexed?: boolean;
  /** The last id that the client has; see {@link resumePoint}. */
  after?: string;
  /** The state of each topic, in their order. Asked once, after the subscriptions stand; may refuse. */
  snapshots: () => Promise<Snapshot[]>;
  /** Who reads, in the words of the audience. */
  reader: R;
  audience: Audience<R>;
}

/** The id that a client resumes from: `Last-Event-ID` wins over `?after=`. */
export function resumePoint(request: Request): string | undefined {
  const raw = request.headers['last-event-id'] ?? (request.query as Record<string, unknown>).after;
  return typeof raw === 'string' || typeof raw === 'number' ? String(raw) : undefined;
}

interface Standing {
  reader: unknown;
  audience: Audience<unknown>;
  /** Second of the ping's round in which it is told; so many streams must not all be written to at once. */
  slot: number;
}

/** Server-sent event streams over topics: snapshots first, then every event of a topic once and in order, deltas in between. */
@Injectable()
export class SseStreams implements BeforeApplicationShutdown {
  private readonly logger = new Logger('SseStreams');
  private readonly streams = new Map<Stream, Standing>();
  private readonly timers: NodeJS.Timeout[];
  private opened = 0;
  private second = 0;
  private ending = false;

  constructor(
    private readonly hub: RealtimeHub,
    private readonly eventLog: EventLog,
  ) {
    const every = (ms: number, fn: () => void) => setInterval(fn, ms).unref();
    this.timers = [
      every(1_000, () => this.ping()),
      every(POLL_MS, () => !this.hub.connected && void this.findMissed()),
      every(SWEEP_MS, () => {
        void this.findMissed();
        void this.checkAccess();
      }),
    ];
    hub.onReturn(() => void this.findMissed());
    gauge('sse_streams', 'Open event streams', [], (g) => g.set(this.streams.size));
  }

  /** Answers a request with a stream that ends when the client goes, loses access, or this process shuts down. */
  async serve<R>(response: Response, options: StreamOptions<R>): Promise<void> {
    const { orgId, topics, multiplexed = false, after, snapshots, reader, audience } = options;
    const stream = new Stream(response, this.eventLog, orgId, topics, multiplexed, after);
    response.once('close', () => this.forget(stream));
    response.on('error', ignore);
    await Promise.all(stream.feeds.map((feed) => this.hub.listen(feed.topic, feed)));
    try {
      // The client may have gone before, or while the subscriptions were made.
      if (stream.closed || response.destroyed) return this.forget(stream);
      // May refuse (404): nothing has been written yet, so the caller answers it like any other error.
      const found = await snapshots();
      if (stream.closed) return;
      response.writeHead(200, {
        'Content-Type': 'text/event-stream; charset=utf-8',
        'Cache-Control': 'no-store',
        'X-Accel-Buffering': 'no',
      });
      // A HEAD asks what a stream would look like; it gets no frames, and must not be kept waiting for them.
      if (response.req.method === 'HEAD') return void response.end();
      // Head and first frames are one write to the socket, but two texts: joined to another text, a head is kept in seventy pieces.
      response.cork();
      response.flushHeaders();
      stream.begin(found);
      stream.flush();
      response.uncork();
      this.streams.set(stream, { reader, audience: audience as Audience<unknown>, slot: this.opened++ % PING_S });
      if (this.ending) stream.end(RETRY_MS);
    } catch (error) {
      this.forget(stream);
      if (!response.headersSent) throw error;
      this.logger.warn(`A stream could not be opened: ${(error as Error).message}`);
      response.destroy();
    }
  }

  private forget(stream: Stream): void {
    stream.closed = true;
    for (const feed of stream.feeds) this.hub.unlisten(feed.topic, feed);
    this.streams.delete(stream);
  }

  private ping(): void {
    this.second = (this.second + 1) % PING_S;
    for (const [stream, { slot }] of this.streams) if (slot === this.second) stream.ping();
  }

  /**
   * One question for all streams: which topics have gone on without their readers? A reader that has more of one than there is was told what a
   * database that is gone knew; its stream ends, and the next begins with a snapshot.
   */
  private readonly findMissed = oneAtATime(async () => {
    const feeds = [...this.streams.keys()].flatMap((stream) => stream.feeds.map((feed) => ({ stream, feed, last: feed.last })));
    const newest = await this.eventLog.newestOf([...new Set(feeds.map(({ feed }) => feed.topic))]);
    for (const { stream, feed, last } of feeds) {
      const found = newest.get(feed.topic);
      if (found === undefined) continue;
      if (found < last) stream.end(RETRY_MS);
      else if (found > feed.last) void feed.catchUp();
    }
  });

  private readonly checkAccess = oneAtATime(async () => {
    const audiences = new Map<Audience<unknown>, { stream: Stream; feed: Feed; reader: unknown; topic: string }[]>();
    for (const [stream, { reader, audience }] of this.streams) {
      const questions = audiences.get(audience) ?? [];
      audiences.set(audience, questions);
      for (const feed of stream.feeds) questions.push({ stream, feed, reader, topic: feed.topic });
    }
    for (const [audience, questions] of audiences) {
      const answers = await audience(questions);
      questions.forEach(({ stream, feed }, i) => this.judge(stream, feed, answers[i]));
    }
  });

  private judge(stream: Stream, feed: Feed, permission: Permission): void {
    if (permission === 'yes' || stream.closed) return;
    if (typeof permission === 'object') {
      feed.conceal = permission.conceal;
      return;
    }
    if (permission === 'topic_lost') {
      this.hub.unlisten(feed.topic, feed);
      stream.drop(feed);
      return;
    }
    stream.refuse(permission === 'no' ? undefined : permission);
  }

  /** Clients are told to come back soon; another replica resumes them from their last id. */
  beforeApplicationShutdown(): void {
    this.ending = true;
    this.timers.forEach(clearInterval);
    for (const stream of this.streams.keys()) stream.end(RETRY_MS);
  }
}

const ignore = (): void => undefined;

/** A look that is not begun again before it is over: a database that is slow is not asked by several. A failure decides nothing; the next look may. */
function oneAtATime(look: () => Promise<void>): () => Promise<void> {
  let isLooking = false;
  return async () => {
    if (isLooking) return;
    isLooking = true;
    await look()
      .catch(ignore)
      .finally(() => (isLooking = false));
  };
}
