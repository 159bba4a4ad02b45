import { statement } from '@aps/platform/database';
import { insertJobs } from '@aps/platform/outbox';
import { appendEvents } from '@aps/platform/realtime';

/** A run with the first events of its log and, where it may begin, its job. */
export const INSERT_RUN = statement(`
  WITH r AS (
    INSERT INTO process_runs (id, org_id, process_id, revision_id, revision_hash, revision_version, label, envelope, source_kind, source_ref_id, user_id, restarted_from, parent_run_id, parent_step_id,
      root_run_id, depth, concurrency_key, concurrency_limit, admitted, budget_credits, asked_credits, idempotency_key, request_sha256, status, created_at, updated_at, dispatched_at, event_seq, engine_version)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, 'queued', $24, $24, clock_timestamp(), jsonb_array_length($25::jsonb), $26)
    RETURNING id, org_id, admitted
  ), e AS (${appendEvents({ from: 'r', topic: `'run:' || r.id`, orgId: 'r.org_id', after: '0', events: '$25::jsonb', at: '$24' })}
  )${insertJobs('process.run', { from: 'r WHERE r.admitted', id: 'r.id', payload: { org_id: 'r.org_id', run_id: 'r.id' } })}`);
