import { pointedAt, withoutFaults, type Schema } from '@aps/platform/json-schema';
import { asObject } from './errors';

/** Alternatives and parts that are folded in, references followed; a small schema may stand for any number. */
const MAX_PARTS = 50;
/** Characters of what cannot be said otherwise. */
const MAX_TOLD = 2_000;
/** What the top level may not have. */
const COMBINING = ['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else', 'enum', 'const', '$ref'];
/** Of them, what is told whole by the properties. */
const FOLDED = ['allOf', '$ref'];

/**
 * The parameters of a tool as OpenAI and Anthropic take them. Both answer 400 to a whole request for one tool whose schema combines others at
 * its top level, and so does OpenAI for objects without `properties` there and arrays without `items` anywhere, Anthropic for the forms of
 * older drafts. Alternatives become properties of one object, and are told in words besides; who gets the arguments checks them with the
 * whole schema.
 */
export function toolSchema(parameters: Schema): Schema {
  const { $schema: _, ...schema } = withoutFaults(parameters);
  const combined = COMBINING.filter((key) => schema[key] !== undefined);
  if (!combined.length) return withItems({ ...schema, type: 'object', properties: asObject(schema.properties) }) as Schema;
  const plain = Object.fromEntries(Object.entries(schema).filter(([key]) => !combined.includes(key)));
  const { properties, required } = folded(schema, { root: schema, left: MAX_PARTS });
  const told = Object.fromEntries(combined.filter((key) => !FOLDED.includes(key)).map((key) => [key, schema[key]]));
  const words = Object.keys(told).length
    ? `The arguments also fit this JSON Schema: ${JSON.stringify(told).slice(0, MAX_TOLD).toWellFormed()}`
    : '';
  const description = [schema.description, words].filter(Boolean).join('\n\n');
  return withItems({
    ...plain,
    ...(description && { description }),
    type: 'object',
    properties: Object.fromEntries(Array.from(properties, ([name, variants]) => [name, oneOf(variants)])),
    required: [...required],
    // What alternatives allow, their whole may not refuse.
    additionalProperties: undefined,
  }) as Schema;
}

interface Context {
  root: Schema;
  left: number;
}

interface Folded {
  /** Schemas of each. */
  properties: Map<string, Set<unknown>>;
  required: Set<unknown>;
}

/** All properties that a schema knows, and those that it requires whichever of its alternatives is taken. */
function folded(input: unknown, context: Context): Folded {
  context.left--;
  const schema = asObject(input);
  const found: Folded = {
    properties: new Map(Object.entries(asObject(schema.properties)).map(([name, of]) => [name, new Set([of])])),
    required: new Set(listOf(schema.required)),
  };
  const within = (parts: unknown[]): Folded[] => parts.slice(0, Math.max(0, context.left)).map((part) => folded(part, context));
  const referred = typeof schema.$ref === 'string' ? [pointedAt(context.root, schema.$ref)] : [];
  for (const { properties, required } of within([...referred, ...listOf(schema.allOf)])) {
    for (const [name, variants] of properties) if (!found.properties.has(name)) found.properties.set(name, variants);
    for (const name of required) found.required.add(name);
  }
  for (const alternatives of [schema.anyOf, schema.oneOf].map(listOf)) {
    const known = new Set(found.properties.keys());
    const objects = within(alternatives.filter((of) => [undefined, 'object'].includes(asObject(of).type as string | undefined)));
    for (const { properties } of objects)
      for (const [name, variants] of properties)
        if (!known.has(name)) found.properties.set(name, new Set([...(found.properties.get(name) ?? []), ...variants]));
    const [first, ...others] = objects;
    for (const name of first?.required ?? []) if (others.every(({ required }) => required.has(name))) found.required.add(name);
  }
  return found;
}

function oneOf(variants: Set<unknown>): unknown {
  if (variants.size === 1) return [...variants][0];
  const different = [...new Map(Array.from(variants, (of) => [JSON.stringify(of), of])).values()];
  return different.length === 1 ? different[0] : { anyOf: different };
}

/** With a word on the elements of each array. */
function withItems(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withItems);
  if (typeof value !== 'object' || value === null) return value;
  const out: Schema = Object.fromEntries(Object.entries(value).map(([key, of]) => [key, withItems(of)]));
  return [out.type].flat().includes('array') && out.items === undefined ? { ...out, items: {} } : out;
}

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
