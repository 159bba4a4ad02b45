import { setTimeout as sleep } from 'node:timers/promises';

const TRIES = 4;
const PAUSE_MS = 1_000;

/**
 * Does again what has failed, for some six seconds: for what must be written down whatever the database says just now, as tokens that are
 * spent. It may have been done although it failed.
 *
 * @param until ends it: nothing is waited for, or done again, after that
 * @param mayHelp whether to do it again may come to something else; always, where nobody says so
 * @throws what it failed with last; the reason of the signal
 */
export async function insist<T>(
  work: () => Promise<T>,
  until?: AbortSignal,
  mayHelp: (cause: unknown) => boolean = () => true,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await work();
    } catch (cause) {
      if (tries === TRIES || !mayHelp(cause)) throw cause;
      await sleep(tries * PAUSE_MS, undefined, { signal: until }).catch(() => undefined);
      until?.throwIfAborted();
    }
  }
}
