import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { StreamableFile, type Type } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { batchesOf, type Listed } from '@aps/platform/database';
import type { Ctor } from './declared-fields';
import { IntField, ListField } from './fields';

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

/**
 * After so many characters of a list its writing rests, so that other requests of the process do not wait behind it: it takes about a
 * third of the process's time, however fast the client is.
 */
const CHUNK = 16 * 1024;
const REST_MS = 1;

/** A {@link Page}, the bare array, or an object with one, of many or large rows, written as they are read, no faster than the client takes it. */
export class PageStream<A> extends StreamableFile {
  /** A client that takes nothing for so many milliseconds is cut off: what is left to read stands in memory for it. */
  static stallMs = 30_000;
  declare protected readonly of: A;

  /** Ends the answer. */
  cutOff?: () => void;

  /** @param text its pieces */
  constructor(text: AsyncIterable<string>) {
    const paced = async function* (stalled: () => void) {
      for await (const piece of text) {
        const late = setTimeout(stalled, PageStream.stallMs).unref();
        try {
          yield piece;
        } finally {
          clearTimeout(late);
        }
      }
    };
    // In bytes, and none ahead of what the client takes.
    super(
      Readable.from(
        paced(() => this.cutOff?.()),
        { objectMode: false, highWaterMark: 1 },
      ),
      { type: 'application/json; charset=utf-8' },
    );
  }
}

/**
 * @param beside what the answer has besides
 * @returns what the handler of a list returns
 */
export function toPage<T, A, B extends object = object>(
  list: Listed<T>,
  { offset = 0 }: PageQuery,
  convert: (item: T) => A,
  beside = {} as B,
): (Page<A> & B) | PageStream<A> {
  const { items, total, more, rest } = list;
  const after = (n: number) => ({ next_offset: more ? offset + n : null, ...beside });
  // Of every row the total is what was written.
  const end = (n: number) => `],${JSON.stringify({ total: more ? total : offset + n, ...after(n) }).slice(1)}`;
  if (rest) return new PageStream<A>(written(list, convert, '{"items":[', end));
  return { items: items.map((item) => convert(item)), total, ...after(items.length) };
}

/** What the handler of a list returns that is a bare array. */
export function toArray<T, A>(list: Listed<T>, convert: (item: T) => A): A[] | PageStream<A> {
  if (list.rest) return new PageStream<A>(written(list, convert, '[', () => ']'));
  return list.items.map((item) => convert(item));
}

/** What the handler of one thing returns that has a list in it, as its last field; of a long one, written as its rows are read. */
export function toObject<B extends object, F extends string, T, A>(
  beside: B,
  field: F,
  list: Listed<T>,
  convert: (item: T) => A,
): (B & Record<F, A[]>) | PageStream<B & Record<F, A[]>> {
  const begin = `${JSON.stringify(beside).slice(0, -1)},${JSON.stringify(field)}:[`;
  if (list.rest) return new PageStream<B & Record<F, A[]>>(written(list, convert, begin, () => ']}'));
  return { ...beside, [field]: list.items.map((item) => convert(item)) } as B & Record<F, A[]>;
}

/** The text of a list. @param end is told how many were written */
async function* written<T>(
  list: Listed<T>,
  convert: (item: T) => unknown,
  begin: string,
  end: (n: number) => string,
): AsyncGenerator<string> {
  let text = begin;
  let n = 0;
  for await (const items of batchesOf(list))
    for (const item of items) {
      text += (n++ > 0 ? ',' : '') + JSON.stringify(convert(item));
      if (text.length < CHUNK) continue;
      yield text;
      text = '';
      await sleep(REST_MS);
    }
  yield text + end(n);
}

const pages = new Map<string, Type<unknown>>();

/** The response class of a paged list, named `Page_<Item>_` (or as given). */
export function PageOf<T>(item: Type<T>, name = `Page_${item.name}_`): Type<Page<T>> {
  const known = pages.get(name);
  if (known) return known as Type<Page<T>>;
  class PageResponse {
    @ListField(() => item as Ctor, { description: 'The rows of this page.' })
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
