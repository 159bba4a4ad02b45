import { getDocumentProxy } from 'unpdf';
import { TextSink } from '../clean';
import { ExtractionError } from '../extraction-error';
import type { Read } from './format';

const MAX_PAGES = 5_000;
/** Of the height of its letters, what a line is below the one before it that begins a paragraph. */
const PARAGRAPH = 1.7;

/** The text of each page, in the order in which it is written there. */
export async function readPdf(bytes: Buffer): Promise<Read> {
  const pdf = await getDocumentProxy(new Uint8Array(bytes), { isEvalSupported: false, stopAtErrors: false }).catch((error: Error) => {
    throw error.name === 'PasswordException' ? new ExtractionError('encrypted', 'It is encrypted with a password') : error;
  });
  if (pdf.numPages > MAX_PAGES) throw new ExtractionError('too_large', `It has more than ${MAX_PAGES} pages`);
  const sink = new TextSink();
  const pages: number[] = [];
  for (let number = 1; number <= pdf.numPages; number++) {
    const page = await pdf.getPage(number);
    const { items } = await page.getTextContent();
    pages.push(sink.length);
    sink.add(`${linesOf(items.filter((item) => 'str' in item))}\n\n`);
    page.cleanup();
  }
  const { info } = await pdf.getMetadata().catch(() => ({ info: {} }));
  const { Title: title } = info as { Title?: unknown };
  return {
    text: sink.toString(),
    title: (typeof title === 'string' && title.trim()) || null,
    media_type: 'application/pdf',
    pages,
    hasHeadings: false,
  };
}

interface TextItem {
  str: string;
  hasEOL: boolean;
  height: number;
  /** The last is how far up it stands. */
  transform: unknown[];
}

function linesOf(items: TextItem[]): string {
  const lines: string[] = [];
  let [line, last] = ['', null as number | null];
  for (const { str, hasEOL, height, transform } of items) {
    const up = Number(transform[5]);
    if (str.trim()) {
      if (!line && last !== null && height > 0 && Math.abs(last - up) > height * PARAGRAPH) lines.push('');
      last = up;
    }
    line += str;
    if (!hasEOL) continue;
    lines.push(line.trimEnd());
    line = '';
  }
  return [...lines, line].join('\n').trim();
}
