import { asObject } from './errors';

type Schema = Record<string, unknown>;

const KEPT_KEYWORDS = [
  'description',
  'title',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
  'minLength',
  'maxLength',
  'pattern',
  'minimum',
  'maximum',
];
const FORMATS: Record<string, string[]> = { STRING: ['date-time'], INTEGER: ['int32', 'int64'], NUMBER: ['float', 'double'] };
const MAX_DEPTH = 24;
/** By references, and lists of types, a small schema stands for an endless one; tools of foreign servers bring such. Past this it is cut short. */
const MAX_NODES = 2000;

interface Context {
  root: Schema;
  nodesLeft: number;
}

/**
 * A JSON Schema in the subset that generateContent takes: it answers 400 to keywords that it does not know
 * (`$schema`, `additionalProperties`, `const`, …), to arrays without `items` and to enums of anything but strings.
 * References are inlined, `oneOf` becomes `anyOf`, `allOf` is merged, a null type becomes `nullable`. What the subset
 * cannot say is dropped: it only guides the model, and who gets the arguments, or the answer in JSON, checks them with the whole schema.
 * Undefined: an object without properties, which a function declaration expresses by having no parameters.
 */
export function geminiSchema(schema: Record<string, unknown>): Schema | undefined {
  const root = clean({ ...schema, type: schema.type ?? 'object' }, { root: schema, nodesLeft: MAX_NODES }, 0);
  return root.type === 'OBJECT' && root.properties === undefined ? undefined : root;
}

const clean = (input: unknown, context: Context, depth: number): Schema => cleaned(merged(input, context, depth), context, depth);

/** @param schema as {@link merged} makes it */
function cleaned(schema: Schema, context: Context, depth: number): Schema {
  if (depth > MAX_DEPTH || context.nodesLeft <= 0) return cutShort(schema);
  const types = typesOf(schema);
  const alternatives = alternativesOf(schema).map((item) => merged(item, context, depth));
  const nullable = schema.nullable === true || types.includes('null') || alternatives.some((item) => item.type === 'null');
  const rest = alternatives.filter((item) => item.type !== 'null');
  const real = [...new Set(types)].filter((type) => type !== 'null');

  if (rest.length === 1)
    return cleaned({ ...schema, anyOf: undefined, oneOf: undefined, type: undefined, ...rest[0], nullable }, context, depth + 1);
  if (rest.length > 1)
    return compact({
      description: schema.description,
      nullable: nullable || undefined,
      anyOf: rest.map((item) => cleaned(item, context, depth + 1)),
    });
  if (real.length > 1)
    return compact({
      description: schema.description,
      nullable: nullable || undefined,
      anyOf: real.map((type) => clean({ ...schema, description: undefined, type }, context, depth + 1)),
    });

  const values = valuesOf(schema);
  const type = (real[0] ?? guess(schema, values)).toUpperCase();
  const out: Schema = { type };
  for (const key of KEPT_KEYWORDS) if (schema[key] !== undefined && schema[key] !== null) out[key] = schema[key];
  if (nullable) out.nullable = true;
  if (typeof schema.format === 'string' && FORMATS[type]?.includes(schema.format)) out.format = schema.format;
  if (values.length > 0 && type === 'STRING') Object.assign(out, { format: 'enum', enum: values.map(String) });
  if (type === 'ARRAY')
    out.items = clean(
      Array.isArray(schema.items) ? schema.items[0] : (asList(schema.prefixItems)[0] ?? schema.items ?? { type: 'string' }),
      context,
      depth + 1,
    );
  if (type === 'OBJECT') {
    const properties = new Map<unknown, Schema>();
    for (const [name, value] of Object.entries(asObject(schema.properties))) properties.set(name, clean(value, context, depth + 1));
    if (properties.size > 0) out.properties = Object.fromEntries(properties);
    const required = asList(schema.required).filter((name) => properties.has(name));
    if (required.length > 0) out.required = required;
  }
  return out;
}

/** The type alone, of several the first: arguments of another would be refused by who gets them. */
function cutShort(schema: Schema): Schema {
  const type = plainType(schema);
  const inner = type === 'ARRAY' ? plainType({ type: 'string', ...asObject(schema.items) }) : undefined;
  return compact({ type, description: schema.description, items: inner && { type: inner === 'ARRAY' ? 'STRING' : inner } });
}

function plainType(schema: Schema): string {
  const [type] = [schema, ...alternativesOf(schema).map(asObject)].flatMap(typesOf).filter((name) => name !== 'null');
  return (type ?? guess(schema, valuesOf(schema))).toUpperCase();
}

const typesOf = ({ type }: Schema): string[] => [type].flat().filter((name): name is string => typeof name === 'string');

const alternativesOf = ({ anyOf, oneOf }: Schema): unknown[] => (Array.isArray(anyOf) ? anyOf : asList(oneOf));

const valuesOf = (schema: Schema): unknown[] =>
  Array.isArray(schema.enum) ? schema.enum.filter((value) => value !== null) : schema.const === undefined ? [] : [schema.const];

/** The schema with its local reference and its `allOf` folded in. A reference into itself ends as a free object. */
function merged(input: unknown, context: Context, depth: number): Schema {
  context.nodesLeft--;
  let schema: Schema = { ...asObject(input) };
  for (let hops = 0; typeof schema.$ref === 'string'; hops++) {
    const target = hops < 8 && depth < MAX_DEPTH / 2 && context.nodesLeft > 0 ? resolve(schema.$ref, context.root) : undefined;
    const { $ref: _, ...own } = schema;
    schema = target === undefined ? typed(own.description, 'object') : { ...target, ...own };
  }
  const all = depth < MAX_DEPTH ? asList(schema.allOf).slice(0, Math.max(0, context.nodesLeft)) : [];
  for (const part of all.map((item) => merged(item, context, depth + 1))) {
    const properties = { ...asObject(part.properties), ...asObject(schema.properties) };
    const required = [...new Set([...asList(schema.required), ...asList(part.required)])];
    schema = { ...part, ...schema, ...(Object.keys(properties).length > 0 && { properties }), ...(required.length > 0 && { required }) };
  }
  delete schema.allOf;
  return schema;
}

function resolve(reference: string, root: Schema): Schema | undefined {
  if (reference !== '#' && !reference.startsWith('#/')) return undefined;
  let value: unknown = root;
  for (const step of reference.split('/').slice(1)) value = asObject(value)[step.replaceAll('~1', '/').replaceAll('~0', '~')];
  return typeof value === 'object' && value !== null ? (value as Schema) : undefined;
}

function guess(schema: Schema, values: unknown[]): string {
  if (schema.properties !== undefined) return 'object';
  if (schema.items !== undefined || schema.prefixItems !== undefined) return 'array';
  const kind = typeof values[0];
  return kind === 'number' || kind === 'boolean' ? kind : values.length > 0 ? 'string' : 'object';
}

function typed(description: unknown, type: string): Schema {
  return compact({ type, description });
}

function compact(schema: Schema): Schema {
  return Object.fromEntries(Object.entries(schema).filter(([, value]) => value !== undefined));
}

function asList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
