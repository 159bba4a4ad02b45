import { statement } from '@aps/platform/database';

/**
 * The budgets that are used up of a run, and of those whose steps it is within: each of all that its run and the runs of its steps have cost.
 * What the agent of a step costs is the run's when its chat ends; until then all that it and the agents below it have cost so far counts,
 * turns that messages have cut off included.
 */
const usedUp = (run: string) =>
  statement<{ is_own: boolean }>(`
  WITH RECURSIVE line AS (
    SELECT id, parent_run_id, budget_credits, true AS is_own FROM process_runs WHERE id = ${run}
    UNION ALL SELECT p.id, p.parent_run_id, p.budget_credits, false FROM line l JOIN process_runs p ON p.id = l.parent_run_id
  ), tree AS (
    SELECT id AS top_id, is_own, budget_credits, id FROM line WHERE budget_credits IS NOT NULL
    UNION ALL SELECT t.top_id, t.is_own, t.budget_credits, c.id FROM tree t JOIN process_runs c ON c.parent_run_id = t.id
  )
  SELECT t.is_own FROM tree t JOIN process_runs r ON r.id = t.id CROSS JOIN LATERAL (
    SELECT coalesce(sum(i.credits), 0) AS credits FROM process_steps s JOIN chats c ON c.root_chat_id = s.chat_id JOIN turns u ON u.chat_id = c.id
      JOIN inference_receipts i ON i.turn_id = u.id
    WHERE s.run_id = r.id AND s.status = 'waiting' AND s.chat_id IS NOT NULL AND s.resolution IS NULL
  ) under_way
  GROUP BY t.top_id, t.is_own, t.budget_credits HAVING sum(r.cost_credits + under_way.credits) + $2::numeric >= t.budget_credits`);
export const USED_UP = usedUp('$1');
/** A chat that no step waits for any more is no matter of the run's, nor are those below it. */
export const USED_UP_FOR_CHAT = usedUp(
  `(SELECT w.run_id FROM chats c JOIN process_steps w ON w.chat_id = c.root_chat_id WHERE c.id = $1 AND w.status = 'waiting' AND w.resolution IS NULL)`,
);
