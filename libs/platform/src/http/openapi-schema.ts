import { isObject } from '@aps/platform/definitions';

type Json = Record<string, unknown>;

const mapValues = (object: Json, fn: (value: unknown, key: string) => unknown): Json =>
  Object.fromEntries(Object.entries(object).map(([key, value]) => [key, fn(value, key)]));

/** Keywords whose values are not schemas, whatever they look like. */
const DATA = new Set(['example', 'examples', 'default', 'enum', 'const', 'required']);

/**
 * A schema of OpenAPI 3.0, as the generator writes it, in the words of 3.1, which are those of JSON Schema: null is a type, and a
 * reference has a description beside it. So validators and client generators need no dialect to read which fields may be null.
 */
export function toJsonSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(toJsonSchema);
  if (!isObject(schema)) return schema;
  const { nullable, allOf, ...rest } = mapValues(schema, (value, key) =>
    DATA.has(key)
      ? value
      : key === 'properties' && isObject(value)
        ? mapValues(value, (field) => toJsonSchema(field))
        : toJsonSchema(value),
  );
  if (!Array.isArray(allOf) || allOf.length !== 1)
    return nullable ? orNull(allOf ? { ...rest, allOf } : rest) : allOf ? { ...rest, allOf } : rest;
  // The generator wraps references that have neighbours, and gives some wrappers the type of what they wrap.
  const { type: _, ...neighbours } = rest;
  const [wrapped] = allOf as [Json];
  return nullable ? { anyOf: [wrapped, { type: 'null' }], ...neighbours } : { ...wrapped, ...neighbours };
}

function orNull(schema: Json): Json {
  if (Array.isArray(schema.oneOf)) return { ...schema, oneOf: [...(schema.oneOf as unknown[]), { type: 'null' }] };
  if (schema.$ref) return { anyOf: [schema, { type: 'null' }] };
  return { ...schema, type: [schema.type, 'null'], ...(Array.isArray(schema.enum) && { enum: [...(schema.enum as unknown[]), null] }) };
}
