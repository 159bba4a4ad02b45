import { statement } from '@aps/platform/database';

export const DEAD_LETTERS = statement<{ n: number }>('SELECT count(*)::int AS n FROM dead_letters');

/** Adds up what was appended to a tally. Value: how many rows at most; `n` is how many it found. */
export const folding = (sql: string) => statement<{ n: number }>(sql);
