import { WeightedLru } from '@aps/platform/cache';
import { compilePattern, type Pattern } from '@aps/platform/definitions';
import type { Environment } from '@marcbachmann/cel-js';
import { ExpressionError, requireSize } from './meter';

/** An engine that never goes back may take a step per instruction and character: so many take 100 ms at worst, and hardly ever any. */
const MAX_PATTERN_STEPS = 10_000_000;
const MAX_PATTERN = 1_000;
/** Longer fragments are searched for in time that grows with both lengths: V8 prepares no more of what it looks for. */
const PREPARED = 250;
const MAX_SEARCH_STEPS = 10_000_000;
/** The library reads durations by a pattern that goes back. */
const MAX_DURATION = 100;

const patterns = new WeightedLru<Pattern>(20_000);

function patternOf(source: string): Pattern {
  const known = patterns.get(source);
  if (known) return known;
  if (source.length > MAX_PATTERN) throw new ExpressionError(`A pattern has more than ${MAX_PATTERN} characters`);
  const pattern = compilePattern(source);
  if ('problem' in pattern) throw new ExpressionError(pattern.problem);
  patterns.set(source, pattern, pattern.instructions);
  return pattern;
}

function matches(text: string, source: string): boolean {
  const pattern = patternOf(source);
  if (pattern.instructions * text.length > MAX_PATTERN_STEPS) throw new ExpressionError('The text is too long for the pattern');
  return pattern.test(text);
}

type Guard = (args: unknown[], next: () => unknown) => unknown;

const search: Guard = ([text, fragment], next) => {
  if (typeof text === 'string' && typeof fragment === 'string')
    if (fragment.length > PREPARED && text.length * fragment.length > MAX_SEARCH_STEPS)
      throw new ExpressionError('What is searched for is too long for the text');
  return next();
};

/** Stands before methods of the library, or in place of them, where they cost more than their result or what they are given shows. */
export const METHODS: ReadonlyMap<string, Guard> = new Map<string, Guard>([
  ['contains', search],
  ['indexOf', search],
  ['lastIndexOf', search],
  ['split', search],
  ['matches', ([text, source], next) => (typeof text === 'string' && typeof source === 'string' ? matches(text, source) : next())],
  // It would make numbers that are no ints where they are whole.
  [
    'json',
    () => {
      throw new ExpressionError('There is no json()');
    },
  ],
  ['join', ([list, separator], next) => (Array.isArray(list) ? join(list, typeof separator === 'string' ? separator : '') : next())],
]);

/** The same for functions. */
export const FUNCTIONS: ReadonlyMap<string, Guard> = new Map<string, Guard>([
  [
    'duration',
    ([text], next) => {
      if (typeof text === 'string' && text.length > MAX_DURATION)
        throw new ExpressionError(`A duration has more than ${MAX_DURATION} characters`);
      return next();
    },
  ],
]);

/** Registers what expressions have besides CEL, and the operators by which ints and doubles meet as doubles. */
export function extend(environment: Environment): void {
  const add = (signature: string, handler: (...args: never[]) => unknown) =>
    environment.registerFunction(signature, handler, { async: false });
  add('sum(list): dyn', sum);
  add('join(list, string): string', join);
  add('lower(string): string', (text: string) => text.toLowerCase());
  add('upper(string): string', (text: string) => text.toUpperCase());
  add('default(ast, ast): dyn', defaultMacro);

  const operators: Record<string, (a: number, b: number) => number> = {
    '+': (a, b) => a + b,
    '-': (a, b) => a - b,
    '*': (a, b) => a * b,
    '/': (a, b) => a / b,
  };
  for (const [operator, apply] of Object.entries(operators))
    for (const operands of [`int ${operator} double`, `double ${operator} int`])
      environment.registerOperator(`${operands}: double`, (a: number | bigint, b: number | bigint) => apply(Number(a), Number(b)));
  environment.registerOperator('int == double: bool', (a: bigint, b: number) => Number(a) === b);
}

function sum(list: unknown[]): bigint | number {
  if (list.every((item) => typeof item === 'bigint')) return list.reduce((total: bigint, item) => total + item, 0n);
  return list.reduce((total: number, item) => {
    if (typeof item !== 'bigint' && typeof item !== 'number') throw new ExpressionError('sum() takes a list of numbers');
    return total + Number(item);
  }, 0);
}

function join(list: unknown[], separator: string): string {
  let length = 0;
  const texts = list.map((item) => {
    if (!['string', 'bigint', 'number', 'boolean'].includes(typeof item))
      throw new ExpressionError('join() takes a list of texts, numbers and booleans');
    const text = String(item);
    requireSize((length += text.length + separator.length));
    return text;
  });
  return texts.join(separator);
}

/** What the library hands to a macro of ours. */
interface Evaluator {
  run(node: unknown, context: unknown): unknown;
}
interface Checker {
  check(node: unknown, context: unknown): unknown;
  getType(name: string): unknown;
}
interface DefaultMacro {
  value: unknown;
  fallback: unknown;
}

/** What says that there is nothing at a place. */
const MISSING = new Set(['no_such_key', 'index_out_of_bounds', 'unknown_variable']);

/**
 * `default(value, fallback)`: the fallback where the value is null, and also where a key or an item on the way to it is missing, as one
 * would expect of `default(steps.a.output.total, 0)`. It is a macro for that: CEL's functions are called with values, and none would come
 * to be. Any other error of the value is one.
 */
const defaultMacro = ({ args: [value, fallback] }: { args: unknown[] }) => ({
  value,
  fallback,
  async: false,
  typeCheck(checker: Checker, macro: DefaultMacro, context: unknown) {
    checker.check(macro.value, context);
    checker.check(macro.fallback, context);
    return checker.getType('dyn');
  },
  evaluate(evaluator: Evaluator, macro: DefaultMacro, context: unknown) {
    try {
      const found = evaluator.run(macro.value, context);
      if (found !== null) return found;
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && MISSING.has(String(error.code)))) throw error;
    }
    return evaluator.run(macro.fallback, context);
  },
});
