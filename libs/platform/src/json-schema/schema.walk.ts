import { compilePattern } from '@aps/platform/definitions';

/** How deep schemas nest. */
const MAX_DEPTH = 20;
/** Schemas in a schema, each as often as it is referred to: as many may be asked of each part of a value. */
export const MAX_SCHEMAS = 500;
const MAX_VALUES = 1_000;
/** Of all patterns together; what an instruction costs stands at the patterns of rule sets. */
const MAX_INSTRUCTIONS = 2_000;
const DIALECT = 'https://json-schema.org/draft/2020-12/schema';

/** Where JSON Schema has schemas: one, a list of them, or one by name. */
const ONE = [
  'additionalProperties',
  'items',
  'contains',
  'propertyNames',
  'not',
  'if',
  'then',
  'else',
  'unevaluatedItems',
  'unevaluatedProperties',
  'contentSchema',
];
const LISTS = ['allOf', 'anyOf', 'oneOf', 'prefixItems'];
const NAMED = ['properties', 'patternProperties', 'dependentSchemas'];
/** What is not asked by itself, but where it is referred to. */
const DEFINITIONS = ['$defs', 'definitions'];
/** What reaches out of the schema, or makes of it what cannot be told beforehand. */
const REFUSED = ['$dynamicRef', '$recursiveRef', '$dynamicAnchor', '$anchor', '$vocabulary', '$async'];

type Schema = Record<string, unknown>;
const isObject = (value: unknown): value is Schema => typeof value === 'object' && value !== null && !Array.isArray(value);
const own = (schema: Schema, key: string): unknown => (Object.hasOwn(schema, key) ? schema[key] : undefined);

class Fault extends Error {}

/** Why a schema costs too much, or is more than a schema by itself; null where it is neither. Whether it is right by its rules is asked later. */
export function faultOf(schema: unknown): string | null {
  const walk = new SchemaWalk(schema);
  try {
    walk.check();
    return null;
  } catch (error) {
    if (error instanceof Fault) return error.message;
    throw error;
  }
}

/** What a `#/…` points at within a schema; undefined where there is nothing. */
export function pointedAt(root: unknown, pointer: string): unknown {
  let at = root;
  for (const part of pointer.split('/').slice(1)) {
    let key: string;
    try {
      key = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
    } catch {
      return undefined;
    }
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined;
    at = (at as Schema)[key];
  }
  return at;
}

class SchemaWalk {
  private instructions = 0;
  /** How many schemas come of each that is referred to; 0 of those that are being counted. */
  private readonly counted = new Map<unknown, number>();

  constructor(private readonly root: unknown) {}

  check(): void {
    const count = this.count(this.root, 'schema', 0);
    if (count > MAX_SCHEMAS)
      throw new Fault(`schema has more than ${MAX_SCHEMAS} schemas within, each counted as often as it is referred to`);
  }

  private count(schema: unknown, path: string, depth: number): number {
    if (typeof schema === 'boolean') return 1;
    if (!isObject(schema)) throw new Fault(`${path} should be a schema: an object, true or false`);
    if (depth > MAX_DEPTH) throw new Fault(`${path} nests too deeply: ${MAX_DEPTH} levels are allowed`);
    this.checkKeywords(schema, path, depth);
    let total = 1 + (own(schema, '$ref') === undefined ? 0 : this.countReferred(schema.$ref, path));
    const add = (inner: unknown, at: string) => (total += this.count(inner, `${path}.${at}`, depth + 1));
    for (const key of ONE) if (own(schema, key) !== undefined) add(schema[key], key);
    for (const key of LISTS) {
      const list = own(schema, key);
      if (Array.isArray(list)) list.forEach((inner, i) => add(inner, `${key}.${i}`));
    }
    for (const key of NAMED) {
      const named = own(schema, key);
      if (isObject(named)) for (const [name, inner] of Object.entries(named)) add(inner, `${key}.${name.slice(0, 50)}`);
    }
    for (const key of DEFINITIONS) {
      const named = own(schema, key);
      if (isObject(named))
        for (const [name, inner] of Object.entries(named)) this.count(inner, `${path}.${key}.${name.slice(0, 50)}`, depth + 1);
    }
    return total;
  }

  private countReferred(ref: unknown, path: string): number {
    if (typeof ref !== 'string' || !/^#(\/|$)/.test(ref))
      throw new Fault(`${path}.$ref should be a place within the schema, as '#/$defs/name'`);
    const target = pointedAt(this.root, ref);
    if (target === undefined) throw new Fault(`${path}.$ref names nothing: ${ref.slice(0, 100)}`);
    const known = this.counted.get(target);
    if (known === 0) throw new Fault(`${path}.$ref leads back to itself; a schema may not hold itself`);
    if (known) return known;
    this.counted.set(target, 0);
    // Sums of sums grow beyond all bounds, and need not be told any better then.
    const count = Math.min(this.count(target, ref, 0), MAX_SCHEMAS + 1);
    this.counted.set(target, count);
    return count;
  }

  private checkKeywords(schema: Schema, path: string, depth: number): void {
    const refused = REFUSED.find((key) => own(schema, key) !== undefined);
    if (refused) throw new Fault(`${path}.${refused} is not supported`);
    if (own(schema, '$id') !== undefined && depth > 0) throw new Fault(`${path}.$id is not supported within a schema`);
    if (own(schema, '$schema') !== undefined && !String(schema.$schema).startsWith(DIALECT))
      throw new Fault(`${path}.$schema should be ${DIALECT}`);
    const values = own(schema, 'enum');
    if (Array.isArray(values) && values.length > MAX_VALUES) throw new Fault(`${path}.enum should have at most ${MAX_VALUES} values`);
    const named = own(schema, 'patternProperties');
    for (const pattern of [own(schema, 'pattern'), ...(isObject(named) ? Object.keys(named) : [])])
      if (typeof pattern === 'string') this.checkPattern(pattern, path);
  }

  private checkPattern(pattern: string, path: string): void {
    const compiled = compilePattern(pattern);
    if ('problem' in compiled) throw new Fault(`${path}: ${compiled.problem}`);
    this.instructions += compiled.instructions;
    if (this.instructions > MAX_INSTRUCTIONS) throw new Fault(`${path}: from here on the patterns of the schema are too large together`);
  }
}
