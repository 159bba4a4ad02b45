import { createHash } from 'node:crypto';

/** An SQL text that PostgreSQL parses and plans once per connection instead of once per call. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

/** Makes a prepared statement. The name follows from the text, so equal texts share one plan and never clash. */
export function statement(text: string): Statement {
  return { name: `s${createHash('sha1').update(text).digest('base64url').slice(0, 20)}`, text };
}
