import type { FileHints } from './extracted';
import { bomOf, charsetIn } from './charset';
import { ExtractionError } from './extraction-error';

export type TextKind = 'html' | 'md' | 'txt' | 'csv' | 'json' | 'eml';
/** An archive is told apart by what it holds. */
export type Kind = TextKind | 'pdf' | 'archive';

const KINDS: Record<TextKind, { extensions: string[]; media_type: string; alike: string[] }> = {
  html: { extensions: ['html', 'htm', 'xhtml'], media_type: 'text/html', alike: ['application/xhtml+xml'] },
  md: { extensions: ['md', 'markdown', 'mdx'], media_type: 'text/markdown', alike: ['text/x-markdown'] },
  csv: { extensions: ['csv', 'tsv'], media_type: 'text/csv', alike: ['text/tab-separated-values', 'application/csv'] },
  json: { extensions: ['json'], media_type: 'application/json', alike: ['text/json'] },
  eml: { extensions: ['eml'], media_type: 'message/rfc822', alike: [] },
  txt: { extensions: ['txt', 'text', 'log'], media_type: 'text/plain', alike: [] },
};
const SAMPLE_BYTES = 64 * 1024;
/** What begins like this is none of what is read here, whatever else is in it. */
const OTHERS = /^(?:\x89PNG|\xff\xd8\xff|\x1f\x8b|7z\xbc\xaf|\x7fELF|\xfd7zXZ|\{\\rtf|%!PS|II\*\0|MM\0\*)/;
/** The same, where it is no text: letters alone may be those of words. */
const OTHERS_IN_LETTERS = /^(?:GIF8|Rar!|RIFF|MZ|BZh|OggS|ID3|....ftyp)/s;
const CONTROL = /[\0-\x08\x0e-\x1a\x1c-\x1f]/;
const PDF = '%PDF-';
const BEGINS_AS_PDF = /^(?:\xef\xbb\xbf)?\s*%PDF-/;
const COMPOUND = '\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1';
/** Of control characters but NUL, more than texts ever have; and of NUL, as in UTF-16 without its mark. */
const MAX_CONTROLS = 0.02;
const MAX_NULS = 0.4;
const HTML = /^\s*(?:<!--(?:(?!-->).){0,1000}-->\s*)*<(?:!doctype\s+html|html|head|body)[\s>]/is;
const MAIL =
  /^(?:From|To|Subject|Date|Received|Return-Path|MIME-Version|Message-ID|Delivered-To|DKIM-Signature):[^\n]*\n(?:[\w-]+:[^\n]*\n|[ \t][^\n]*\n){2,}/i;

export const mediaTypeOf = (kind: TextKind): string => KINDS[kind].media_type;

/**
 * What a file is, as its bytes tell; what it is called tells texts apart.
 *
 * @throws ExtractionError `unsupported_type`, `encrypted`
 */
export function kindOf(bytes: Buffer, hints: FileHints): Kind {
  const head = bytes.subarray(0, SAMPLE_BYTES).toString('latin1');
  // Some have other things before, and then texts may have it, too.
  if (BEGINS_AS_PDF.test(head) || (head.slice(0, 1024).includes(PDF) && CONTROL.test(head))) return 'pdf';
  if (/^PK(?:\x03\x04|\x05\x06)/.test(head)) return 'archive';
  if (head.startsWith(COMPOUND) && bytes.includes(Buffer.from('EncryptedPackage', 'utf16le')))
    throw new ExtractionError('encrypted', 'It is encrypted with a password');
  if (head.startsWith(COMPOUND) || OTHERS.test(head) || (OTHERS_IN_LETTERS.test(head) && CONTROL.test(head)) || !isText(bytes, head, hints))
    throw new ExtractionError('unsupported_type', 'It is none of the formats that can be read');
  return textKindOf(head, hints);
}

function isText(bytes: Buffer, head: string, { media_type }: FileHints): boolean {
  if (bomOf(bytes) ?? /^utf-?16/i.exec(charsetIn(media_type) ?? '')) return true;
  const controls = (head.match(/[\x01-\x08\x0e-\x1a\x1c-\x1f\x7f]/g) ?? []).length;
  const nuls = head.split('\0').length - 1;
  return controls <= Math.max(1, head.length * MAX_CONTROLS) && nuls <= head.length * MAX_NULS;
}

function textKindOf(head: string, { filename, media_type }: FileHints): TextKind {
  const extension = /\.([a-z0-9]+)$/i.exec(filename ?? '')?.[1].toLowerCase() ?? '';
  const type = media_type?.split(';', 1)[0].trim().toLowerCase() ?? '';
  const kinds = Object.entries(KINDS) as [TextKind, (typeof KINDS)[TextKind]][];
  const letters = head.replace(/\0|^(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)/g, '').replace(/\r\n/g, '\n');
  // The path of a page ends as it likes.
  if (HTML.test(letters) || isOf(type, KINDS.html)) return 'html';
  const named =
    kinds.find(([, { extensions }]) => extensions.includes(extension)) ?? kinds.find((kind) => kind[0] !== 'txt' && isOf(type, kind[1]));
  return named?.[0] ?? (MAIL.test(letters) ? 'eml' : 'txt');
}

const isOf = (type: string, { media_type, alike }: { media_type: string; alike: string[] }): boolean =>
  type === media_type || alike.includes(type);
