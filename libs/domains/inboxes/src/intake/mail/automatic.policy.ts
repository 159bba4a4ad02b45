/** Hops after which a mail goes round in circles. */
const MAX_RECEIVED = 30;
const PRECEDENCES = new Set(['bulk', 'junk', 'list', 'auto_reply']);

/**
 * Whether a mail was sent by no human, and what tells so, in a word. Answering such a mail is how loops begin.
 *
 * @param header values of a header, by its name in lower case
 * @param mailFrom empty is the null sender; null: its door does not know, and `Return-Path` tells
 */
export function automaticOf(header: (name: string) => string[], mailFrom: string | null): string | null {
  const words = (name: string) =>
    header(name).map(
      (value) =>
        value
          .split(/[;\s(]/, 2)
          .find((word) => word !== '')
          ?.toLowerCase() ?? '',
    );
  if (words('auto-submitted').some((word) => word !== 'no' && word !== '')) return 'auto-submitted';
  if (mailFrom === '' || (mailFrom === null && header('return-path').some((value) => value.trim() === '<>'))) return 'null-sender';
  if (words('content-type').includes('multipart/report')) return 'report';
  const precedence = words('precedence').find((word) => PRECEDENCES.has(word));
  if (precedence) return precedence;
  if (header('x-auto-response-suppress').length) return 'auto-response-suppress';
  return header('received').length > MAX_RECEIVED ? 'loop' : null;
}
