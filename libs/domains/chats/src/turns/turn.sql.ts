import { statement } from '@aps/platform/database';

/** How long a claim holds without a heartbeat. */
export const LEASE_S = 20;
/** Deliveries in a row that finish no step before a turn is given up. */
export const MAX_DELIVERIES = 3;
/**
 * Claims that come at the same moment do not see each other. Closer to the cap than this, a claim takes the organization's lock;
 * further away it needs none.
 */
export const CAP_MARGIN = 64;

/*
 * Every statement here first locks the chat and the turn, and decides on what it finds under the lock. One statement is one
 * transaction and one round trip, which is what keeps a turn cheap.
 *
 * Rows are found by their ids alone, and further conditions come after that: a connection plans a statement once, perhaps while the
 * tables are empty, and then any condition may look as good as an id.
 */

export const CLAIM = statement(`
WITH l AS MATERIALIZED (
  SELECT t.id, t.org_id, t.chat_id, t.seq, t.status, t.cause, t.model, t.model_mode_override, t.reasoning_effort, t.unpriced_allowed,
         t.lease_expires_at, t.fence, t.deliveries, t.steps_done, t.wait, t.dispatched_at,
         c.agent_id, c.agent_revision_id, c.title AS chat_title, c.model_mode_override AS chat_mode, c.status AS chat_status, c.pause, c.stop_requested_at,
         c.created_by, c.enabled_scopes, c.parent_chat_id, c.event_seq, c.message_seq, c.deleted_at, c.compaction_id
  FROM turns t JOIN chats c ON c.id = t.chat_id
  WHERE t.id = $1
  FOR UPDATE OF c, t
), v AS MATERIALIZED (
  -- The fence is the time and not only a count: where PostgreSQL does not wait for its disk, a crash could have it forget a claim, and a
  -- count would give the same fence out a second time.
  SELECT greatest(l.fence + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint) AS fence, CASE
    WHEN l.status NOT IN ('queued', 'running', 'waiting') OR l.deleted_at IS NOT NULL THEN 'gone'
    WHEN l.status = 'running' AND l.lease_expires_at > now() THEN 'busy'
    WHEN l.dispatched_at <= l.stop_requested_at THEN 'skipped'
    WHEN l.status = 'waiting' AND coalesce((l.wait->>'resume_at')::timestamptz, 'infinity') > now() THEN 'early'
    WHEN (SELECT o.suspended_at FROM organizations o WHERE o.id = l.org_id) IS NOT NULL THEN 'suspended'
    WHEN l.deliveries >= ${MAX_DELIVERIES} THEN 'lost'
    WHEN $4::int >= 0 AND (SELECT count(*) FROM turns r WHERE r.org_id = l.org_id AND r.lease_owner IS NOT NULL AND r.status = 'running' AND r.lease_expires_at > now()) >= $4::int THEN 'over_cap'
    ELSE 'claimed' END AS verdict
  FROM l
), t AS (
  UPDATE turns SET status = 'running', parked = false, lease_owner = $2, lease_expires_at = now() + interval '${LEASE_S} seconds', fence = v.fence,
         deliveries = l.deliveries + 1, started_at = coalesce(turns.started_at, now())
  FROM l, v WHERE v.verdict = 'claimed' AND turns.id = l.id
), c AS (
  UPDATE chats SET status = 'RUNNING', pause = NULL, error = NULL, stop_reason = NULL, event_seq = l.event_seq + (CASE WHEN l.chat_status = 'RUNNING' THEN 0 ELSE 1 END), updated_at = $3
  FROM l, v WHERE v.verdict = 'claimed' AND chats.id = l.chat_id
), e AS (
  INSERT INTO events (topic, seq, org_id, type, data, created_at)
  SELECT 'chat:' || l.chat_id, l.event_seq + 1, l.org_id, 'status_changed', jsonb_build_object('from', l.chat_status, 'to', 'RUNNING', 'stop_reason', NULL, 'pause', NULL), $3
  FROM l, v WHERE v.verdict = 'claimed' AND l.chat_status <> 'RUNNING'
)
SELECT v.verdict, CASE v.verdict WHEN 'busy' THEN l.lease_expires_at WHEN 'early' THEN (l.wait->>'resume_at')::timestamptz END AS retry_at,
       l.id, l.org_id, l.chat_id, l.agent_id, l.agent_revision_id, v.fence, l.seq, l.cause, l.deliveries, l.status = 'running' AS taken_over, l.steps_done, l.wait, l.model, l.model_mode_override,
       l.reasoning_effort, l.unpriced_allowed, l.dispatched_at, l.chat_title, l.chat_mode, l.chat_status, l.created_by, l.enabled_scopes, l.parent_chat_id, l.event_seq,
       -- Messages are read as of the statement's beginning. One that was stored while it waited for the lock is missing there; then they are read again.
       CASE WHEN v.verdict = 'claimed' AND l.deliveries = 0 AND l.compaction_id IS NULL AND l.message_seq = (SELECT s.message_seq FROM chats s WHERE s.id = l.chat_id) THEN (
         SELECT json_agg(json_build_object('role', m.role, 'content', m.content, 'tool_calls', m.tool_calls, 'tool_call_id', m.tool_call_id, 'tool_name', m.tool_name,
                                           'provider_state', m.provider_state, 'turn_id', m.turn_id, 'attachments', m.attachments) ORDER BY m.turn_no, m.seq)
         FROM messages m WHERE m.chat_id = l.chat_id AND m.turn_no <= l.seq) END AS transcript
FROM l, v`);

export const TRANSCRIPT = statement(`
  WITH k AS (SELECT k.summary, k.through_turn_no, k.through_seq FROM chats c JOIN chat_compactions k ON k.id = c.compaction_id WHERE c.id = $1)
  SELECT role, content, tool_calls, tool_call_id, tool_name, provider_state, turn_id, covered, attachments FROM (
    SELECT 'summary' AS role, k.summary AS content, NULL::jsonb AS tool_calls, NULL AS tool_call_id, NULL AS tool_name, NULL::jsonb AS provider_state, NULL::uuid AS turn_id,
           -1 AS turn_no, -1 AS seq, false AS covered, NULL::jsonb AS attachments FROM k
    UNION ALL
    SELECT m.role, m.content, m.tool_calls, m.tool_call_id, m.tool_name, m.provider_state, m.turn_id, m.turn_no, m.seq,
           coalesce((m.turn_no, m.seq) <= (k.through_turn_no, k.through_seq), false), m.attachments FROM messages m LEFT JOIN k ON true
    WHERE m.chat_id = $1 AND m.turn_no <= $2 AND (k.through_turn_no IS NULL OR (m.turn_no, m.seq) > (k.through_turn_no, k.through_seq) OR (m.turn_no = $2 AND m.role = 'user'))
  ) rows ORDER BY turn_no, seq`);

/** $14: the id of the job that finds a title. */
const FINAL_PARTS = `
d AS (
  DELETE FROM outbox USING l WHERE outbox.id = l.id
), ti AS (
  INSERT INTO outbox (id, job, version, payload, available_at)
  SELECT $14, 'chat.title', 1, jsonb_build_object('org_id', l.org_id, 'chat_id', l.chat_id, 'turn_id', l.id), now() + interval '5 seconds'
  FROM l WHERE l.seq <= 3 AND l.title IS NULL
  RETURNING id
)`;

/** $14: the calls that the model asks for. */
const INTENTS = `
i AS (
  INSERT INTO turn_steps (turn_id, step_no, org_id, chat_id, kind, status, tool_call_id, tool_name, started_at)
  SELECT l.id, (x->>'step_no')::int, l.org_id, l.chat_id, 'tool', 'intent', x->>'tool_call_id', x->>'tool_name', $3
  FROM l, jsonb_array_elements($14::jsonb) AS x
)`;

/**
 * Ends a model step. A final one also ends the turn: the reply, its receipt, its events, the chat's state and the removal of the job are
 * one statement, so a reply is there exactly once or not at all. It touches nothing while turns are pending behind this one; those are
 * dispatched in a transaction (see endTurn).
 *
 * Two statements and not one with conditions: a part that does nothing is still set up and torn down each time.
 */
const commitModelStep = (final: boolean) => statement(`
WITH o AS MATERIALIZED (
  SELECT t.id, t.seq, t.fence, t.status, c.id AS chat_id, c.org_id, c.agent_id, c.event_seq, c.message_seq, c.title, c.pending_turns
  FROM turns t JOIN chats c ON c.id = t.chat_id
  WHERE t.id = $1
  FOR UPDATE OF c, t
), l AS MATERIALIZED (
  SELECT * FROM o WHERE o.fence = $2 AND o.status = 'running' ${final ? 'AND o.pending_turns = 0' : ''}
), m AS (
  INSERT INTO messages (id, org_id, chat_id, seq, role, content, tool_calls, provider_state, model, usage, turn_id, turn_no, created_at)
  SELECT $4, l.org_id, l.chat_id, l.message_seq + 1, 'assistant', $5, $6, $7, $8, $9, l.id, l.seq, $3 FROM l
), s AS (
  INSERT INTO turn_steps (turn_id, step_no, org_id, chat_id, kind, status, message_id, detail, started_at, finished_at)
  SELECT l.id, $11, l.org_id, l.chat_id, 'model', 'done', $4, $10, $3::timestamptz - make_interval(secs => ($12::jsonb->>'duration_ms')::float8 / 1000), $3 FROM l
), r AS (
  INSERT INTO inference_receipts (id, org_id, feature, chat_id, turn_id, step_no, agent_id, requested_model, model_key, resolve_reason, route_id, byo_key,
    input_tokens, cached_input_tokens, cache_write_tokens, output_tokens, reasoning_tokens,
    input_price_per_1m, cached_input_price_per_1m, cache_write_price_per_1m, output_price_per_1m, usd_cost, credits, unpriced, duration_ms, first_token_ms, created_at)
  SELECT (x->>'id')::uuid, l.org_id, x->>'feature', l.chat_id, l.id, $11, l.agent_id, x->>'requested_model', x->>'model_key', x->>'resolve_reason', (x->>'route_id')::uuid, (x->>'byo_key')::boolean,
    (x->>'input_tokens')::int, (x->>'cached_input_tokens')::int, (x->>'cache_write_tokens')::int, (x->>'output_tokens')::int, (x->>'reasoning_tokens')::int,
    (x->>'input_price_per_1m')::numeric, (x->>'cached_input_price_per_1m')::numeric, (x->>'cache_write_price_per_1m')::numeric, (x->>'output_price_per_1m')::numeric,
    (x->>'usd_cost')::numeric, (x->>'credits')::numeric, (x->>'unpriced')::boolean, (x->>'duration_ms')::int, (x->>'first_token_ms')::int, $3
  FROM l, (SELECT $12::jsonb AS x) q
), e AS (
  INSERT INTO events (topic, seq, org_id, type, data, created_at)
  SELECT 'chat:' || l.chat_id, l.event_seq + x.ord, l.org_id, x.event->>'type',
         CASE WHEN x.event->>'type' = 'message_completed' THEN jsonb_set(x.event->'data', '{message,seq}', to_jsonb(l.message_seq + 1)) ELSE x.event->'data' END, $3
  FROM l, jsonb_array_elements($13::jsonb) WITH ORDINALITY AS x(event, ord)
), t AS (
  UPDATE turns SET steps_done = turns.steps_done + 1, deliveries = 0,
    ${final ? `status = 'done', finished_at = $3, lease_owner = NULL, lease_expires_at = NULL` : `lease_expires_at = now() + interval '${LEASE_S} seconds'`}
  FROM l WHERE turns.id = l.id
), c AS (
  UPDATE chats SET ${final ? `status = 'ACTIVE', current_turn_id = NULL,` : ''}
         cost_usd = chats.cost_usd + coalesce(($12::jsonb->>'usd_cost')::numeric, 0), cost_credits = chats.cost_credits + coalesce(($12::jsonb->>'credits')::numeric, 0),
         event_seq = l.event_seq + jsonb_array_length($13::jsonb), message_seq = l.message_seq + 1, message_count = chats.message_count + 1,
         last_message_at = $3, updated_at = $3
  FROM l WHERE chats.id = l.chat_id
), ${final ? FINAL_PARTS : INTENTS}
SELECT l.event_seq, l.message_seq + 1 AS message_seq, ${final ? `(SELECT id FROM ti) AS title_job_id, EXISTS (SELECT 1 FROM turns x WHERE x.parked AND x.org_id = l.org_id) AS parked` : 'NULL AS title_job_id, false AS parked'} FROM l`);

export const COMMIT_FINAL_STEP = commitModelStep(true);
export const COMMIT_STEP = commitModelStep(false);

/**
 * Takes the oldest parked turns of an organization out of the park, so many at most, and writes their jobs. The rows are found before
 * they are joined: with a list of ids, a plan made while the table was small reads all of it for ever.
 */
export const DISPATCH_PARKED = statement(`
WITH x AS MATERIALIZED (
  SELECT id FROM turns WHERE parked AND org_id = $1 ORDER BY dispatched_at LIMIT $2 FOR UPDATE SKIP LOCKED
), p AS (
  UPDATE turns SET parked = false FROM x WHERE turns.id = x.id RETURNING turns.id, turns.org_id, turns.chat_id
), o AS (
  INSERT INTO outbox (id, job, version, payload, available_at)
  SELECT p.id, 'turn.run', 1, jsonb_build_object('org_id', p.org_id, 'chat_id', p.chat_id, 'turn_id', p.id), now() + interval '5 seconds' FROM p
  ON CONFLICT (id) DO NOTHING
)
SELECT id, org_id, chat_id FROM p`);

/**
 * Keeps what a model had said when its turn was stopped. Only by the turn's last owner, and only while the turn is the chat's newest:
 * what came after it has been read without these words.
 */
export const KEEP_SAID = statement(`
WITH l AS MATERIALIZED (
  SELECT t.id, t.seq, c.id AS chat_id, c.org_id, c.event_seq, c.message_seq
  FROM turns t JOIN chats c ON c.id = t.chat_id
  WHERE t.id = $1 AND t.fence = $2 AND t.status = 'stopped' AND t.steps_done = $4::int - 1 AND c.turn_seq = t.seq AND c.status IN ('ACTIVE', 'ARCHIVED') AND c.deleted_at IS NULL
  FOR UPDATE OF c, t
), m AS (
  INSERT INTO messages (id, org_id, chat_id, seq, role, content, model, interrupted, turn_id, turn_no, created_at)
  SELECT $5, l.org_id, l.chat_id, l.message_seq + 1, 'assistant', $6, $7, true, l.id, l.seq, $3 FROM l
), s AS (
  INSERT INTO turn_steps (turn_id, step_no, org_id, chat_id, kind, status, message_id, started_at, finished_at)
  SELECT l.id, $4, l.org_id, l.chat_id, 'model', 'interrupted', $5, $3, $3 FROM l
), e AS (
  INSERT INTO events (topic, seq, org_id, type, data, created_at)
  SELECT 'chat:' || l.chat_id, l.event_seq + 1, l.org_id, 'message_completed', jsonb_set($8::jsonb, '{message,seq}', to_jsonb(l.message_seq + 1)), $3 FROM l
), c AS (
  UPDATE chats SET event_seq = l.event_seq + 1, message_seq = l.message_seq + 1, message_count = chats.message_count + 1, last_message_at = $3, updated_at = $3
  FROM l WHERE chats.id = l.chat_id
)
SELECT l.event_seq, l.message_seq + 1 AS message_seq FROM l`);

// Rows that somebody is writing are left to the next beat: one statement that holds some turns and waits for others could be waited for
// by those that hold a child and wait for its parent.
export const HEARTBEAT = statement(`
WITH held AS MATERIALIZED (
  SELECT t.id, t.org_id FROM turns t JOIN unnest($1::uuid[], $2::bigint[]) AS h(id, fence) ON t.id = h.id AND t.fence = h.fence WHERE t.status = 'running'
), k AS MATERIALIZED (
  SELECT t.id FROM turns t JOIN unnest($1::uuid[], $2::bigint[]) AS h(id, fence) ON t.id = h.id AND t.fence = h.fence WHERE t.status = 'running'
  FOR NO KEY UPDATE OF t SKIP LOCKED
), b AS (
  UPDATE turns SET lease_expires_at = now() + interval '${LEASE_S} seconds' FROM k WHERE turns.id = k.id
)
SELECT held.id, EXISTS (SELECT 1 FROM organizations o WHERE o.id = held.org_id AND o.suspended_at IS NOT NULL) AS suspended FROM held`);
