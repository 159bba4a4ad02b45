import { statement } from '@aps/platform/database';

export const DEAD_LETTERS = statement<{ n: number }>('SELECT count(*)::int AS n FROM dead_letters');
