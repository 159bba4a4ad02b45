import { extensionOf } from './filename';

/** How much of a file its media type is told from. */
export const HEAD_BYTES = 4_096;

const UNKNOWN = 'application/octet-stream';

/** What files begin with; `at` bytes in. */
const SIGNATURES: { type: string; hex: string; at?: number; and?: { at: number; text: string[] } }[] = [
  { type: 'image/png', hex: '89504e470d0a1a0a' },
  { type: 'image/jpeg', hex: 'ffd8ff' },
  { type: 'image/gif', hex: '474946383761' },
  { type: 'image/gif', hex: '474946383961' },
  { type: 'image/webp', hex: '52494646', and: { at: 8, text: ['WEBP'] } },
  { type: 'audio/wav', hex: '52494646', and: { at: 8, text: ['WAVE'] } },
  { type: 'image/avif', hex: '66747970', at: 4, and: { at: 8, text: ['avif', 'avis'] } },
  { type: 'image/heic', hex: '66747970', at: 4, and: { at: 8, text: ['heic', 'heix', 'mif1'] } },
  { type: 'video/quicktime', hex: '66747970', at: 4, and: { at: 8, text: ['qt  '] } },
  { type: 'audio/mp4', hex: '66747970', at: 4, and: { at: 8, text: ['M4A '] } },
  { type: 'video/mp4', hex: '66747970', at: 4 },
  { type: 'image/tiff', hex: '49492a00' },
  { type: 'image/tiff', hex: '4d4d002a' },
  { type: 'image/x-icon', hex: '00000100' },
  { type: 'application/pdf', hex: '255044462d' },
  { type: 'application/zip', hex: '504b0304' },
  { type: 'application/zip', hex: '504b0506' },
  { type: 'application/gzip', hex: '1f8b08' },
  { type: 'application/x-7z-compressed', hex: '377abcaf271c' },
  { type: 'application/vnd.rar', hex: '526172211a07' },
  { type: 'application/x-bzip2', hex: '425a68' },
  { type: 'application/x-xz', hex: 'fd377a585a00' },
  { type: 'application/zstd', hex: '28b52ffd' },
  { type: 'application/x-tar', hex: '7573746172', at: 257 },
  { type: 'application/x-ole-storage', hex: 'd0cf11e0a1b11ae1' },
  { type: 'application/vnd.sqlite3', hex: '53514c69746520666f726d6174203300' },
  { type: 'audio/mpeg', hex: '494433' },
  { type: 'audio/ogg', hex: '4f676753' },
  { type: 'audio/flac', hex: '664c6143' },
  { type: 'video/webm', hex: '1a45dfa3' },
  { type: 'application/wasm', hex: '0061736d' },
];

/** What is a ZIP archive, or an old compound document, is told apart by name alone: a wrong one is still no more than an archive. */
const BY_NAME: Record<string, Record<string, string> | undefined> = {
  'application/zip': {
    docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
    xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
    pptx: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
    odt: 'application/vnd.oasis.opendocument.text',
    ods: 'application/vnd.oasis.opendocument.spreadsheet',
    odp: 'application/vnd.oasis.opendocument.presentation',
    epub: 'application/epub+zip',
  },
  'application/x-ole-storage': {
    doc: 'application/msword',
    xls: 'application/vnd.ms-excel',
    ppt: 'application/vnd.ms-powerpoint',
    msg: 'application/vnd.ms-outlook',
  },
};

/** Kinds of text by name. All of them are read as text, whatever they claim. */
const TEXTS: Record<string, string> = {
  md: 'text/markdown',
  markdown: 'text/markdown',
  csv: 'text/csv',
  tsv: 'text/tab-separated-values',
  json: 'application/json',
  jsonl: 'application/x-ndjson',
  ndjson: 'application/x-ndjson',
  html: 'text/html',
  htm: 'text/html',
  xml: 'application/xml',
  svg: 'image/svg+xml',
  yaml: 'application/yaml',
  yml: 'application/yaml',
  eml: 'message/rfc822',
  ics: 'text/calendar',
  vcf: 'text/vcard',
  css: 'text/css',
  js: 'text/javascript',
  mjs: 'text/javascript',
  rtf: 'application/rtf',
};

const TEXT_TYPES = new Set([...Object.values(TEXTS)].filter((type) => type !== 'application/rtf'));

/** Whether the bytes of such a file are text that a reader can make sense of as it stands. */
export function isText(mediaType: string): boolean {
  return mediaType.startsWith('text/') || TEXT_TYPES.has(mediaType);
}

/**
 * The media type of a file, told from its bytes; what its sender says counts for nothing.
 *
 * @param head its first {@link HEAD_BYTES}
 * @param filename tells kinds of text apart
 */
export function mediaTypeOf(head: Buffer, size: number, filename: string): string {
  const extension = extensionOf(filename);
  const known = SIGNATURES.find(
    ({ hex, at = 0, and }) =>
      holds(head, at, Buffer.from(hex, 'hex')) && (!and || and.text.some((text) => holds(head, and.at, Buffer.from(text)))),
  );
  if (known) return typeNamed(BY_NAME[known.type] ?? {}, extension) ?? known.type;
  if (!looksLikeText(head, size > head.length)) return UNKNOWN;
  const opening = head.toString('latin1').trimStart().slice(0, 100).toLowerCase();
  if (/^(<!doctype html|<html|<head|<body|<script)/.test(opening)) return 'text/html';
  if (opening.startsWith('{\\rtf')) return 'application/rtf';
  const named = typeNamed(TEXTS, extension) ?? 'text/plain';
  return named === 'application/rtf' ? 'text/plain' : named;
}

/** Some call their files `x.constructor`. */
function typeNamed(types: Record<string, string>, extension: string): string | undefined {
  return Object.hasOwn(types, extension) ? types[extension] : undefined;
}

function holds(head: Buffer, at: number, bytes: Buffer): boolean {
  return head.length >= at + bytes.length && head.compare(bytes, 0, bytes.length, at, at + bytes.length) === 0;
}

/** UTF-8 without control characters, or UTF-16 that says so. */
function looksLikeText(head: Buffer, cut: boolean): boolean {
  if (holds(head, 0, Buffer.from([0xff, 0xfe])) || holds(head, 0, Buffer.from([0xfe, 0xff]))) return true;
  try {
    // A character that the cut goes through is no fault of the file's.
    const text = new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: cut });

    return !/[\u0000-\u0008\u000e-\u001a\u001c-\u001f]/.test(text);
  } catch {
    return false;
  }
}
