import type { Problem } from '@aps/contracts';

export type Place = (string | number)[];

/** So many are told: whoever has more mends these first. */
const MAX_PROBLEMS = 100;
const SHOWN_KEY_CHARS = 100;

interface TextBounds {
  max: number;
  min?: number;
  form?: { pattern: RegExp; msg: string };
}

interface NumberBounds {
  min: number;
  max: number;
  integer?: boolean;
}

const NUL = '\0';
const listed = (values: readonly string[]): string => values.map((value) => `'${value}'`).join(', ');
const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

/**
 * Reads parsed JSON of which nothing is known and notes every problem with its place. What it answers for a value that it has refused is of
 * the right type and no matter. A value that is absent has been told by {@link object}, if it has to be there; null is as absent as nothing.
 */
export class DefinitionReader {
  readonly problems: Problem[] = [];

  /** What would do is named in `msg`, too; who tells it as a list of its own overrides this. */
  refuse(loc: Place, msg: string, type = 'value_error', _validValues: readonly string[] = []): void {
    if (this.problems.length < MAX_PROBLEMS) this.problems.push({ loc, msg, type });
  }

  /** Its own keys, without what is null; those that it may not have and those that it lacks are problems. */
  object(value: unknown, loc: Place, required: readonly string[], optional: readonly string[] = []): ReadonlyMap<string, unknown> {
    const keys = new Map<string, unknown>();
    if (value === undefined || value === null) return keys;
    if (typeof value !== 'object' || Array.isArray(value)) {
      this.refuse(loc, 'Input should be an object', 'dict_type');
      return keys;
    }
    const known = [...required, ...optional];
    for (const [key, inside] of Object.entries(value)) {
      if (!known.includes(key))
        this.refuse([...loc, key.slice(0, SHOWN_KEY_CHARS)], `Unknown key; known are ${listed(known)}`, 'value_error', known);
      else if (inside !== undefined && inside !== null) keys.set(key, inside);
    }
    for (const key of required) if (!keys.has(key)) this.refuse([...loc, key], 'Field required', 'missing');
    return keys;
  }

  list<T>(value: unknown, loc: Place, { min = 0, max = Infinity }, read: (item: unknown, loc: Place) => T): T[] {
    if (value === undefined || value === null) return [];
    if (!Array.isArray(value)) {
      this.refuse(loc, 'Input should be a valid list', 'list_type');
      return [];
    }
    if (value.length < min) this.refuse(loc, `List should have at least ${counted(min, 'item')}`, 'too_short');
    if (value.length > max) this.refuse(loc, `List should have at most ${counted(max, 'item')}`, 'too_long');
    return value.slice(0, max).map((item: unknown, i) => {
      if (item === null || item === undefined) this.refuse([...loc, i], 'Item should not be null');
      return read(item, [...loc, i]);
    });
  }

  text(value: unknown, loc: Place, { max, min = 1, form }: TextBounds): string {
    if (value === undefined || value === null) return '';
    if (typeof value !== 'string') this.refuse(loc, 'Input should be a valid string', 'string_type');
    else if (value.length < min) this.refuse(loc, `String should have at least ${counted(min, 'character')}`, 'string_too_short');
    else if (value.length > max) this.refuse(loc, `String should have at most ${counted(max, 'character')}`, 'string_too_long');
    else if (value.includes(NUL)) this.refuse(loc, 'String should not contain NUL characters');
    else if (!value.isWellFormed()) this.refuse(loc, 'String should be valid Unicode');
    else if (form && !form.pattern.test(value)) this.refuse(loc, form.msg);
    else return value;
    return '';
  }

  oneOf<T extends string>(value: unknown, loc: Place, values: readonly [T, ...T[]]): T {
    const found = values.find((each) => each === value);
    if (found === undefined && value !== undefined && value !== null) this.refuse(loc, `Input should be ${listed(values)}`, 'enum', values);
    return found ?? values[0];
  }

  number(value: unknown, loc: Place, { min, max, integer = false }: NumberBounds): number {
    if (value === undefined || value === null) return 0;
    if (typeof value !== 'number' || (integer && !Number.isInteger(value)))
      this.refuse(loc, `Input should be a valid ${integer ? 'integer' : 'number'}`, integer ? 'int_parsing' : 'float_parsing');
    else if (!(value >= min)) this.refuse(loc, `Input should be greater than or equal to ${min}`, 'greater_than_equal');
    else if (!(value <= max)) this.refuse(loc, `Input should be less than or equal to ${max}`, 'less_than_equal');
    else return value;
    return 0;
  }

  boolean(value: unknown, loc: Place): boolean {
    if (typeof value === 'boolean') return value;
    if (value !== undefined && value !== null) this.refuse(loc, 'Input should be a valid boolean', 'bool_parsing');
    return false;
  }
}
