/** A page among its siblings. */
export interface Placed {
  id: string;
  position: number;
}

/**
 * Puts pages in the place of one of their new siblings, in their order.
 *
 * @param siblings in their order, that one among them
 * @returns where each stands that stands elsewhere now: the pages alone, as long as there is room between the neighbours for all of them, else everybody
 */
export function inPlaceOf(siblings: readonly Placed[], gone: string, pages: readonly Placed[]): Placed[] {
  const at = siblings.findIndex(({ id }) => id === gone);
  const [before, place, after] = [siblings[at - 1]?.position ?? -Infinity, siblings[at].position, siblings[at + 1]?.position ?? Infinity];
  const step = after === Infinity ? 1 : (after - place) / pages.length;
  const placed = pages.map(({ id }, i) => ({ id, position: place + i * step }));
  const all = [before, ...placed.map(({ position }) => position), after];
  if (all.every((position, i) => i === 0 || position > all[i - 1])) return placed;
  return [...siblings.slice(0, at), ...pages, ...siblings.slice(at + 1)].map(({ id }, i) => ({ id, position: i + 1 }));
}

/** How a document's version is shown, and named by who saves. */
export const versionText = (version: number): string => `v${version}`;
