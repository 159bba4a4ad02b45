import { Script } from 'node:vm';
import { exec } from 'jsonpath-rfc9535';
import parse from 'jsonpath-rfc9535/parser';

type Json = Parameters<typeof exec>[0];

/** Paths are written by people. */
const MAX_LENGTH = 500;

/** Time that all paths of a message may take together which do not say where they lead. */
const TIME_MS = 50;
/**
 * It is taken by the clock, which also counts what the process waited for a core, or for garbage to be collected: then it is had again, as
 * long as the process has not worked for as long as the least tries take. That counts its other threads, too.
 */
const TRIES = { least: 2, most: 10 };
const WORK_US = TRIES.least * TIME_MS * 1_000;
const RUN = new Script('run()');

/** @returns undefined where it is no JSONPath of RFC 9535 */
function parsed(path: string): ReturnType<typeof parse> | undefined {
  if (path.length > MAX_LENGTH) return undefined;
  try {
    return parse(path);
  } catch {
    // Also where its brackets nest deeper than the stack.
    return undefined;
  }
}

/** Whether a text can be used as a path. */
export const isJsonPath = (path: string): boolean => parsed(path) !== undefined;

/** Whether it leads to one place at most, by names and numbers alone: then it costs nothing to speak of. */
function isDirect(path: string): boolean {
  return (parsed(path)?.segments ?? []).every(({ type, node }) => {
    if (type !== 'ChildSegment') return false;
    if (node.type !== 'BracketedSelection') return node.type !== 'WildcardSelector';
    const [selector, ...others] = node.selectors;
    return !others.length && (selector.type === 'NameSelector' || selector.type === 'IndexSelector');
  });
}

/** The first node of a path. */
function firstOf(input: unknown, path: string): unknown {
  let found: unknown;
  const FOUND = new Error('found');
  try {
    exec(input as Json, path, (value) => {
      found = value;
      throw FOUND;
    });
  } catch (error) {
    if (error !== FOUND) throw error;
  }
  return found;
}

/**
 * The first node of each path, undefined where there is none.
 *
 * A path that looks everywhere can cost any time over a large input, and its filters have patterns in them: such paths share a time, which
 * ends even an expression that is being matched. What was not found then counts as missing.
 */
export function pick<K extends string>(input: unknown, paths: Partial<Record<K, string>>): Partial<Record<K, unknown>> {
  const found: Partial<Record<K, unknown>> = {};
  const wide: [K, string][] = [];
  for (const [key, path] of Object.entries(paths) as [K, unknown][]) {
    if (typeof path !== 'string' || !isJsonPath(path)) continue;
    if (isDirect(path)) found[key] = firstOf(input, path);
    else wide.push([key, path]);
  }
  if (!wide.length) return found;
  const run = () => {
    for (const [key, path] of wide) if (!(key in found)) found[key] = firstOf(input, path);
  };
  const since = process.cpuUsage();
  for (let tries = 1; ; tries++) {
    try {
      RUN.runInNewContext({ run }, { timeout: TIME_MS });
      return found;
    } catch (error) {
      const isOutOfTime = (error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
      const { user, system } = process.cpuUsage(since);
      // Or out of the stack.
      if (!isOutOfTime || tries >= TRIES.most || user + system >= WORK_US) return found;
    }
  }
}
