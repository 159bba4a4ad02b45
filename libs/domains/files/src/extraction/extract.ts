import { Archive } from './archive';
import { charsetIn, decodeText } from './charset';
import { clean, requireText } from './clean';
import type { Extracted, FileHints } from './extracted';
import { ExtractionError } from './extraction-error';
import { csvText } from './formats/csv';
import { readDocx } from './formats/docx';
import { readEml } from './formats/eml';
import type { Read } from './formats/format';
import { htmlText } from './formats/html';
import { jsonText } from './formats/json';
import { readPdf } from './formats/pdf';
import { readPptx } from './formats/pptx';
import { readXlsx } from './formats/xlsx';
import { kindOf, mediaTypeOf, type TextKind } from './kind';

/**
 * Reads a file to Markdown. Takes any time and any memory over a hostile one, so it has a process of its own.
 *
 * @throws ExtractionError
 */
export async function extract(bytes: Buffer, hints: FileHints): Promise<Extracted> {
  const { text: read, pages = [], title, media_type, hasHeadings = true } = await readAny(bytes, hints);
  // Page by page, since what is removed would put those behind it elsewhere.
  const starts = pages.length ? pages : [0];
  const parts = starts.map((start, i) => clean(read.slice(start, starts[i + 1])));
  let length = 0;
  const cleaned = parts.map((part) => (length += part.length) - part.length);
  const text = parts.join('');
  requireText(text);
  return { text, pages: pages.length ? cleaned : [], hasHeadings, title: title && clean(title), media_type };
}

async function readAny(bytes: Buffer, hints: FileHints): Promise<Read> {
  const kind = kindOf(bytes, hints);
  try {
    if (kind === 'pdf') return await readPdf(bytes);
    if (kind === 'archive') return await readArchive(bytes);
    if (kind === 'eml') return await readEml(bytes, hints);
    return { title: null, media_type: mediaTypeOf(kind), ...readText(kind, bytes, hints) };
  } catch (error) {
    if (error instanceof ExtractionError) throw error;
    throw new ExtractionError('extract_failed', 'It is damaged, or nothing like what it says that it is');
  }
}

async function readArchive(bytes: Buffer): Promise<Read> {
  const archive = await Archive.open(bytes);
  if (archive.has('word/document.xml')) return readDocx(archive);
  if (archive.has('ppt/presentation.xml')) return readPptx(archive);
  if (archive.has('xl/workbook.xml')) return readXlsx(archive);
  throw new ExtractionError('unsupported_type', 'It is an archive of none of the formats that can be read');
}

function readText(kind: TextKind, bytes: Buffer, { media_type, whole }: FileHints): Partial<Read> & { text: string } {
  const declared = charsetIn(media_type);
  if (kind === 'html') return htmlText(decodeText(bytes, declared ?? charsetOfPage(bytes)), whole);
  const text = decodeText(bytes, declared);
  if (kind === 'csv') return { text: csvText(text) };
  if (kind === 'json') return { text: jsonText(text) };
  return { text, hasHeadings: kind === 'md' };
}

const META = /<meta[^>]{1,200}?charset\s*=\s*["']?\s*([\w.:-]+)|^\s*<\?xml[^>]{1,200}?encoding\s*=\s*["']([\w.:-]+)/i;

function charsetOfPage(bytes: Buffer): string | null {
  const [, meta, xml] = META.exec(bytes.subarray(0, 4096).toString('latin1')) ?? [];
  // In what can be read so far it is none of two bytes a letter.
  return /^utf-?16/i.test(meta ?? '') ? null : (meta ?? xml ?? null);
}
