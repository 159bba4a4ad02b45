import { RE2JS } from 're2js';

/** A search that takes long has filled the engine's cache with states that it will hardly need again: megabytes of them. */
const FORGETS_AFTER_MS = 50;

/** A pattern in RE2's syntax, searched for anywhere, in time that grows with the text alone. */
export interface Pattern {
  /** What a character of a text may cost. */
  instructions: number;
  test(text: string): boolean;
}

/** Compiles a pattern, or says in plain words why it is none. */
export function compilePattern(source: string): Pattern | { problem: string } {
  try {
    const compiled = RE2JS.compile(source);
    return {
      instructions: compiled.programSize(),
      test(text) {
        const before = performance.now();
        const found = compiled.test(text);
        if (performance.now() - before > FORGETS_AFTER_MS) compiled.reset();
        return found;
      },
    };
  } catch (error) {
    return { problem: `Not a pattern in RE2 syntax: ${reasonOf(error)}` };
  }
}

const reasonOf = (error: unknown): string =>
  error instanceof Error ? error.message.replace(/^error parsing regexp: /, '') : 'it cannot be read';
