/** Which rows of a list; no limit means all. */
export interface Slice {
  limit?: number;
  offset?: number;
}

/** Some rows, and how many there are in all. */
export interface Listed<T> {
  items: T[];
  total: number;
}

/** The values of `LIMIT` and `OFFSET`; a null limit means every row. */
export function sliceBounds({ limit, offset }: Slice): [limit: number | null, offset: number] {
  return [limit ?? null, offset ?? 0];
}

/**
 * Some rows with their total. It is counted only where no row carries it as `total`, and they do not tell it by where they end.
 *
 * @param count how many there are in all
 */
export async function listed<T>(slice: Slice, rows: Promise<T[]>, count: () => Promise<number>): Promise<Listed<T>> {
  const [limit, offset] = sliceBounds(slice);
  const items = await rows;
  const isEnd = (limit === null || items.length < limit) && (items.length > 0 || offset === 0);
  const [carrier] = items as { total?: number }[];
  return { items, total: carrier?.total ?? (isEnd ? offset + items.length : await count()) };
}

/** A pattern for ILIKE that finds a text anywhere, and finds `%` and `_` as themselves. */
export const containing = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`;
