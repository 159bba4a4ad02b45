import { isUuid } from '@aps/contracts';
import { DefinitionReader, type Place } from '@aps/platform/definitions';
import { parseEmail } from '@aps/platform/email';
import { dateTimeOf } from './date-time';
import type { Schema } from '@aps/platform/json-schema';
import type { DefinitionProblem, Retry, Step, Template } from './definition.types';
import { isExpressionAlone } from './template';
import { checkSchema } from '@aps/platform/json-schema';

/** So many are told: whoever has more mends these first. */
const MAX_PROBLEMS = 100;
/** A month: how long somebody, or something else, may be waited for. */
export const MAX_WAIT_S = 30 * 24 * 3_600;
/** Of one try of a step that asks a model or another side. */
export const MAX_TRY_S = 3_600;
export const MAX_TEXT = 100_000;
const MAX_REF = 200;
/** All schemas of a definition, bytes of JSON: each is compiled when it is pushed, while everybody else waits. */
export const MAX_SCHEMAS_BYTES = 64 * 1024;

export const ID = { pattern: /^[a-z][a-z0-9_]{0,63}$/, msg: 'String should match ^[a-z][a-z0-9_]{0,63}$' };
const ASSIGNEES = ['role:OWNER', 'role:ADMIN', 'role:MEMBER', 'user:{uuid}', 'name@example.com'];

export type Keys = ReadonlyMap<string, unknown>;

/** Reads the fields of steps. Problems are told by the step that they are in. */
export class FieldReader extends DefinitionReader {
  readonly found: DefinitionProblem[] = [];
  /** By the place of a step, its id. */
  private readonly idsByPlace = new Map<string, string>();
  private schemasBytes = 0;

  constructor(private readonly formFault: (schema: unknown) => string | null) {
    super();
  }

  override refuse(loc: Place, problem: string, _type?: string, validValues: readonly string[] = []): void {
    if (this.found.length >= MAX_PROBLEMS) return;
    let at = loc.length;
    while (at > 0 && !this.idsByPlace.has(keyOf(loc.slice(0, at)))) at -= 1;
    const step_id = at ? this.idsByPlace.get(keyOf(loc.slice(0, at)))! : null;
    this.found.push({ step_id, field: loc.slice(at).join('.'), problem, valid_values: [...validValues] });
  }

  /** What is told from here on of a place is told by this step. */
  protected enter(loc: Place, id: string): void {
    if (ID.pattern.test(id)) this.idsByPlace.set(keyOf(loc), id);
  }

  /** A text in which expressions may stand. */
  textTemplate(keys: Keys, loc: Place, key: string): string {
    return this.text(keys.get(key), [...loc, key], { max: MAX_TEXT });
  }

  /** JSON in which expressions may stand, and that is an object once they are evaluated. */
  objectTemplate(keys: Keys, loc: Place, key: string): Template {
    const template = keys.get(key) ?? {};
    const alone = typeof template === 'string' && isExpressionAlone(template);
    if (!alone && (typeof template !== 'object' || Array.isArray(template)))
      this.refuse([...loc, key], 'Input should be an object, or one ${…} that gives one');
    return template;
  }

  /** What names something else: a slug, an id. */
  ref(keys: Keys, loc: Place, key: string): string {
    return this.text(keys.get(key), [...loc, key], { max: MAX_REF });
  }

  refOrNull(keys: Keys, loc: Place, key: string): string | null {
    return keys.has(key) ? this.ref(keys, loc, key) : null;
  }

  choice<T extends string>(keys: Keys, loc: Place, key: string, values: readonly [T, ...T[]]): T | null {
    return keys.has(key) ? this.oneOf(keys.get(key), [...loc, key], values) : null;
  }

  whole(keys: Keys, loc: Place, key: string, min: number, max: number): number | null {
    return keys.has(key) ? this.number(keys.get(key), [...loc, key], { min, max, integer: true }) : null;
  }

  schema(keys: Keys, loc: Place, key: string): Schema | null {
    return this.checkedSchema(keys, loc, key, checkSchema);
  }

  form(keys: Keys, loc: Place, key: string): Schema | null {
    return this.checkedSchema(keys, loc, key, this.formFault);
  }

  private checkedSchema(keys: Keys, loc: Place, key: string, faultOf: (schema: unknown) => string | null): Schema | null {
    if (!keys.has(key)) return null;
    this.schemasBytes += Buffer.byteLength(JSON.stringify(keys.get(key)));
    const fault =
      this.schemasBytes > MAX_SCHEMAS_BYTES
        ? `The schemas of a definition should have at most ${MAX_SCHEMAS_BYTES} bytes together`
        : faultOf(keys.get(key));
    if (fault === null) return keys.get(key) as Schema;
    this.refuse([...loc, key], fault);
    return null;
  }

  retry(value: unknown, loc: Place, fallback: Retry): Retry {
    const keys = this.object(value, loc, [], ['max_attempts', 'initial_s', 'factor', 'max_s']);
    const number = (key: keyof Retry, min: number, max: number, integer = false) =>
      keys.has(key) ? this.number(keys.get(key), [...loc, key], { min, max, integer }) : fallback[key];
    return {
      max_attempts: number('max_attempts', 1, 10, true),
      initial_s: number('initial_s', 0, 3_600),
      factor: number('factor', 1, 10),
      max_s: number('max_s', 0, 24 * 3_600),
    };
  }

  assignee(value: unknown, loc: Place): string {
    const text = this.text(value, loc, { max: 320 });
    const known =
      /^role:(OWNER|ADMIN|MEMBER)$/.test(text) || (text.startsWith('user:') ? isUuid(text.slice(5)) : parseEmail(text) !== null);
    if (text && !known) this.refuse(loc, 'Input should be a role, a user or an email address', 'value_error', ASSIGNEES);
    // As users are known everywhere else.
    return text.startsWith('user:') ? text.toLowerCase() : text;
  }

  /** A list, or a `${…}` that gives one. */
  listTemplate(keys: Keys, loc: Place, key: string): Template {
    const template = keys.get(key) ?? null;
    if (template !== null && !Array.isArray(template) && !(typeof template === 'string' && isExpressionAlone(template)))
      this.refuse([...loc, key], 'Input should be a list, or one ${…} that gives one');
    return template;
  }

  /** Seconds, or a `${…}` that gives them. */
  secondsTemplate(keys: Keys, loc: Place, key: string): Template {
    const template = keys.get(key) ?? null;
    if (template === null || (typeof template === 'string' && isExpressionAlone(template))) return template;
    return this.number(template, [...loc, key], { min: 1, max: MAX_WAIT_S });
  }

  /** A date and time, or a text with expressions that becomes one. */
  timeTemplate(keys: Keys, loc: Place, key: string): Template {
    if (!keys.has(key)) return null;
    const template = this.text(keys.get(key), [...loc, key], { max: MAX_TEXT });
    if (template && !template.includes('${') && !dateTimeOf(template))
      this.refuse([...loc, key], 'Input should be an RFC 3339 date and time, or have a ${…}');
    return template;
  }

  setOf(keys: Keys, loc: Place, key: string): Record<string, Template> {
    const value = keys.get(key);
    const at = [...loc, key];
    if (value === undefined) return {};
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      this.refuse(at, 'Input should be an object');
      return {};
    }
    const entries = Object.entries(value);
    if (!entries.length) this.refuse(at, 'Object should have at least 1 key');
    for (const [name] of entries) this.text(name, [...at, name.slice(0, 64)], { max: 64, min: 0, form: ID });
    return Object.fromEntries(entries);
  }
}

const keyOf = (loc: Place): string => loc.join('/');

/** Of what kind has been read, and what has been read of it. */
export type Read<K extends Step['kind']> = Omit<Extract<Step, { kind: K }>, 'id' | 'kind'>;
