import { validate, type Schema } from '../definition';

/** Reads an object that a model was asked for, also where it stands in a block of code. */
export function parsed(schema: Schema, text: string): { value: unknown } | { problem: string } {
  const json = /^\s*```(?:json)?\s*\n([\s\S]*?)\n\s*```\s*$/.exec(text)?.[1] ?? text;
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return { problem: 'The answer is no JSON.' };
  }
  const problems = validate(schema, value);
  return problems.length ? { problem: problems.map(({ path, message }) => `${path || 'output'}: ${message}`).join('; ') } : { value };
}
