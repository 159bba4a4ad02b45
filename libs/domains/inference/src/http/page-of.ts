import { sliceBounds } from '@aps/platform/database';
import { toPage, type Page, type PageQuery } from '@aps/platform/http';

/** A page of a list that is held whole in memory. */
export function pageOf<T, R>(all: T[], query: PageQuery, convert: (item: T) => R): Page<R> {
  const [limit, offset] = sliceBounds(query);
  const items = all.slice(offset, limit === null ? undefined : offset + limit);
  return toPage({ items, total: all.length }, query, convert);
}
