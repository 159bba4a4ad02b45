import { createHash } from 'node:crypto';

/**
 * An SQL text that PostgreSQL parses and plans once per connection instead of once per call. `Row` is what it returns, column by column;
 * a house check compares it with what PostgreSQL says.
 */
export interface Statement<Row = unknown> {
  readonly name: string;
  readonly text: string;
  /** Never there: it ties the type to the text. */
  readonly row?: Row;
}

/** Makes a prepared statement. The name follows from the text, so equal texts share one plan and never clash. */
export function statement<Row = unknown>(text: string): Statement<Row> {
  return { name: `s${createHash('sha1').update(text).digest('base64url').slice(0, 20)}`, text };
}

/** The same, parsed and planned with every call: for connections on which no name outlives a transaction. */
export const unnamed = <Row>({ text }: Statement<Row>): Statement<Row> => ({ name: '', text });
