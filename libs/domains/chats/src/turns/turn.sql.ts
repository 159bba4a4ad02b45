import type { MessageFinish } from '@aps/contracts';
import type { ToolCallRecord, Turn } from '@aps/entities';
import { chatSeenBy, HELD_WITH_ORG } from '@aps/guards';
import type { ReceiptOwner, ReceiptRow } from '@aps/inference';
import { batchStatement, statement } from '@aps/platform/database';
import { deleteJobs, insertJobs } from '@aps/platform/outbox';
import { appendEvent, appendEvents } from '@aps/platform/realtime';
import { claimStatement, lastStepDone, runStatements, stepDone, type RunTable } from '@aps/platform/runs';
import type { MessageUsage, NewEvent, TranscriptRow } from '../state/chat.types';
import { changeChats, insertMessages, topicOf } from '../state/chat-state.sql';
import { agentDeletedAt, isMember } from '../state/visible-chats.sql';

/** Turns, as runs. */
export const TURNS = {
  kind: 'turn',
  table: 'turns',
  payload: { org_id: 'org_id', chat_id: 'chat_id', turn_id: 'id' },
  ...HELD_WITH_ORG,
} satisfies RunTable<'turn.run'>;

/**
 * A part of a statement that adds turns to chats which the statement has locked, one per row of `from`. When they were dispatched is the
 * database's time under the lock, so that a stop is before or after for everybody.
 *
 * @param values SQL per column
 */
export function insertTurns(from: string, values: Partial<Record<keyof Turn, string>>): string {
  const all = { ...values, status: `'queued'`, dispatched_at: 'clock_timestamp()' };
  return `
  INSERT INTO turns (${Object.keys(all).join(', ')})
  SELECT ${Object.values(all).join(', ')} FROM ${from}`;
}

export const TURN_RUNS = runStatements<'turn.run'>(TURNS);

/*
 * Every statement here first locks the chat and the turn, and decides on what it finds under the lock. One statement is one
 * transaction and one round trip, which is what keeps a turn cheap; the three that every turn needs take many turns at once.
 *
 * Rows are found by their ids alone, and further conditions come after that: a connection plans a statement once, perhaps while the
 * tables are empty, and then any condition may look as good as an id. For the same reason what is locked is looked up row by row
 * (LATERAL), and what is written is chosen by a verdict, of which the planner believes that few rows have it: a join of many with a
 * table that seems small would read all of it for ever.
 */

/** A worker reads so much of a chat, newest first: more than any model's window takes, and no more than many turns at once may hold. */
const MAX_READ_BYTES = 8_000_000;
/** So much comes with a claim; what is longer is read by itself, and holds up no other claim. */
const MAX_CLAIM_BYTES = 1_000_000;
/** What a message takes of that, roughly: nothing is unpacked to know it. */
const sizeOf = (message: string): string =>
  `200 + octet_length(${message}.content) + coalesce(pg_column_size(${message}.tool_calls), 0) + coalesce(pg_column_size(${message}.provider_state), 0)`;

export const CLAIM = claimStatement(TURNS, {
  from: 'turns r JOIN chats c ON c.id = r.chat_id',
  lock: 'c, r',
  key: 'chat_id',
  columns: `r.chat_id, r.seq, r.cause, r.principal_id, r.model, r.model_mode_override, r.reasoning_effort, r.unpriced_allowed, r.model_steps,
           c.agent_id, c.agent_revision_id, c.title AS chat_title, c.model_mode_override AS chat_mode, c.status AS chat_status, c.stop_requested_at,
           c.created_by, c.enabled_scopes, c.max_steps, c.origin_kind, c.origin_ref_id, c.event_seq, c.message_seq, c.deleted_at, c.private_to, c.compaction_id`,
  isGone: 'l.deleted_at IS NOT NULL',
  refusals: [
    { verdict: 'agent_deleted', when: `${agentDeletedAt('l.agent_id')} IS NOT NULL` },
    { verdict: 'member_left', when: `l.principal_id IS NOT NULL AND ${isMember({ org: 'l.org_id', user: 'l.principal_id' })} IS NULL` },
    { verdict: 'unshared', when: `NOT ${chatSeenBy('l.principal_id', 'l')}` },
    { verdict: 'skipped', when: 'l.dispatched_at <= l.stop_requested_at' },
  ],
  effects: `c AS (${changeChats({
    move: 'begin',
    from: 'v',
    id: 'v.chat_id',
    where: `v.verdict = 'claimed'`,
    at: 'v.at',
    set: { event_seq: `v.event_seq + (CASE WHEN v.chat_status = 'RUNNING' THEN 0 ELSE 1 END)` },
  })}
), e AS (${appendEvent({
    from: `v WHERE v.verdict = 'claimed' AND v.chat_status <> 'RUNNING'`,
    topic: topicOf('v.chat_id'),
    orgId: 'v.org_id',
    after: 'v.event_seq',
    type: 'status_changed',
    data: `jsonb_build_object('from', v.chat_status, 'to', 'RUNNING', 'stop_reason', NULL, 'pause', NULL)`,
    at: 'v.at',
  })}
)`,
  answer: `v.chat_id, v.agent_id, v.agent_revision_id, (SELECT a.team_id IS NOT NULL OR a.project_id IS NOT NULL FROM agents a WHERE a.id = v.agent_id) AS agent_belongs, v.seq, v.cause, v.principal_id, v.model_steps, v.model, v.model_mode_override,
         v.reasoning_effort, v.unpriced_allowed, v.chat_title, v.chat_mode, v.chat_status, v.created_by, v.enabled_scopes, v.max_steps, json_build_object('kind', v.origin_kind, 'ref_id', v.origin_ref_id) AS origin, v.event_seq,
         -- Messages are read as of the statement's beginning. One that was stored while it waited for the lock is missing there; then they are read again.
         CASE WHEN v.verdict = 'claimed' AND v.deliveries = 0 AND v.compaction_id IS NULL AND v.message_seq = (SELECT s.message_seq FROM chats s WHERE s.id = v.chat_id)
              AND (SELECT sum(${sizeOf('m')}) FROM messages m WHERE m.chat_id = v.chat_id AND m.turn_no <= v.seq) < ${MAX_CLAIM_BYTES} THEN (
           SELECT json_agg(json_build_object('role', m.role, 'content', m.content, 'tool_calls', m.tool_calls, 'tool_call_id', m.tool_call_id, 'tool_name', m.tool_name,
                                             'provider_state', m.provider_state, 'finish_reason', m.finish_reason, 'turn_id', m.turn_id, 'attachments', m.attachments) ORDER BY m.turn_no, m.seq)
           FROM messages m WHERE m.chat_id = v.chat_id AND m.turn_no <= v.seq) END AS transcript`,
});

/** Waits for the lock of a chat. A lock is a write, too, but this one is forgotten at once and need not wait for the disk. */
export const AWAIT_WRITER = statement(`
  WITH s AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true))
  SELECT 1 FROM s, chats c WHERE c.id = $1 FOR SHARE OF c`);

/**
 * The messages of chat $1 that a model reads, a summary in place of what it covers, with where they stand. What is too far back to be read
 * is left out behind the summary, as if that covered it. What users have said to the last turn itself is read wherever it stands: that is
 * no more than a retry carries, while what a closed chat has kept for its next turn has no turn of its own.
 *
 * @param k reads the summary
 * @param last number of the last turn that is read
 */
export const messagesRead = (k: string, last: string): string => `
  WITH k AS (${k}),
  far AS (
    SELECT s.turn_no, s.seq, s.older FROM (
      SELECT m.turn_no, m.seq, count(*) OVER () - row_number() OVER newest + 1 AS older, sum(${sizeOf('m')}) OVER newest - (${sizeOf('m')}) AS newer
      FROM messages m LEFT JOIN k ON true
      WHERE m.chat_id = $1 AND m.turn_no <= ${last} AND (k.through_turn_no IS NULL OR (m.turn_no, m.seq) > (k.through_turn_no, k.through_seq))
      WINDOW newest AS (ORDER BY m.turn_no DESC, m.seq DESC)
    ) s WHERE s.newer >= ${MAX_READ_BYTES} ORDER BY s.turn_no DESC, s.seq DESC LIMIT 1),
  b AS (SELECT coalesce(k.summary, '') AS summary, far.older, coalesce(far.turn_no, k.through_turn_no) AS turn_no, coalesce(far.seq, k.through_seq) AS seq FROM k FULL JOIN far ON true)
  SELECT 'summary' AS role, b.summary AS content, NULL::jsonb AS tool_calls, NULL AS tool_call_id, NULL AS tool_name, NULL::jsonb AS provider_state, NULL AS finish_reason, NULL::uuid AS turn_id,
         -1 AS turn_no, -1 AS seq, false AS covered, NULL::jsonb AS attachments, b.older::int AS left_out FROM b
  UNION ALL
  SELECT m.role, m.content, m.tool_calls, m.tool_call_id, m.tool_name, m.provider_state, m.finish_reason, m.turn_id, m.turn_no, m.seq,
         coalesce((m.turn_no, m.seq) <= (b.turn_no, b.seq), false), m.attachments, NULL FROM messages m LEFT JOIN b ON true
  WHERE m.chat_id = $1 AND m.turn_no <= ${last} AND (b.seq IS NULL OR (m.turn_no, m.seq) > (b.turn_no, b.seq)
    OR (m.role = 'user' AND m.turn_id = (SELECT t.id FROM turns t WHERE t.chat_id = $1 AND t.seq = ${last})))`;

const NEWEST_SUMMARY = `SELECT k.summary, k.through_turn_no, k.through_seq FROM chats c JOIN chat_compactions k ON k.id = c.compaction_id WHERE c.id = $1`;
export const TRANSCRIPT = statement<TranscriptRow>(`
  SELECT role, content, tool_calls, tool_call_id, tool_name, provider_state, finish_reason, turn_id, covered, attachments, left_out
  FROM (${messagesRead(NEWEST_SUMMARY, '$2')}) rows ORDER BY turn_no, seq`);

/** A chat without a title gets one after one of its first turns. The job has the chat's id: while one is under way, no further one is paid for. */
export const TURNS_BEFORE_TITLE = 3;

const FINAL_PARTS = `
d AS (${deleteJobs({ from: 'l', id: 'l.turn_id' })}
), ti AS (${insertJobs('chat.title', {
  from: `l WHERE l.seq <= ${TURNS_BEFORE_TITLE} AND l.title IS NULL`,
  id: 'l.chat_id',
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
  /** Of the step, with the calls of models in it. */
  duration_ms: number;
  /** One for each call; that of the answer names the step. */
  receipts: (ReceiptRow & Pick<ReceiptOwner, 'step_no'>)[];
  /** What they cost together. */
  usd_cost: string | null;
  credits: string;
  /** They get their numbers here; so does the message of `message_completed`. */
  events: NewEvent[];
  /** The calls that the model asks for. */
  tool_intents: { step_no: number; tool_call_id: string; tool_name: string }[];
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
    usage jsonb, finish_reason text, detail jsonb, duration_ms int, receipts jsonb, usd_cost numeric, credits numeric, events jsonb, tool_intents jsonb)
), o AS MATERIALIZED (
  SELECT i.*, k.*
  FROM i CROSS JOIN LATERAL (
    SELECT t.seq, t.fence AS newest_fence, t.status, c.id AS chat_id, c.org_id, c.agent_id, c.event_seq, c.message_seq, c.title, c.pending_turns
    FROM turns t JOIN chats c ON c.id = t.chat_id
    WHERE t.id = i.turn_id
    FOR NO KEY UPDATE OF c, t ${locked}
  ) k
), l AS MATERIALIZED (
  SELECT * FROM o WHERE o.fence = o.newest_fence AND o.status = 'running' ${final ? 'AND o.pending_turns = 0' : ''}
), m AS (${insertMessages('l', {
      id: 'l.message_id',
      org_id: 'l.org_id',
      chat_id: 'l.chat_id',
      seq: 'l.message_seq + 1',
      role: `'assistant'`,
      content: 'l.content',
      tool_calls: 'l.tool_calls',
      provider_state: 'l.provider_state',
      model: 'l.model',
      usage: 'l.usage',
      finish_reason: 'l.finish_reason',
      turn_id: 'l.turn_id',
      turn_no: 'l.seq',
      created_at: 'l.at',
    })}
), s AS (
  INSERT INTO turn_steps (turn_id, step_no, org_id, chat_id, kind, status, message_id, detail, started_at, finished_at)
  SELECT l.turn_id, l.step_no, l.org_id, l.chat_id, 'model', 'done', l.message_id, l.detail, l.at - make_interval(secs => l.duration_ms::float8 / 1000), l.at FROM l
), r AS (
  INSERT INTO inference_receipts (id, org_id, feature, chat_id, turn_id, step_no, agent_id, requested_model, model_key, resolve_reason, route_id, byo_key,
    input_tokens, cached_input_tokens, cache_write_tokens, output_tokens, reasoning_tokens,
    input_price_per_1m, cached_input_price_per_1m, cache_write_price_per_1m, output_price_per_1m, usd_cost,
    fallback_credits_per_1k_tokens, credits, rate_card_version, rule_index, enforced, unpriced, duration_ms, first_token_ms, created_at)
  SELECT x.id, l.org_id, x.feature, l.chat_id, l.turn_id, x.step_no, l.agent_id, x.requested_model, x.model_key, x.resolve_reason, x.route_id, x.byo_key,
    x.input_tokens, x.cached_input_tokens, x.cache_write_tokens, x.output_tokens, x.reasoning_tokens,
    x.input_price_per_1m, x.cached_input_price_per_1m, x.cache_write_price_per_1m, x.output_price_per_1m, x.usd_cost,
    x.fallback_credits_per_1k_tokens, x.credits, x.rate_card_version, x.rule_index, x.enforced, x.unpriced, x.duration_ms, x.first_token_ms, l.at
  FROM l CROSS JOIN LATERAL jsonb_to_recordset(l.receipts) AS x(id uuid, feature text, step_no int, requested_model text, model_key text, resolve_reason text, route_id uuid, byo_key boolean,
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
  UPDATE turns SET model_steps = turns.model_steps + 1, ${final ? lastStepDone('turns', `'done'`, 'l.at') : stepDone('turns')}
  FROM l WHERE turns.id = l.turn_id
), c AS (${changeChats({
      from: 'l',
      id: 'l.chat_id',
      at: 'l.at',
      messageAfter: 'l.message_seq',
      move: final ? 'rest' : undefined,
      set: {
        ...(final && { current_turn_id: 'NULL' }),
        event_seq: 'l.event_seq + jsonb_array_length(l.events)',
        cost_usd: `chats.cost_usd + coalesce(l.usd_cost, 0)`,
        cost_credits: `chats.cost_credits + l.credits`,
      },
    })}
), ${final ? FINAL_PARTS : INTENTS}
SELECT l.chat_id AS batch_key, row_to_json(a) AS answer
FROM l CROSS JOIN LATERAL (
  SELECT l.event_seq, l.message_seq + 1 AS message_seq,
         ${final ? `EXISTS (SELECT 1 FROM ti WHERE ti.id = l.chat_id) AS wants_title, EXISTS (SELECT 1 FROM turns x WHERE x.parked AND x.org_id = l.org_id) AS parked` : 'false AS wants_title, false AS parked'}
) a`,
  );

export const COMMIT_FINAL_STEP = commitModelStep(true);
export const COMMIT_STEP = commitModelStep(false);

/**
 * Keeps what a model had said when its turn was stopped. Only by the turn's last owner, and only while the turn is the chat's newest:
 * what came after it has been read without these words.
 */
export const KEEP_INTERRUPTED = statement<{ event_seq: number; message_seq: number }>(`
WITH l AS MATERIALIZED (
  SELECT t.id, t.seq, c.id AS chat_id, c.org_id, c.event_seq, c.message_seq
  FROM turns t JOIN chats c ON c.id = t.chat_id
  WHERE t.id = $1 AND t.fence = $2 AND t.status = 'stopped' AND t.steps_done = $4::int - 1 AND c.turn_seq = t.seq AND c.status IN ('ACTIVE', 'ARCHIVED') AND c.deleted_at IS NULL
  FOR NO KEY UPDATE OF c, t
), m AS (${insertMessages('l', {
  id: '$5',
  org_id: 'l.org_id',
  chat_id: 'l.chat_id',
  seq: 'l.message_seq + 1',
  role: `'assistant'`,
  content: '$6',
  model: '$7',
  interrupted: 'true',
  turn_id: 'l.id',
  turn_no: 'l.seq',
  created_at: '$3',
})}
), s AS (
  INSERT INTO turn_steps (turn_id, step_no, org_id, chat_id, kind, status, message_id, detail, started_at, finished_at)
  SELECT l.id, $4, l.org_id, l.chat_id, 'model', 'interrupted', $5, $9, $3, $3 FROM l
), e AS (${appendEvent({ from: 'l', topic: topicOf('l.chat_id'), orgId: 'l.org_id', after: 'l.event_seq', type: 'message_completed', data: `jsonb_set($8::jsonb, '{message,seq}', to_jsonb(l.message_seq + 1))`, at: '$3' })}
), c AS (${changeChats({ from: 'l', id: 'l.chat_id', at: '$3', messageAfter: 'l.message_seq', set: { event_seq: 'l.event_seq + 1' } })}
)
SELECT l.event_seq, l.message_seq + 1 AS message_seq FROM l`);

/** The tools that were chosen for a turn, as its first step notes them. */
export const CHOSEN_TOOLS = statement<{ chosen: string[] }>(
  `SELECT detail->'chosen_tools' AS chosen FROM turn_steps WHERE turn_id = $1 AND kind = 'model' AND detail ? 'chosen_tools' ORDER BY step_no LIMIT 1`,
);
