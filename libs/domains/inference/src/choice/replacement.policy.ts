import { refuseField } from '@aps/contracts';
import type { CatalogEntry } from '../inference.types';

/** How far successors are followed. */
export const MAX_HOPS = 5;

type Link = Pick<CatalogEntry, 'id' | 'replacement_model_id'>;

/** The first enabled successor of a disabled model, within {@link MAX_HOPS}; undefined when there is none. */
export function followReplacement(from: CatalogEntry, find: (id: string) => CatalogEntry | undefined): CatalogEntry | undefined {
  let entry: CatalogEntry | undefined = from;
  for (let hops = 0; entry && !entry.enabled; hops++) {
    if (hops === MAX_HOPS || !entry.replacement_model_id) return undefined;
    entry = find(entry.replacement_model_id);
  }
  return entry;
}

/**
 * Checks a successor before it is saved. A model that sits in the middle of a chain may be disabled later, so the whole chain
 * counts, enabled or not.
 *
 * @param id the model that gets the successor
 * @throws DomainError 422 `replacement_cycle`, also for a chain that would be too long to be followed
 */
export function assertReplacement(id: string, replacementId: string | null, find: (id: string) => Link | undefined): void {
  let next = replacementId;
  for (let hops = 1; next !== null; hops++) {
    if (next === id) throw refuseField('replacement_cycle', ['replacement_model_id'], 'The replacement leads back to the model itself.');
    if (hops > MAX_HOPS)
      throw refuseField('replacement_cycle', ['replacement_model_id'], `The chain of replacements is longer than ${MAX_HOPS}.`);
    next = find(next)?.replacement_model_id ?? null;
  }
}
