import { Injectable } from '@nestjs/common';
import { ExtractionError, FilesQueries, FilesService, TextReader, type FileRow } from '@aps/files';
import type { OrgScope } from '@aps/guards';
import { WeightedLru } from '@aps/platform/cache';

/** Of one, all that a model is ever given; a character more is kept, which tells that there is more. */
export const TEXT_CHARACTERS = 100_000;
const CACHE_BYTES = 32 * 1024 * 1024;
/** What one takes beside its text. */
const ENTRY_BYTES = 512;
/** A process that reads files may be ended for another reason than what it reads. */
const TRIES = 2;

/** Its text as UTF-8, or why it cannot be read. */
type Found = Buffer | ExtractionError;

interface Reading {
  found: Promise<Found | null>;
  /** Who waits for it. */
  waiting: number;
  /** What reads has got its bytes. */
  begun: boolean;
  unwanted: AbortController;
}

/** What documents in chats say. A file never changes, so each is read once; one that cannot be read, once for as long as this process remembers it. */
@Injectable()
export class DocumentTexts {
  private readonly found = new WeightedLru<Found>(CACHE_BYTES);
  private readonly underWay = new Map<string, Reading>();

  constructor(
    private readonly files: FilesQueries,
    private readonly service: FilesService,
    private readonly reader: TextReader,
  ) {}

  /**
   * Never inside a transaction. What has begun to be read is read to its end, whoever waits for it: what takes long is there for who asks next.
   *
   * @param file that the scope may see
   * @returns as Markdown, as much as is kept; null where its bytes are no longer there
   * @throws ExtractionError where it cannot be read; DomainError 503 while the storage cannot answer; the reason of the signal
   */
  async of(scope: OrgScope, file: FileRow, signal: AbortSignal): Promise<string | null> {
    const found = this.found.get(file.id) ?? (await this.wait(scope, file, signal));
    if (found instanceof ExtractionError) throw found;
    return found && found.toString();
  }

  private async wait(scope: OrgScope, file: FileRow, signal: AbortSignal): Promise<Found | null> {
    signal.throwIfAborted();
    const reading = this.underWay.get(file.id) ?? this.begin(scope, file);
    reading.waiting += 1;
    let leave!: () => void;
    const left = new Promise<never>((_, fail) => (leave = () => fail(signal.reason as Error)));
    signal.addEventListener('abort', leave);
    try {
      return await Promise.race([reading.found, left]);
    } finally {
      signal.removeEventListener('abort', leave);
      reading.waiting -= 1;
      if (!reading.waiting && !reading.begun) this.giveUp(file.id, reading);
    }
  }

  private begin(scope: OrgScope, file: FileRow): Reading {
    const reading = { waiting: 0, begun: false, unwanted: new AbortController() } as Reading;
    reading.found = this.read(scope, file, reading);
    this.underWay.set(file.id, reading);
    return reading;
  }

  private giveUp(id: string, reading: Reading): void {
    if (this.underWay.get(id) === reading) this.underWay.delete(id);
    reading.unwanted.abort();
  }

  private async read(scope: OrgScope, file: FileRow, reading: Reading): Promise<Found | null> {
    try {
      const kept = await this.files.keptText(scope, file);
      const found = kept === null ? await this.extract(scope, file, reading, TRIES) : Buffer.from(kept);
      if (found instanceof Buffer && kept === null) await this.service.keepText(scope, file, found.toString());
      if (found) this.found.set(file.id, found, ENTRY_BYTES + (found instanceof Buffer ? found.length : 0));
      return found;
    } finally {
      this.giveUp(file.id, reading);
    }
  }

  private async extract(scope: OrgScope, file: FileRow, reading: Reading, tries: number): Promise<Found | null> {
    const { filename, media_type, size_bytes } = file;
    const open = async () => {
      reading.begun = false;
      const bytes = await this.files.head(file, size_bytes);
      reading.begun = true;
      return bytes;
    };
    try {
      const extracted = await this.reader.read(scope, open, { filename, media_type, whole: true }, reading.unwanted.signal);
      return extracted && Buffer.from(extracted.text.slice(0, TEXT_CHARACTERS + 1));
    } catch (error) {
      if (error instanceof ExtractionError) return error;
      // It is to blame for nothing while its bytes cannot be had, or nobody wants them any more.
      if (!reading.begun || reading.unwanted.signal.aborted) throw error;
      if (tries > 1) return this.extract(scope, file, reading, tries - 1);
      // Nobody knows that it was the file, but its chat must go on.
      return new ExtractionError('extract_failed', 'What was reading it has ended, again and again');
    }
  }
}
