import { ulid } from 'ulid';

/** A new id of a kind whose ids say what they are of, e.g. `inb_01jd3k5m7n9p1r3s5t7v9w1x3z`: the prefix, and a ULID in lower case. */
export const prefixedId = (prefix: 'inb' | 'prc' | 'con'): string => `${prefix}_${ulid().toLowerCase()}`;

/** Whether a text has the form of such an id. */
export const isPrefixedId = (prefix: 'inb' | 'prc' | 'con', value: string): boolean =>
  value.startsWith(`${prefix}_`) && /^[0-9a-hjkmnp-tv-z]{26}$/.test(value.slice(prefix.length + 1));
