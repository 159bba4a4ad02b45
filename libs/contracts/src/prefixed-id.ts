import { ulid, ulidToUUID, uuidToULID } from 'ulid';
import { UUID } from './ids';

/** A new id of a kind whose ids say what they are of, e.g. `inb_01jd3k5m7n9p1r3s5t7v9w1x3z`: the prefix, and a ULID in lower case. */
export const prefixedId = (prefix: 'inb' | 'prc' | 'con'): string => `${prefix}_${ulid().toLowerCase()}`;

/** Whether a text has the form of such an id. */
export const isPrefixedId = (prefix: 'inb' | 'prc' | 'con', value: string): boolean =>
  value.startsWith(`${prefix}_`) && /^[0-9a-hjkmnp-tv-z]{26}$/.test(value.slice(prefix.length + 1));

/** The id of a connection as it is shown: `con_`, and the UUID of its row written as a ULID is. */
export const connectionId = (uuid: string): string => `con_${uuidToULID(uuid).toLowerCase()}`;

/** The UUID of a connection's row. @param ref either form @returns undefined for what is neither */
export function connectionUuid(ref: string): string | undefined {
  if (UUID.test(ref)) return ref.toLowerCase();
  // 26 characters have two bits more than a UUID.
  return isPrefixedId('con', ref) && ref[4] <= '7' ? ulidToUUID(ref.slice(4).toUpperCase()).toLowerCase() : undefined;
}
