import { WeightedLru } from '@aps/platform/cache';
import { Environment, type ASTNode } from '@marcbachmann/cel-js';
import { extend } from './cel-functions';
import { instrument } from './cel-nodes';
import { toCel, toJson, type Wanted } from './cel-values';
import { ExpressionError, Meter } from './meter';
import { pathsOf, type Path } from './paths';

export { ExpressionError };

/** What expressions may name first. */
export const ROOTS = ['input', 'envelope', 'steps', 'vars', 'run', 'error'] as const;
export type Root = (typeof ROOTS)[number];

/** What an expression is about: plain JSON. `error` is there where an error is handled. */
export type Scope = Record<Exclude<Root, 'error'>, unknown> & { error?: unknown };

/** Longest expression, characters. */
export const MAX_EXPRESSION = 2_000;

/** An expression that can be evaluated, see {@link compileExpression}. */
export interface Compiled {
  readonly text: string;
  /** As far as can be told without values: `bool`, `int`, `string` …, or `dyn` where they decide. */
  readonly type: string;
  /**
   * Paths of members that it names, such as `steps.extract.output` and `input`: as far as their names stand in it. A computed key, as in
   * `steps[x]`, ends a path; what macros bind is no root.
   */
  readonly references: readonly Path[];
  /** @internal */
  readonly run: (scope: Scope, meter: Meter) => unknown;
}

const environment = new Environment({
  homogeneousAggregateLiterals: false,
  limits: { maxAstNodes: 1_000, maxDepth: 50 },
});
for (const root of ROOTS) environment.registerVariable(root, 'dyn');
extend(environment);

/** Of the evaluation that is under way. Nothing waits in one, so there is one at most. */
let current: Meter;

/** Weighed by nodes; 40 MB when it is full. */
const compiled = new WeightedLru<Compiled | { problem: string }>(100_000);

/**
 * Compiles an expression, or says in plain words why it is none. It is CEL over {@link ROOTS}, with ints and doubles meeting as doubles,
 * ways of a condition of any type, and `sum(list)`, `join(list, separator)`, `lower(text)`, `upper(text)` and `default(value, fallback)`.
 * `matches` takes patterns of RE2. What was compiled lately is kept.
 */
export function compileExpression(text: string): Compiled | { problem: string } {
  if (text.length > MAX_EXPRESSION) return { problem: `An expression should have at most ${MAX_EXPRESSION} characters` };
  const known = compiled.get(text);
  if (known) return known;
  const { value, weight } = compile(text);
  compiled.set(text, value, weight);
  return value;
}

function compile(text: string): { value: Compiled | { problem: string }; weight: number } {
  if (!text.trim()) return { value: { problem: 'An expression should not be empty' }, weight: 1 };
  try {
    const parsed = environment.parse(text);
    const nodes = instrument(parsed.ast);
    nodes.boundTypes();
    const { valid, type = 'dyn', error } = parsed.check();
    if (!valid) return { value: { problem: inWords(error, text) }, weight: 1 };
    nodes.metered(() => current);
    const references = pathsOf(parsed.ast, ROOTS);
    const wanted = wantedOf(references);
    const run = (scope: Scope, meter: Meter) => {
      current = meter;
      try {
        return toJson(parsed(toCel(scope, wanted, meter) as object));
      } finally {
        nodes.release();
      }
    };
    return { value: { text, type, references, run }, weight: nodes.size + 1 };
  } catch (error) {
    return { value: { problem: inWords(error, text) }, weight: 1 };
  }
}

/**
 * What an expression comes to: JSON. It reads JSON and nothing else, changes nothing, and ends within its bounds.
 *
 * @throws ExpressionError for missing keys, wrong types, numbers that JSON has not, and everything over the bounds
 */
export function evaluate(expression: Compiled, scope: Scope): unknown {
  try {
    return expression.run(scope, new Meter());
  } catch (error) {
    throw error instanceof ExpressionError ? error : new ExpressionError(inWords(error, expression.text));
  }
}

function wantedOf(references: readonly Path[]): Wanted {
  const wanted: Wanted = { whole: false, members: new Map() };
  for (const path of references) {
    let at = wanted;
    for (const name of path) {
      const next = at.members.get(name) ?? { whole: false, members: new Map<string, Wanted>() };
      at.members.set(name, next);
      at = next;
    }
    at.whole = true;
  }
  return wanted;
}

/** What the library's errors have, of which some are errors of its own. */
interface CelError extends Error {
  code?: string;
  summary?: string;
  node?: Partial<ASTNode>;
  range?: { start: number; end: number };
}

const MAX_WORDS = 500;

function inWords(error: unknown, text: string): string {
  if (!(error instanceof Error)) return 'It cannot be evaluated';
  if (error instanceof RangeError && /call stack/.test(error.message)) return 'It nests too deeply';
  const { summary, node, range, code } = error as CelError;
  if (summary === undefined) return error.message.slice(0, MAX_WORDS);
  const place =
    code === 'no_such_key' && node?.start !== undefined && node.end !== undefined
      ? `, in ${text.slice(node.start, node.end)}`
      : range && range.start > 0
        ? `, at character ${range.start + 1}`
        : '';
  const known = code === 'unknown_variable' ? `; known are ${ROOTS.filter((root) => root !== 'error').join(', ')}` : '';
  return (readable(summary) + place + known).slice(0, MAX_WORDS);
}

/** The library names types as it computes with them. */
const readable = (summary: string): string =>
  summary
    .replaceAll('map<dyn, dyn>', 'map')
    .replaceAll('list<dyn>', 'list')
    .replace(/dyn<(\w+)>/g, '$1');
