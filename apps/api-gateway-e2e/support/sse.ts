import http from 'node:http';
import { until } from './until';

/** A frame of an event stream. `data` is the envelope: `{id, type, topic, org_id, at, data}`. */
export interface Frame {
  event: string;
  /** Undefined for frames that must not move the reader's cursor (deltas, pings). */
  id?: string;
  // Specs read into it freely; what is there is what they check.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- of many shapes; specs look into it with matchers
  data: any;
}

/** Reads an event stream in the background, frame by frame. */
export class SseReader {
  readonly frames: Frame[] = [];
  /** True once the server has ended the stream or the connection broke. */
  ended = false;
  status = 0;
  headers: http.IncomingHttpHeaders = {};
  /** The body of an answer that is no stream. */
  body = '';
  private buffer = '';
  private request!: http.ClientRequest;
  private response?: http.IncomingMessage;

  /** Resolves with the response's head. */
  static open(url: string, options: { as?: string; lastEventId?: string; paused?: boolean } = {}): Promise<SseReader> {
    const reader = new SseReader();
    return new Promise((resolve, reject) => {
      reader.request = http.get(
        url,
        {
          // A connection of its own: cutting it must not concern anybody else.
          agent: false,
          headers: {
            Accept: 'text/event-stream',
            ...(options.as && { Authorization: `Bearer ${options.as}` }),
            ...(options.lastEventId !== undefined && { 'Last-Event-ID': options.lastEventId }),
          },
        },
        (response) => {
          reader.response = response;
          reader.status = response.statusCode ?? 0;
          reader.headers = response.headers;
          response.setEncoding('utf8');
          const end = () => (reader.ended = true);
          response.on('close', end);
          response.on('end', end);
          response.on('error', end);
          if (options.paused) response.pause();
          else response.on('data', (text: string) => reader.take(text));
          resolve(reader);
        },
      );
      reader.request.on('error', (error) => {
        reader.ended = true;
        reject(error);
      });
    });
  }

  /** Begins to read a stream that was opened `paused`. */
  resume(): void {
    this.response?.on('data', (text: string) => this.take(text));
    this.response?.resume();
  }

  private take(text: string): void {
    if (this.status !== 200) {
      this.body += text;
      return;
    }
    this.buffer += text;
    for (let end = this.buffer.indexOf('\n\n'); end >= 0; end = this.buffer.indexOf('\n\n')) {
      const fields = Object.fromEntries(
        this.buffer
          .slice(0, end)
          .split('\n')
          .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trimStart()]),
      );
      this.buffer = this.buffer.slice(end + 2);
      if (fields.event)
        this.frames.push({
          event: fields.event,
          ...(fields.id !== undefined && { id: fields.id }),
          data: JSON.parse(fields.data ?? 'null'),
        });
    }
  }

  /** The ids of the numbered events, in the order in which they came; the snapshot's is none of them. */
  ids(): number[] {
    return this.frames.filter((f) => f.id !== undefined && f.event !== 'snapshot').map((f) => Number(f.id));
  }

  /** The id that a client would send to resume: the newest that it was given, the snapshot's included. */
  lastId(): string | undefined {
    return this.frames.findLast((f) => f.id !== undefined)?.id;
  }

  /** Waits for the first frame that is as wanted. */
  until(wanted: (frame: Frame) => boolean, timeoutMs?: number): Promise<Frame> {
    return until(
      () => `the stream brings what is wanted; it brought ${this.frames.map((f) => `${f.event}${f.id ? `#${f.id}` : ''}`).join(' ')}`,
      () => {
        const found = this.frames.find(wanted);
        if (!found && this.ended) throw new Error(`The stream ended; it had brought ${this.frames.map((f) => f.event).join(', ')}`);
        return found;
      },
      timeoutMs,
      20,
    );
  }

  untilEnd(timeoutMs?: number): Promise<true> {
    return until('the stream ends', () => this.ended, timeoutMs);
  }

  /** Breaks the connection off. */
  close(): void {
    this.ended = true;
    this.request.on('error', () => undefined);
    this.request.destroy();
  }
}
