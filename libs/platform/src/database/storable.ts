/** A value as PostgreSQL takes it: text without NUL and without half a surrogate pair, wherever it stands. For what models and servers say; what users send is refused instead. */
export function storable<T>(value: T): T {
  if (typeof value === 'string') return value.toWellFormed().replaceAll('\0', '') as T;
  if (Array.isArray(value)) return value.map(storable) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, of]) => [storable(key), storable(of)])) as T;
}
