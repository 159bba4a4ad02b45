import type { ASTNode } from '@marcbachmann/cel-js';

/** Names from a root on, as in `steps.extract.output`. */
export type Path = readonly string[];

/** Macros whose first argument is the name of what they go over. */
const BINDING = new Set(['all', 'exists', 'exists_one', 'map', 'filter']);

/** Every path that an expression names below one of `roots`, each once. */
export function pathsOf(ast: ASTNode, roots: readonly string[]): Path[] {
  const paths = new Map<string, Path>();
  collect(ast, new Set(roots), (path) => paths.set(JSON.stringify(path), path));
  return [...paths.values()];
}

function collect(node: ASTNode, roots: ReadonlySet<string>, note: (path: Path) => void): void {
  const path = pathOf(node);
  if (path) {
    if (roots.has(path[0])) note(path);
    return;
  }
  const each = (nodes: readonly ASTNode[], within = roots) => nodes.forEach((inner) => collect(inner, within, note));
  if (node.op === 'rcall') {
    const [name, receiver, args] = node.args;
    const bound = boundBy(name, receiver, args);
    each([receiver]);
    if (bound === null) return each(args);
    // `cel.bind(name, value, expression)` binds its name in the last one alone; others in all that follows.
    if (name === 'bind') each(args.slice(1, -1));
    each(name === 'bind' ? args.slice(-1) : args.slice(1), new Set([...roots].filter((root) => root !== bound)));
  } else if (node.op === 'call') each(node.args[1]);
  else if (node.op === '.' || node.op === '.?') each([node.args[0]]);
  else if (node.op === 'map') each(node.args.flat());
  else if (node.op === '!_' || node.op === '-_') each([node.args]);
  else if (node.op !== 'value' && node.op !== 'id') each(node.args);
}

function boundBy(name: string, receiver: ASTNode, args: readonly ASTNode[]): string | null {
  const binds = name === 'bind' ? receiver.op === 'id' && receiver.args === 'cel' && args.length === 3 : BINDING.has(name);
  return binds && args.length > 1 && args[0].op === 'id' ? args[0].args : null;
}

/** Null of what is no name, or a member of one. */
function pathOf(node: ASTNode): Path | null {
  if (node.op === 'id') return [node.args];
  const key =
    node.op === '.'
      ? node.args[1]
      : node.op === '[]' && node.args[1].op === 'value' && typeof node.args[1].args === 'string'
        ? node.args[1].args
        : null;
  const path = key === null ? null : pathOf((node as Extract<ASTNode, { op: '.' }>).args[0]);
  return path && key !== null ? [...path, key] : null;
}
