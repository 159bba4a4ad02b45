import { setTimeout as sleep } from 'node:timers/promises';

type Words = string | (() => string);

/**
 * Asks until the answer is neither undefined nor false. Waits are bounds and no expectations: a slow machine only takes longer.
 *
 * @param what what is waited for, in the words of the failure; a function says it at the end
 */
export async function until<T>(
  what: Words,
  probe: () => T | undefined | false | Promise<T | undefined | false>,
  timeoutMs = 180_000,
  everyMs = 50,
): Promise<T> {
  for (const end = Date.now() + timeoutMs; ; await sleep(everyMs)) {
    const answer = await probe();
    if (answer !== undefined && answer !== false) return answer;
    if (Date.now() > end) throw new Error(`Did not happen within ${timeoutMs / 1000} s: ${typeof what === 'string' ? what : what()}`);
  }
}
