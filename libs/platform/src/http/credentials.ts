import { fieldPaths, type Ctor } from './declared-fields';
import { OPERATION, type OperationDeclaration } from './operation';

const known = new WeakMap<object, readonly string[][]>();

/** Where the answers of a handler hold credentials, as paths of fields; of lists, those of each of their elements. */
export function credentialsIn(handler: object): readonly string[][] {
  let paths = known.get(handler);
  if (!paths) {
    const { answers } = (Reflect.getMetadata(OPERATION, handler) ?? {}) as Partial<OperationDeclaration>;
    const answered = Array.isArray(answers) ? answers[0] : answers;
    paths = typeof answered === 'function' ? fieldPaths(answered as Ctor, ({ credential }) => credential === true) : [];
    known.set(handler, paths);
  }
  return paths;
}

/** A copy of an answer with null in place of its credentials. */
export function withoutCredentials(handler: object, answer: unknown): unknown {
  const paths = credentialsIn(handler);
  if (paths.length === 0 || answer === null || typeof answer !== 'object') return answer;
  const copy: unknown = structuredClone(answer);
  for (const path of paths) blank(copy, path);
  return copy;
}

function blank(holder: unknown, [name, ...rest]: string[]): void {
  if (Array.isArray(holder)) for (const each of holder as unknown[]) blank(each, [name, ...rest]);
  else if (holder !== null && typeof holder === 'object' && name in holder) {
    const fields = holder as Record<string, unknown>;
    if (rest.length) blank(fields[name], rest);
    else fields[name] = null;
  }
}
