import { SaxesParser } from 'saxes';
import { ExtractionError } from './extraction-error';

/** What is told of an element, by names without their prefixes. */
export interface XmlHandlers {
  opened?: (name: string, attributes: Attributes) => void;
  closed?: (name: string) => void;
  text?: (text: string) => void;
}

/** Of an element: `val` finds `w:val`, and `r:id` that alone. */
export type Attributes = (name: string) => string | undefined;

/** As deep as no document nests. */
const MAX_DEPTH = 1_000;
const local = (name: string): string => name.slice(name.indexOf(':') + 1);

/**
 * Reads XML as it comes. It knows no entities but those of XML itself: what brings its own does so to grow.
 *
 * @throws ExtractionError `bomb` for a document type, `extract_failed` for what is no XML
 */
export async function readXml(chunks: AsyncIterable<Buffer>, { opened, closed, text }: XmlHandlers): Promise<void> {
  const parser = new SaxesParser<{ xmlns: false; position: false }>({ xmlns: false, position: false });
  let depth = 0;
  parser.on('doctype', () => {
    throw new ExtractionError('bomb', 'Its XML declares a document type');
  });
  parser.on('error', () => {
    throw new ExtractionError('extract_failed', 'Its XML cannot be read');
  });
  parser.on('opentag', ({ name, attributes }) => {
    if (++depth > MAX_DEPTH) throw new ExtractionError('bomb', 'Its XML nests too deep');
    opened?.(local(name), (wanted) => attributes[wanted] ?? (wanted.includes(':') ? undefined : prefixed(attributes, wanted)));
  });
  parser.on('closetag', ({ name }) => {
    depth--;
    closed?.(local(name));
  });
  if (text) {
    parser.on('text', text);
    parser.on('cdata', text);
  }
  let decoder: InstanceType<typeof TextDecoder> | undefined;
  for await (const chunk of chunks) {
    decoder ??= new TextDecoder(chunk[0] === 0xff ? 'utf-16le' : chunk[0] === 0xfe ? 'utf-16be' : 'utf-8');
    parser.write(decoder.decode(chunk, { stream: true }));
  }
  if (decoder) parser.write(decoder.decode()).close();
}

const prefixed = (attributes: Record<string, string>, wanted: string): string | undefined => {
  const name = Object.keys(attributes).find((each) => local(each) === wanted);
  return name === undefined ? undefined : attributes[name];
};
