import { createHash } from 'node:crypto';
import { storable } from '@aps/platform/database';

/** Characters of a message's text that are kept. */
export const MAX_TEXT = 100_000;
const NOTE = '\n\n[The rest was cut.]';
/** Characters of what stands in one line: a subject, a sender. */
export const MAX_LINE = 1_000;
/** Characters of a key that others are compared with. */
const MAX_KEY = 255;
const HASH = 'sha256:';

/** A text as it is kept: at most {@link MAX_TEXT} characters, with a note where some are missing. */
export function cutText(text: string): string {
  if (text.length <= MAX_TEXT) return storable(text);
  return storable(text.slice(0, MAX_TEXT - NOTE.length)) + NOTE;
}

/** A text that stands in one line. @returns null where nothing is left of it */
export function lineOf(text: string | null | undefined): string | null {
  const line = storable((text ?? '').slice(0, MAX_LINE))
    .replace(/\s+/g, ' ')
    .trim();
  return line || null;
}

/** What is compared as a whole: a long one by its hash, as indexes take no more. @returns null for nothing */
export function keyOf(text: string | null | undefined): string | null {
  if (!text) return null;
  return text.length <= MAX_KEY && storable(text) === text ? text : sha256Key(text);
}

/** The key of what has none of its own. */
export const sha256Key = (content: string | Buffer): string => `${HASH}${createHash('sha256').update(content).digest('hex')}`;

/** Whether a key is the hash of something, which nobody else knows that by. */
export const isHash = (key: string): boolean => key.startsWith(HASH);

/** Names whose values let who reads them act as somebody. */
const SECRET = /authorization|cookie|api-?key|signature|token|secret|password/;
/** Signatures that anybody may check, and that mail is judged by. */
const PUBLIC = /^(dkim|domainkey|arc)-/;

/** Headers as they are kept: secrets among them are `***`. @param also a further name that is secret, in lower case */
export function keptHeaders(headers: Iterable<[name: string, value: string]>, also?: string): Record<string, string> {
  return Object.fromEntries(
    [...headers].map(([name, value]) => [
      storable(name),
      name === also || (SECRET.test(name) && !PUBLIC.test(name)) ? '***' : storable(value),
    ]),
  );
}
