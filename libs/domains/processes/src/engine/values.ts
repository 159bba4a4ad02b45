import { isObject } from '@aps/platform/definitions';
import { compileExpression, dateTimeOf, evaluate, ExpressionError, type Expression, type Scope } from '../definition';
import { stepError } from './journal';
import { done, failed, type Result } from './progress';

/** Computes something of expressions; what is wrong with them is an outcome. */
export function evaluated<T>(value: () => T): Extract<Result, { is: 'failed' }> | { is: 'done'; output: T } {
  try {
    return done(value()) as { is: 'done'; output: T };
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    return failed(stepError('expression_error', error.message)) as Extract<Result, { is: 'failed' }>;
  }
}

/** Whether a condition holds. @throws ExpressionError where it is neither true nor false */
export function holds(condition: Expression, scope: Scope, what: string): boolean {
  const compiled = compileExpression(condition);
  if ('problem' in compiled) throw new ExpressionError(compiled.problem);
  const value = evaluate(compiled, scope);
  if (typeof value !== 'boolean') throw new ExpressionError(`${what}: The condition is neither true nor false.`);
  return value;
}

export function recordOf(value: unknown, what: string): Record<string, unknown> {
  if (!isObject(value)) throw new ExpressionError(`${what}: There is no object.`);
  return value;
}

const MAX_WAIT_S = 366 * 86_400;

export function secondsOf(value: unknown): number {
  if (typeof value !== 'number' || !(value >= 0) || value > MAX_WAIT_S)
    throw new ExpressionError(`for_s: There is no number of seconds from 0 to ${MAX_WAIT_S}.`);
  return value;
}

export function timeOf(value: unknown): Date {
  const at = dateTimeOf(value);
  if (!at) throw new ExpressionError('until: There is no time, like 2026-01-31T12:00:00Z.');
  return at;
}
