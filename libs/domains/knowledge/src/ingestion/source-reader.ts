import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Readers, type Extracted, type FileBytes } from '@aps/files';
import { OrgScope } from '@aps/guards';
import type { Chunk } from '../chunking/chunker';

/** What is read of a source; `extracted` is null of a text that was stored already. */
export interface ReadSource {
  extracted: Extracted | null;
  chunks: Chunk[];
}

/** What a process is told, one after another. */
export type ToReader = FileBytes | { text: string };

/** Reads sources in processes of their own, which wait for nobody who reads files otherwise. */
@Injectable()
export class SourceReader implements OnApplicationShutdown {
  private readonly readers = new Readers<ToReader, ReadSource>(__dirname, 'source-reader.worker.js');

  /**
   * Reads a source to Markdown, and divides that.
   *
   * @throws as {@link Readers.at}
   */
  async read(orgId: string, source: FileBytes, signal: AbortSignal): Promise<{ extracted: Extracted; chunks: Chunk[] }> {
    const { extracted, chunks } = await this.ask(orgId, source, signal);
    return { extracted: extracted!, chunks };
  }

  /**
   * Divides a text that is stored already, as Markdown.
   *
   * @throws as {@link read}
   */
  async chunk(orgId: string, text: string, signal: AbortSignal): Promise<Chunk[]> {
    return text.trim() ? (await this.ask(orgId, { text }, signal)).chunks : [];
  }

  onApplicationShutdown(): void {
    this.readers.end();
  }

  private ask(orgId: string, message: ToReader, signal: AbortSignal): Promise<ReadSource> {
    return this.readers.at(OrgScope.system(orgId, 'indexing'), signal, (ask) => ask(message));
  }
}
