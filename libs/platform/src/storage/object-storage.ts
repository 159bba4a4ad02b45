import { Readable } from 'node:stream';
import { Logger } from '@nestjs/common';
import { DomainError } from '@aps/contracts';
import { durationHistogram } from '@aps/platform/observability';

/** Which bytes of an object: from `start`, so many. */
export interface ByteRange {
  start: number;
  length: number;
}

export interface StoredBytes {
  /** How many bytes the stream gives. */
  length: number;
  stream: Readable;
}

const duration = durationHistogram('storage_operation_seconds', 'Time of operations on the object storage; reading: up to the first byte', [
  'operation',
  'outcome',
]);
// An alert asks for the increase of these.
for (const operation of ['put', 'get', 'exists', 'delete']) duration.zero({ operation, outcome: 'error' });

/** Keys have a shape that no file system or bucket reads as anything but a name: no `..`, no empty part, nothing to escape. */
const KEY = /^[a-z0-9][a-z0-9._-]*(\/[a-z0-9][a-z0-9._-]*)*$/i;
const MAX_KEY = 512;

/**
 * Bytes under names. The name says nothing to the storage; who may read is decided before it is asked.
 *
 * Whatever the storage complains about is answered 503 `service_unavailable`: its words name buckets and hosts, and go to the log alone.
 */
export abstract class ObjectStorage {
  private readonly logger = new Logger('ObjectStorage');

  /**
   * Keeps what the stream gives, all of it or nothing: an object is never seen half written, and a stream that fails leaves none. What
   * was there under the key is replaced.
   *
   * @throws the error of the stream as it is; DomainError 503
   */
  put(key: string, bytes: Readable): Promise<void> {
    // It may fail before it is read; the reading finds that out then.
    bytes.on('error', () => undefined);
    return this.measured('put', key, () => this.write(key, Readable.from(tellingApart(bytes), { objectMode: false })));
  }

  /** @returns null when there is no such object. The caller reads the stream to its end or destroys it. */
  get(key: string, range?: ByteRange): Promise<StoredBytes | null> {
    return this.measured('get', key, () => this.read(key, range));
  }

  /** Removing what is not there is no error. */
  delete(key: string): Promise<void> {
    return this.measured('delete', key, () => this.remove(key));
  }

  exists(key: string): Promise<boolean> {
    return this.measured('exists', key, () => this.has(key));
  }

  /**
   * Removes what processes that have died left half written. A bucket has a rule of its own for that.
   *
   * @returns how many there were
   */
  removeAbandoned(): Promise<number> {
    return Promise.resolve(0);
  }

  protected abstract write(key: string, bytes: Readable): Promise<void>;
  protected abstract read(key: string, range?: ByteRange): Promise<StoredBytes | null>;
  protected abstract remove(key: string): Promise<void>;
  protected abstract has(key: string): Promise<boolean>;

  private async measured<T>(operation: string, key: string, work: () => Promise<T>): Promise<T> {
    if (key.length > MAX_KEY || !KEY.test(key)) throw new Error('This is no key of the object storage.');
    const started = performance.now();
    let outcome = 'error';
    try {
      const result = await work();
      outcome = 'done';
      return result;
    } catch (error) {
      if (error instanceof SourceError) {
        outcome = 'source_failed';
        throw error.cause;
      }
      const { name, code, message } = error as { name?: string; code?: string; message?: string };
      this.logger.error({ msg: 'The object storage failed', operation, error: [name, code, message].filter(Boolean).join(' ') });
      throw new DomainError('service_unavailable', 'Files cannot be reached right now. Try again.', { cause: error, retryAfterS: 2 });
    } finally {
      duration.observe({ operation, outcome }, (performance.now() - started) / 1000);
    }
  }
}

/** What was to be stored could not be read; the storage is not at fault. */
class SourceError extends Error {
  constructor(cause: unknown) {
    super('The source failed', { cause });
  }
}

/** The bytes of a source, whose own failure is told apart from one of who reads it. */
async function* tellingApart(source: Readable): AsyncGenerator<Uint8Array, void> {
  const chunks = source.iterator()[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  try {
    for (;;) {
      const next = await chunks.next().catch((error: unknown) => {
        throw new SourceError(error);
      });
      if (next.done) return;
      yield next.value;
    }
  } finally {
    source.destroy();
  }
}
