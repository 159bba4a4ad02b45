import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer } from './client';

/** A client that gets no answer asks again, for so long. */
const PATIENCE_MS = 90_000;
const AGAIN_MS = 250;

/** No repetition will change it. */
export class Refused extends Error {}

/** What was answered. @throws Refused where it was refused, and Error where another try may do */
export function accepted({ status, body }: Pick<Answer, 'status' | 'body'>): Answer['body'] {
  if (status >= 200 && status < 300) return body;
  // In progress: the first try of the same key is still at it. A 500 is a defect, whatever is away.
  if (status > 500 || status === 409) throw new Error(`answered ${status} ${JSON.stringify(body)}`);
  throw new Refused(`The platform refused: ${status} ${JSON.stringify(body)}`);
}

/** Asks again until there is an answer, as a careful client does. */
export async function persist<T>(ask: () => Promise<T>): Promise<T> {
  for (const end = Date.now() + PATIENCE_MS; ; await sleep(AGAIN_MS)) {
    try {
      return await ask();
    } catch (error) {
      if (error instanceof Refused || Date.now() > end) throw error;
    }
  }
}
