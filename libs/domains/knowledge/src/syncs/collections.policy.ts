import type { ListedResource } from '@aps/connections';

/** Resources of a connection that are called by one scheme and one authority. */
export interface Collection {
  /** `scheme://authority` */
  id: string;
  resources: ListedResource[];
}

/** Bytes of an address by which something is found again; one that is longer is passed over. */
const MAX_URI = 2_048;
const PARTS = /^([a-z][a-z0-9+.-]*):(?:\/\/([^/?#]*))?/i;

/** @returns null of an address that is none, or too long to be kept */
export function collectionOf(uri: string): string | null {
  const parts = PARTS.exec(uri);
  if (!parts || Buffer.byteLength(uri) > MAX_URI) return null;
  const [, scheme, authority = ''] = parts;
  return `${scheme}://${authority}`.toLowerCase();
}

/** In the order of their ids. */
export function collectionsOf(resources: readonly ListedResource[]): Collection[] {
  const found = new Map<string, ListedResource[]>();
  for (const resource of resources) {
    const id = collectionOf(resource.uri);
    if (id === null) continue;
    const known = found.get(id);
    if (known) known.push(resource);
    else found.set(id, [resource]);
  }
  return [...found].map(([id, of]) => ({ id, resources: of })).sort((a, b) => (a.id < b.id ? -1 : 1));
}
