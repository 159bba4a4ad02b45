import { DomainError } from '@aps/contracts';
import type { OrgScope } from '@aps/guards';
import { AwakeTimer, ParserChild, Places, type ParserEnd, type Place } from '@aps/platform/children';
import { counter } from '@aps/platform/observability';
import { Cutoff } from '@aps/platform/signals';
import { ExtractionError } from './extraction-error';
import type { FromReader } from './serve-reader';

const lost = counter('file_readers_lost_total', 'Processes that read files and were ended: out of time, or of memory', []);

/** Things that are read at once by those who share a {@link Readers}; k8s/base has the memory for them. */
const READERS = 2;
const HEAP_MIB = 384;
const MEMORY_MIB = 512;
const READ_MS = 60_000;
/** Who waits for the answer to a request waits so long for one of them; and behind so many of their organization nobody begins to. */
const WAIT_MS = 30_000;
export const WAITING_OF_AN_ORG = 16;
const BUSY_S = 5;

/** What an end says. Of one for no such reason nobody knows whether it was what is read: that is no ExtractionError, and tried again. */
const ENDS: Record<ParserEnd | 'time', () => Error> = {
  time: () => new ExtractionError('timeout', `It cannot be read within ${READ_MS / 1000} seconds`),
  memory: () => new ExtractionError('too_large', `It takes more than ${MEMORY_MIB} MiB of memory to be read`),
  other: () => new DomainError('service_unavailable', 'What was reading a file has ended. Try again.', { retryAfterS: 1 }),
};

const busy = (ofOne: boolean) =>
  new DomainError('service_unavailable', 'Too many files are being read right now. Try again.', { retryAfterS: BUSY_S, ofOne });

/** Processes that take apart what strangers have made: what a hostile file can do ends there, with that file alone. */
export class Readers<To extends object, T> {
  private readonly places: Places<Reader<To, T>>;
  private readonly readMs = READ_MS;
  private readonly waitMs = WAIT_MS;
  private ending?: DomainError;

  /**
   * @param file their module, which listens by {@link serveReader}; as of a {@link ParserChild}
   * @param ofAnOrg as many of them as one organization has at once; left out: all, while nobody else waits
   */
  constructor(
    private readonly directory: string,
    private readonly file: string,
    ofAnOrg?: number,
  ) {
    this.places = new Places(READERS, { ofAShare: ofAnOrg });
  }

  /**
   * Waits for one of them, and has it for itself while it is used. Organizations take turns. What the system does waits for as long as its
   * signal lets; who has made a request is refused where that takes too long.
   *
   * @throws ExtractionError; DomainError `service_unavailable` for such a request, or where what reads has ended for another reason than what
   *   it read; the reason of the signal
   */
  async at<R>(scope: OrgScope, signal: AbortSignal, use: (ask: (message: To) => Promise<T>) => Promise<R>): Promise<R> {
    const share = scope.orgId;
    const isRequest = scope.actor.userId !== null;
    if (isRequest && this.places.waitingOf(share) >= WAITING_OF_AN_ORG) throw busy(true);
    const wait = new Cutoff(signal, isRequest ? this.waitMs : undefined);
    const read = (place: Place<Reader<To, T>>) => {
      wait.release();
      return use(async (message) => {
        signal.throwIfAborted();
        if (this.ending) throw this.ending;
        place.holds = place.holds?.isRunning ? place.holds : new Reader(this.directory, this.file);
        const said = await place.holds.ask(message, signal, this.readMs);
        if ('failed' in said) throw new ExtractionError(said.failed.code, said.failed.message);
        return said.done;
      });
    };
    try {
      return await this.places.at(read, { signal: wait.signal, share });
    } catch (error) {
      throw wait.isLate ? busy(!this.places.isTakenByOthers(share)) : error;
    } finally {
      wait.release();
    }
  }

  /** Ends all of them, at the end of this process. */
  end(): void {
    // No fault of what is being read, so no ExtractionError.
    this.ending = new DomainError('service_unavailable', 'This process ends. Try again.', { retryAfterS: 1 });
    for (const { holds } of this.places.all) holds?.end('other', this.ending);
  }
}

/** A process that does one thing at a time. */
class Reader<To extends object, T> {
  private asked?: { answer: (said: FromReader<T>) => void; fail: (error: unknown) => void };
  private readonly child: ParserChild<To, FromReader<T>>;

  constructor(directory: string, file: string) {
    this.child = new ParserChild({
      ...{ directory, file, heapMib: HEAP_MIB, residentMib: MEMORY_MIB },
      heard: (said: FromReader<T>) => this.asked?.answer(said),
      ended: (why) => this.end(why),
    });
  }

  get isRunning(): boolean {
    return this.child.isRunning;
  }

  async ask(message: To, signal: AbortSignal, ms: number): Promise<FromReader<T>> {
    let timer: AwakeTimer | undefined;
    const abort = () => this.end('other', signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    try {
      return await new Promise<FromReader<T>>((answer, fail) => {
        const asked = (this.asked = { answer, fail });
        this.child.tell(message);
        // The time of what is read is none that its process takes for loading its code.
        void this.child.listening.then(() => this.asked === asked && (timer = new AwakeTimer(ms, () => this.end('time'))));
      });
    } finally {
      this.asked = undefined;
      timer?.stop();
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
