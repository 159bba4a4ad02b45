import { storable } from '@aps/platform/database';

/**
 * JSON as it comes back from the journal: its texts without what PostgreSQL does not take, its objects in the order of `jsonb`, which is by the
 * length of keys in UTF-8 and then by their bytes. So what follows from a value is the same before and after it was stored.
 */
export const storedForm = <T>(value: T): T => (isStored(value) ? value : stored(value));

/** Most is, or nearly so, and looking at it is cheaper than a copy. */
function isStored(value: unknown): boolean {
  if (typeof value === 'string') return storable(value) === value;
  if (typeof value !== 'object' || value === null) return !Object.is(value, -0);
  if (Array.isArray(value)) return value.every(isStored);
  let before: string | undefined;
  for (const key of Object.keys(value)) {
    if (before !== undefined && byLength(before, key) > 0) return false;
    if (storable(key) !== key || !isStored((value as Record<string, unknown>)[key])) return false;
    before = key;
  }
  return true;
}

function stored<T>(value: T): T {
  if (typeof value === 'string') return storable(value);
  // `jsonb` has one zero.
  if (typeof value !== 'object' || value === null) return Object.is(value, -0) ? (0 as T) : value;
  if (Array.isArray(value)) return value.map(stored) as T;
  const entries = Object.entries(value).map(([key, of]) => [storable(key), stored(of)] as const);
  return Object.fromEntries(entries.sort(([a], [b]) => byLength(a, b))) as T;
}

function byLength(a: string, b: string): number {
  const length = Buffer.byteLength(a);
  const difference = length - Buffer.byteLength(b);
  if (difference !== 0) return difference;
  // Of ASCII alone characters have the order of their bytes.
  if (length === a.length && length === b.length) return a < b ? -1 : a > b ? 1 : 0;
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
