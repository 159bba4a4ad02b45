import { statement } from '@aps/platform/database';

export const DEAD_LETTERS = statement<{ job: string; n: number }>('SELECT job, count(*)::int AS n FROM dead_letters GROUP BY job');

/** Adds up what was appended to a tally. Value: how many rows at most; `n` is how many it found. */
export const folding = (sql: string) => statement<{ n: number }>(sql);
