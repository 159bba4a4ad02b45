import { extract, serveReader } from '@aps/files/extraction';
import { chunksOf } from '../chunking/chunker';
import { sectionsOf } from '../chunking/sections';
import type { ReadSource, ToReader } from './source-reader';

// A process of its own: it reads one source after another.

serveReader(async (message: ToReader): Promise<ReadSource> => {
  if ('text' in message) return { extracted: null, chunks: chunksOf(message.text, sectionsOf(message.text)) };
  const extracted = await extract(Buffer.from(message.bytes), message.hints);
  const { text, pages, hasHeadings } = extracted;
  return { extracted, chunks: chunksOf(text, sectionsOf(text, pages, hasHeadings)) };
});
