import { Injectable } from '@nestjs/common';
import type { RunKindName } from '@aps/contracts';
import type { WorkerRow } from '@aps/entities';
import { Database, listed, sliceBounds, statement, type Listed, type Slice } from '@aps/platform/database';
import { Outbox } from '@aps/platform/outbox';
import { queueState, SEEN_LATELY, type QueueState } from '@aps/platform/queues';
import { RUNS } from './runs.sql';

/** Work that is one worker's for so long. */
export interface WorkerLease {
  kind: RunKindName;
  id: string;
  org_id: string;
  fence: string;
  /** In JSON, which has no times. */
  expires_at: string;
}

export type WorkerView = WorkerRow & { leases: WorkerLease[]; total: number };

/** Null where Redis cannot be asked. */
export type QueueView = { name: string } & { [C in keyof QueueState]: QueueState[C] | null };

// The leases of all workers of the page are found in one pass over what is owned, which is little beside all runs.
const OWNED = RUNS.map(
  ({ kind, table }) =>
    `SELECT '${kind}' AS kind, id, org_id, fence, lease_owner, lease_expires_at FROM ${table} WHERE lease_owner IS NOT NULL`,
).join(' UNION ALL ');
const PAGE = statement<WorkerView>(`
  WITH w AS MATERIALIZED (
    SELECT id, app, version, started_at, last_seen_at, draining, queues, (count(*) OVER ())::int AS total
    FROM workers WHERE ${SEEN_LATELY} ORDER BY started_at, id LIMIT $1 OFFSET $2
  ), l AS (
    SELECT w.id, json_agg(json_build_object('kind', r.kind, 'id', r.id, 'org_id', r.org_id, 'fence', r.fence::text, 'expires_at', r.lease_expires_at)
      ORDER BY r.lease_expires_at, r.id) AS leases
    FROM (${OWNED}) r JOIN w ON w.id = split_part(r.lease_owner, '#', 1) GROUP BY w.id
  )
  SELECT w.*, coalesce(l.leases, '[]') AS leases FROM w LEFT JOIN l ON l.id = w.id ORDER BY w.started_at, w.id`);
const COUNT = statement<{ n: number }>(`SELECT count(*)::int AS n FROM workers WHERE ${SEEN_LATELY}`);

/** What runs the work, and what waits for it. */
@Injectable()
export class WorkersQueries {
  constructor(
    private readonly db: Database,
    private readonly outbox: Outbox,
  ) {}

  /** Those that live, in the order in which they were started. */
  page(slice: Slice): Promise<Listed<WorkerView>> {
    return listed(slice, this.db.query(PAGE, sliceBounds(slice)), async () => (await this.db.query(COUNT))[0].n);
  }

  /** Every queue of the service, whoever consumes it. */
  queues(): Promise<QueueView[]> {
    const unknown = { ready: null, active: null, delayed: null, failed: null, oldest_ready_s: null };
    return Promise.all(
      this.outbox
        .allQueues()
        .map(async (queue) => ({ name: queue.name, ...(await queueState(queue, this.db.now()).catch(() => unknown)) })),
    );
  }
}
