import type { PromptField } from '@aps/entities';
import { jsonIn } from '@aps/inference';
import { isObject } from '@aps/platform/definitions';
import { validate, type Schema } from '@aps/platform/json-schema';

const TYPES: Record<Exclude<PromptField['type'], 'enum' | 'array' | 'object'>, Schema> = {
  string: { type: 'string' },
  number: { type: 'number' },
  integer: { type: 'integer' },
  boolean: { type: 'boolean' },
  date: { type: 'string', format: 'date' },
  datetime: { type: 'string', format: 'date-time' },
};

/** The JSON Schema of an object with these fields. */
export function schemaOf(fields: readonly PromptField[]): Schema {
  return {
    type: 'object',
    properties: Object.fromEntries(fields.map((field) => [field.name, schemaOfField(field)])),
    required: fields.filter(({ required }) => required).map(({ name }) => name),
    additionalProperties: false,
  };
}

function schemaOfField(field: PromptField): Schema {
  return { ...typeOf(field), ...(field.description !== null && { description: field.description }) };
}

function typeOf({ type, enum_values = [], items, fields = [] }: PromptField): Schema {
  if (type === 'enum') return { type: 'string', enum: enum_values };
  if (type === 'array') return { type: 'array', items: schemaOfField(items!) };
  return type === 'object' ? schemaOf(fields) : TYPES[type];
}

/** What a model has extracted, or what is wrong with it, in words for the model. */
export type Extraction = { data: Schema } | { mistakes: string };

/**
 * Reads a model's answer: an object of the fields, bare or in a fenced block. Null for what need not be there means that it is not.
 */
export function extractionOf(text: string, fields: readonly PromptField[]): Extraction {
  const read = jsonIn(text);
  if ('problem' in read) return { mistakes: read.problem };
  const data = withoutNulls(read.value, fields);
  const mistakes = validate(schemaOf(fields), data).map(({ path, message }) => `${path || 'The object'}: ${message}`);
  return mistakes.length ? { mistakes: mistakes.join('\n') } : { data: data as Schema };
}

function withoutNulls(value: unknown, fields: readonly PromptField[]): unknown {
  if (!isObject(value)) return value;
  const optional = new Set(fields.filter(({ required }) => !required).map(({ name }) => name));
  const known = new Map(fields.map((field) => [field.name, field]));
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name, of]) => of !== null || !optional.has(name))
      .map(([name, of]) => [name, withinField(of, known.get(name))]),
  );
}

function withinField(value: unknown, field: PromptField | undefined): unknown {
  if (field?.type === 'array' && Array.isArray(value)) return value.map((element) => withinField(element, field.items));
  return field?.type === 'object' ? withoutNulls(value, field.fields ?? []) : value;
}
