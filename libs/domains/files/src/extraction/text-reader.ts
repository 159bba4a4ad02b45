import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { OrgScope } from '@aps/guards';
import type { Extracted, FileBytes, FileHints } from './extracted';
import { Readers } from './readers';

/** An organization whose files take long leaves a reader for the others. */
const OF_AN_ORG = 1;

/** Reads files to Markdown, for who waits for it. */
@Injectable()
export class TextReader implements OnApplicationShutdown {
  private readonly readers = new Readers<FileBytes, Extracted>(__dirname, 'text-reader.worker.js', OF_AN_ORG);

  /**
   * @param open gets the bytes, once there is a process that reads them: what waits holds none
   * @returns null where there are no bytes any more
   * @throws as {@link Readers.at}, and what `open` throws
   */
  read(scope: OrgScope, open: () => Promise<Buffer | null>, hints: FileHints, signal: AbortSignal): Promise<Extracted | null> {
    return this.readers.at(scope, signal, async (ask) => {
      const bytes = await open();
      return bytes && ask({ bytes, hints });
    });
  }

  onApplicationShutdown(): void {
    this.readers.end();
  }
}
