import type { StepError } from '@aps/entities';
import type { Tx } from '@aps/platform/database';
import type { CallOutcome } from '../journal';
import { stepError } from '../journal';

/** What a call has come to, and what is written with that. */
export interface CallResult {
  outcome: CallOutcome;
  /** What it has cost, and its lines in the ledgers; a transaction's last. */
  charge?: (tx: Tx) => Promise<void>;
}

/** How a call stands to the run that it is made for. */
export interface CallHold {
  /** Aborts when nobody waits for it any more. */
  signal: AbortSignal;
  /**
   * To be called right before what must not be done by two: see the lease of the run.
   *
   * @throws LeaseEnded; the reason of the signal
   */
  requireHeld: () => void;
}

export const completed = (output: unknown): CallOutcome => ({ status: 'completed', output });
export const failed = (code: string, message: string, retryable = false): CallOutcome => ({
  status: 'failed',
  error: stepError(code, message, retryable),
});
export const failedWith = (error: StepError): CallOutcome => ({ status: 'failed', error });
