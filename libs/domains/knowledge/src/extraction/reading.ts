import type { Chunk, Extracted, ExtractionCode, SourceHints } from './extracted';

/** What is read of a source. */
export interface ReadSource {
  extracted: Extracted;
  chunks: Chunk[];
}

/** What a process is told, one after another. */
export type ToReader = { type: 'read'; bytes: Buffer; hints: SourceHints } | { type: 'chunk'; text: string };

/** What it says of each. */
export type FromReader = { read: ReadSource } | { chunks: Chunk[] } | { failed: { code: ExtractionCode; message: string } };
