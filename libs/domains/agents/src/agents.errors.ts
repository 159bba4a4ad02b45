import { DomainError } from '@aps/contracts';
import { isUniqueViolation } from '@aps/platform/database';

export const slugTaken = () => new DomainError('slug_taken', 'This slug is taken.');

/** @param index that keeps slugs apart */
export const refusingTakenSlug = <T>(index: string, write: Promise<T>): Promise<T> =>
  write.catch((error: unknown) => {
    throw isUniqueViolation(error, index) ? slugTaken() : error;
  });
