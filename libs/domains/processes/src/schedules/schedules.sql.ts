import type { Schedule } from '@aps/entities';
import { statement } from '@aps/platform/database';

const OF_ACTIVE_ORGS = 'schedules s JOIN organizations o ON o.id = s.org_id AND o.suspended_at IS NULL';
const IS_DUE = '(s.enabled AND s.next_run_at IS NOT NULL AND s.next_run_at <= now())';

/** What a schedule has begun last, by its id. A chat is over when nothing of it runs or waits. */
const atWork = (id: string) => `(
  EXISTS (SELECT 1 FROM process_runs r WHERE r.id = ${id} AND r.finished_at IS NULL)
  OR EXISTS (SELECT 1 FROM chats c WHERE c.id = ${id} AND c.deleted_at IS NULL
    AND (c.status IN ('RUNNING', 'PAUSED') OR (c.status = 'ACTIVE' AND c.current_turn_id IS NOT NULL))))`;

export const DUE = statement<{ id: string }>(`SELECT s.id FROM ${OF_ACTIVE_ORGS} WHERE ${IS_DUE} ORDER BY s.next_run_at LIMIT $1`);

export const OLDEST_DUE = statement<{ seconds: number }>(
  `SELECT coalesce(extract(epoch FROM now() - min(s.next_run_at)), 0)::float8 AS seconds FROM ${OF_ACTIVE_ORGS} WHERE ${IS_DUE}`,
);

/** Those with a firing that waits for the last one, which is over. */
export const FREE = statement<{ id: string }>(`
  SELECT s.id FROM ${OF_ACTIVE_ORGS} WHERE s.waits_since IS NOT NULL AND NOT ${atWork(`(s.last_run->>'id')::uuid`)} ORDER BY s.waits_since LIMIT $1`);

export interface FiringSchedule extends Schedule {
  /** The time of the transaction. */
  now: Date;
  /** Else a firing of it waits. */
  due: boolean;
  late_s: number | null;
}

/** A schedule that is to fire, for the one that comes first. */
export const TAKE = statement<FiringSchedule>(`
  SELECT s.*, now() AS now, ${IS_DUE} AS due, extract(epoch FROM now() - s.next_run_at)::float8 AS late_s FROM ${OF_ACTIVE_ORGS}
  WHERE s.id = $1 AND (${IS_DUE} OR s.waits_since IS NOT NULL) FOR NO KEY UPDATE OF s SKIP LOCKED`);

/** Asked under the lock of its schedule, behind whoever has fired last. */
export const LASTS = statement<{ lasts: boolean }>(`SELECT ${atWork('$1::uuid')} AS lasts`);

/** What a firing leaves behind; without a last run the one before stays. */
export const SETTLE = statement(
  'UPDATE schedules SET next_run_at = $2, waits_since = $3, last_run = coalesce($4::jsonb, last_run) WHERE id = $1',
);

/** Those of a target that is gone. */
export const STOP = statement(`
  UPDATE schedules SET enabled = false, next_run_at = NULL, waits_since = NULL, updated_at = now(),
    last_run = jsonb_build_object('id', NULL, 'at', now(), 'status', 'refused:target_deleted')
  WHERE org_id = $1 AND target_kind = $2 AND target_id = $3`);
