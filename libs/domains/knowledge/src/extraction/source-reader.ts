import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { ParserChild, Places, type ParserEnd } from '@aps/platform/children';
import { counter } from '@aps/platform/observability';
import type { Chunk, SourceHints } from './extracted';
import { ExtractionError } from './extraction-error';
import type { FromReader, ReadSource, ToReader } from './reading';

const lost = counter('knowledge_readers_lost_total', 'Processes that read sources and were ended: out of time, or of memory', []);

/** Sources that are read at once. */
const READERS = 2;
const HEAP_MIB = 384;
const MEMORY_MIB = 512;
const READ_MS = 60_000;

/** What an end says. Of one for no such reason nobody knows whether it was the source's: that is no ExtractionError, and tried again. */
const ENDS: Record<ParserEnd | 'time', () => Error> = {
  time: () => new ExtractionError('timeout', `It cannot be read within ${READ_MS / 1000} seconds`),
  memory: () => new ExtractionError('too_large', `It takes more than ${MEMORY_MIB} MiB of memory to be read`),
  other: () => new Error('What read it has ended'),
};

/** Reads sources in processes of their own: what a hostile one can do ends there, with that source alone. */
@Injectable()
export class SourceReader implements OnApplicationShutdown {
  private readonly places = new Places<Reader>(READERS);
  private readonly readMs = READ_MS;

  /**
   * Reads a source to Markdown, and divides that.
   *
   * @throws ExtractionError; Error where what reads it has ended for another reason; or the reason of the signal
   */
  async read(bytes: Buffer, hints: SourceHints, signal: AbortSignal): Promise<ReadSource> {
    const said = await this.ask({ type: 'read', bytes, hints }, signal);
    return 'read' in said ? said.read : unexpected();
  }

  /**
   * Divides a text that is stored already, as Markdown.
   *
   * @throws as {@link read}
   */
  async chunk(text: string, signal: AbortSignal): Promise<Chunk[]> {
    if (!text.trim()) return [];
    const said = await this.ask({ type: 'chunk', text }, signal);
    return 'chunks' in said ? said.chunks : unexpected();
  }

  onApplicationShutdown(): void {
    // No fault of what is being read, so no ExtractionError.
    for (const { holds } of this.places.all) holds?.end('other', new Error('Shutting down'));
  }

  private ask(message: ToReader, signal: AbortSignal): Promise<FromReader> {
    return this.places.at(async (place) => {
      signal.throwIfAborted();
      place.holds = place.holds?.isRunning ? place.holds : new Reader();
      const said = await place.holds.ask(message, signal, this.readMs);
      if ('failed' in said) throw new ExtractionError(said.failed.code, said.failed.message);
      return said;
    });
  }
}

const unexpected = (): never => {
  throw new Error('A reader has answered what it was not asked');
};

/** A process that does one thing at a time. */
class Reader {
  private asked?: { answer: (said: FromReader) => void; fail: (error: unknown) => void };
  private readonly child = new ParserChild<ToReader, FromReader>({
    ...{ directory: __dirname, file: 'source-reader.worker.js', heapMib: HEAP_MIB, residentMib: MEMORY_MIB },
    heard: (said) => this.asked?.answer(said),
    ended: (why) => this.end(why),
  });

  get isRunning(): boolean {
    return this.child.isRunning;
  }

  async ask(message: ToReader, signal: AbortSignal, ms: number): Promise<FromReader> {
    let timer: NodeJS.Timeout | undefined;
    const abort = () => this.end('other', signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    try {
      return await new Promise<FromReader>((answer, fail) => {
        const asked = (this.asked = { answer, fail });
        this.child.tell(message);
        // The time of a source is none that its process takes for loading its code.
        void this.child.listening.then(() => this.asked === asked && (timer = setTimeout(() => this.end('time'), ms)));
      });
    } finally {
      this.asked = undefined;
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
    }
  }

  /** Ends it, with what it is at. @param reason where it is somebody's wish */
  end(why: ParserEnd | 'time', reason?: unknown): void {
    if (this.asked && reason === undefined) lost.inc();
    this.child.end();
    this.asked?.fail(reason ?? ENDS[why]());
  }
}
