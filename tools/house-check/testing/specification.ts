import { readFileSync } from 'node:fs';
import path from 'node:path';

/** One operation that the specification decides. */
export interface SpecifiedOperation {
  method: string;
  path: string;
  success: number;
  /** Name of the response schema; `X[]` for a bare array, `A or B` for alternatives, empty for no body. */
  response: string;
  tier: string;
}

/** Every operation of the specification. */
export const SPECIFICATION = JSON.parse(readFileSync(path.join(__dirname, '..', 'specification.json'), 'utf8')) as SpecifiedOperation[];

export const nameOf = (op: { method: string; path: string }): string => `${op.method} ${op.path}`;

interface Schema {
  $ref?: string;
  type?: string;
  items?: Schema;
  oneOf?: Schema[];
}

/** A response schema in the words of {@link SpecifiedOperation.response}. */
export function schemaName(schema: Schema | undefined): string {
  if (!schema) return '';
  if (schema.$ref) return schema.$ref.split('/').pop() ?? '';
  if (schema.oneOf) return schema.oneOf.map(schemaName).join(' or ');
  if (schema.type === 'array') return `${schemaName(schema.items)}[]`;
  return schema.type ?? '?';
}
