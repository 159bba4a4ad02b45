import { compilePattern, isObject, own } from '@aps/platform/definitions';

/** How deep schemas nest. */
const MAX_DEPTH = 20;
/** Schemas in a schema, each as often as it is referred to: as many may be asked of each part of a value. */
export const MAX_SCHEMAS = 500;
const MAX_VALUES = 1_000;
/** Of all patterns together; what an instruction costs stands at the patterns of rule sets. */
const MAX_INSTRUCTIONS = 2_000;
const DIALECT = 'https://json-schema.org/draft/2020-12/schema';

/** Keywords that have schemas: one, a list of them, or one by name. */
const ONE_SCHEMA = [
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
const SCHEMA_LISTS = ['allOf', 'anyOf', 'oneOf', 'prefixItems'];
const NAMED_SCHEMAS = ['properties', 'patternProperties', 'dependentSchemas'];
/** What asks the part of a value that its schema asks. Others ask its members. */
const OF_THE_SAME = new Set(['not', 'if', 'then', 'else', 'allOf', 'anyOf', 'oneOf', 'dependentSchemas']);
/** Of all that stands at these in a schema, one at most asks each member. */
const ONE_OF_A_MEMBER = new Set(['properties', 'additionalProperties', 'items', 'prefixItems']);
/** What is not asked by itself, but where it is referred to. */
const DEFINITIONS = ['$defs', 'definitions'];
/** What reaches out of the schema, or makes of it what cannot be told beforehand. */
const REFUSED = ['$dynamicRef', '$recursiveRef', '$dynamicAnchor', '$anchor', '$vocabulary', '$async'];

type Schema = Record<string, unknown>;

class Fault extends Error {}

/**
 * How many problems any one part of a value may have by a schema, about; or why it costs too much, or is more than a schema by itself.
 * Whether it is right by its rules is asked later.
 */
export function weighed(schema: unknown): { weight: number } | { fault: string } {
  const walk = new SchemaWalk(schema);
  try {
    return { weight: walk.weigh() };
  } catch (error) {
    if (error instanceof Fault) return { fault: error.message };
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

/** What a schema comes to, all that it refers to included. */
interface Size {
  schemas: number;
  /** Problems that the part of a value that it asks may have: one for each schema, and for each name that must be there. */
  here: number;
  /** The same of any part within that one, at most. */
  within: number;
}

class SchemaWalk {
  private instructions = 0;
  /** What comes of each schema that is referred to; null of those that are being counted. */
  private readonly counted = new Map<unknown, Size | null>();

  constructor(private readonly root: unknown) {}

  weigh(): number {
    const { schemas, here, within } = this.count(this.root, 'schema', 0);
    if (schemas - 1 > MAX_SCHEMAS)
      throw new Fault(`schema has more than ${MAX_SCHEMAS} schemas within, each counted as often as it is referred to`);
    return Math.max(here, within);
  }

  private count(schema: unknown, path: string, depth: number): Size {
    if (typeof schema === 'boolean') return { schemas: 1, here: 1, within: 0 };
    if (!isObject(schema)) throw new Fault(`${path} should be a schema: an object, true or false`);
    if (depth > MAX_DEPTH) throw new Fault(`${path} nests too deeply: ${MAX_DEPTH} levels are allowed`);
    this.checkKeywords(schema, path, depth);
    const total: Size = { schemas: 1, here: 1 + namesIn(schema), within: 0 };
    let ofMember = 0;
    const grow = ({ schemas, here, within }: Size) => {
      total.schemas += schemas;
      total.here += here;
      total.within += within;
    };
    const add = (inner: unknown, key: string, name = '') => {
      const size = this.count(inner, `${path}.${key}${name}`, depth + 1);
      if (OF_THE_SAME.has(key)) return grow(size);
      const most = Math.max(size.here, size.within);
      const one = ONE_OF_A_MEMBER.has(key);
      if (one) ofMember = Math.max(ofMember, most);
      grow({ schemas: size.schemas, here: 0, within: one ? 0 : most });
    };
    if (own(schema, '$ref') !== undefined) grow(this.countReferred(schema.$ref, path));
    for (const key of ONE_SCHEMA) {
      const one = own(schema, key);
      // A true or false here belongs to its keyword, as in `additionalProperties: false`.
      if (one !== undefined && typeof one !== 'boolean') add(one, key);
    }
    for (const key of SCHEMA_LISTS) {
      const list = own(schema, key);
      if (Array.isArray(list)) list.forEach((inner, i) => add(inner, key, `.${i}`));
    }
    for (const key of NAMED_SCHEMAS) {
      const named = own(schema, key);
      if (isObject(named)) for (const [name, inner] of Object.entries(named)) add(inner, key, `.${name.slice(0, 50)}`);
    }
    total.within += ofMember;
    for (const key of DEFINITIONS) {
      const named = own(schema, key);
      if (isObject(named))
        for (const [name, inner] of Object.entries(named)) this.count(inner, `${path}.${key}.${name.slice(0, 50)}`, depth + 1);
    }
    return total;
  }

  private countReferred(ref: unknown, path: string): Size {
    if (typeof ref !== 'string' || !/^#(\/|$)/.test(ref))
      throw new Fault(`${path}.$ref should be a place within the schema, as '#/$defs/name'`);
    const target = pointedAt(this.root, ref);
    if (target === undefined) throw new Fault(`${path}.$ref names nothing: ${ref.slice(0, 100)}`);
    const known = this.counted.get(target);
    if (known === null) throw new Fault(`${path}.$ref leads back to itself; a schema may not hold itself`);
    if (known) return known;
    this.counted.set(target, null);
    // Sums of sums grow beyond all bounds, and need not be told any better then.
    const found = this.count(target, ref, 0);
    const size = { ...found, schemas: Math.min(found.schemas, MAX_SCHEMAS + 1) };
    this.counted.set(target, size);
    return size;
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

function namesIn(schema: Schema): number {
  const dependent = own(schema, 'dependentRequired');
  const lists = [own(schema, 'required'), ...(isObject(dependent) ? Object.values(dependent) : [])];
  return lists.reduce((sum: number, list) => sum + (Array.isArray(list) ? list.length : 0), 0);
}
