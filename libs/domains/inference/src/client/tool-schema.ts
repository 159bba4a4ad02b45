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
/** Where no schemas stand, and where they do by name. */
const VALUES = ['default', 'enum', 'const', 'examples'];
const BY_NAME = ['properties', 'patternProperties', 'dependentSchemas', '$defs', 'definitions'];

/**
 * The parameters of a tool as OpenAI and Anthropic take them. Both answer 400 to a whole request for one tool whose schema combines others at
 * its top level, and so does OpenAI for objects without `properties` there and arrays without `items` anywhere, Anthropic for the forms of
 * older drafts. Alternatives become properties of one object, and are told in words besides; who gets the arguments checks them with the
 * whole schema.
 */
export function toolSchema(parameters: Schema): Schema {
  const { $schema: _, ...schema } = withFewFaults(parameters);
  const combined = COMBINING.filter((key) => schema[key] !== undefined);
  if (!combined.length) return withItems({ ...schema, type: 'object', properties: asObject(schema.properties) }) as Schema;
  const plain = Object.fromEntries(Object.entries(schema).filter(([key]) => !combined.includes(key)));
  const { properties, required } = folded(schema, { root: schema, left: MAX_PARTS });
  const told = Object.fromEntries(combined.filter((key) => !FOLDED.includes(key)).map((key) => [key, schema[key]]));
  const words = Object.keys(told).length
    ? `The arguments also fit this JSON Schema: ${JSON.stringify(told).slice(0, MAX_TOLD).toWellFormed()}`
    : '';
  const description = [schema.description, words].filter(Boolean).join('\n\n');
  const whole = {
    ...plain,
    ...(description && { description }),
    type: 'object',
    properties: Object.fromEntries(Array.from(properties, ([name, variants]) => [name, oneOf(variants)])),
    required: [...required],
    // What alternatives allow, their whole may not refuse.
    additionalProperties: undefined,
  };
  return withItems(withReferred(whole, schema, combined)) as Schema;
}

/** Of what is of older drafts throughout, each part by itself. */
function withFewFaults(parameters: Schema): Schema {
  const schema = withoutFaults(parameters);
  if (Object.keys(schema).length > 0) return schema;
  const required = listOf(parameters.required).filter((name) => typeof name === 'string');
  const parts = ['properties', '$defs', 'definitions'].map((key): [string, Schema] => [
    key,
    Object.fromEntries(Object.entries(asObject(parameters[key])).map(([name, part]) => [name, withoutFaults(asObject(part))])),
  ]);
  return {
    ...Object.fromEntries(parts.filter(([, named]) => Object.keys(named).length > 0)),
    ...(required.length > 0 && { required: [...new Set(required)] }),
  };
}

/** A folded schema with all that it refers to of what is folded away: generators write a part once, and then refer to where it has stood. */
function withReferred(whole: Schema, schema: Schema, combined: string[]): Schema {
  const referredIn = (json: string) => combined.filter((key) => json.includes(`"$ref":"#/${key}/`));
  if (!referredIn(JSON.stringify(whole)).length) return whole;
  const referred = referredIn(JSON.stringify(schema));
  const $defs = asObject(whole.$defs);
  let name = 'folded';
  while (Object.hasOwn($defs, name)) name += '_';
  const all = { ...whole, $defs: { ...$defs, [name]: Object.fromEntries(referred.map((key) => [key, schema[key]])) } };
  const moved = (json: string, key: string) => json.replaceAll(`"$ref":"#/${key}/`, () => `"$ref":"#/$defs/${name}/${key}/`);
  return JSON.parse(referred.reduce(moved, JSON.stringify(all))) as Schema;
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
    const ofObjects = alternatives.map(asObject).filter(({ type }) => type === undefined || [type].flat().includes('object'));
    const objects = within(ofObjects);
    for (const { properties } of objects)
      for (const [name, variants] of properties)
        if (!known.has(name)) found.properties.set(name, new Set([...(found.properties.get(name) ?? []), ...variants]));
    if (objects.length < ofObjects.length) continue;
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

/**
 * With a word on the elements of each array.
 *
 * @param named whether names of schemas stand where keywords would
 */
function withItems(value: unknown, named = false): unknown {
  if (Array.isArray(value)) return value.map((part) => withItems(part));
  if (typeof value !== 'object' || value === null) return value;
  const out: Schema = Object.fromEntries(
    Object.entries(value).map(([key, of]) => [key, !named && VALUES.includes(key) ? of : withItems(of, !named && BY_NAME.includes(key))]),
  );
  return !named && [out.type].flat().includes('array') && out.items === undefined ? { ...out, items: {} } : out;
}

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
