import type { Problem } from '@aps/contracts';
import { isObject, own } from '@aps/platform/definitions';
import { urlOf } from '@aps/platform/egress';

/** Largest schema of a form, characters of JSON. */
export const MAX_SCHEMA_CHARS = 16_000;
const MAX_DEPTH = 5;

const TYPES = ['string', 'number', 'integer', 'boolean', 'array', 'object', 'null'] as const;
type TypeName = (typeof TYPES)[number];
type Schema = Record<string, unknown>;

/** What says nothing about which values are right. */
const ANNOTATIONS = new Set([
  'title',
  'description',
  'default',
  'examples',
  '$schema',
  '$id',
  '$comment',
  'deprecated',
  'readOnly',
  'writeOnly',
]);
const COUNTS = ['minLength', 'maxLength', 'minItems', 'maxItems'] as const;
const BOUNDS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'] as const;
/** Everything else is refused: a rule that is written down and not kept would be worse than none. No `pattern`, which could run for ever. */
const RULES = new Set<string>([
  'type',
  'enum',
  'const',
  'properties',
  'required',
  'additionalProperties',
  'items',
  'format',
  ...COUNTS,
  ...BOUNDS,
]);

const typesOf = (schema: Schema): TypeName[] =>
  schema.type === undefined ? [] : Array.isArray(schema.type) ? (schema.type as TypeName[]) : [schema.type as TypeName];

/**
 * Whether a form can be made and checked by a schema. It is the part of JSON Schema that describes forms: `type`, `enum`, `const`,
 * `properties`, `required`, `additionalProperties` (a boolean), `items`, `format`, and the bounds of lengths, numbers and lists.
 *
 * @returns a sentence that says what is wrong, null when nothing is
 */
export function schemaFault(schema: unknown): string | null {
  if (!isObject(schema)) return 'schema should be a JSON Schema of type object';
  if (JSON.stringify(schema).length > MAX_SCHEMA_CHARS) return `schema should have at most ${MAX_SCHEMA_CHARS} characters`;
  if (schema.type !== 'object' || !isObject(schema.properties) || Object.keys(schema.properties).length === 0)
    return 'schema should be of type object and have properties, one for each field of the form';
  return faultOf(schema, 'schema', 1);
}

function faultOf(schema: unknown, path: string, depth: number): string | null {
  if (!isObject(schema)) return `${path} should be a schema`;
  if (depth > MAX_DEPTH) return `${path} nests too deeply: ${MAX_DEPTH} levels are allowed`;
  const unknown = Object.keys(schema).find((key) => !RULES.has(key) && !ANNOTATIONS.has(key));
  if (unknown !== undefined) return `${path}.${unknown.slice(0, 50)} is not supported in forms`;
  const types = typesOf(schema);
  if (schema.type !== undefined && (types.length === 0 || !types.every((t) => TYPES.includes(t))))
    return `${path}.type should be of ${TYPES.join(', ')}`;
  if (schema.enum !== undefined && !(Array.isArray(schema.enum) && schema.enum.length > 0))
    return `${path}.enum should be a list of values`;
  if (schema.required !== undefined && !(Array.isArray(schema.required) && schema.required.every((key) => typeof key === 'string')))
    return `${path}.required should be a list of names`;
  if (schema.additionalProperties !== undefined && typeof schema.additionalProperties !== 'boolean')
    return `${path}.additionalProperties should be true or false`;
  if (schema.format !== undefined && typeof schema.format !== 'string') return `${path}.format should be a name`;
  const count = COUNTS.find((key) => schema[key] !== undefined && !(Number.isInteger(schema[key]) && (schema[key] as number) >= 0));
  if (count) return `${path}.${count} should be a whole number`;
  const bound = BOUNDS.find((key) => schema[key] !== undefined && typeof schema[key] !== 'number');
  if (bound) return `${path}.${bound} should be a number`;
  if (schema.items !== undefined) {
    const fault = faultOf(schema.items, `${path}.items`, depth + 1);
    if (fault) return fault;
  }
  if (schema.properties === undefined) return null;
  if (!isObject(schema.properties)) return `${path}.properties should be an object`;
  for (const [name, of] of Object.entries(schema.properties)) {
    const fault = faultOf(of, `${path}.properties.${name.slice(0, 50)}`, depth + 1);
    if (fault) return fault;
  }
  return null;
}

/** The form of values with a known meaning; formats that are not here are only named. */
const FORMATS: Record<string, { holds: (text: string) => boolean; says: string }> = {
  date: { holds: (text) => /^\d{4}-\d{2}-\d{2}$/.test(text) && isDay(text), says: 'Input should be a date, YYYY-MM-DD' },
  'date-time': {
    holds: (text) =>
      /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d{1,9})?([Zz]|[+-]\d{2}:\d{2})$/.test(text) && !Number.isNaN(Date.parse(text)),
    says: 'Input should be an RFC 3339 date and time',
  },
  email: { holds: (text) => text.length <= 254 && /^[^\s@]{1,64}@[^\s@]+$/.test(text), says: 'Input should be an email address' },
  uri: { holds: (text) => urlOf(text) !== undefined, says: 'Input should be a URL' },
  uuid: { holds: (text) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text), says: 'Input should be a UUID' },
};

function isDay(text: string): boolean {
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

const typeOf = (value: unknown): TypeName => (value === null ? 'null' : Array.isArray(value) ? 'array' : (typeof value as TypeName));
const isOfType = (value: unknown, type: TypeName): boolean => typeOf(value) === type || (type === 'integer' && Number.isInteger(value));

/** Equal as JSON, whatever the order of keys. */
function same(a: unknown, b: unknown): boolean {
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((item, i) => same(item, b[i]));
  if (!isObject(a)) return a === b;
  return (
    isObject(b) &&
    Object.keys(a).length === Object.keys(b).length &&
    Object.keys(a).every((key) => Object.hasOwn(b, key) && same(a[key], b[key]))
  );
}

/**
 * Checks what was filled in.
 *
 * @param schema one without fault, see {@link schemaFault}
 * @returns every problem, with its place below `loc`
 */
export function formProblems(schema: Schema, value: unknown, loc: (string | number)[]): Problem[] {
  const types = typesOf(schema);
  if (types.length && !types.some((type) => isOfType(value, type)))
    return [{ loc, msg: `Input should be of type ${types.join(' or ')}`, type: `${types[0]}_type` }];
  const problem = (msg: string, type: string): Problem => ({ loc, msg, type });
  const found: Problem[] = [];
  if (Array.isArray(schema.enum) && !schema.enum.some((allowed) => same(allowed, value))) {
    return [problem(`Input should be one of ${JSON.stringify(schema.enum).slice(0, 500)}`, 'enum')];
  }
  if (Object.hasOwn(schema, 'const') && !same(schema.const, value))
    return [problem(`Input should be ${JSON.stringify(schema.const).slice(0, 500)}`, 'literal_error')];
  if (typeof value === 'string') found.push(...textProblems(schema, value, problem));
  if (typeof value === 'number') found.push(...numberProblems(schema, value, problem));
  if (Array.isArray(value)) {
    if (value.length < Number(schema.minItems ?? 0))
      found.push(problem(`List should have at least ${String(schema.minItems)} items`, 'too_short'));
    if (value.length > Number(schema.maxItems ?? Infinity))
      found.push(problem(`List should have at most ${String(schema.maxItems)} items`, 'too_long'));
    if (isObject(schema.items)) found.push(...value.flatMap((item, i) => formProblems(schema.items as Schema, item, [...loc, i])));
  }
  if (isObject(value)) found.push(...objectProblems(schema, value, loc));
  return found;
}

function textProblems(schema: Schema, value: string, problem: (msg: string, type: string) => Problem): Problem[] {
  const found: Problem[] = [];
  // Characters as people count them, as JSON Schema does.
  const length = [...value].length;
  if (length < Number(schema.minLength ?? 0))
    found.push(problem(`String should have at least ${String(schema.minLength)} characters`, 'string_too_short'));
  if (length > Number(schema.maxLength ?? Infinity))
    found.push(problem(`String should have at most ${String(schema.maxLength)} characters`, 'string_too_long'));
  const format = typeof schema.format === 'string' ? (own(FORMATS, schema.format) as (typeof FORMATS)[string] | undefined) : undefined;
  if (format && !format.holds(value)) found.push(problem(format.says, 'value_error'));
  return found;
}

function numberProblems(schema: Schema, value: number, problem: (msg: string, type: string) => Problem): Problem[] {
  const {
    minimum,
    maximum,
    exclusiveMinimum: above,
    exclusiveMaximum: below,
  } = schema as Record<(typeof BOUNDS)[number], number | undefined>;
  return [
    ...(minimum !== undefined && value < minimum
      ? [problem(`Input should be greater than or equal to ${minimum}`, 'greater_than_equal')]
      : []),
    ...(maximum !== undefined && value > maximum ? [problem(`Input should be less than or equal to ${maximum}`, 'less_than_equal')] : []),
    ...(above !== undefined && value <= above ? [problem(`Input should be greater than ${above}`, 'greater_than')] : []),
    ...(below !== undefined && value >= below ? [problem(`Input should be less than ${below}`, 'less_than')] : []),
  ];
}

function objectProblems(schema: Schema, value: Schema, loc: (string | number)[]): Problem[] {
  const properties = isObject(schema.properties) ? schema.properties : {};
  const missing = ((schema.required as string[] | undefined) ?? []).filter((key) => !Object.hasOwn(value, key));
  const found: Problem[] = missing.map((key) => ({ loc: [...loc, key], msg: 'Field required', type: 'missing' }));
  for (const [key, item] of Object.entries(value)) {
    const of = own(properties, key);
    if (isObject(of)) found.push(...formProblems(of, item, [...loc, key]));
    else if (schema.additionalProperties === false)
      found.push({ loc: [...loc, key], msg: 'The form has no such field', type: 'extra_forbidden' });
  }
  return found;
}
