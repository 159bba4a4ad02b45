import { setTimeout as sleep } from 'node:timers/promises';

const TRIES = 4;
const PAUSE_MS = 1_000;

/**
 * Does again what has failed, for some six seconds: for what must be written down whatever the database says just now, as tokens that are
 * spent. It may have been done although it failed.
 *
 * @throws what it failed with last
 */
export async function insist<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await work();
    } catch (cause) {
      if (tries === TRIES) throw cause;
      await sleep(tries * PAUSE_MS);
    }
  }
}
