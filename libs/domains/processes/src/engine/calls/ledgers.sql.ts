import { statement } from '@aps/platform/database';

export const ADD_LLM_CALL = statement(`
  INSERT INTO process_llm_calls (id, org_id, run_id, step_id, path, model_requested, model_resolved, route, tokens, cost_usd, cost_credits, duration_ms, status, request_messages, response_messages, error)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)`);

export const ADD_REPAIR = statement(`
  INSERT INTO process_repairs (id, org_id, run_id, step_id, path, tool_slug, attempt, error, fixable, reason, payload_diff, tokens, cost_usd, cost_credits, request, response)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)`);
