import { sql } from '@aps/platform/testing';
import { until, type Platform } from '../../api-gateway-e2e/support';
import type { Work } from './turns';

/** Each finds what must not be; with `$1`, the organization. */
const FORBIDDEN: Record<string, string> = {
  'turns that are not over': `SELECT t.id, t.chat_id, t.status, t.deliveries, t.lease_expires_at FROM turns t WHERE t.org_id = $1 AND t.status IN ('queued', 'running', 'waiting')`,
  'chats that seem to do something': `SELECT id, status, pause, current_turn_id, pending_turns FROM chats WHERE org_id = $1 AND (status = 'RUNNING' OR pause IS NOT NULL OR current_turn_id IS NOT NULL OR pending_turns <> 0)`,
  'turns with other than one final answer': `
    SELECT t.id, t.chat_id, t.status, count(m.id)::int AS answers FROM turns t
    LEFT JOIN messages m ON m.turn_id = t.id AND m.role = 'assistant' AND (m.tool_calls IS NULL OR m.finish_reason = 'step_limit') AND NOT m.interrupted
    WHERE t.org_id = $1 GROUP BY t.id HAVING count(m.id) <> (CASE WHEN t.status = 'done' THEN 1 ELSE 0 END)`,
  'messages with gaps in their numbers': `
    SELECT c.id, c.message_seq, c.message_count, count(m.id)::int AS found, max(m.seq) AS newest FROM chats c LEFT JOIN messages m ON m.chat_id = c.id
    WHERE c.org_id = $1 GROUP BY c.id HAVING count(m.id) <> c.message_seq OR coalesce(max(m.seq), 0) <> c.message_seq OR c.message_count <> c.message_seq`,
  'events with gaps in their numbers': `
    SELECT c.id, c.event_seq, count(e.seq)::int AS found, max(e.seq) AS newest FROM chats c LEFT JOIN events e ON e.topic = 'chat:' || c.id
    WHERE c.org_id = $1 GROUP BY c.id HAVING count(e.seq) <> c.event_seq OR coalesce(max(e.seq), 0) <> c.event_seq`,
  'tool calls with other than one result': `
    SELECT m.chat_id, m.turn_id, call->>'id' AS call, count(r.id)::int AS results
    FROM messages m JOIN turns t ON t.id = m.turn_id AND t.status = 'done', jsonb_array_elements(m.tool_calls) AS call
    LEFT JOIN LATERAL (SELECT x.id FROM messages x WHERE x.turn_id = m.turn_id AND x.tool_call_id = call->>'id') r ON true
    WHERE m.org_id = $1 AND m.role = 'assistant' AND m.tool_calls IS NOT NULL GROUP BY 1, 2, 3 HAVING count(r.id) <> 1`,
  'finished model steps with other than one receipt': `
    SELECT s.turn_id, s.step_no, count(r.id)::int AS receipts FROM turn_steps s LEFT JOIN inference_receipts r ON r.turn_id = s.turn_id AND r.step_no = s.step_no AND r.feature = 'turn'
    WHERE s.org_id = $1 AND s.kind = 'model' AND s.status = 'done' GROUP BY 1, 2 HAVING count(r.id) <> 1`,
  'receipts without a finished model step': `
    SELECT r.id, r.turn_id, r.step_no FROM inference_receipts r
    LEFT JOIN turn_steps s ON s.turn_id = r.turn_id AND s.step_no = r.step_no AND s.kind = 'model' AND s.status = 'done'
    WHERE r.org_id = $1 AND r.feature = 'turn' AND r.step_no IS NOT NULL AND s.turn_id IS NULL`,
  // An answer that said nothing is asked for once more, beside the one that stands.
  // Of a turn that was stopped, what had been answered is paid for, and stands in no step.
  'receipts of answers that stand nowhere': `
    SELECT r.id, r.turn_id FROM inference_receipts r WHERE r.org_id = $1 AND r.feature = 'turn' AND r.step_no IS NULL
      AND NOT EXISTS (SELECT FROM inference_receipts x WHERE x.turn_id = r.turn_id AND x.feature = 'turn' AND x.step_no IS NOT NULL)
      AND NOT EXISTS (SELECT FROM turns t WHERE t.id = r.turn_id AND t.status = 'stopped')`,
  'finished turns with unfinished steps': `SELECT s.turn_id, s.step_no, s.kind FROM turn_steps s JOIN turns t ON t.id = s.turn_id WHERE t.org_id = $1 AND t.status = 'done' AND s.status = 'intent'`,
  'turns whose count of steps is wrong': `
    SELECT t.id, t.status, t.steps_done, count(s.step_no)::int AS finished FROM turns t LEFT JOIN turn_steps s ON s.turn_id = t.id AND s.status IN ('done', 'failed', 'outcome_unknown')
    WHERE t.org_id = $1 GROUP BY t.id HAVING t.steps_done <> count(s.step_no)`,
  'chats whose cost is not the sum of their receipts': `
    SELECT c.id, c.cost_usd, sum(r.usd_cost) AS receipts FROM chats c JOIN inference_receipts r ON r.chat_id = c.id WHERE c.org_id = $1 GROUP BY c.id HAVING c.cost_usd <> sum(r.usd_cost)`,
  'words of a stopped turn that are there twice, or of one that was not stopped': `
    SELECT t.id, t.chat_id, t.status, count(m.id)::int AS messages FROM turns t JOIN messages m ON m.turn_id = t.id AND m.interrupted
    WHERE t.org_id = $1 GROUP BY t.id HAVING count(m.id) <> 1 OR t.status <> 'stopped'`,
  // Of a script of the mock model.
  'words of a stopped turn that its model did not say in this order': `
    SELECT m.id, m.chat_id, m.content FROM messages m JOIN turns t ON t.id = m.turn_id JOIN messages asked ON asked.id = t.message_id
    WHERE m.org_id = $1 AND m.interrupted AND position('"text":"' || trim(m.content) IN asked.content) = 0`,
  'children whose end nobody was told': `
    SELECT w.child_chat_id, w.status, w.waits FROM child_waits w JOIN chats c ON c.id = w.child_chat_id JOIN turns t ON t.id = w.parent_turn_id
    WHERE w.org_id = $1 AND ((w.status = 'open' AND c.current_turn_id IS NULL) OR (w.status = 'finished' AND w.waits AND t.status NOT IN ('queued', 'running', 'waiting')))`,
  'children whose end was told other than once': `
    SELECT w.child_chat_id, count(e.seq)::int AS told FROM child_waits w
    LEFT JOIN events e ON e.topic = 'chat:' || w.parent_chat_id AND e.type = 'delegation_finished' AND e.data->>'child_chat_id' = w.child_chat_id::text
    WHERE w.org_id = $1 AND w.status = 'finished' GROUP BY w.child_chat_id HAVING count(e.seq) <> 1`,
  'jobs that were given up': `SELECT id, job, error FROM dead_letters`,
};

/** Reads the database for what must hold once everything has come to rest. */
export async function check(platform: Platform, works: Work[] = [], orgId = platform.demo.org_id): Promise<void> {
  await platform.database(async (db) => {
    // The last job's row goes with its effect, but others (a title) may still be under way.
    const left = () => db.query(sql('SELECT id, job, payload, available_at, publishes, failures, last_error FROM outbox'));
    await until('the outbox becomes empty', async () => (await left()).length === 0).catch(async () => expect(await left()).toEqual([]));
    const found: Record<string, unknown[]> = {};
    for (const [what, text] of Object.entries(FORBIDDEN)) {
      const rows = await db.query(sql(text), text.includes('$1') ? [orgId] : []);
      if (rows.length) found[what] = rows;
    }
    expect(found).toEqual({});
    for (const { memory } of works) {
      if (!memory) continue;
      const [{ n }] = await db.query(sql<{ n: number }>('SELECT count(*)::int AS n FROM memories WHERE content = $1'), [memory]);
      expect([memory, n]).toEqual([memory, 1]);
    }
  });
}
