import { SetMetadata } from '@nestjs/common';
import { fieldPaths, type Ctor } from './declared-fields';

const SHOWN = 'aps:shows-credential';

/**
 * The handler answers with a credential, in the fields of this class that are declared as such. What the API document is told of its
 * answers is not read at run time; `tools/house-check` holds the two to each other.
 */
export const ShowsCredential = (type: Ctor) => SetMetadata(SHOWN, type);

const known = new WeakMap<object, readonly string[][]>();

/** Where the answers of a handler hold credentials, as paths of fields. */
export function credentialsIn(handler: object): readonly string[][] {
  let paths = known.get(handler);
  if (!paths) {
    const type = Reflect.getMetadata(SHOWN, handler) as Ctor | undefined;
    paths = type ? fieldPaths(type, ({ credential }) => credential === true) : [];
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
