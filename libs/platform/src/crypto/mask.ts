const DOTS = '…';

/**
 * How a stored secret is shown: `sk-…4f2a`. The ends appear only when at least nine characters stay hidden.
 *
 * @param secret the secret in the clear
 */
export function mask(secret: string): string {
  const chars = [...secret];
  return chars.length < 16 ? DOTS : `${chars.slice(0, 3).join('')}${DOTS}${chars.slice(-4).join('')}`;
}

/** The end alone, `…4f2a`, where a hint stands beside the name of what it opens. */
export function maskEnd(secret: string): string {
  const chars = [...secret];
  return chars.length < 16 ? DOTS : `${DOTS}${chars.slice(-4).join('')}`;
}

/** Whether a value is one that {@link mask} or {@link maskEnd} made: a form that was sent back unchanged, and no new secret. */
export function isMasked(value: string): boolean {
  return /^(?:.{3}\u2026.{4}|\u2026.{4}|\u2026)$/su.test(value.trim());
}

/**
 * The same of the key of an API, of which more can be told: no provider's holds what forms and consoles show in the place of characters,
 * so `sk-****4f2a`, `••••` and the `sk-...` of an example are no keys either.
 */
export function isMaskedKey(value: string): boolean {
  return isMasked(value) || /[\u00b7\u2022\u2026\u22ef\u25cf]|\*{3}|\.{3}/u.test(value);
}
