import { createHash } from 'node:crypto';

/**
 * JSON with one text per value (RFC 8785): keys in the order of their UTF-16 code units, no white space, numbers and strings as
 * ECMAScript writes them. Members that are undefined are left out. Only for what is known to nest no deeper than the stack reaches.
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const members = Object.entries(value)
    .filter(([, v]) => v !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, v]) => `${JSON.stringify(key)}:${canonicalJson(v)}`);
  return `{${members.join(',')}}`;
}

/**
 * SHA-256, in hex, of the canonical JSON: what anyone can compute again. The order of keys and the way in which numbers and characters were
 * written are no matter, all else is: a default that is written out makes another hash than one that is left out, and `é` of one character
 * another than of two.
 */
export const hashOf = (value: unknown): string => createHash('sha256').update(canonicalJson(value), 'utf8').digest('hex');
