import type { Resolution } from '@aps/entities';
import type { Retry } from '../definition/definition.types';
import type { JournalRow } from './journal';

/** When a call that has failed is made again; null for never. */
export function retryAt({ max_attempts, initial_s, factor, max_s }: Retry, row: JournalRow): Date | null {
  if (!row.error?.retryable || row.attempt >= max_attempts) return null;
  const s = Math.min(max_s, initial_s * factor ** (row.attempt - 1));
  return new Date(row.finished_at!.getTime() + s * 1_000);
}

/** What a human has answered, as the output of the step. */
export function answerOf({ answer, answered_by }: Extract<Resolution, { kind: 'answer' }>): Record<string, unknown> {
  const { decision = null, values = null, note = null } = answer;
  return { decision, values, answer: answer.answer ?? null, note, answered_by };
}
