import { validate, type Schema } from '@aps/platform/json-schema';

/** Levels, as of bodies of requests: whatever walks a value recurses. */
const MAX_DEPTH = 100;

/** Reads an object that a model was asked for, also where it stands in a block of code. */
export function parsed(schema: Schema, text: string): { value: unknown } | { problem: string } {
  const json = /^\s*```(?:json)?\s*\n([\s\S]*?)\n\s*```\s*$/.exec(text)?.[1] ?? text;
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return { problem: 'The answer is no JSON.' };
  }
  if (nests(value, MAX_DEPTH)) return { problem: `The answer nests more than ${MAX_DEPTH} levels deep.` };
  const problems = validate(schema, value);
  return problems.length ? { problem: problems.map(({ path, message }) => `${path || 'output'}: ${message}`).join('; ') } : { value };
}

const nests = (value: unknown, levels: number): boolean =>
  typeof value === 'object' && value !== null && (levels === 0 || Object.values(value).some((inner) => nests(inner, levels - 1)));
