import { fieldPaths, type Ctor } from './declared-fields';
import { OPERATION, type OperationDeclaration } from './operation';

const known = new WeakMap<object, readonly string[][]>();

/** Where the answers of a handler hold credentials, as paths of fields. */
export function credentialsIn(handler: object): readonly string[][] {
  let paths = known.get(handler);
  if (!paths) {
    const { answers } = (Reflect.getMetadata(OPERATION, handler) ?? {}) as Partial<OperationDeclaration>;
    paths = typeof answers === 'function' ? fieldPaths(answers as Ctor, ({ credential }) => credential === true) : [];
    known.set(handler, paths);
  }
  return paths;
}

/** A copy of an answer with null in place of its credentials. */
export function withoutCredentials(handler: object, answer: unknown): unknown {
  const paths = credentialsIn(handler);
  if (paths.length === 0 || answer === null || typeof answer !== 'object') return answer;
  const copy = structuredClone(answer) as Record<string, unknown>;
  for (const path of paths) {
    let holder: Record<string, unknown> | null | undefined = copy;
    for (const name of path.slice(0, -1)) holder = holder?.[name] as Record<string, unknown> | null | undefined;
    const last = path[path.length - 1];
    if (holder?.[last] !== undefined) holder[last] = null;
  }
  return copy;
}
