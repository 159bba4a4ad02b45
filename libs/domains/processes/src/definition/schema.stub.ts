import { isObject, own } from '@aps/platform/definitions';
import { pointedAt, validate, type Schema } from '@aps/platform/json-schema';

/** Items and characters that a schema may ask for; a stub has no more. */
const MAX_LENGTH = 1_000;
const MAX_DEPTH = 20;
/** Lists of lists of lists would come to any number. */
const MAX_PARTS = 10_000;

const FORMATTED: Record<string, string> = {
  date: '2000-01-01',
  time: '00:00:00Z',
  'date-time': '2000-01-01T00:00:00Z',
  duration: 'PT0S',
  uri: 'https://example.com',
  'uri-reference': '/',
  email: 'a@example.com',
  hostname: 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uuid: '00000000-0000-4000-8000-000000000000',
};

/**
 * A small value that fits a schema, as far as one can tell by it: what it names as an example or as the only value, or else what its type
 * and bounds ask for, with what is required and nothing more. Patterns and conditions may be missed.
 *
 * @param schema one that `checkSchema` has nothing against
 */
export function stubOf(schema: Schema): unknown {
  const made = new Stubs(schema).of(schema, 0);
  if (!validate(schema, made).length) return made;
  const named = [schema.default, ...(Array.isArray(schema.examples) ? (schema.examples as unknown[]) : [])];
  return named.find((value) => value !== undefined && !validate(schema, value).length) ?? made;
}

class Stubs {
  private left = MAX_PARTS;

  constructor(private readonly root: Schema) {}

  of(schema: unknown, depth: number): unknown {
    if (!isObject(schema) || depth > MAX_DEPTH || this.left-- <= 0) return null;
    const whole = this.merged(schema, depth);
    if (Object.hasOwn(whole, 'const')) return whole.const;
    if (Array.isArray(whole.enum) && whole.enum.length) return whole.enum[0];
    const [example] = listOf(whole.examples);
    if (whole.pattern !== undefined && example !== undefined) return example;
    const type = Array.isArray(whole.type) ? (whole.type as unknown[])[0] : (whole.type ?? implied(whole));
    if (type === 'object') return this.object(whole, depth);
    if (type === 'array') return this.array(whole, depth);
    if (type === 'string') return text(whole);
    if (type === 'number' || type === 'integer') return number(whole, type === 'integer');
    return type === 'boolean' ? false : null;
  }

  /** With what it refers to, all of `allOf`, and the first of what may be chosen. */
  private merged(schema: Schema, depth: number): Schema {
    if (depth > MAX_DEPTH) return schema;
    const chosen = [schema.anyOf, schema.oneOf].map((list) => (Array.isArray(list) ? (list as unknown[])[0] : undefined));
    const all = Array.isArray(schema.allOf) ? (schema.allOf as unknown[]) : [];
    const referred = typeof schema.$ref === 'string' ? pointedAt(this.root, schema.$ref) : undefined;
    return [referred, ...all, ...chosen].filter(isObject).reduce((whole: Schema, part) => {
      const of = this.merged(part, depth + 1);
      return {
        ...of,
        ...whole,
        required: [...listOf(whole.required), ...listOf(of.required)],
        properties: { ...(isObject(of.properties) && of.properties), ...(isObject(whole.properties) && whole.properties) },
      };
    }, schema);
  }

  private object(schema: Schema, depth: number): unknown {
    const properties = isObject(schema.properties) ? schema.properties : {};
    const names = [...new Set(listOf(schema.required).filter((name): name is string => typeof name === 'string'))];
    return Object.fromEntries(names.map((name) => [name, this.of(own(properties, name) ?? true, depth + 1)]));
  }

  private array(schema: Schema, depth: number): unknown {
    const first = listOf(schema.prefixItems);
    return Array.from({ length: bounded(schema.minItems) }, (_, i) => this.of(i < first.length ? first[i] : schema.items, depth + 1));
  }
}

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const bounded = (length: unknown): number => (typeof length === 'number' ? Math.min(length, MAX_LENGTH) : 0);

/** What a schema without a type is about. */
function implied(schema: Schema): string | null {
  if (isObject(schema.properties) && (Object.keys(schema.properties).length || listOf(schema.required).length)) return 'object';
  if (schema.items !== undefined || schema.prefixItems !== undefined || schema.minItems !== undefined) return 'array';
  if (schema.minLength !== undefined || schema.format !== undefined || schema.pattern !== undefined) return 'string';
  return schema.minimum !== undefined || schema.maximum !== undefined ? 'number' : null;
}

function text(schema: Schema): string {
  const formatted = typeof schema.format === 'string' && Object.hasOwn(FORMATTED, schema.format) ? FORMATTED[schema.format] : '';
  return formatted.padEnd(bounded(schema.minLength), 'x');
}

function number(schema: Schema, whole: boolean): number {
  const bound = (key: string) => (typeof schema[key] === 'number' ? schema[key] : undefined);
  const [above, below] = [bound('exclusiveMinimum'), bound('exclusiveMaximum')];
  const step = bound('multipleOf') ?? (whole ? 1 : undefined);
  const least = Math.max(bound('minimum') ?? -Infinity, above ?? -Infinity);
  const most = Math.min(bound('maximum') ?? Infinity, below ?? Infinity);
  const start = least > 0 || above === 0 ? least : most < 0 || below === 0 ? most : 0;
  const down = start === most && start !== least;
  if (step === undefined)
    return start !== above && start !== below ? start : Number.isFinite(least + most) ? (least + most) / 2 : start + (down ? -1 : 1);
  const stepped = (down ? Math.floor(start / step) : Math.ceil(start / step)) * step;
  return stepped === above || stepped === below ? stepped + (down ? -step : step) : stepped;
}
