import { timingSafeEqual } from 'node:crypto';

/** Whether two texts are the same; how long it takes tells nothing of where they differ. */
export function isSame(wanted: string, given: string): boolean {
  const [a, b] = [Buffer.from(wanted), Buffer.from(given)];
  return a.length === b.length && timingSafeEqual(a, b);
}
