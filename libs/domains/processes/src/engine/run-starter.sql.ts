import { statement } from '@aps/platform/database';

export const INSERT_RUN = statement(`
  INSERT INTO process_runs (id, org_id, process_id, revision_id, revision_hash, revision_version, label, envelope, source_kind, source_ref_id, user_id, restarted_from, parent_run_id, parent_step_id,
    root_run_id, depth, concurrency_key, concurrency_limit, admitted, budget_credits, asked_credits, idempotency_key, request_sha256, status, created_at, updated_at, dispatched_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, 'queued', $24, $24, clock_timestamp())`);
