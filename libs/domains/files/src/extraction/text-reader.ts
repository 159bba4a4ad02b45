import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { Extracted, FileBytes, FileHints } from './extracted';
import { Readers } from './readers';

/** Reads files to Markdown, for who waits for it. */
@Injectable()
export class TextReader implements OnApplicationShutdown {
  private readonly readers = new Readers<FileBytes, Extracted>(__dirname, 'text-reader.worker.js');

  /**
   * @param open gets the bytes, once there is a process that reads them: what waits holds none
   * @returns null where there are no bytes any more
   * @throws as {@link Readers.at}, and what `open` throws
   */
  read(open: () => Promise<Buffer | null>, hints: FileHints, signal: AbortSignal): Promise<Extracted | null> {
    return this.readers.at(signal, async (ask) => {
      const bytes = await open();
      return bytes && ask({ bytes, hints });
    });
  }

  onApplicationShutdown(): void {
    this.readers.end();
  }
}
