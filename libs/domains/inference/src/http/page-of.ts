import { toPage, type Page, type PageQuery, type PageStream } from '@aps/platform/http';

/** A page of a list that is held whole in memory. */
export function pageOf<T, R>(all: T[], query: PageQuery, convert: (item: T) => R): Page<R> | PageStream<R> {
  const { limit = Infinity, offset = 0 } = query;
  const end = offset + limit;
  return toPage({ items: all.slice(offset, end), total: all.length, more: end < all.length }, query, convert);
}
