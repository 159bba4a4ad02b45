import type { ProcessStepRow } from '@aps/entities';
import { statement } from '@aps/platform/database';
import type { OpenStep } from './diagnosis.policy';

/** What is around a run: its organization, and how many of it wait before this one. */
export const AROUND = statement<{ org_suspended_at: Date | null; lease_expired: boolean; ahead: number; oldest_ahead_s: number | null }>(`
  SELECT (SELECT o.suspended_at FROM organizations o WHERE o.id = r.org_id) AS org_suspended_at, coalesce(r.lease_expires_at < now(), false) AS lease_expired, q.ahead, q.oldest_ahead_s
  FROM process_runs r CROSS JOIN LATERAL (
    SELECT count(*)::int AS ahead, extract(epoch FROM now() - min(w.dispatched_at))::float8 AS oldest_ahead_s FROM process_runs w
    WHERE r.status = 'queued' AND w.org_id = r.org_id AND w.parked AND w.dispatched_at < r.dispatched_at
  ) q WHERE r.id = $1`);

/** Steps of a run that are not over, in the order in which they were begun. */
export const OPEN = statement<OpenStep>(`
  SELECT path, kind, status, started_at, waiting_until, event, chat_id, child_run_id, hitl_request_id, resolution
  FROM process_steps WHERE run_id = $1 AND status IN ('running', 'waiting', 'outcome_unknown') ORDER BY seq`);
/** The step of a run that was over last. */
export const LAST_OVER = statement<Pick<ProcessStepRow, 'path' | 'status' | 'error'>>(
  'SELECT path, status, error FROM process_steps WHERE run_id = $1 AND finished_at IS NOT NULL ORDER BY finished_at DESC, seq DESC LIMIT 1',
);
