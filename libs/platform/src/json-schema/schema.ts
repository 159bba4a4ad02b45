import { WeightedLru } from '@aps/platform/cache';
import { canonicalJson, compilePattern } from '@aps/platform/definitions';
import { _, Ajv2020, str, type ErrorObject, type Options, type ValidateFunction } from 'ajv/dist/2020.js';
import { fullFormats, type FormatName } from 'ajv-formats/dist/formats.js';
import { weighed } from './schema.walk';

/** JSON Schema. */
export type Schema = Record<string, unknown>;

/** Largest schema, bytes of JSON. */
export const MAX_SCHEMA_BYTES = 64 * 1024;
const MAX_PROBLEMS = 20;
/** Characters. Of larger values the first problem is told alone: each problem says its place, and there may be one for every few bytes. */
const MAX_THOROUGH = 64 * 1024;
/** Parts of a value times what each may miss. All problems are in memory before the first is told. */
const MAX_FOUND = 100_000;
/** Longer texts are of no format: its pattern could take long. */
const MAX_FORMATTED = 2_000;
/** Instructions of a pattern times characters. */
const MAX_PATTERN_STEPS = 10_000_000;
const MAX_WORDS = 300;
/** Of other drafts in one schema. */
const MAX_FAULTS = 20;

/** What is checked; any other is only named. */
const FORMATS = [
  'date',
  'time',
  'date-time',
  'duration',
  'uri',
  'uri-reference',
  'email',
  'hostname',
  'ipv4',
  'ipv6',
  'uuid',
  'json-pointer',
] as const satisfies FormatName[];

/** What of a value does not fit a schema. */
export interface Misfit {
  /** As in `lines.0.name`; empty of the value itself. */
  path: string;
  message: string;
}

class TooLong extends Error {}

/** Patterns are RE2's, which never go back. */
const searching = Object.assign(
  (source: string) => {
    const pattern = compilePattern(source);
    if ('problem' in pattern) throw new Error(pattern.problem);
    return {
      test(text: string): boolean {
        if (pattern.instructions * text.length > MAX_PATTERN_STEPS) throw new TooLong('A text is too long for its pattern');
        return pattern.test(text);
      },
      // By this the compiler tells patterns apart.
      toString: () => source,
    };
  },
  { code: 'compilePattern' },
);

const OPTIONS: Options = {
  meta: false,
  validateSchema: false,
  strict: false,
  logger: false,
  ownProperties: true,
  inlineRefs: false,
  code: { regExp: searching },
};

/** Each schema is compiled by a compiler of its own; what it calls itself is no matter, as it refers to its own places alone. */
function compile({ $id: _id, ...schema }: Schema, options: Options): ValidateFunction {
  const ajv = new Ajv2020({ ...OPTIONS, ...options });
  for (const name of FORMATS) {
    const holds = formatOf(name);
    ajv.addFormat(name, (text: string) => text.length <= MAX_FORMATTED && holds(text));
  }
  withUniqueItems(ajv);
  // Its own compares with each value, of which there may be a thousand wherever the list is referred to.
  ajv.removeKeyword('enum');
  ajv.addKeyword({
    keyword: 'enum',
    schemaType: 'array',
    compile: isOneOf,
    error: { message: 'must be equal to one of the allowed values', params: ({ schemaCode }) => _`{ allowedValues: ${schemaCode} }` },
  });
  // No keyword of this draft, though the compiler knows it, and so not looked into when a schema is weighed.
  ajv.removeKeyword('dependencies');
  // Its own divides, and to a double cents are no multiple of 0.01.
  ajv.removeKeyword('multipleOf');
  ajv.addKeyword({
    keyword: 'multipleOf',
    type: 'number',
    schemaType: 'number',
    validate: isMultiple,
    error: { message: ({ schemaCode }) => str`must be multiple of ${schemaCode}` },
  });
  return ajv.compile(schema);
}

/** Of parts of the value that is being validated, which a schema may ask the same as often as it refers to itself. Null where none is. */
let asked: { texts: WeakMap<object, string>; unique: WeakMap<unknown[], boolean> } | null = null;

function once<Part extends object, Answer extends string | boolean>(
  known: WeakMap<Part, Answer> | undefined,
  part: Part,
  find: (part: Part) => Answer,
): Answer {
  const before = known?.get(part);
  if (before !== undefined) return before;
  const answer = find(part);
  known?.set(part, answer);
  return answer;
}

const areUnique = (items: unknown[]): boolean => new Set(items.map(canonicalJson)).size === items.length;

/** The compiler's own compares each item with each. */
function withUniqueItems(ajv: Ajv2020): Ajv2020 {
  ajv.removeKeyword('uniqueItems');
  return ajv.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    validate: (unique: boolean, items: unknown[]) => !unique || once(asked?.unique, items, areUnique),
    error: { message: 'must not have the same item twice' },
  });
}

function isOneOf(values: unknown[]): (value: unknown) => boolean {
  const plain = new Set(values.filter((value) => !isCompound(value)));
  const compound = new Set(values.filter(isCompound).map(canonicalJson));
  return (value) =>
    isCompound(value) ? compound.size > 0 && compound.has(once<object, string>(asked?.texts, value, canonicalJson)) : plain.has(value);
}

const isCompound = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** As near as doubles come: the step, the product and the value are each rounded once. */
const isMultiple = (step: number, value: number): boolean =>
  Math.abs(Math.round(value / step) * step - value) <= 2 * Number.EPSILON * Math.abs(value);

function formatOf(name: (typeof FORMATS)[number]): (text: string) => boolean {
  const format = fullFormats[name];
  const holds = typeof format === 'object' && 'validate' in format ? format.validate : format;
  if (holds instanceof RegExp) return (text) => holds.test(text);
  return holds as (text: string) => boolean;
}

interface Checked {
  problem: string | null;
  /** As {@link weighed}. */
  weight: number;
  quick: ValidateFunction | null;
  thorough: ValidateFunction | null;
}

const rules = withUniqueItems(new Ajv2020({ strict: false, logger: false, validateFormats: false }));
const checked = new WeightedLru<Checked>(4 * 1024 * 1024);

/**
 * Why something is no schema that values can be checked by, in plain words; null where it is one. It is JSON Schema, draft 2020-12, that
 * refers to nothing but itself and does not hold itself, with patterns of RE2. What was checked lately is kept.
 */
export const checkSchema = (schema: unknown): string | null => {
  const text = textOf(schema);
  if (text === null || Buffer.byteLength(text) > MAX_SCHEMA_BYTES) return `schema should have at most ${MAX_SCHEMA_BYTES} bytes`;
  return known(schema as Schema, text).problem;
};

function known(schema: Schema, text: string): Checked {
  const before = checked.get(text);
  if (before) return before;
  const found = check(schema);
  checked.set(text, found, 1_000 + 10 * text.length);
  return found;
}

function check(schema: Schema): Checked {
  const refused = (problem: string): Checked => ({ problem: problem.slice(0, MAX_WORDS), weight: 0, quick: null, thorough: null });
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return refused('schema should be an object');
  const size = weighed(schema);
  if ('fault' in size) return refused(size.fault);
  if (!rules.validate(RULES, schema)) {
    const [first] = rules.errors ?? [];
    return refused(`schema${first.instancePath.replaceAll('/', '.')} ${inWords(first)}`);
  }
  try {
    return { problem: null, weight: size.weight, quick: compile(schema, {}), thorough: null };
  } catch (error) {
    return refused(error instanceof Error ? error.message : 'schema cannot be read');
  }
}

const RULES = 'https://json-schema.org/draft/2020-12/schema';

/**
 * A schema without what is of no form that the draft knows, as older ones have it: each such keyword, or value of one, is left out. Nothing is
 * left where they are too many. It may still be none that {@link checkSchema} takes.
 *
 * @param schema of so few levels that it may be walked
 */
export function withoutFaults(schema: Schema): Schema {
  let copy = schema;
  for (let found = 0; !rules.validate(RULES, copy); found++) {
    if (found === MAX_FAULTS) return {};
    const path = partsOfPlace(rules.errors![0]);
    const last = path.pop();
    if (last === undefined) return {};
    if (found === 0) copy = structuredClone(schema);
    const at = path.reduce((within: unknown, part) => (within as Schema)[part], copy) as Schema | unknown[];
    if (Array.isArray(at)) at.splice(Number(last), 1);
    else delete at[last];
  }
  return copy;
}

/** Null where the stack does not reach to its ground. */
function textOf(value: unknown): string | null {
  try {
    return JSON.stringify(value) ?? '';
  } catch {
    return null;
  }
}

/**
 * What of a value does not fit, in plain words: at most 20 places, and the first one alone where there could be very many. None where it fits.
 *
 * @param schema one that {@link checkSchema} has nothing against
 */
export function validate(schema: Schema, value: unknown): Misfit[] {
  const entry = known(schema, textOf(schema) ?? '');
  if (!entry.quick) return [{ path: '', message: entry.problem ?? 'There is no schema' }];
  asked = { texts: new WeakMap(), unique: new WeakMap() };
  try {
    if (entry.quick(value)) return [];
    let told = entry.quick.errors ?? [];
    if ((textOf(value)?.length ?? Infinity) <= MAX_THOROUGH && partsOf(value) * entry.weight <= MAX_FOUND) {
      entry.thorough ??= compile(schema, { allErrors: true });
      entry.thorough(value);
      told = entry.thorough.errors ?? told;
    }
    return told.slice(0, MAX_PROBLEMS).map((error) => ({ path: pathOf(error), message: inWords(error) }));
  } catch (error) {
    if (error instanceof TooLong) return [{ path: '', message: error.message }];
    if (error instanceof RangeError) return [{ path: '', message: 'It nests too deeply' }];
    throw error;
  } finally {
    asked = null;
  }
}

const partsOf = (value: unknown): number =>
  isCompound(value) ? Object.values(value).reduce((sum: number, inner) => sum + partsOf(inner), 1) : 1;

const pathOf = (error: ErrorObject): string => partsOfPlace(error).join('.');

const partsOfPlace = ({ instancePath }: ErrorObject): string[] =>
  instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));

function inWords({ message = 'does not fit', params }: ErrorObject): string {
  const { allowedValues, allowedValue, additionalProperty } = params as Record<string, unknown>;
  const detail = allowedValues ?? allowedValue ?? additionalProperty;
  return `${message}${detail === undefined ? '' : `: ${JSON.stringify(detail)}`}`.slice(0, MAX_WORDS);
}
