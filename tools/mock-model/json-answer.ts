import { fencedBlocks } from './script';
import { asList, asObject } from './values';

/** A JSON Schema, or the form that Google has for one: types in capitals, `nullable`. References and `allOf` are not looked into. */
export type Schema = Record<string, unknown>;

/** The answer to a request for JSON: what the text brings along, or else an object made of its words. */
export function jsonAnswer(schema: Schema, text: string): string {
  for (const block of fencedBlocks(text, 'json')) if (block !== undefined && fits(parsed(block), schema)) return block.trim();
  return JSON.stringify(made(undefined, schema, text), null, 2); // has words, so that it comes in several deltas
}

/** The value of what has this name, or is nameless. */
function made(name: string | undefined, input: unknown, text: string): unknown {
  const schema = chosen(asObject(input));
  const type = typesOf(schema)[0];
  const values = valuesOf(schema);
  const said = name === undefined ? undefined : saidOf(name, text);
  if (said !== undefined) {
    const value = values?.find((one) => String(one) === said) ?? converted(said, type);
    if (fits(value, schema)) return value;
  }
  if (values !== undefined) return values.find((one) => occurs(String(one), text)) ?? values[0];
  const { minimum = -Infinity, maximum = Infinity } = schema as { minimum?: number; maximum?: number };
  switch (type) {
    case 'object': {
      const required = Array.isArray(schema.required) ? schema.required.map(String) : [];
      return Object.fromEntries(required.map((property) => [property, made(property, asObject(schema.properties)[property], text)]));
    }
    case 'array':
      return Array.from({ length: Number(schema.minItems ?? 0) }, () => made(undefined, schema.items, text));
    case 'number':
      return Math.min(Math.max(0.9, minimum), maximum);
    case 'integer':
      return Math.min(Math.max(0, Math.ceil(minimum)), Math.floor(maximum));
    case 'boolean':
      return false;
    case 'null':
      return null;
    default:
      return mockText(schema);
  }
}

function mockText({ format, minLength, maxLength }: Schema): string {
  if (format === 'date') return '2026-01-01';
  if (format === 'date-time') return '2026-01-01T00:00:00Z';
  const least = Number(minLength ?? 0);
  const length = Math.max(least, Math.min(4, Number(maxLength ?? 4)));
  return 'mock'.repeat(Math.ceil(length / 4)).slice(0, length);
}

/** Of alternatives the first that is not null. */
function chosen(schema: Schema): Schema {
  const alternatives = asList(schema.anyOf ?? schema.oneOf);
  const first = alternatives.find((one) => one.type !== 'null') ?? alternatives[0];
  return first === undefined ? schema : chosen({ ...schema, anyOf: undefined, oneOf: undefined, ...first });
}

/** What stands after the name and a colon at the start of a line. */
function saidOf(name: string, text: string): string | undefined {
  const said = new RegExp(`^${escaped(name)}:(.*)$`, 'm').exec(text)?.[1].trim();
  return said === '' ? undefined : said;
}

function converted(said: string, type: string | undefined): unknown {
  if (type === 'number' || type === 'integer') return Number(said);
  if (type === 'boolean' || type === 'array' || type === 'object' || type === 'null') return parsed(said);
  return said;
}

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
const occurs = (word: string, text: string): boolean =>
  new RegExp(`(?<![\\p{L}\\p{N}_])${escaped(word)}(?![\\p{L}\\p{N}_])`, 'u').test(text);

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

/** The schema and all that stand in it. */
export function* schemasIn(input: unknown): Generator<Schema, void> {
  const schema = asObject(input);
  yield schema;
  const inner = [
    ...Object.values(asObject(schema.properties)),
    ...asList(schema.anyOf),
    ...(schema.items === undefined ? [] : [schema.items]),
  ];
  for (const one of inner) yield* schemasIn(one);
}

/** Whether a value is one of a schema, by what is commonly used of JSON Schema; undefined is none of any. */
export function fits(value: unknown, input: unknown): boolean {
  const schema = asObject(input);
  if (value === undefined) return false;
  if (value === null && schema.nullable === true) return true;
  const alternatives = asList(schema.anyOf ?? schema.oneOf);
  if (alternatives.length > 0 && !alternatives.some((one) => fits(value, one))) return false;
  if (valuesOf(schema)?.every((one) => JSON.stringify(one) !== JSON.stringify(value))) return false;
  const types = typesOf(schema);
  if (types.length > 0 && !types.some((type) => isOf(type, value))) return false;
  if (typeof value === 'number') return within(value, schema.minimum, schema.maximum);
  if (typeof value === 'string') return textFits(value, schema);
  if (Array.isArray(value))
    return (
      within(value.length, schema.minItems, schema.maxItems) &&
      value.every((item) => schema.items === undefined || fits(item, schema.items))
    );
  return typeof value !== 'object' || value === null || objectFits(value as Record<string, unknown>, schema);
}

function objectFits(value: Record<string, unknown>, schema: Schema): boolean {
  const properties = asObject(schema.properties);
  const missing = Array.isArray(schema.required) && schema.required.some((name) => !Object.hasOwn(value, String(name)));
  if (missing) return false;
  return Object.entries(value).every(([name, one]) =>
    Object.hasOwn(properties, name) ? fits(one, properties[name]) : schema.additionalProperties !== false,
  );
}

function textFits(value: string, { minLength, maxLength, pattern, format }: Schema): boolean {
  if (!within([...value].length, minLength, maxLength)) return false;
  if (typeof pattern === 'string' && !new RegExp(pattern, 'u').test(value)) return false;
  if (format === 'date') return isDay(value);
  return format !== 'date-time' || (/^.{10}T\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i.test(value) && isDay(value.slice(0, 10)));
}

/** A day that there is: the 30th of February is none. */
const isDay = (text: string): boolean =>
  /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)) && new Date(text).toISOString().startsWith(text);
const within = (amount: number, least: unknown, most: unknown): boolean =>
  amount >= Number(least ?? -Infinity) && amount <= Number(most ?? Infinity);

/** The values that there are, if they are counted. */
const valuesOf = (schema: Schema): unknown[] | undefined =>
  Array.isArray(schema.enum) && schema.enum.length > 0 ? schema.enum : schema.const === undefined ? undefined : [schema.const];

/** The types that a value may have, null last. */
function typesOf(schema: Schema): string[] {
  const types = [schema.type].flat().filter((type) => typeof type === 'string');
  if (types.length === 0 && schema.properties !== undefined) return ['object'];
  return types.map((type) => type.toLowerCase()).sort((a, b) => Number(a === 'null') - Number(b === 'null'));
}

function isOf(type: string, value: unknown): boolean {
  if (type === 'integer') return Number.isInteger(value);
  if (type === 'number') return Number.isFinite(value);
  if (type === 'null') return value === null;
  if (type === 'array') return Array.isArray(value);
  return typeof value === type && (type !== 'object' || (value !== null && !Array.isArray(value)));
}
