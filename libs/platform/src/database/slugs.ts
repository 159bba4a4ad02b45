import { DomainError } from '@aps/contracts';
import { isUniqueViolation } from './errors';

const slugTaken = () => new DomainError('slug_taken', 'This slug is taken.');

/**
 * Makes a row under the first of some slugs that is free.
 *
 * @param slugs those of `slugsFor`
 * @param taken rows that have some of them already
 * @param insert answers null where another row has got the slug meanwhile
 * @throws DomainError `slug_taken`
 */
export async function takingSlug<R>(slugs: string[], taken: { slug: string }[], insert: (slug: string) => Promise<R | null>): Promise<R> {
  const used = new Set(taken.map(({ slug }) => slug));
  for (const slug of slugs.filter((candidate) => !used.has(candidate))) {
    // One that looked free may be taken meanwhile; the loser waits for the winner's commit and takes the next.
    const made = await insert(slug);
    if (made) return made;
  }
  throw slugTaken();
}

/** @param index that keeps slugs apart: it decides between two who want the same one at once */
export const refusingTakenSlug = <T>(index: string, write: Promise<T>): Promise<T> =>
  write.catch((error: unknown) => {
    throw isUniqueViolation(error, index) ? slugTaken() : error;
  });
