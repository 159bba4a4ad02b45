import { statement } from '@aps/platform/database';

/** What is around a run: its organization, and how many of it wait before this one. */
export const AROUND = statement<{ org_suspended_at: Date | null; lease_expired: boolean; ahead: number; oldest_ahead_s: number | null }>(`
  SELECT (SELECT o.suspended_at FROM organizations o WHERE o.id = r.org_id) AS org_suspended_at, coalesce(r.lease_expires_at < now(), false) AS lease_expired, q.ahead, q.oldest_ahead_s
  FROM process_runs r CROSS JOIN LATERAL (
    SELECT count(*)::int AS ahead, extract(epoch FROM now() - min(w.dispatched_at))::float8 AS oldest_ahead_s FROM process_runs w
    WHERE r.status = 'queued' AND w.org_id = r.org_id AND w.parked AND w.dispatched_at < r.dispatched_at
  ) q WHERE r.id = $1`);
