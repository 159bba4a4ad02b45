import { oversize, type Place } from '@aps/platform/definitions';
import { AFTER_ERROR, CONCURRENCY_STRATEGIES, type Definition, type DefinitionProblem, type ErrorHandler } from './definition.types';
import { checkSchema } from '@aps/platform/json-schema';
import { MAX_TEXT, MAX_TRY_S, MAX_WAIT_S } from './step.fields';
import { StepReader } from './step.reader';
import { checkVisibility } from './visibility';

/** Of the definition's JSON, however it was written. */
export const MAX_BYTES = 512 * 1024;
/** Nested ones counted. */
export const MAX_STEPS = 200;
const MAX_HANDLERS = 20;
const MAX_LIMIT = 1_000;

const MATCH = { pattern: /^(\*|[a-z][a-z0-9_]{0,63})$/, msg: "String should be an error code, or '*'" };
const CREDITS = {
  pattern: /^(?!0+(\.0+)?$)\d{1,12}(\.\d{1,6})?$/,
  msg: 'Input should be a decimal number greater than 0, with at most 6 places',
};

/** A definition with every default written out, or all that keeps it from being one. */
export type DefinitionReading = { definition: Definition } | { problems: DefinitionProblem[] };

export interface ReadingOptions {
  /** What keeps a schema from being a form that people can be asked by. Without it any schema is one. */
  formFault?: (schema: unknown) => string | null;
}

/**
 * Reads a definition of which nothing is known: all that can be told of it by itself, at once and in plain words. What it names outside of
 * it, as `referencesIn` lists, is not looked at.
 */
export function readDefinition(definition: unknown, { formFault = checkSchema }: ReadingOptions = {}): DefinitionReading {
  const tooLarge = oversize(definition, MAX_BYTES);
  if (tooLarge) return { problems: [{ step_id: null, field: '', problem: tooLarge.msg, valid_values: [] }] };
  const reader = new WholeReader(formFault);
  const read = reader.definition(definition);
  return reader.found.length ? { problems: reader.found } : { definition: read };
}

class WholeReader extends StepReader {
  definition(value: unknown): Definition {
    if (value === undefined || value === null) this.refuse([], 'Input should be an object');
    const keys = this.object(
      value,
      [],
      ['steps'],
      ['schema_version', 'input_schema', 'output', 'defaults', 'concurrency', 'limits', 'on_error'],
    );
    if (keys.has('schema_version') && keys.get('schema_version') !== 1) this.refuse(['schema_version'], 'Input should be 1', 'enum', ['1']);
    this.readDefaults(keys.get('defaults'), ['defaults']);
    const definition: Definition = {
      input_schema: this.schema(keys, [], 'input_schema'),
      output: keys.get('output') ?? null,
      concurrency: this.concurrency(keys.get('concurrency'), ['concurrency']),
      limits: this.limits(keys.get('limits'), ['limits']),
      steps: this.steps(keys.get('steps'), ['steps'], 1),
      on_error: this.list(keys.get('on_error'), ['on_error'], { max: MAX_HANDLERS }, (handler, at) => this.handler(handler, at)),
    };
    if (Array.isArray(keys.get('steps')) && !definition.steps.length) this.refuse(['steps'], 'List should have at least 1 item');
    // Of so many no more is told, and nothing of each is worth its time.
    if (this.count > MAX_STEPS) this.refuse(['steps'], `A definition should have at most ${MAX_STEPS} steps, nested ones counted`);
    else checkVisibility(definition, (...told) => this.refuse(...told));
    return definition;
  }

  private readDefaults(value: unknown, loc: Place): void {
    const keys = this.object(value, loc, [], ['timeout_s', 'retry']);
    this.defaults = {
      timeout_s: this.whole(keys, loc, 'timeout_s', 1, MAX_TRY_S) ?? this.defaults.timeout_s,
      retry: this.retry(keys.get('retry'), [...loc, 'retry'], this.defaults.retry),
    };
  }

  private concurrency(value: unknown, loc: Place): Definition['concurrency'] {
    if (value === undefined || value === null) return null;
    const keys = this.object(value, loc, ['key'], ['limit', 'strategy']);
    return {
      key: this.text(keys.get('key'), [...loc, 'key'], { max: MAX_TEXT }),
      limit: this.whole(keys, loc, 'limit', 1, MAX_LIMIT) ?? 1,
      strategy: this.choice(keys, loc, 'strategy', CONCURRENCY_STRATEGIES) ?? 'queue',
    };
  }

  private limits(value: unknown, loc: Place): Definition['limits'] {
    const keys = this.object(value, loc, [], ['max_credits', 'max_duration_s']);
    return {
      max_credits: keys.has('max_credits') ? this.credits(keys.get('max_credits'), [...loc, 'max_credits']) : null,
      max_duration_s: this.whole(keys, loc, 'max_duration_s', 1, MAX_WAIT_S),
    };
  }

  /** A number or text, as decimals are everywhere; text within. */
  private credits(value: unknown, loc: Place): string {
    return this.text(typeof value === 'number' ? String(value) : value, loc, { max: 20, form: CREDITS });
  }

  private handler(value: unknown, loc: Place): ErrorHandler {
    const keys = this.object(value, loc, ['match'], ['steps', 'then']);
    return {
      match: this.text(keys.get('match'), [...loc, 'match'], { max: 64, form: MATCH }),
      steps: this.steps(keys.get('steps'), [...loc, 'steps'], 1),
      then: this.choice(keys, loc, 'then', AFTER_ERROR) ?? 'fail',
    };
  }
}
