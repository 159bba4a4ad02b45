import type { Resolution } from '@aps/entities';
import type { Retry } from '../definition/definition.types';
import type { JournalRow } from './journal';

/** When a call that has failed is made again; null for never. */
export function retryAt({ max_attempts, initial_s, factor, max_s }: Retry, row: JournalRow): Date | null {
  if (!row.error?.retryable || row.attempt >= max_attempts) return null;
  const s = Math.min(max_s, initial_s * factor ** (row.attempt - 1));
  return new Date(row.finished_at!.getTime() + s * 1_000);
}

/** When a step is tried again that there was no room for: the longer it has waited, the later, but within half a minute of room. */
export function tryAgainAt({ started_at }: JournalRow, now: Date): Date {
  const waitedMs = now.getTime() - started_at.getTime();
  return new Date(now.getTime() + Math.min(Math.max(waitedMs, 1_000), 30_000));
}

/** What a human has answered, as the output of the step. */
export function answerOf({ answer, answered_by }: Extract<Resolution, { kind: 'answer' }>): Record<string, unknown> {
  const { decision = null, values = null, note = null } = answer;
  return { decision, values, answer: answer.answer ?? null, note, answered_by };
}
