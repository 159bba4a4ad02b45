import { validate } from '@aps/platform/json-schema';

const DATE_TIME = { type: 'string', format: 'date-time' };

/** The time that a text of RFC 3339 says, of the years that every part of the system knows; null where it says none. */
export function dateTimeOf(value: unknown): Date | null {
  if (typeof value !== 'string' || validate(DATE_TIME, value).length) return null;
  const at = new Date(value);
  const year = at.getUTCFullYear();
  return year >= 1 && year <= 9_999 ? at : null;
}
