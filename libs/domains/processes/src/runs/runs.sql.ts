import type { ProcessRun } from '@aps/entities';
import { statement } from '@aps/platform/database';

export const RUN = statement<ProcessRun>('SELECT * FROM process_runs WHERE org_id = $1 AND process_id = $2 AND id = $3');
/** Held until the transaction ends: who cancels it with those that do it again waits for that. */
export const HOLD_RUN = statement('SELECT FROM process_runs WHERE org_id = $1 AND process_id = $2 AND id = $3 FOR SHARE');
/** What an earlier call under the same key has begun, within a day. */
export const BEGUN_BY_KEY = statement<{ id: string; request_sha256: string | null }>(`
  SELECT id, request_sha256 FROM process_runs WHERE process_id = $1 AND idempotency_key = $2 AND created_at > now() - interval '1 day' ORDER BY created_at DESC LIMIT 1`);
/** Copies the steps of a run up to a row of it, that one excluded, as done. */
export const COPY_STEPS = statement(`
  WITH r AS (UPDATE process_runs SET held_bytes = o.held_bytes FROM process_runs o WHERE o.id = $1 AND process_runs.id = $2)
  INSERT INTO process_steps (id, org_id, run_id, seq, path, parent_path, step_id, kind, attempt, status, input, output, error, note, started_at, finished_at)
  SELECT gen_random_uuid(), s.org_id, $2, s.seq, s.path, s.parent_path, s.step_id, s.kind, s.attempt, s.status, s.input, s.output, s.error, 'copied', s.started_at, s.finished_at
  FROM process_steps s WHERE s.run_id = $1 AND split_part(s.path, '/', 1) = ANY ($3)`);
export const REACHED = statement<{ n: number }>('SELECT count(*)::int AS n FROM process_steps WHERE run_id = $1 AND path = $2');
