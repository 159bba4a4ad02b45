import type { ProcessStepRow, StepError } from '@aps/entities';

/** Raised when the engine goes through a journal in another way than before. */
export const ENGINE_VERSION = '1';

/** A line of a run's journal, as the engine reads and writes it. */
export type JournalRow = Omit<ProcessStepRow, 'org_id' | 'run_id'>;

/** Note of a call that has failed, and of which nobody knows what became: it may have had its effect. */
export const UNKNOWN = 'outcome_unknown';

/** Statuses that a row stays in. */
const OVER = new Set<JournalRow['status']>(['completed', 'failed', 'skipped', 'cancelled']);

export const isOver = (row: JournalRow): boolean => OVER.has(row.status);

/** Whether it waits for an agent's chat that could not be begun yet, because the organization had no room for its turn. */
export const isUnbegun = (row: Pick<JournalRow, 'kind' | 'status' | 'chat_id' | 'resolution'>): boolean =>
  row.kind === 'agent' && row.status === 'waiting' && row.chat_id === null && row.resolution === null;

/** Whether it waits for a signal, which may have come before it. */
export const waitsForSignal = (row: JournalRow): row is JournalRow & { event: string } => row.status === 'waiting' && row.event !== null;

/** What every reader of a run may be told of, in the order in which it happened. */
export interface RunEvent {
  type:
    | 'run_created'
    | 'run_started'
    | 'step_started'
    | 'step_finished'
    | 'step_failed'
    | 'step_retried'
    | 'wait_started'
    | 'wait_finished'
    | 'signal_received'
    | 'human_requested'
    | 'human_answered'
    | 'repair_attempted'
    | 'outcome_unknown'
    | 'run_cancelled'
    | 'run_finished';
  step_id: string | null;
  path: string | null;
  metadata: Record<string, unknown>;
}

/** What is told of what a step has asked humans, once that is over: answered, or too late, or given up with the step. */
export function humanAnswered({
  step_id,
  path,
  kind,
  hitl_request_id: request_id,
  resolution,
}: Pick<JournalRow, 'step_id' | 'path' | 'kind' | 'hitl_request_id' | 'resolution'>): RunEvent {
  const answered_by = resolution?.kind === 'answer' ? resolution.answered_by : null;
  const status = resolution?.kind === 'answer' ? 'answered' : resolution?.kind === 'unanswered' ? 'expired' : 'cancelled';
  return { type: 'human_answered', step_id, path, metadata: { kind, request_id, status, answered_by } };
}

/** What a call of a model, or of another side, came to. */
export type CallOutcome =
  | { status: 'completed'; output: unknown }
  /** `note` where nobody knows what became of it, and it may be made again. */
  | { status: 'failed'; error: StepError; note?: typeof UNKNOWN }
  /** It may have had its effect, and may not be made again. */
  | { status: 'outcome_unknown'; error: StepError };

/** How a run ends. */
export type RunOutcome =
  { status: 'completed'; output: unknown } | { status: 'flagged'; reason: string } | { status: 'failed'; error: StepError };

export const stepError = (code: string, message: string, retryable = false): StepError => ({ code, message, retryable });
