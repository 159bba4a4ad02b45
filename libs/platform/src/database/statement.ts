import { createHash } from 'node:crypto';

/**
 * An SQL text that PostgreSQL parses and plans once per connection instead of once per call. `Row` is what it returns, column by column;
 * a house check compares it with what PostgreSQL says.
 */
export interface Statement<Row = unknown> {
  readonly name: string;
  readonly text: string;
  /** How long PostgreSQL lets it take, where its transaction has said something else than sessions do. */
  readonly timeoutMs?: number;
  /** Never there: it ties the type to the text. */
  readonly row?: Row;
}

/** Makes a prepared statement. The name follows from the text, so equal texts share one plan and never clash. */
export function statement<Row = unknown>(text: string): Statement<Row> {
  return { name: `s${createHash('sha1').update(text).digest('base64url').slice(0, 20)}`, text };
}

/** The same, parsed and planned with every call: for connections on which no name outlives a transaction. */
export const unnamed = <Row>({ text }: Statement<Row>): Statement<Row> => ({ name: '', text });

/** So much later than PostgreSQL would end a statement, its connection is given up: the server cannot say so any more. */
const ANSWER_GRACE_MS = 2_000;

/** For how long an answer is waited for where PostgreSQL ends a statement after so long; 0 is for ever. */
export const answerTimeoutMs = (statementTimeoutMs: number): number => statementTimeoutMs && statementTimeoutMs + ANSWER_GRACE_MS;
