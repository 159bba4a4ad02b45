import type { Type } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import type { Listed } from '@aps/platform/database';
import { IntField } from './fields';

/** `limit` (1-100, every row when omitted) and `offset`. */
export class PageQuery {
  @IntField({ optional: true, min: 1, max: 100, description: 'Rows to return. Omitted: every row.' })
  limit?: number;

  @IntField({ optional: true, min: 0, description: 'Rows to skip.' })
  offset?: number;
}

/** What a list answers: `total` is the full matching count, `next_offset` is null on the last page and when `limit` is omitted. */
export interface Page<T> {
  items: T[];
  total: number;
  next_offset: number | null;
}

export function toPage<T, A>({ items, total }: Listed<T>, query: PageQuery, convert: (item: T) => A): Page<A> {
  const end = (query.offset ?? 0) + items.length;
  return { items: items.map((item) => convert(item)), total, next_offset: query.limit !== undefined && end < total ? end : null };
}

const pages = new Map<string, Type<unknown>>();

/** The response class of a paged list, named `Page_<Item>_` (or as given). */
export function PageOf<T>(item: Type<T>, name = `Page_${item.name}_`): Type<Page<T>> {
  const known = pages.get(name);
  if (known) return known as Type<Page<T>>;
  class PageResponse {
    @ApiProperty({ type: item, isArray: true, description: 'The rows of this page.' })
    items: T[];
    @ApiProperty({ type: 'integer', description: 'The full matching count, never the page size.' })
    total: number;
    @ApiProperty({ type: 'integer', nullable: true, description: 'Pass as `offset` for the next page; null on the last one.' })
    next_offset: number | null;
  }
  Object.defineProperty(PageResponse, 'name', { value: name });
  pages.set(name, PageResponse);
  return PageResponse as Type<Page<T>>;
}
