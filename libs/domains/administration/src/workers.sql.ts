import { statement } from '@aps/platform/database';
import { SEEN_LATELY } from '@aps/platform/queues';

/** Nothing is found of a worker that is gone, and nothing written where it was so already. Values: the worker, whether it begins nothing new. */
export const SET_DRAINING = statement<{ changed: boolean }>(`
  WITH w AS MATERIALIZED (SELECT id, draining FROM workers WHERE id = $1 AND ${SEEN_LATELY} FOR NO KEY UPDATE),
  u AS (UPDATE workers SET draining = $2 FROM w WHERE workers.id = w.id AND w.draining <> $2)
  SELECT draining <> $2 AS changed FROM w`);
