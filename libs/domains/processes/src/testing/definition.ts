import { readDefinition, type Definition } from '../definition';

/** A definition of these steps. */
export function aDefinition(steps: unknown[], over: Record<string, unknown> = {}): Definition {
  const read = readDefinition({ schema_version: 1, steps, ...over });
  if ('problems' in read) throw new Error(JSON.stringify(read.problems));
  return read.definition;
}
