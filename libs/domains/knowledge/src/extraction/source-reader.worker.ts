import { serveParent } from '@aps/platform/children';
import { chunksOf } from '../chunking/chunker';
import { extract } from './extract';
import { ExtractionError } from './extraction-error';
import type { FromReader, ToReader } from './reading';
import { sectionsOf } from './sections';

// A process of its own: it reads one source after another.

const say = serveParent<ToReader, FromReader>((message) => {
  work(message).then(say, (error: unknown) => {
    const { code, message: sentence } = error instanceof ExtractionError ? error : UNREADABLE;
    say({ failed: { code, message: sentence } });
  });
});
const UNREADABLE = new ExtractionError('extract_failed', 'It cannot be read');

async function work(message: ToReader): Promise<FromReader> {
  if (message.type === 'read') {
    const extracted = await extract(Buffer.from(message.bytes), message.hints);
    return { read: { extracted, chunks: chunksOf(extracted) } };
  }
  const { text } = message;
  return { chunks: chunksOf({ text, sections: sectionsOf(text) }) };
}
