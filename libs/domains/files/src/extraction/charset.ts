import { isUtf8 } from 'node:buffer';
import { decode, encodingExists } from 'iconv-lite';

const BOMS: [encoding: string, bytes: number[]][] = [
  ['utf-8', [0xef, 0xbb, 0xbf]],
  ['utf-16le', [0xff, 0xfe]],
  ['utf-16be', [0xfe, 0xff]],
];
/** What they name is, wherever it matters, this one. */
const LATIN = /^(us-)?ascii$|^(iso-?8859-1|latin-?1)$/i;

/** @returns what the first bytes say of all of them; null where they say nothing */
export const bomOf = (bytes: Buffer): string | null => BOMS.find(([, bom]) => bom.every((byte, i) => bytes[i] === byte))?.[0] ?? null;

/** A text in the charset that its first bytes say, or that is declared, or else UTF-8 where it is that, and windows-1252 where not. */
export function decodeText(bytes: Buffer, declared: string | null): string {
  const known = declared !== null && encodingExists(declared) && !/^utf-?8$/i.test(declared) ? declared : null;
  const encoding = bomOf(bytes) ?? known ?? (isUtf8(bytes) ? 'utf-8' : 'windows-1252');
  return decode(bytes, LATIN.test(encoding) ? 'windows-1252' : encoding);
}

/** As `text/html; charset=…` says. */
export const charsetIn = (mediaType: string | null): string | null => /;\s*charset\s*=\s*"?([\w.:-]+)/i.exec(mediaType ?? '')?.[1] ?? null;
