import { statement } from '@aps/platform/database';

/** Of a run without a budget no row. What the turns of a step's agent cost is the run's when one of them ends with its chat; until then all that they have cost so far counts, those that messages have cut off included. */
const useOf = (run: string) =>
  statement<{ used_up: boolean }>(`
  SELECT r.cost_credits + coalesce((
    SELECT sum(i.credits) FROM process_steps s JOIN turns t ON t.chat_id = s.chat_id JOIN inference_receipts i ON i.turn_id = t.id
    WHERE s.run_id = r.id AND s.status = 'waiting' AND s.chat_id IS NOT NULL AND s.resolution IS NULL), 0) + $2::numeric >= r.budget_credits AS used_up
  FROM process_runs r WHERE r.id = ${run} AND r.budget_credits IS NOT NULL`);
export const USE_OF_RUN = useOf('$1');
/** A chat that no step waits for any more is no matter of the run's. */
export const USE_OF_CHATS_RUN = useOf(
  `(SELECT w.run_id FROM process_steps w WHERE w.chat_id = $1 AND w.status = 'waiting' AND w.resolution IS NULL)`,
);
