import { jsonIn } from '@aps/inference';
import { validate, type Schema } from '@aps/platform/json-schema';

/** Reads an object that a model was asked for, wherever in its answer it stands. */
export function parsed(schema: Schema, text: string): { value: unknown } | { problem: string } {
  const read = jsonIn(text);
  if ('problem' in read) return read;
  const problems = validate(schema, read.value);
  return problems.length ? { problem: problems.map(({ path, message }) => `${path || 'output'}: ${message}`).join('; ') } : read;
}
