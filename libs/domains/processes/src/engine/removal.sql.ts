import { statement } from '@aps/platform/database';

const live = (rank: number, of: string) =>
  `(SELECT id, ${rank} AS rank FROM process_runs WHERE process_id = $1 AND finished_at IS NULL AND ${of} ORDER BY created_at, id LIMIT $3)`;
/**
 * Runs of a process that are not over: first those that do something, then those that have begun something. Each is found by an index, whatever
 * else the process has had.
 */
export const LIVE_OF = statement<{ id: string }>(`
  SELECT id FROM (
    ${live(0, 'org_id = $2 AND lease_owner IS NOT NULL')} UNION ALL ${['running', 'waiting_human', 'queued']
      .map((state, i) => live(i + 1, `state = '${state}' AND lease_owner IS NULL`))
      .join(' UNION ALL ')}
  ) l ORDER BY rank, id LIMIT $3`);
/** The newest runs of a process, be they over or not, after one of them. */
export const NEWEST_OF = statement<{ id: string }>(`
  SELECT id FROM process_runs WHERE process_id = $1
    AND (created_at, id) < (coalesce((SELECT a.created_at FROM process_runs a WHERE a.id = $2), 'infinity'), coalesce($2::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
  ORDER BY created_at DESC, id DESC LIMIT $3`);
