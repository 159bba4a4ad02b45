import { asObject } from './errors';

type Schema = Record<string, unknown>;

/** What a provider allows in a schema that it compiles. */
export interface GrammarLimits {
  /** Properties that are not required. */
  optional: number;
  /** Places with several types or alternatives. */
  unions: number;
  /** Keywords that say more than types do. */
  bounds: number;
}

/** Taken by all of them. OpenAI's own limits are wider, Azure has kept these; Anthropic publishes none and answers 400 to what is too much. */
const MAX_PROPERTIES = 100;
const MAX_ENUM_VALUES = 500;
/** Of objects and arrays in each other. */
const MAX_LEVELS = 5;
const FORMATS = ['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid'];
/** Compiled as they stand. */
const KEPT_KEYWORDS = ['type', 'title', 'description', 'enum', 'const'];
/** Compiled by some, refused by others. */
const BOUNDS = [
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  ...['minLength', 'maxLength', 'pattern', 'format', 'minItems', 'maxItems', 'uniqueItems', 'default', 'examples'],
];
/** They say nothing about values. */
const DROPPED = ['$schema', '$id', '$comment', 'deprecated', 'readOnly', 'writeOnly'];
const READ = ['properties', 'required', 'additionalProperties', 'items', 'anyOf', 'oneOf'];
const KNOWN = new Set([...KEPT_KEYWORDS, ...BOUNDS, ...DROPPED, ...READ]);

interface Used extends GrammarLimits {
  properties: number;
  enumValues: number;
  /** Places that the subset has no words for. */
  foreign: number;
}

/**
 * A JSON Schema of an object as OpenAI and Anthropic compile one into a grammar, so that the model can write nothing else. Every object is
 * closed, `oneOf` becomes `anyOf`, and bounds go into the description, so an answer of this grammar can still miss a bound.
 * Undefined where that cannot be: maps and free objects, references, `allOf`, and more than the provider takes. Sent all the same, such a
 * schema would be answered 400.
 */
export function grammarSchema(schema: Schema, limits: GrammarLimits): Schema | undefined {
  const used: Used = { optional: 0, unions: 0, bounds: 0, properties: 0, enumValues: 0, foreign: 0 };
  const compiled = compile(schema, used, 1);
  const within =
    schema.type === 'object' &&
    compiled.anyOf === undefined &&
    used.foreign === 0 &&
    used.optional <= limits.optional &&
    used.unions <= limits.unions &&
    used.bounds <= limits.bounds &&
    used.properties <= MAX_PROPERTIES &&
    used.enumValues <= MAX_ENUM_VALUES;
  return within ? compiled : undefined;
}

function compile(input: unknown, used: Used, level: number): Schema {
  const schema = asObject(input);
  const alternatives = schema.anyOf ?? schema.oneOf;
  const types: unknown[] = Array.isArray(schema.type) ? schema.type : [schema.type];
  const holds = types.includes('object') || types.includes('array');
  if ((holds && level > MAX_LEVELS) || Object.keys(schema).some((key) => !KNOWN.has(key))) used.foreign++;
  if (types.length > 1 || alternatives !== undefined) used.unions++;
  if (Array.isArray(schema.enum)) used.enumValues += schema.enum.length;

  const out: Schema = {};
  for (const key of KEPT_KEYWORDS) if (schema[key] !== undefined) out[key] = schema[key];
  const bounds = BOUNDS.filter((key) => schema[key] !== undefined);
  used.bounds += bounds.length;
  if (FORMATS.includes(schema.format as string)) out.format = schema.format;
  const told = bounds.filter((key) => out[key] === undefined).map((key) => `${key}: ${JSON.stringify(schema[key])}`);
  const described = typeof schema.description === 'string' ? `${schema.description} ` : '';
  if (told.length > 0) out.description = `${described}{${told.join(', ')}}`;

  if (Array.isArray(alternatives)) out.anyOf = alternatives.map((item) => compile(item, used, level));
  else if (schema.type === undefined) used.foreign++;
  if (types.includes('array')) out.items = compile(schema.items, used, level + 1);
  if (types.includes('object')) Object.assign(out, closedObject(schema, used, level));
  return out;
}

function closedObject(schema: Schema, used: Used, level: number): Schema {
  const properties = Object.entries(asObject(schema.properties));
  const names = properties.map(([name]) => name);
  const required: unknown[] = Array.isArray(schema.required) ? schema.required : [];
  const open = schema.additionalProperties !== undefined && schema.additionalProperties !== false;
  const free = names.length === 0 && schema.additionalProperties !== false;
  if (open || free || required.some((name) => !names.includes(name as string))) used.foreign++;
  used.properties += names.length;
  used.optional += names.filter((name) => !required.includes(name)).length;
  return {
    properties: Object.fromEntries(properties.map(([name, value]) => [name, compile(value, used, level + 1)])),
    required,
    additionalProperties: false,
  };
}
