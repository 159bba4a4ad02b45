import { createHash } from 'node:crypto';

/** An SQL text that PostgreSQL parses and plans once per connection instead of once per call. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

const made = new Map<string, Statement>();

/** Makes a prepared statement. The name follows from the text, so equal texts share one plan and never clash. */
export function statement(text: string): Statement {
  const name = `s${createHash('sha1').update(text).digest('base64url').slice(0, 20)}`;
  const known = made.get(name) ?? { name, text };
  made.set(name, known);
  return known;
}

/** The same, parsed and planned with every call: for connections on which no name outlives a transaction. */
export const unnamed = ({ text }: Statement): Statement => ({ name: '', text });

/** Every statement of the modules that are loaded, for the check that PostgreSQL understands them all. */
export const statements = (): Statement[] => [...made.values()];
