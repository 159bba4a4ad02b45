import type { MessageFinish } from '@aps/contracts';
import type { ToolCallRecord } from '@aps/entities';
import type { ReceiptRow } from '@aps/inference';
import { batchStatement, statement } from '@aps/platform/database';
import { deleteJobs, insertJobs } from '@aps/platform/outbox';
import { appendEvent, appendEvents } from '@aps/platform/realtime';
import type { MessageUsage, NewEvent, TranscriptRow } from '../chat.types';
import { topicOf } from '../chat-log.repository';
import { agentDeletedAt } from '../chats.repository';

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
 * transaction and one round trip, which is what keeps a turn cheap; the three that every turn needs take many turns at once.
 *
 * Rows are found by their ids alone, and further conditions come after that: a connection plans a statement once, perhaps while the
 * tables are empty, and then any condition may look as good as an id. For the same reason what is locked is looked up row by row
 * (LATERAL), and what is written is chosen by a verdict, of which the planner believes that few rows have it: a join of many with a
 * table that seems small would read all of it for ever.
 */

/** A turn that a worker asks for. */
export interface Claiming {
  turn_id: string;
  chat_id: string;
  worker: string;
  /** So many turns of its organization may run; negative for any number. */
  cap: number;
  at: Date;
}

export const CLAIM = batchStatement<Claiming>(
  'claim',
  (item) => item.chat_id,
  (locked) => `
WITH i AS MATERIALIZED (
  SELECT * FROM jsonb_to_recordset($1::jsonb) AS x(turn_id uuid, worker text, cap int, at timestamptz)
), l AS MATERIALIZED (
  SELECT i.worker, i.cap, i.at, k.*
  FROM i CROSS JOIN LATERAL (
    SELECT t.id, t.org_id, t.chat_id, t.seq, t.status, t.cause, t.model, t.model_mode_override, t.reasoning_effort, t.unpriced_allowed,
           t.lease_owner, t.lease_expires_at, t.fence AS last_fence, t.deliveries, t.steps_done, t.model_steps, t.wait, t.dispatched_at,
           c.agent_id, c.agent_revision_id, c.title AS chat_title, c.model_mode_override AS chat_mode, c.status AS chat_status, c.stop_requested_at,
           c.created_by, c.enabled_scopes, c.parent_chat_id, c.event_seq, c.message_seq, c.deleted_at, c.compaction_id
    FROM turns t JOIN chats c ON c.id = t.chat_id
    WHERE t.id = i.turn_id
    FOR UPDATE OF c, t ${locked}
  ) k
), g AS MATERIALIZED (
  SELECT d.org_id, (SELECT o.suspended_at FROM organizations o WHERE o.id = d.org_id) AS suspended_at,
         CASE WHEN d.capped THEN (SELECT count(*) FROM turns r WHERE r.org_id = d.org_id AND r.lease_owner IS NOT NULL AND r.status = 'running' AND r.lease_expires_at > now()) END AS running
  FROM (SELECT l.org_id, bool_or(l.cap >= 0) AS capped FROM l GROUP BY l.org_id) d
), v AS MATERIALIZED (
  -- The fence is the time and not only a count: where PostgreSQL does not wait for its disk, a crash could have it forget a claim, and a
  -- count would give the same fence out a second time.
  SELECT l.*, greatest(l.last_fence + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint) AS fence, CASE
    WHEN l.status NOT IN ('queued', 'running', 'waiting') OR l.deleted_at IS NOT NULL THEN 'gone'
    WHEN l.status = 'running' AND l.lease_expires_at > now() THEN 'busy'
    WHEN ${agentDeletedAt('l.agent_id')} IS NOT NULL THEN 'agent_deleted'
    WHEN l.dispatched_at <= l.stop_requested_at THEN 'skipped'
    WHEN l.status = 'waiting' AND coalesce((l.wait->>'resume_at')::timestamptz, 'infinity') > now() THEN 'early'
    WHEN g.suspended_at IS NOT NULL THEN 'suspended'
    WHEN l.deliveries >= ${MAX_DELIVERIES} THEN 'lost'
    -- Those before it in this batch run as well, as far as is known.
    WHEN l.cap >= 0 AND g.running + row_number() OVER (PARTITION BY l.org_id ORDER BY l.id) > l.cap THEN 'over_cap'
    ELSE 'claimed' END AS verdict
  FROM l JOIN g ON g.org_id = l.org_id
), t AS (
  UPDATE turns SET status = 'running', parked = false, lease_owner = v.worker, lease_expires_at = now() + interval '${LEASE_S} seconds', fence = v.fence,
         deliveries = v.deliveries + 1, started_at = coalesce(turns.started_at, now())
  FROM v WHERE v.verdict = 'claimed' AND turns.id = v.id
), c AS (
  UPDATE chats SET status = 'RUNNING', pause = NULL, error = NULL, stop_reason = NULL, event_seq = v.event_seq + (CASE WHEN v.chat_status = 'RUNNING' THEN 0 ELSE 1 END), updated_at = v.at
  FROM v WHERE v.verdict = 'claimed' AND chats.id = v.chat_id
), e AS (${appendEvent({
    from: `v WHERE v.verdict = 'claimed' AND v.chat_status <> 'RUNNING'`,
    topic: topicOf('v.chat_id'),
    orgId: 'v.org_id',
    after: 'v.event_seq',
    type: 'status_changed',
    data: `jsonb_build_object('from', v.chat_status, 'to', 'RUNNING', 'stop_reason', NULL, 'pause', NULL)`,
    at: 'v.at',
  })}
)
SELECT v.chat_id AS batch_key, row_to_json(a) AS answer
FROM v CROSS JOIN LATERAL (
  SELECT v.verdict, CASE v.verdict WHEN 'busy' THEN v.lease_expires_at WHEN 'early' THEN (v.wait->>'resume_at')::timestamptz END AS retry_at,
         v.id, v.org_id, v.chat_id, v.agent_id, v.agent_revision_id, v.fence::text, v.seq, v.cause, v.deliveries, v.status = 'running' AS taken_over, v.status = 'running' AND v.lease_owner IS NOT NULL AS lease_expired, v.steps_done, v.model_steps, v.wait, v.model, v.model_mode_override,
         v.reasoning_effort, v.unpriced_allowed, v.dispatched_at, v.chat_title, v.chat_mode, v.chat_status, v.created_by, v.enabled_scopes, v.parent_chat_id, v.event_seq,
         -- Messages are read as of the statement's beginning. One that was stored while it waited for the lock is missing there; then they are read again.
         CASE WHEN v.verdict = 'claimed' AND v.deliveries = 0 AND v.compaction_id IS NULL AND v.message_seq = (SELECT s.message_seq FROM chats s WHERE s.id = v.chat_id) THEN (
           SELECT json_agg(json_build_object('role', m.role, 'content', m.content, 'tool_calls', m.tool_calls, 'tool_call_id', m.tool_call_id, 'tool_name', m.tool_name,
                                             'provider_state', m.provider_state, 'finish_reason', m.finish_reason, 'turn_id', m.turn_id, 'attachments', m.attachments) ORDER BY m.turn_no, m.seq)
           FROM messages m WHERE m.chat_id = v.chat_id AND m.turn_no <= v.seq) END AS transcript
) a`,
);

/** Waits for the lock of a chat. A lock is a write, too, but this one is forgotten at once and need not wait for the disk. */
export const AWAIT_WRITER = statement(`
  WITH s AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true))
  SELECT 1 FROM s, chats c WHERE c.id = $1 FOR KEY SHARE OF c`);

export const TRANSCRIPT = statement<TranscriptRow>(`
  WITH k AS (SELECT k.summary, k.through_turn_no, k.through_seq FROM chats c JOIN chat_compactions k ON k.id = c.compaction_id WHERE c.id = $1)
  SELECT role, content, tool_calls, tool_call_id, tool_name, provider_state, finish_reason, turn_id, covered, attachments FROM (
    SELECT 'summary' AS role, k.summary AS content, NULL::jsonb AS tool_calls, NULL AS tool_call_id, NULL AS tool_name, NULL::jsonb AS provider_state, NULL AS finish_reason, NULL::uuid AS turn_id,
           -1 AS turn_no, -1 AS seq, false AS covered, NULL::jsonb AS attachments FROM k
    UNION ALL
    SELECT m.role, m.content, m.tool_calls, m.tool_call_id, m.tool_name, m.provider_state, m.finish_reason, m.turn_id, m.turn_no, m.seq,
           coalesce((m.turn_no, m.seq) <= (k.through_turn_no, k.through_seq), false), m.attachments FROM messages m LEFT JOIN k ON true
    WHERE m.chat_id = $1 AND m.turn_no <= $2 AND (k.through_turn_no IS NULL OR (m.turn_no, m.seq) > (k.through_turn_no, k.through_seq) OR (m.turn_no = $2 AND m.role = 'user'))
  ) rows ORDER BY turn_no, seq`);

/** A chat without a title gets one after one of its first turns. */
export const TURNS_BEFORE_TITLE = 3;

const FINAL_PARTS = `
d AS (${deleteJobs({ from: 'l', id: 'l.turn_id' })}
), ti AS (${insertJobs('chat.title', {
  from: `l WHERE l.seq <= ${TURNS_BEFORE_TITLE} AND l.title IS NULL`,
  id: 'l.title_job_id',
  payload: { org_id: 'l.org_id', chat_id: 'l.chat_id', turn_id: 'l.turn_id' },
})}
  RETURNING id
)`;

const INTENTS = `
n AS (
  INSERT INTO turn_steps (turn_id, step_no, org_id, chat_id, kind, status, tool_call_id, tool_name, started_at)
  SELECT l.turn_id, x.step_no, l.org_id, l.chat_id, 'tool', 'intent', x.tool_call_id, x.tool_name, l.at
  FROM l CROSS JOIN LATERAL jsonb_to_recordset(l.tool_intents) AS x(step_no int, tool_call_id text, tool_name text)
)`;

/** A model step that is over. */
export interface Committing {
  turn_id: string;
  chat_id: string;
  /** Of the claim under which it was done. */
  fence: string;
  step_no: number;
  at: Date;
  message_id: string;
  content: string;
  tool_calls: ToolCallRecord[] | null;
  provider_state: unknown;
  model: string;
  usage: MessageUsage;
  finish_reason: MessageFinish;
  detail: Record<string, unknown>;
  receipt: ReceiptRow;
  /** They get their numbers here; so does the message of `message_completed`. */
  events: NewEvent[];
  /** The calls that the model asks for. */
  tool_intents: { step_no: number; tool_call_id: string; tool_name: string }[];
  /** Id of the job that finds a title for a young chat, where this ends the turn. */
  title_job_id: string;
}

/**
 * Ends model steps. A final one also ends its turn: the reply, its receipt, its events, the chat's state and the removal of the job are
 * one statement, so a reply is there exactly once or not at all. It touches nothing while turns are pending behind this one; those are
 * dispatched in a transaction (see endTurn).
 *
 * Two statements and not one with conditions: a part that does nothing is still set up and torn down each time.
 */
const commitModelStep = (final: boolean) =>
  batchStatement<Committing>(
    final ? 'commit_final_step' : 'commit_step',
    (item) => item.chat_id,
    (locked) => `
WITH i AS MATERIALIZED (
  SELECT * FROM jsonb_to_recordset($1::jsonb) AS x(turn_id uuid, fence bigint, step_no int, at timestamptz, message_id uuid, content text, tool_calls jsonb, provider_state jsonb, model text,
    usage jsonb, finish_reason text, detail jsonb, receipt jsonb, events jsonb, tool_intents jsonb, title_job_id uuid)
), o AS MATERIALIZED (
  SELECT i.*, k.*
  FROM i CROSS JOIN LATERAL (
    SELECT t.seq, t.fence AS newest_fence, t.status, c.id AS chat_id, c.org_id, c.agent_id, c.event_seq, c.message_seq, c.title, c.pending_turns
    FROM turns t JOIN chats c ON c.id = t.chat_id
    WHERE t.id = i.turn_id
    FOR UPDATE OF c, t ${locked}
  ) k
), l AS MATERIALIZED (
  SELECT * FROM o WHERE o.fence = o.newest_fence AND o.status = 'running' ${final ? 'AND o.pending_turns = 0' : ''}
), m AS (
  INSERT INTO messages (id, org_id, chat_id, seq, role, content, tool_calls, provider_state, model, usage, finish_reason, turn_id, turn_no, created_at)
  SELECT l.message_id, l.org_id, l.chat_id, l.message_seq + 1, 'assistant', l.content, l.tool_calls, l.provider_state, l.model, l.usage, l.finish_reason, l.turn_id, l.seq, l.at FROM l
), s AS (
  INSERT INTO turn_steps (turn_id, step_no, org_id, chat_id, kind, status, message_id, detail, started_at, finished_at)
  SELECT l.turn_id, l.step_no, l.org_id, l.chat_id, 'model', 'done', l.message_id, l.detail, l.at - make_interval(secs => (l.receipt->>'duration_ms')::float8 / 1000), l.at FROM l
), r AS (
  INSERT INTO inference_receipts (id, org_id, feature, chat_id, turn_id, step_no, agent_id, requested_model, model_key, resolve_reason, route_id, byo_key,
    input_tokens, cached_input_tokens, cache_write_tokens, output_tokens, reasoning_tokens,
    input_price_per_1m, cached_input_price_per_1m, cache_write_price_per_1m, output_price_per_1m, usd_cost,
    fallback_credits_per_1k_tokens, credits, rate_card_version, rule_index, enforced, unpriced, duration_ms, first_token_ms, created_at)
  SELECT x.id, l.org_id, x.feature, l.chat_id, l.turn_id, l.step_no, l.agent_id, x.requested_model, x.model_key, x.resolve_reason, x.route_id, x.byo_key,
    x.input_tokens, x.cached_input_tokens, x.cache_write_tokens, x.output_tokens, x.reasoning_tokens,
    x.input_price_per_1m, x.cached_input_price_per_1m, x.cache_write_price_per_1m, x.output_price_per_1m, x.usd_cost,
    x.fallback_credits_per_1k_tokens, x.credits, x.rate_card_version, x.rule_index, x.enforced, x.unpriced, x.duration_ms, x.first_token_ms, l.at
  FROM l CROSS JOIN LATERAL jsonb_to_record(l.receipt) AS x(id uuid, feature text, requested_model text, model_key text, resolve_reason text, route_id uuid, byo_key boolean,
    input_tokens int, cached_input_tokens int, cache_write_tokens int, output_tokens int, reasoning_tokens int,
    input_price_per_1m numeric, cached_input_price_per_1m numeric, cache_write_price_per_1m numeric, output_price_per_1m numeric, usd_cost numeric,
    fallback_credits_per_1k_tokens numeric, credits numeric, rate_card_version int, rule_index int, enforced boolean, unpriced boolean,
    duration_ms int, first_token_ms int)
), e AS (${appendEvents({
      from: 'l',
      topic: topicOf('l.chat_id'),
      orgId: 'l.org_id',
      after: 'l.event_seq',
      events: 'l.events',
      at: 'l.at',
      data: `CASE WHEN x.event->>'type' = 'message_completed' THEN jsonb_set(x.event->'data', '{message,seq}', to_jsonb(l.message_seq + 1)) ELSE x.event->'data' END`,
    })}
), t AS (
  UPDATE turns SET steps_done = turns.steps_done + 1, model_steps = turns.model_steps + 1, deliveries = 0,
    ${final ? `status = 'done', finished_at = l.at, lease_owner = NULL, lease_expires_at = NULL` : `lease_expires_at = now() + interval '${LEASE_S} seconds'`}
  FROM l WHERE turns.id = l.turn_id
), c AS (
  UPDATE chats SET ${final ? `status = 'ACTIVE', current_turn_id = NULL,` : ''}
         cost_usd = chats.cost_usd + coalesce((l.receipt->>'usd_cost')::numeric, 0), cost_credits = chats.cost_credits + coalesce((l.receipt->>'credits')::numeric, 0),
         event_seq = l.event_seq + jsonb_array_length(l.events), message_seq = l.message_seq + 1, message_count = chats.message_count + 1,
         last_message_at = l.at, updated_at = l.at
  FROM l WHERE chats.id = l.chat_id
), ${final ? FINAL_PARTS : INTENTS}
SELECT l.chat_id AS batch_key, row_to_json(a) AS answer
FROM l CROSS JOIN LATERAL (
  SELECT l.event_seq, l.message_seq + 1 AS message_seq,
         ${final ? `(SELECT ti.id FROM ti WHERE ti.id = l.title_job_id) AS title_job_id, EXISTS (SELECT 1 FROM turns x WHERE x.parked AND x.org_id = l.org_id) AS parked` : 'NULL AS title_job_id, false AS parked'}
) a`,
  );

export const COMMIT_FINAL_STEP = commitModelStep(true);
export const COMMIT_STEP = commitModelStep(false);

/**
 * Takes the oldest parked turns of an organization out of the park, so many at most, and writes their jobs. The rows are found before
 * they are joined: with a list of ids, a plan made while the table was small reads all of it for ever.
 */
export const DISPATCH_PARKED = statement<{ id: string; org_id: string; chat_id: string }>(`
WITH x AS MATERIALIZED (
  SELECT id FROM turns WHERE parked AND org_id = $1 ORDER BY dispatched_at LIMIT $2 FOR UPDATE SKIP LOCKED
), p AS (
  UPDATE turns SET parked = false FROM x WHERE turns.id = x.id RETURNING turns.id, turns.org_id, turns.chat_id
), o AS (${insertJobs('turn.run', { from: 'p', id: 'p.id', payload: { org_id: 'p.org_id', chat_id: 'p.chat_id', turn_id: 'p.id' } })}
)
SELECT id, org_id, chat_id FROM p`);

/**
 * Keeps what a model had said when its turn was stopped. Only by the turn's last owner, and only while the turn is the chat's newest:
 * what came after it has been read without these words.
 */
export const KEEP_INTERRUPTED = statement<{ event_seq: number; message_seq: number }>(`
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
), e AS (${appendEvent({ from: 'l', topic: topicOf('l.chat_id'), orgId: 'l.org_id', after: 'l.event_seq', type: 'message_completed', data: `jsonb_set($8::jsonb, '{message,seq}', to_jsonb(l.message_seq + 1))`, at: '$3' })}
), c AS (
  UPDATE chats SET event_seq = l.event_seq + 1, message_seq = l.message_seq + 1, message_count = chats.message_count + 1, last_message_at = $3, updated_at = $3
  FROM l WHERE chats.id = l.chat_id
)
SELECT l.event_seq, l.message_seq + 1 AS message_seq FROM l`);

// Rows that somebody is writing are left to the next beat: one statement that holds some turns and waits for others could be waited for
// by those that hold a child and wait for its parent.
export const HEARTBEAT = statement<{ id: string; suspended: boolean }>(`
WITH held AS MATERIALIZED (
  SELECT t.id, t.org_id FROM turns t JOIN unnest($1::uuid[], $2::bigint[]) AS h(id, fence) ON t.id = h.id AND t.fence = h.fence WHERE t.status = 'running'
), k AS MATERIALIZED (
  SELECT t.id FROM turns t JOIN unnest($1::uuid[], $2::bigint[]) AS h(id, fence) ON t.id = h.id AND t.fence = h.fence WHERE t.status = 'running'
  FOR NO KEY UPDATE OF t SKIP LOCKED
), b AS (
  UPDATE turns SET lease_expires_at = now() + interval '${LEASE_S} seconds' FROM k WHERE turns.id = k.id
)
SELECT held.id, EXISTS (SELECT 1 FROM organizations o WHERE o.id = held.org_id AND o.suspended_at IS NOT NULL) AS suspended FROM held`);
