import { statement } from '@aps/platform/database';
import type { Operation } from 'rfc6902';

export const ADD_LLM_CALL = statement(`
  INSERT INTO process_llm_calls (id, org_id, run_id, step_id, path, model_requested, model_resolved, route, tokens, cost_usd, cost_credits, duration_ms, status, request_messages, response_messages, error)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16) ON CONFLICT (id) DO NOTHING`);

export const ADD_REPAIR = statement(`
  INSERT INTO process_repairs (id, org_id, run_id, step_id, path, tool_slug, attempt, error, fixable, reason, payload_diff, tokens, cost_usd, cost_credits, request, response)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)`);

/** What was mended for earlier tries of a step, and whether nobody knows what became of one of them. */
export const REPAIRED = statement<{ repairs: number; changes: Operation[][]; is_ambiguous: boolean }>(`
  SELECT count(*)::int AS repairs, coalesce(jsonb_agg(payload_diff ORDER BY id) FILTER (WHERE fixable), '[]') AS changes,
    EXISTS (SELECT 1 FROM process_steps WHERE run_id = $1 AND path = $2 AND attempt < $3
      AND (note = 'outcome_unknown' OR error->>'code' IN ('timeout', 'worker_lost') OR resolution IS NOT NULL)) AS is_ambiguous
  FROM process_repairs WHERE run_id = $1 AND path = $2`);
