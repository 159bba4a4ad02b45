import type { ProcessStepRow } from '@aps/entities';
import { statement } from '@aps/platform/database';
import { surroundings, type RunSurroundings } from '@aps/platform/runs';
import type { OpenStep } from './diagnosis.policy';

/**
 * Where a run stands, and whether its organization does. Before it come those alone that wait for a slot: one behind others of its key keeps
 * nobody else, and every other that is queued is taken up at once.
 */
export const SURROUNDINGS = statement<RunSurroundings & { org_suspended_at: Date | null }>(`
  SELECT (SELECT o.suspended_at FROM organizations o WHERE o.id = r.org_id) AS org_suspended_at, q.lease_expired, q.ahead, q.oldest_ahead_s
  FROM process_runs r CROSS JOIN ${surroundings('process_runs', 'r', { of: 'org_id', waits: 'w.parked' })} q
  WHERE r.id = $1`);

/** Steps of a run that are not over, in the order in which they were begun. */
export const OPEN = statement<OpenStep>(`
  SELECT path, kind, status, started_at, waiting_until, event, chat_id, child_run_id, hitl_request_id, resolution
  FROM process_steps WHERE run_id = $1 AND status IN ('running', 'waiting', 'outcome_unknown') ORDER BY seq`);
/** The step of a run that was over last. */
export const LAST_OVER = statement<Pick<ProcessStepRow, 'path' | 'status' | 'error'>>(
  'SELECT path, status, error FROM process_steps WHERE run_id = $1 AND finished_at IS NOT NULL ORDER BY finished_at DESC, seq DESC LIMIT 1',
);
