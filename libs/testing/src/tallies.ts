import { foldOf, recountOf, type Tally } from '@aps/entities';
import { NO_CALLER, type Db } from '@aps/platform/database';
import { sql } from '@aps/platform/testing';

/** Folds a few rows that were appended. @returns how many it found */
export const foldTally = async (db: Db, tally: Tally): Promise<number> => (await db.query(sql<{ n: number }>(foldOf(tally)), [7]))[0].n;

/** What adds up to something, by what it is the sum of. @param isFolded then the newest of each is known as well */
export async function sumsOf(db: Db, { table, of }: Tally, isFolded = false): Promise<unknown[]> {
  const names = Object.keys(of[0].by).join(', ');
  const summed = [...new Set(of.flatMap((source) => Object.keys(source.sums ?? { n: '1' })))];
  const latest = of[0].latest && isFolded ? ', max(latest) AS latest' : '';
  return db.query(
    sql(`SELECT ${names}, ${summed.map((sum) => `sum(${sum})::text AS ${sum}`).join(', ')}${latest} FROM ${table}
      GROUP BY ${names} HAVING ${summed.map((sum) => `sum(${sum}) <> 0`).join(' OR ')} ORDER BY ${names}`),
  );
}

/** Counts a tally anew from its rows, and gives way to who writes them meanwhile, as the command does. */
export async function recountTally(db: Db, tally: Tally): Promise<void> {
  for (const statements of recountOf(tally)) while (!(await recounted(db, statements)));
}

const recounted = (db: Db, statements: string[]): Promise<boolean> =>
  db
    .transaction(NO_CALLER, async (tx) => {
      for (const statement of [`SET LOCAL lock_timeout = 500`, ...statements]) await tx.execute(sql(statement));
      return true;
    })
    .catch((error: { code?: string }) => {
      if (error.code === '55P03') return false;
      throw error;
    });
