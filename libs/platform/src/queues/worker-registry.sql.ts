import { statement } from '@aps/platform/database';

/** A worker that has been silent for so long is gone. */
export const SEEN_LATELY = `last_seen_at > now() - interval '1 minute'`;

/** A row that was removed while its worker stood still comes back as the worker was. Whose process ends for good stays drained, whatever is said of it. */
export const BEAT = statement<{ started_at: Date; draining: boolean }>(`
  INSERT INTO workers (id, app, version, started_at, last_seen_at, draining, queues) VALUES ($1, $2, $3, coalesce($4::timestamptz, now()), now(), $5, $6)
  ON CONFLICT (id) DO UPDATE SET last_seen_at = now(), queues = EXCLUDED.queues, draining = workers.draining OR $7
  RETURNING started_at, draining`);
export const LEAVE = statement('DELETE FROM workers WHERE id = $1');
export const REMOVE_SILENT = statement(`DELETE FROM workers WHERE NOT ${SEEN_LATELY}`);
