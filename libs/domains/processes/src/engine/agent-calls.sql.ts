import { statement } from '@aps/platform/database';

/**
 * What the turns of a chat have cost, up to one of them: that one, those that messages have cut off before it, and those of the agents
 * that they have delegated to. Nobody hears of the others as they end.
 */
export const TURN_COSTS = statement<{
  turn_id: string;
  chat_id: string;
  turn_no: number;
  done: boolean;
  input: number;
  cached_input: number;
  cache_write: number;
  output: number;
  reasoning: number;
  usd_cost: string | null;
  credits: string;
}>(`
  SELECT t.id AS turn_id, t.chat_id, t.seq AS turn_no, t.chat_id <> $1 AND t.status = 'done' AS done, coalesce(sum(r.input_tokens), 0)::int AS input,
    coalesce(sum(r.cached_input_tokens), 0)::int AS cached_input, coalesce(sum(r.cache_write_tokens), 0)::int AS cache_write,
    coalesce(sum(r.output_tokens), 0)::int AS output, coalesce(sum(r.reasoning_tokens), 0)::int AS reasoning,
    sum(r.usd_cost)::text AS usd_cost, coalesce(sum(r.credits), 0)::text AS credits
  FROM chats c JOIN turns t ON t.chat_id = c.id LEFT JOIN inference_receipts r ON r.turn_id = t.id
  WHERE c.root_chat_id = $1 AND (t.chat_id <> $1 OR t.seq <= (SELECT l.seq FROM turns l WHERE l.id = $2))
  GROUP BY t.id HAVING t.id = $2 OR count(r.id) > 0 ORDER BY t.id`);

export const ADD_AGENT_CALL = statement(`
  INSERT INTO process_agent_calls (id, org_id, run_id, step_id, path, kind, chat_id, turn_id, turn_no, tokens, cost_usd, cost_credits, status, messages, result)
  SELECT $2, s.org_id, s.run_id, s.step_id, s.path, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12 FROM process_steps s WHERE s.id = $1 ON CONFLICT (id) DO NOTHING`);
