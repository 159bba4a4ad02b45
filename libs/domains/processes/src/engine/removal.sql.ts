import { statement } from '@aps/platform/database';

/** Runs of a process that are not over: first those that do something, then those that have begun something. */
export const LIVE_OF = statement<{ id: string }>(
  `SELECT id FROM process_runs WHERE process_id = $1 AND finished_at IS NULL ORDER BY status = 'running' DESC, status = 'waiting' DESC, id LIMIT $2`,
);
/** Runs of a process that have asked humans what can still be read. */
export const ASKED_OF = statement<{ id: string }>(`
  SELECT r.id FROM process_runs r WHERE r.process_id = $1
    AND EXISTS (SELECT 1 FROM hitl_requests h WHERE h.run_id = r.id AND h.private_to IS NOT NULL) LIMIT $2`);
