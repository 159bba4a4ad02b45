import { resolve, type Document, type Schema } from './document';

/** A value that a schema accepts: its required fields and nothing else. */
export function sample(document: Document, given: Schema | undefined): unknown {
  const schema = resolve(document, given);
  if (schema.oneOf) return sample(document, schema.oneOf[0]);
  if (schema.enum) return schema.enum[0];
  switch (schema.type) {
    case 'object':
      return Object.fromEntries((schema.required ?? []).map((name) => [name, sample(document, schema.properties?.[name])]));
    case 'array':
      return Array.from({ length: schema.minItems ?? 0 }, () => sample(document, schema.items));
    case 'integer':
    case 'number':
      return schema.minimum ?? 1;
    case 'boolean':
      return false;
    default:
      return sampleText(schema);
  }
}

function sampleText({ format, example, minLength = 1 }: Schema): string {
  if (format === 'uuid') return '0193488e-8a8c-7cc2-b7a5-1f0c4d1d2a11';
  if (format === 'email') return 'nobody@example.com';
  if (format === 'date-time') return '2026-11-20T09:30:00.000Z';
  return typeof example === 'string' ? example : 'x'.repeat(Math.max(1, minLength));
}
