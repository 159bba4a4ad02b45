/** A value as PostgreSQL takes it: text without NUL and without half a surrogate pair, wherever it stands. For what models and servers say; what users send is refused instead. */
export function storable<T>(value: T): T {
  return isStorable(value) ? value : madeStorable(value);
}

/** Nearly everything is, and is not copied. */
function isStorable(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed() && !value.includes('\0');
  if (Array.isArray(value)) return value.every(isStorable);
  if (typeof value !== 'object' || value === null) return true;
  for (const key of Object.keys(value)) if (!isStorable(key) || !isStorable((value as Record<string, unknown>)[key])) return false;
  return true;
}

function madeStorable<T>(value: T): T {
  if (typeof value === 'string') return value.toWellFormed().replaceAll('\0', '') as T;
  if (Array.isArray(value)) return value.map(madeStorable) as T;
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  return Object.fromEntries(Object.entries(value).map(([key, of]) => [madeStorable(key), madeStorable(of)])) as T;
}
