import { isDeepStrictEqual } from 'node:util';

/** The fields of a wish that would change something. Those that are undefined are not wished. */
export function changesOf<T extends object>(before: T, wish: Partial<T>): Partial<T> {
  const differs = ([field, value]: [string, unknown]) => value !== undefined && !isDeepStrictEqual(value, before[field as keyof T]);
  return Object.fromEntries(Object.entries(wish).filter(differs)) as Partial<T>;
}
