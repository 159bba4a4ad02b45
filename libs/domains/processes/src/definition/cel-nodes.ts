import type { ASTNode } from '@marcbachmann/cel-js';
import { FUNCTIONS, METHODS } from './cel-functions';
import { ExpressionError, type Meter } from './meter';

/** A chain is so long, or brackets so deep: evaluation goes down as far. */
export const MAX_DEPTH = 200;

type Evaluate = (evaluator: Evaluator, node: Node, context: unknown) => unknown;
type Check = (checker: Checker, node: Node, context: unknown) => unknown;
type Handle = (...args: unknown[]) => unknown;

interface Evaluator {
  debugType(value: unknown): unknown;
  debugTypeDeep(value: unknown): unknown;
}
interface Checker {
  listType: unknown;
  mapType: unknown;
  dynType: unknown;
  check(node: Node, context: unknown): unknown;
}
/** Where a macro keeps what it goes over; it is kept with the node, and with it what was in there last. */
interface MacroContext {
  reuse(parent: unknown): { iterValue?: unknown; accuValue?: unknown };
}

/** The library's node, with what it does not declare: version 8.0.0, as package.json pins it. What is used here is tested by what it does. */
interface Node {
  op: string;
  args: unknown;
  meta: { check: Check; evaluate: Evaluate; alternate?: Node; macro?: object };
  handle?: Handle;
  setMeta(key: 'check', value: Check): void;
  setMeta(key: 'evaluate', value: Evaluate): void;
}

const isNode = (value: object): value is Node => 'setMeta' in value;

/** What an expression was made of, ready to be run under a meter. */
export interface Instrumented {
  /** Before the expression's types are checked. */
  boundTypes(): void;
  /** After that, once: every node that is run pays to the meter that is given at that time. */
  metered(meter: () => Meter): void;
  /** After each run: nothing of the values stays. */
  release(): void;
  size: number;
}

/** Finds all nodes of a parsed expression, and those that its macros have become. */
export function instrument(ast: ASTNode): Instrumented {
  const nodes = nodesOf(ast as unknown as Node);
  return {
    size: nodes.length,
    boundTypes: () => nodes.forEach(boundTypes),
    metered: (meter) => nodes.forEach((node) => metered(node, meter)),
    release: () => nodes.forEach(release),
  };
}

function nodesOf(root: Node): Node[] {
  const found = new Set<Node>();
  const visit = (value: unknown, depth: number): void => {
    if (typeof value !== 'object' || value === null) return;
    if (Array.isArray(value)) return value.forEach((each) => visit(each, depth));
    if (!isNode(value)) {
      // A macro's own parts; other objects are values.
      if (Object.getPrototypeOf(value) === Object.prototype) Object.values(value).forEach((each) => visit(each, depth));
      return;
    }
    if (found.has(value)) return;
    if (depth > MAX_DEPTH) throw new ExpressionError(`The expression nests more than ${MAX_DEPTH} levels deep`);
    found.add(value);
    [value.args, value.meta.alternate, value.meta.macro].forEach((each) => visit(each, depth + 1));
  };
  visit(root, 1);
  return [...found];
}

/**
 * The library makes a type for each form of list and map that it meets, in literals and in data, and keeps it for ever. Here all lists
 * are lists of anything, and so are maps. The ways of a condition may differ in type, too, as in JSON.
 */
function boundTypes(node: Node): void {
  const { check } = node.meta;
  const children = (checker: Checker, { args }: Node, context: unknown) =>
    [args].flat(2).forEach((child) => checker.check(child as Node, context));
  if (node.op === 'list' || node.op === 'accuPush')
    node.setMeta('check', (checker, self, context) => (children(checker, self, context), checker.listType));
  else if (node.op === 'map') node.setMeta('check', (checker, self, context) => (children(checker, self, context), checker.mapType));
  else if (node.op === '?:')
    node.setMeta('check', (checker, self, context) => {
      try {
        return check(checker, self, context);
      } catch (error) {
        if (error instanceof Error && 'code' in error && error.code === 'incompatible_ternary_branches') return checker.dynType;
        throw error;
      }
    });
}

const MADE = new Set(['+', 'call', 'rcall']);

function metered(node: Node, meter: () => Meter): void {
  const { evaluate } = node.meta;
  const made = MADE.has(node.op);
  node.setMeta('evaluate', (evaluator, self, context) => {
    boundLooks(evaluator, meter);
    meter().spend(1);
    const value = evaluate(evaluator, self, context);
    meter().weigh(value, made);
    return value;
  });
  const { handle } = node;
  const guarded = handle && guardOf(node, handle, meter);
  if (guarded) node.handle = guarded;
}

const bounded = new WeakSet<Evaluator>();

/** Types of values are told by their kind alone, and each look counts: comparing is looking at every part, and done in one node. */
function boundLooks(evaluator: Evaluator, meter: () => Meter): void {
  if (bounded.has(evaluator)) return;
  bounded.add(evaluator);
  const debugType = evaluator.debugType.bind(evaluator);
  evaluator.debugType = evaluator.debugTypeDeep = (value) => (meter().look(), debugType(value));
}

function guardOf({ op, args }: Node, handle: Handle, meter: () => Meter): Handle | undefined {
  if (op === '.' || op === '[]')
    return (left, ...rest) => {
      requireJson(left);
      return handle(left, ...rest);
    };
  if (op === '/')
    return (left, right, ...rest) => {
      if (right === 0 || right === 0n) throw new ExpressionError('division by zero');
      return handle(left, right, ...rest);
    };
  if (op === 'comprehension')
    return (items, ...rest) => {
      // As many nodes at least as there are items.
      meter().reserve(sizeOf(items));
      return handle(items, ...rest);
    };
  if (op !== 'call' && op !== 'rcall') return undefined;
  const guard = (op === 'call' ? FUNCTIONS : METHODS).get((args as [string])[0]);
  return guard && ((values, ...rest) => guard(values as unknown[], () => handle(values, ...rest)));
}

/** Members are those of JSON: a time or a type is an object of the host. */
function requireJson(value: unknown): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || value instanceof Map) return;
  if (Object.getPrototypeOf(value) !== Object.prototype) throw new ExpressionError('Only objects and lists have members');
}

const sizeOf = (items: unknown): number => (Array.isArray(items) ? items.length : items instanceof Map ? items.size : 0);

function release({ op, args, meta: { macro } }: Node): void {
  const context =
    op === 'comprehension'
      ? (args as { iterCtx?: MacroContext }).iterCtx
      : macro && 'bindCtx' in macro
        ? (macro.bindCtx as MacroContext)
        : undefined;
  if (context) Object.assign(context.reuse(null), { iterValue: undefined, accuValue: undefined });
}
