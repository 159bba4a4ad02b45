import { isObject } from '@aps/platform/definitions';
import { Duration, UnsignedInt } from '@marcbachmann/cel-js/evaluator';
import { ExpressionError, MAX_SIZE, type Meter } from './meter';

/** What of a value an expression names: all of it, or some members. */
export interface Wanted {
  whole: boolean;
  members: Map<string, Wanted>;
}

/**
 * JSON as CEL has it, a copy of what is wanted of it: objects are Maps, which have no prototype to reach for, and numbers that are whole
 * and exact are ints.
 */
export function toCel(value: unknown, wanted: Wanted, meter: Meter): unknown {
  if (wanted.whole || !isObject(value)) return copyOf(value, meter);
  const members = new Map<string, unknown>();
  for (const [key, inner] of wanted.members)
    if (Object.hasOwn(value, key) && value[key] !== undefined) members.set(key, toCel(value[key], inner, meter));
  return members;
}

function copyOf(value: unknown, meter: Meter): unknown {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value;
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (Array.isArray(value)) {
    meter.look();
    return Array.from(value, (item) => copyOf(item, meter));
  }
  if (!isObject(value)) throw new ExpressionError(`A ${typeof value} is not JSON`);
  meter.look();
  const copy = new Map<string, unknown>();
  for (const [key, inner] of Object.entries(value)) if (inner !== undefined) copy.set(key, copyOf(inner, meter));
  return copy;
}

/** JSON again, or an {@link ExpressionError} where there is none for it, or too much. */
export const toJson = (value: unknown): unknown => new JsonWriter().write(value);

class JsonWriter {
  private bytes = 0;

  write(value: unknown): unknown {
    this.pay(1);
    if (value === null || typeof value === 'boolean' || typeof value === 'number') return value;
    if (typeof value === 'string') return this.text(value);
    if (typeof value === 'bigint') return safe(value);
    if (value instanceof UnsignedInt) return safe(value.valueOf());
    if (Array.isArray(value)) return value.map((item) => this.write(item));
    if (value instanceof Map) return this.object(value.entries());
    if (value instanceof Date) return this.text(value.toISOString());
    if (value instanceof Duration) return this.text(value.toString());
    if (isObject(value) && Object.getPrototypeOf(value) === Object.prototype) return this.object(Object.entries(value));
    throw new ExpressionError(`${value instanceof Uint8Array ? 'Bytes are' : 'A type is'} not JSON; string() makes text of some`);
  }

  // By entries, and not by assignment: `__proto__` is a key like others.
  private object(entries: Iterable<[unknown, unknown]>): unknown {
    return Object.fromEntries(Array.from(entries, ([key, inner]) => [this.text(String(key)), this.write(inner)]));
  }

  private text(text: string): string {
    this.pay(Buffer.byteLength(text) + 2);
    return text;
  }

  private pay(bytes: number): void {
    this.bytes += bytes;
    if (this.bytes > MAX_SIZE) throw new ExpressionError(`The result is larger than ${MAX_SIZE} bytes`);
  }
}

function safe(value: bigint): number {
  const number = Number(value);
  if (!Number.isSafeInteger(number)) throw new ExpressionError('A whole number is too large for JSON; string() makes text of it');
  return number;
}
