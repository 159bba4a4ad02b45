import { Readable } from 'node:stream';
import { setImmediate as letOthers, setTimeout as sleep } from 'node:timers/promises';
import { StreamableFile, type Type } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { DomainError } from '@aps/contracts';
import { batchesOf, type Listed } from '@aps/platform/database';
import type { Ctor } from './declared-fields';
import { IntField, ListField } from './fields';
import { holdToPace } from './pace';

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
 * After so many bytes of a list its writing rests, so that other requests of the process do not wait behind it: it takes about a
 * third of the process's time, however fast the client is.
 */
const CHUNK = 16 * 1024;
const REST_MS = 1;

/** A {@link Page}, the bare array, or an object with one, of many or large rows, written as they are read, no faster than the client takes it. */
export class PageStream<A> extends StreamableFile {
  /** No piece goes out so many milliseconds after it was last asked whether its reader may have it. */
  static confirmMs = 5_000;
  declare protected readonly of: A;

  /** Ends the answer: of a client that is slower than its pace, as what is left to read stands in memory for it, and of one that may not go on. */
  cutOff: () => void = () => undefined;
  /** Throws when the reader may not read it any more. */
  confirm: () => Promise<void> = () => Promise.resolve();

  /** @param text its pieces */
  constructor(text: AsyncIterable<string>) {
    // In bytes, and none ahead of what the client takes.
    super(
      Readable.from(
        piecesOf(text, () => this),
        { objectMode: false, highWaterMark: 1 },
      ),
      { type: 'application/json; charset=utf-8' },
    );
  }
}

async function* piecesOf(text: AsyncIterable<string>, list: () => PageStream<unknown>): AsyncGenerator<Buffer> {
  let isReading = true;
  let asked = performance.now();
  const pace = holdToPace(
    () => list().cutOff(),
    () => isReading,
  );
  try {
    for await (const piece of pieces(text)) {
      if (performance.now() - asked >= PageStream.confirmMs) {
        if (!(await mayGoOn(list()))) return list().cutOff();
        asked = performance.now();
      }
      isReading = false;
      yield piece;
      isReading = true;
      pace.moved(piece.length);
      await sleep(REST_MS);
    }
  } finally {
    pace.end();
  }
}

/** Of a text as it is written, and one much longer than a chunk in chunks. */
async function* pieces(text: AsyncIterable<string>): AsyncGenerator<Buffer> {
  for await (const part of text) {
    let left = Buffer.from(part);
    for (; left.length > 2 * CHUNK; left = left.subarray(CHUNK)) yield left.subarray(0, CHUNK);
    yield left;
  }
}

/** A failure decides nothing. */
const mayGoOn = (list: PageStream<unknown>): Promise<boolean> =>
  list.confirm().then(
    () => true,
    (error: unknown) => !(error instanceof DomainError && error.status < 500),
  );

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
    for (const row of await textsOf(items, convert)) {
      text += (n++ > 0 ? ',' : '') + row;
      if (text.length < CHUNK) continue;
      yield text;
      text = '';
    }
  yield text + end(n);
}

/**
 * The texts of some rows, of which the array is left empty, as those who made and passed it may keep it: while a client takes the text of large
 * rows, which may be a minute for each MiB, the rows themselves, ten times as large, are gone.
 */
async function textsOf<T>(items: T[], convert: (item: T) => unknown): Promise<string[]> {
  const texts: string[] = [];
  let length = 0;
  for (const item of items.splice(0)) {
    length += texts[texts.push(JSON.stringify(convert(item))) - 1].length;
    if (length < CHUNK) continue;
    await letOthers();
    length = 0;
  }
  return texts;
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
