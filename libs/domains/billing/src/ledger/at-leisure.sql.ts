import { LEDGER_SUMMED_EVERY } from '@aps/entities';
import { statement } from '@aps/platform/database';

/** Milliseconds that each statement over the whole of a ledger may take which somebody waits for. */
export const REQUEST_MS = 60_000;

/**
 * What reads whole ledgers may take longer than a request may, and remember more, but on one core: shared out to several processes, burns are
 * hashed instead of merged, which takes three times as long, and the other cores are for turns. Value: milliseconds.
 */
export const AT_LEISURE = statement(`
  SELECT set_config('statement_timeout', $1, true), set_config('work_mem', '64MB', true), set_config('max_parallel_workers_per_gather', '0', true), set_config('jit', 'off', true)`);

/** What the ledger of the organization `$1` comes to: what its last thousandth row has summed up, and the rows since. */
export const LEDGER_TOTAL = `(
  SELECT coalesce((SELECT l.sum_until FROM credit_ledger l WHERE l.org_id = $1 AND l.seq = s.seq), 0)
    + coalesce((SELECT sum(l.delta) FROM credit_ledger l WHERE l.org_id = $1 AND l.seq > s.seq), 0) AS total
  FROM (SELECT coalesce(max(l.seq), 0) / ${LEDGER_SUMMED_EVERY} * ${LEDGER_SUMMED_EVERY} AS seq FROM credit_ledger l WHERE l.org_id = $1) s)`;
