import { DomainError } from '@aps/contracts';
import { counter } from '@aps/platform/observability';

/** Ways in. */
const DOORS = ['webhook', 'mail_hook', 'smtp'] as const;
export type Door = (typeof DOORS)[number];

/** What a door could not do, so that its sender will try again: the fault is here. */
export const FAILED = 'failed';

/** Reasons that are no fault of the sender. */
const SERVICE_FAULTS = [FAILED, 'service_unavailable', 'too_much_at_once'];

const refused = counter(
  'inbox_refusals_total',
  'What doors did not take in, by door and why',
  ['door', 'reason'],
  DOORS.flatMap((door) => SERVICE_FAULTS.map((reason) => ({ door, reason }))),
);

/**
 * What one sender has too much of at once. It is answered as what all have too much of, since senders of webhooks give up what a 4xx refuses, and
 * counted apart: nobody is to be called for it.
 */
export class TooMuchOfOne extends DomainError {
  static readonly REASON = 'too_much_of_sender';

  constructor() {
    super('service_unavailable', 'Too much of yours comes at once. Try again.', { retryAfterS: 1, ofOne: true });
  }
}

/** Counts what was not taken in. */
export const countRefusal = (door: Door, reason: string): void => refused.inc({ door, reason });

/** Does the work of a door that answers by HTTP, and counts when nothing is taken in. */
export async function countingRefusals<T>(door: Door, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    // Whoever breaks a request off has gone.
    const other = (error as Error).name === 'AbortError' ? 'broken_off' : FAILED;
    const why = error instanceof TooMuchOfOne ? TooMuchOfOne.REASON : error instanceof DomainError ? error.code : other;
    countRefusal(door, why);
    throw error;
  }
}
