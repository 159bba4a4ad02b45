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
 * counts, enabled or not: what leads to the model, too.
 *
 * @param id the model that gets the successor
 * @param all the models that there are; what is said of the successor of this one does not matter
 * @throws DomainError 422 `replacement_cycle`, also for a chain that would be too long to be followed
 */
export function assertReplacement(id: string, replacementId: string | null, all: readonly Link[]): void {
  const before = replacementId === null ? 0 : hopsTo(id, all);
  let next = replacementId;
  for (let hops = before + 1; next !== null; hops++) {
    if (next === id) throw refuseField('replacement_cycle', ['replacement_model_id'], 'The replacement leads back to the model itself.');
    if (hops > MAX_HOPS)
      throw refuseField('replacement_cycle', ['replacement_model_id'], `The chain of replacements is longer than ${MAX_HOPS}.`);
    next = all.find((one) => one.id === next)?.replacement_model_id ?? null;
  }
}

/** Of the longest chain that leads to a model; no more are counted than may be followed. */
function hopsTo(to: string, all: readonly Link[]): number {
  let reached = new Set([to]);
  for (let hops = 0; hops < MAX_HOPS; hops++) {
    const from = all.filter(({ id, replacement_model_id: next }) => id !== to && next !== null && reached.has(next));
    if (!from.length) return hops;
    reached = new Set(from.map((one) => one.id));
  }
  return MAX_HOPS;
}
