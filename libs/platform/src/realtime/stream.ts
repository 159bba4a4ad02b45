import { isDelta, isNotice, type TopicEvent, type TopicSignal } from '@aps/contracts';
import { counter } from '@aps/platform/observability';
import type { Response } from 'express';
import { cursorKey, formatCursor, parseCursor, parseNumber } from './cursor';
import { envelopeOf, fleetingFrame, snapshotEnvelope, unnumberedFrame, type Conceal, type TopicName } from './frames';
import type { TopicListener } from './hub';
import type { EventLog } from './event-log';

/** A reader that leaves this much unread is cut off; it resumes from its last id. */
const MAX_BUFFERED = 1024 * 1024;
/** Reading up stops here until the reader has taken what it was sent: its pace decides, and no backlog stands in memory. */
const READ_AHEAD = 256 * 1024;
/** A reader that takes nothing for so long while it reads up is cut off, too. */
const STALL_MS = 10_000;
/** Events of one look-up while reading up. */
const PAGE = 100;

const cut = counter('sse_streams_cut_total', 'Event streams that were ended because their reader did not read');

/** The state of a topic now, with the newest number that is part of it. */
export interface Snapshot {
  data: Record<string, unknown>;
  newestId: number;
  conceal?: Conceal;
}

export interface StreamTopic {
  /** What the event log and the channel call it. */
  topic: string;
  /** What readers call it. */
  name: string;
}

/** One response that stays open, and the topics that it tells of. */
export class Stream {
  readonly feeds: Feed[];
  /** The client is gone. */
  closed = false;
  private ended = false;
  private unsent = '';
  private drained: Promise<void> | undefined;

  /**
   * @param multiplexed ids of frames are cursors over all topics, instead of the numbers of the one
   * @param after the last id that the client has
   */
  constructor(
    private readonly response: Response,
    private readonly eventLog: EventLog,
    readonly orgId: string,
    topics: StreamTopic[],
    readonly multiplexed: boolean,
    after: string | undefined,
  ) {
    const numbers = multiplexed ? parseCursor(after) : undefined;
    this.feeds = topics.map(({ topic, name }) => {
      const key = multiplexed ? cursorKey(topic) : '';
      return new Feed(this, eventLog, topic, name, key, numbers ? numbers.get(key) : parseNumber(after));
    });
  }

  /** First frames: the state of each topic, in the order of {@link feeds}. What follows comes as soon as it is there. */
  begin(snapshots: Snapshot[]): void {
    this.feeds.forEach((feed, i) => feed.settle(snapshots[i].newestId));
    this.feeds.forEach((feed, i) => feed.begin(snapshots[i]));
  }

  /** Where the reader stands after what has been written to it. A topic that has not begun is no part of it. */
  cursor(): string {
    return formatCursor(this.feeds.filter((feed) => feed.last >= 0));
  }

  ping(): void {
    this.writeUnnumbered('ping');
  }

  /** Ends the stream, with an event that says why if there is a reason. */
  refuse(reason?: string): void {
    if (this.ended) return;
    if (reason) this.writeUnnumbered(reason);
    this.end();
  }

  /** Ends one topic; the stream goes on with the others, and ends with the last. */
  drop(feed: Feed): void {
    const at = this.feeds.indexOf(feed);
    if (at < 0) return;
    this.feeds.splice(at, 1);
    this.write(unnumberedFrame('topic_closed', feed.name, this.orgId, this.eventLog.now(), { reason: 'access_lost' }));
    if (this.feeds.length === 0) this.end();
  }

  end(retryMs?: number): void {
    if (this.ended) return;
    if (retryMs !== undefined) this.write(`retry: ${retryMs}\n\n`);
    this.flush();
    this.ended = true;
    this.response.end();
    // Who does not read what is left does not hold the connection.
    setTimeout(() => this.response.writableFinished || this.response.destroy(), STALL_MS).unref();
  }

  /** Frames of one moment go out together: a write to the socket costs more than everything else that a frame does. */
  write(text: string): void {
    if (this.closed || this.ended) return;
    if (this.unsent === '') setImmediate(flush, this);
    this.unsent += text;
  }

  /** True when more must not be read for this reader before it has taken what waits: see {@link room}. */
  get full(): boolean {
    return this.unsent.length + this.response.writableLength > READ_AHEAD;
  }

  /** Resolves when the reader has taken what was sent, or is gone. */
  room(): Promise<void> {
    this.flush();
    if (this.closed || !this.response.writableNeedDrain) return Promise.resolve();
    return (this.drained ??= new Promise<void>((resolve) => {
      const late = setTimeout(() => this.cutOff(), STALL_MS);
      const done = () => {
        clearTimeout(late);
        this.response.off('drain', done).off('close', done);
        this.drained = undefined;
        resolve();
      };
      this.response.once('drain', done).once('close', done);
    }));
  }

  flush(): void {
    const text = this.unsent;
    this.unsent = '';
    if (text === '' || this.closed || this.ended) return;
    if (this.response.writableLength > MAX_BUFFERED) this.cutOff();
    else this.response.write(text);
  }

  private writeUnnumbered(type: string): void {
    this.write(unnumberedFrame(type, this.multiplexed ? null : (this.feeds[0]?.name ?? null), this.orgId, this.eventLog.now()));
  }

  private cutOff(): void {
    cut.inc();
    this.response.destroy();
  }
}

const flush = (stream: Stream): void => stream.flush();

/** One topic of a stream: knows what its reader has of it. */
export class Feed implements TopicListener, TopicName {
  /** Number of the newest event that the reader has; -1 while it has nothing. */
  last: number;
  conceal: Conceal | undefined;
  /** Its snapshot is written: what is told of it before would come ahead of the head. */
  private hasBegun = false;
  /** Work on this topic is done in order; what comes meanwhile is looked up afterwards. */
  private catchingUp = true;
  private again = false;

  constructor(
    private readonly stream: Stream,
    private readonly eventLog: EventLog,
    readonly topic: string,
    readonly name: string,
    /** What the topic is called in a cursor. */
    readonly key: string,
    after: number | undefined,
  ) {
    this.last = after ?? -1;
  }

  get orgId(): string {
    return this.stream.orgId;
  }

  /** An id from the future belongs to no event of this topic: such a client gets the snapshot and what follows. */
  settle(newestId: number): void {
    if (this.last > newestId) this.last = -1;
  }

  begin({ data, newestId, conceal }: Snapshot): void {
    this.conceal = conceal;
    const resumes = this.last >= 0;
    if (!resumes) this.last = newestId;
    // A resuming client still has events to come below the snapshot's number, so its frame must not move the client there.
    const id = this.stream.multiplexed ? this.stream.cursor() : resumes ? undefined : newestId;
    this.stream.write(
      `event: snapshot\n${id === undefined ? '' : `id: ${id}\n`}${snapshotEnvelope(newestId, data, this, this.eventLog.now())}`,
    );
    this.hasBegun = true;
    this.catchingUp = false;
    // The snapshot was read after the subscription stood: without a gap to fill there is nothing to ask for.
    if (this.last < newestId || this.again) void this.catchUp();
  }

  onSignal(signal: TopicSignal): void {
    for (const item of signal) {
      if (isDelta(item) || isNotice(item)) {
        // The event of a text that is left out has all of it; a notice has no event, and none that it must come after.
        if (isNotice(item) ? this.hasBegun : !this.catchingUp) this.stream.write(fleetingFrame(item, this, this.eventLog.now()));
      } else if (this.catchingUp) {
        this.again = true;
      } else if (item.id === this.last + 1) {
        this.deliver(item);
      } else if (item.id > this.last) {
        void this.catchUp();
      }
    }
  }

  /** Sends what the event log has beyond the reader's last number, at the reader's pace. */
  async catchUp(): Promise<void> {
    if (this.catchingUp) {
      this.again = true;
      return;
    }
    this.catchingUp = true;
    try {
      do {
        this.again = false;
        for (let count = PAGE; count === PAGE;) {
          const events = await this.eventLog.after(this.topic, this.last, PAGE);
          count = events.length;
          for (const event of events) {
            if (this.isOver) return;
            this.deliver(event);
            if (this.stream.full) await this.stream.room();
          }
        }
      } while (this.again && !this.isOver);
    } catch {
      // The database is away; the next sweep asks again.
    } finally {
      this.catchingUp = false;
    }
  }

  private get isOver(): boolean {
    return this.stream.closed || !this.stream.feeds.includes(this);
  }

  private deliver(event: TopicEvent): void {
    this.last = event.id;
    this.stream.write(`event: ${event.type}\nid: ${this.stream.multiplexed ? this.stream.cursor() : event.id}\n${envelopeOf(event, this)}`);
  }
}
