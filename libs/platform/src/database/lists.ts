/** Which rows of a list; no limit means all. */
export interface Slice {
  limit?: number;
  offset?: number;
}

/** Some rows, and how many there are in all. */
export interface Listed<T> {
  items: T[];
  /** Where there is a `rest`, how many there were when the reading began. */
  total: number;
  /** Whether others follow that were not asked for. */
  more: boolean;
  /** Of a long list that is not read in one piece, the rows after `items`: read in batches, each when it is wanted, and once. Who has one may empty it. */
  rest?: AsyncIterable<T[]>;
}

/** A list is read in one piece up to so many rows, those of the largest page. */
export const PIECE = 100;

/** Of a longer one so many rows are read, and held, at a time. The driver takes them in one go, for which other requests wait. */
export const BATCH = 50;

/** Of rows that may have half a megabyte or more each, so many are read, and held, at a time: of a page, too, where it is heavy. */
export const FEW = 4;

/** So many bytes have rows, as text, that are read in one piece for all that; as objects they may be thirty times as large. */
const LIGHT = 2 ** 20;

/**
 * Whether some rows are heavy: a statement that reads none after the one that decides it.
 *
 * @param row their name in `from`
 * @param from tables and conditions
 */
export const heavy = (row: string, from: string): string => `SELECT EXISTS (
  SELECT 1 FROM (SELECT sum(octet_length(${row}::text)) OVER (ROWS UNBOUNDED PRECEDING) AS bytes FROM ${from}) weighed WHERE bytes > ${LIGHT}) AS heavy`;

/** The values of `LIMIT` and `OFFSET` for {@link listed}: one row more than asked for, which tells that there are more. */
export function sliceBounds({ limit, offset }: Slice): [limit: number | null, offset: number] {
  return [limit === undefined ? null : limit + 1, offset ?? 0];
}

/**
 * Some rows with their total. It is counted only where no row carries it as `total`, and they do not tell it by where they end.
 *
 * @param rows as {@link sliceBounds} bounds them
 * @param count how many there are in all
 */
export async function listed<T>(
  { limit = Infinity, offset = 0 }: Slice,
  rows: T[] | Promise<T[]>,
  count: () => number | Promise<number>,
): Promise<Listed<T>> {
  const found = await rows;
  const more = found.length > limit;
  const items = more ? found.slice(0, limit) : found;
  const isEnd = !more && (items.length > 0 || offset === 0);
  const [carrier] = items as { total?: number }[];
  return { items, total: carrier?.total ?? (isEnd ? offset + items.length : await count()), more };
}

/**
 * A page; or, where it is longer than one piece or too heavy for that, rows of which no more than a batch is held.
 *
 * @param page reads some rows
 * @param batches reads every row after so many, or the first `limit` of those; not before it is asked, and with no connection kept from one
 *   batch to the next
 * @param isHeavy of large rows: whether those are that `page` would read
 */
export async function listedInBatches<T>(
  slice: Slice,
  page: (slice: Slice) => Promise<Listed<T>>,
  batches: (offset: number, size: number, limit?: number) => AsyncGenerator<T[], void>,
  isHeavy?: (slice: Slice) => Promise<boolean>,
): Promise<Listed<T>> {
  const { limit = Infinity, offset = 0 } = slice;
  const part = { ...slice, limit: Math.min(limit, PIECE) };
  const piece = isHeavy && limit > FEW && (await isHeavy(part)) ? FEW : PIECE;
  const first = await page({ ...slice, limit: Math.min(limit, piece) });
  if (limit <= piece || !first.more) return first;
  const rest = batches(offset, isHeavy ? FEW : BATCH, slice.limit);
  const start = await rest.next();
  return { items: start.done ? [] : start.value, total: first.total, more: offset + limit < first.total, rest };
}

/**
 * Rows that are read each batch behind the last row of the one before.
 *
 * @param key behind which the first of them are
 * @param read some rows behind a key; none at the end
 */
export async function* batchesBehind<T, K>(key: K, keyOf: (row: T) => K, read: (key: K) => Promise<T[]>): AsyncGenerator<T[], void> {
  for (let batch = await read(key); batch.length; batch = await read(key)) {
    key = keyOf(batch[batch.length - 1]);
    yield batch;
  }
}

/** All items of a list, a batch after the other. */
export async function* batchesOf<T>({ items, rest }: Listed<T>): AsyncGenerator<T[]> {
  yield items;
  if (rest) yield* rest;
}

/** The same list with other items. @param map is given a batch after the other, which nobody else keeps */
export async function mapListed<T, U>(list: Listed<T>, map: (items: T[]) => U[] | Promise<U[]>): Promise<Listed<U>> {
  const { items, total, more, rest } = list;
  return { items: await map(items), total, more, ...(rest && { rest: mapped(rest, map) }) };
}

async function* mapped<T, U>(rest: AsyncIterable<T[]>, map: (items: T[]) => U[] | Promise<U[]>): AsyncGenerator<U[]> {
  for await (const items of rest) yield map(items.splice(0));
}

/** A pattern for ILIKE that finds a text anywhere, and finds `%` and `_` as themselves. */
export const containing = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`;
