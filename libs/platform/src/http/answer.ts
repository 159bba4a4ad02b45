import { answeredFields } from './declared-fields';
import { decimalText } from './fields';

/** What a value of a row is on the wire: times become text, all else goes as it is. */
type Wire<T> = T extends Date ? string : T;

/** The fields of an answer that its row does not give by itself. */
type Rest<A, R> = Omit<A, { [K in keyof A & keyof R]: Wire<R[K]> extends A[K] ? K : never }[keyof A & keyof R]>;

/**
 * Makes an answer of a row: each field that its class declares, from `rest` or else from the row's column of that name, and nothing
 * else of the row. Times are ISO 8601, decimals go without the zeros that their column's scale adds. A field that neither gives does
 * not compile.
 *
 * @param rest what is computed, and what is named otherwise in the row
 */
export function answer<A extends object, R extends object>(
  dto: new () => A,
  row: R,
  ...[rest]: object extends Rest<A, R> ? [rest?: Partial<A>] : [rest: Rest<A, R> & Partial<A>]
): A {
  const given = (rest ?? {}) as Record<string, unknown>;
  const made: Record<string, unknown> = {};
  for (const { name, isDecimal } of answeredFields(dto)) {
    const value = name in given ? given[name] : (row as Record<string, unknown>)[name];
    made[name] = value instanceof Date ? value.toISOString() : isDecimal && typeof value === 'string' ? decimalText(value) : value;
  }
  return made as A;
}
