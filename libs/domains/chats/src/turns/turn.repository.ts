import { Injectable } from '@nestjs/common';
import type { ReceiptRow } from '@aps/inference';
import { statement, type Db } from '@aps/platform/database';
import type { ChatError, NewEvent, ToolCallRecord, TranscriptRow } from '../chat.types';
import { uuidv7 } from 'uuidv7';
import { DISPATCH_PARKED } from './turn.sql';

/** How long a claim holds without a heartbeat. */
export const LEASE_S = 20;
/** Deliveries in a row that finish no step before a turn is given up. */
export const MAX_DELIVERIES = 3;
/**
 * Claims that come at the same moment do not see each other. Closer to the cap than this, a claim takes the organization's lock;
 * further away it needs none.
 */
export const CAP_MARGIN = 64;

export interface TurnWait {
  kind: 'timer';
  step_no: number;
  tool_call_id: string;
  tool_name: string;
  resume_at: string;
}

/** A turn that this worker owns, with all it needs to run. */
export interface ClaimedTurn {
  id: string;
  org_id: string;
  chat_id: string;
  agent_id: string;
  agent_revision_id: string;
  fence: string;
  seq: number;
  cause: 'message' | 'continue' | 'retry';
  deliveries: number;
  /** Its former owner had gone silent in the middle of it. */
  taken_over: boolean;
  steps_done: number;
  wait: TurnWait | null;
  model: string | null;
  model_mode_override: string | null;
  reasoning_effort: string | null;
  unpriced_allowed: boolean;
  dispatched_at: Date;
  chat_title: string | null;
  chat_mode: string | null;
  chat_status: string;
  created_by: string | null;
  enabled_scopes: string[] | null;
  /** Newest number on the spine before this claim. */
  event_seq: number;
  transcript: TranscriptRow[];
}

/**
 * What a claim came to.
 *
 * - `claimed`: this worker owns the turn
 * - `gone`: the turn is over, or never was
 * - `busy`: another worker holds a live lease
 * - `skipped`: a stop came first
 * - `early`: it waits for a later time
 * - `suspended`: its organization is
 * - `over_cap`: too many turns of its organization run
 * - `lost`: it was delivered too often without finishing a step
 */
export type ClaimVerdict = 'claimed' | 'gone' | 'busy' | 'skipped' | 'early' | 'suspended' | 'over_cap' | 'lost';

type ClaimRow = { verdict: ClaimVerdict; retry_at: Date | null } & ClaimedTurn;

/*
 * Every statement here first locks the chat and the turn, and decides on what it finds under the lock. One statement is one
 * transaction and one round trip, which is what keeps a turn cheap.
 */

const CLAIM = statement(`
WITH l AS MATERIALIZED (
  SELECT t.id, t.org_id, t.chat_id, t.seq, t.status, t.cause, t.model, t.model_mode_override, t.reasoning_effort, t.unpriced_allowed,
         t.lease_expires_at, t.fence, t.deliveries, t.steps_done, t.wait, t.dispatched_at,
         c.agent_id, c.agent_revision_id, c.title AS chat_title, c.model_mode_override AS chat_mode, c.status AS chat_status, c.pause, c.stop_requested_at,
         c.created_by, c.enabled_scopes, c.event_seq, c.deleted_at
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
    WHEN l.status = 'waiting' AND (l.wait->>'resume_at')::timestamptz > now() THEN 'early'
    WHEN (SELECT o.suspended_at FROM organizations o WHERE o.id = l.org_id) IS NOT NULL THEN 'suspended'
    WHEN l.deliveries >= ${MAX_DELIVERIES} THEN 'lost'
    WHEN $4::int >= 0 AND (SELECT count(*) FROM turns r WHERE r.org_id = l.org_id AND r.status = 'running' AND r.lease_expires_at > now()) >= $4::int THEN 'over_cap'
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
       l.reasoning_effort, l.unpriced_allowed, l.dispatched_at, l.chat_title, l.chat_mode, l.chat_status, l.created_by, l.enabled_scopes, l.event_seq,
       CASE WHEN v.verdict = 'claimed' AND l.deliveries = 0 THEN (
         SELECT json_agg(json_build_object('role', m.role, 'content', m.content, 'tool_calls', m.tool_calls, 'tool_call_id', m.tool_call_id, 'tool_name', m.tool_name,
                                           'provider_state', m.provider_state, 'turn_id', m.turn_id) ORDER BY m.turn_no, m.seq)
         FROM messages m WHERE m.chat_id = l.chat_id AND m.turn_no <= l.seq) END AS transcript
FROM l, v`);

const TRANSCRIPT = statement(`
  SELECT role, content, tool_calls, tool_call_id, tool_name, provider_state, turn_id FROM messages
  WHERE chat_id = $1 AND turn_no <= $2 ORDER BY turn_no, seq`);

/**
 * Ends a model step. A final one also ends the turn: the reply, its receipt, its events, the chat's state, the removal of the job and
 * the dispatch of a parked turn are one statement, so a reply is there exactly once or not at all.
 *
 * A final step touches nothing while turns are pending behind this one; those are dispatched in a transaction (see endTurn).
 */
const COMMIT_MODEL_STEP = statement(`
WITH l AS MATERIALIZED (
  SELECT t.id, t.seq, c.id AS chat_id, c.org_id, c.agent_id, c.event_seq, c.message_seq, c.title
  FROM turns t JOIN chats c ON c.id = t.chat_id
  WHERE t.id = $1 AND t.fence = $2 AND t.status = 'running' AND (NOT $4::boolean OR c.pending_turns = 0)
  FOR UPDATE OF c, t
), m AS (
  INSERT INTO messages (id, org_id, chat_id, seq, role, content, tool_calls, provider_state, model, usage, turn_id, turn_no, created_at)
  SELECT $5, l.org_id, l.chat_id, l.message_seq + 1, 'assistant', $6, $7, $8, $9, $10, l.id, l.seq, $3 FROM l
), s AS (
  INSERT INTO turn_steps (turn_id, step_no, org_id, chat_id, kind, status, message_id, detail, started_at, finished_at)
  SELECT l.id, $12, l.org_id, l.chat_id, 'model', 'done', $5, $11, $3::timestamptz - make_interval(secs => ($13::jsonb->>'duration_ms')::float8 / 1000), $3 FROM l
), r AS (
  INSERT INTO inference_receipts (id, org_id, feature, chat_id, turn_id, step_no, agent_id, requested_model, model_key, resolve_reason, route_id, byo_key,
    input_tokens, cached_input_tokens, cache_write_tokens, output_tokens, reasoning_tokens, usd_cost, credits, unpriced, duration_ms, first_token_ms, created_at)
  SELECT (x->>'id')::uuid, l.org_id, x->>'feature', l.chat_id, l.id, $12, l.agent_id, x->>'requested_model', x->>'model_key', x->>'resolve_reason', (x->>'route_id')::uuid, (x->>'byo_key')::boolean,
    (x->>'input_tokens')::int, (x->>'cached_input_tokens')::int, (x->>'cache_write_tokens')::int, (x->>'output_tokens')::int, (x->>'reasoning_tokens')::int,
    (x->>'usd_cost')::numeric, (x->>'credits')::numeric, (x->>'unpriced')::boolean, (x->>'duration_ms')::int, (x->>'first_token_ms')::int, $3
  FROM l, (SELECT $13::jsonb AS x) q
), e AS (
  INSERT INTO events (topic, seq, org_id, type, data, created_at)
  SELECT 'chat:' || l.chat_id, l.event_seq + x.ord, l.org_id, x.event->>'type',
         CASE WHEN x.event->>'type' = 'message_completed' THEN jsonb_set(x.event->'data', '{message,seq}', to_jsonb(l.message_seq + 1)) ELSE x.event->'data' END, $3
  FROM l, jsonb_array_elements($14::jsonb) WITH ORDINALITY AS x(event, ord)
), i AS (
  INSERT INTO turn_steps (turn_id, step_no, org_id, chat_id, kind, status, tool_call_id, tool_name, started_at)
  SELECT l.id, (x->>'step_no')::int, l.org_id, l.chat_id, 'tool', 'intent', x->>'tool_call_id', x->>'tool_name', $3
  FROM l, jsonb_array_elements($15::jsonb) AS x
), t AS (
  UPDATE turns SET steps_done = turns.steps_done + 1, deliveries = 0,
         status = CASE WHEN $4 THEN 'done' ELSE turns.status END,
         finished_at = CASE WHEN $4 THEN $3::timestamptz END,
         lease_owner = CASE WHEN $4 THEN NULL ELSE turns.lease_owner END,
         lease_expires_at = CASE WHEN $4 THEN NULL ELSE now() + interval '${LEASE_S} seconds' END
  FROM l WHERE turns.id = l.id
), c AS (
  UPDATE chats SET status = CASE WHEN $4 THEN 'ACTIVE' ELSE chats.status END,
         current_turn_id = CASE WHEN $4 THEN NULL ELSE chats.current_turn_id END,
         cost_usd = chats.cost_usd + coalesce(($13::jsonb->>'usd_cost')::numeric, 0), cost_credits = chats.cost_credits + coalesce(($13::jsonb->>'credits')::numeric, 0),
         event_seq = l.event_seq + jsonb_array_length($14::jsonb), message_seq = l.message_seq + 1, message_count = chats.message_count + 1,
         last_message_at = $3, updated_at = $3
  FROM l WHERE chats.id = l.chat_id
), d AS (
  DELETE FROM outbox USING l WHERE outbox.id = l.id AND $4
), ti AS (
  INSERT INTO outbox (id, job, version, payload, available_at)
  SELECT $16, 'chat.title', 1, jsonb_build_object('org_id', l.org_id, 'chat_id', l.chat_id, 'turn_id', l.id), now() + interval '5 seconds'
  FROM l WHERE $4 AND l.seq <= 3 AND l.title IS NULL
  RETURNING id
), ${DISPATCH_PARKED('SELECT l.org_id FROM l WHERE $4')}
SELECT l.event_seq, l.message_seq + 1 AS message_seq, (SELECT id FROM ti) AS title_job_id, (SELECT row_to_json(p) FROM p) AS parked FROM l`);

/**
 * Keeps what a model had said when its turn was stopped. Only by the turn's last owner, and only while the turn is the chat's newest:
 * what came after it has been read without these words.
 */
const KEEP_SAID = statement(`
WITH l AS MATERIALIZED (
  SELECT t.id, t.seq, c.id AS chat_id, c.org_id, c.event_seq, c.message_seq
  FROM turns t JOIN chats c ON c.id = t.chat_id
  WHERE t.id = $1 AND t.fence = $2 AND t.status = 'stopped' AND t.steps_done = $4::int - 1 AND c.turn_seq = t.seq AND c.status = 'ACTIVE' AND c.deleted_at IS NULL
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

const HEARTBEAT = statement(`
  UPDATE turns SET lease_expires_at = now() + interval '${LEASE_S} seconds'
  FROM unnest($1::uuid[], $2::bigint[]) AS held(id, fence)
  WHERE turns.id = held.id AND turns.fence = held.fence AND turns.status = 'running'
  RETURNING turns.id, EXISTS (SELECT 1 FROM organizations o WHERE o.id = turns.org_id AND o.suspended_at IS NOT NULL) AS suspended`);

/** What a finished step leaves behind, for the signal that follows its commit. */
export interface StepCommit {
  /** Newest number on the spine before the step's own events. */
  event_seq: number;
  message_seq: number;
  title_job_id: string | null;
  /** A turn of the same organization that was over the cap and has just been dispatched. */
  parked: { id: string; org_id: string; chat_id: string } | null;
}

export interface ModelStep {
  turnId: string;
  fence: string;
  stepNo: number;
  final: boolean;
  at: Date;
  message: { id: string; content: string; toolCalls: ToolCallRecord[] | null; providerState: unknown; model: string; usage: Record<string, unknown> };
  detail: Record<string, unknown>;
  receipt: ReceiptRow;
  events: NewEvent[];
  toolIntents: { step_no: number; tool_call_id: string; tool_name: string }[];
  titleJobId: string;
}

/** The tables of turns. The only file that changes them while they run. */
@Injectable()
export class TurnRepository {
  /** Tries to become the owner of a turn. Null when there is no such turn. */
  async claim(db: Db, turnId: string, worker: string, cap: number, at: Date): Promise<ClaimRow | null> {
    const [row] = await db.query<ClaimRow>(CLAIM, [turnId, worker, at, cap]);
    return row ?? null;
  }

  /** The messages that a turn sees: up to its own, and what it has written itself. */
  transcript(db: Db, turn: { chat_id: string; seq: number }): Promise<TranscriptRow[]> {
    return db.query<TranscriptRow>(TRANSCRIPT, [turn.chat_id, turn.seq]);
  }

  /** Null when the fence is stale, the turn was stopped, or (final step) turns are pending behind it. */
  async commitModelStep(db: Db, step: ModelStep): Promise<StepCommit | null> {
    const { message } = step;
    const json = (value: unknown) => (value === null || value === undefined ? null : JSON.stringify(value));
    const [row] = await db.query<StepCommit>(COMMIT_MODEL_STEP, [
      step.turnId,
      step.fence,
      step.at,
      step.final,
      message.id,
      message.content,
      json(message.toolCalls),
      json(message.providerState),
      message.model,
      json(message.usage),
      json(step.detail),
      step.stepNo,
      json(step.receipt),
      json(step.events),
      json(step.toolIntents),
      step.titleJobId,
    ]);
    return row ?? null;
  }

  /** Null when the turn was not stopped under this fence, or something newer is in the chat. */
  async keepSaid(
    db: Db,
    said: { turnId: string; fence: string; stepNo: number; messageId: string; content: string; model: string; event: NewEvent; at: Date },
  ): Promise<Pick<StepCommit, 'event_seq' | 'message_seq'> | null> {
    const [row] = await db.query<Pick<StepCommit, 'event_seq' | 'message_seq'>>(KEEP_SAID, [
      said.turnId,
      said.fence,
      said.at,
      said.stepNo,
      said.messageId,
      said.content,
      said.model,
      JSON.stringify(said.event.data),
    ]);
    return row ?? null;
  }

  /** Keeps the leases of these turns. @returns the ones that are still this worker's, and whether their organization is suspended */
  async heartbeat(db: Db, turns: { id: string; fence: string }[]): Promise<Map<string, { suspended: boolean }>> {
    const rows = await db.query<{ id: string; suspended: boolean }>(HEARTBEAT, [turns.map((t) => t.id), turns.map((t) => t.fence)]);
    return new Map(rows.map((r) => [r.id, r]));
  }

  /** Whether this owner may still write: locks the chat and the turn for the rest of the transaction. */
  async lockOwned(tx: Db, turnId: string, fence: string): Promise<{ chat_id: string; org_id: string; event_seq: number; message_seq: number; pending_turns: number; status: string } | null> {
    const [row] = await tx.query<{ chat_id: string; org_id: string; event_seq: number; message_seq: number; pending_turns: number; status: string }>(
      `SELECT c.id AS chat_id, c.org_id, c.event_seq, c.message_seq, c.pending_turns, c.status
       FROM turns t JOIN chats c ON c.id = t.chat_id WHERE t.id = $1 AND t.fence = $2 AND t.status = 'running' FOR UPDATE OF c, t`,
      [turnId, fence],
    );
    return row ?? null;
  }

  /** Appends events to a chat whose row this transaction has locked. @returns the number before the first */
  async appendEvents(tx: Db, chatId: string, events: NewEvent[], at: Date): Promise<number> {
    const [{ before }] = await tx.query<{ before: number }>(
      `WITH c AS (UPDATE chats SET event_seq = event_seq + $2, updated_at = $4 WHERE id = $1 RETURNING id, org_id, event_seq - $2 AS before),
            e AS (INSERT INTO events (topic, seq, org_id, type, data, created_at)
                  SELECT 'chat:' || c.id, c.before + x.ord, c.org_id, x.event->>'type', x.event->'data', $4 FROM c, jsonb_array_elements($3::jsonb) WITH ORDINALITY AS x(event, ord))
       SELECT before FROM c`,
      [chatId, events.length, JSON.stringify(events), at],
    );
    return before;
  }

  /** Writes a tool's result as the next message, ends its step and writes the intent of the step that follows. */
  async commitToolStep(
    tx: Db,
    step: { turnId: string; stepNo: number; messageId: string; content: string; toolCallId: string; toolName: string; status: 'done' | 'failed'; at: Date },
  ): Promise<void> {
    await tx.execute(
      `WITH c AS (UPDATE chats SET message_seq = message_seq + 1, message_count = message_count + 1, last_message_at = $8 FROM turns t WHERE t.id = $1 AND chats.id = t.chat_id
                  RETURNING chats.id, chats.org_id, chats.message_seq, t.seq AS turn_no),
            m AS (INSERT INTO messages (id, org_id, chat_id, seq, role, content, tool_call_id, tool_name, turn_id, turn_no, created_at)
                  SELECT $3, c.org_id, c.id, c.message_seq, 'tool', $4, $5, $6, $1, c.turn_no, $8 FROM c),
            s AS (UPDATE turn_steps SET status = $7, message_id = $3, finished_at = $8 WHERE turn_id = $1 AND step_no = $2)
       UPDATE turns SET steps_done = steps_done + 1, deliveries = 0, wait = NULL, lease_expires_at = now() + interval '${LEASE_S} seconds' WHERE id = $1`,
      [step.turnId, step.stepNo, step.messageId, step.content, step.toolCallId, step.toolName, step.status, step.at],
    );
  }

  /** Tool calls of a turn whose outcome was never written. A running turn's model call needs no row: the lease says that it is under way. */
  openCalls(db: Db, turnId: string): Promise<{ step_no: number; tool_call_id: string }[]> {
    return db.query(`SELECT step_no, tool_call_id FROM turn_steps WHERE turn_id = $1 AND status = 'intent' ORDER BY step_no`, [turnId]);
  }

  /**
   * Locks a turn that no worker has begun and no other turn waits behind, with its chat: those behind it were accepted and must run.
   *
   * @returns the chat's status, null when there is no such turn
   */
  async lockQueued(tx: Db, turnId: string): Promise<string | null> {
    const [row] = await tx.query<{ status: string }>(
      `SELECT c.status FROM turns t JOIN chats c ON c.id = t.chat_id WHERE t.id = $1 AND t.status = 'queued' AND c.pending_turns = 0 FOR UPDATE OF c, t`,
      [turnId],
    );
    return row?.status ?? null;
  }

  /** The newest turn that answers a message. */
  async ofMessage(db: Db, messageId: string): Promise<{ id: string; status: string } | null> {
    const [row] = await db.query<{ id: string; status: string }>(
      `SELECT t.id, t.status FROM turns t JOIN messages m ON m.chat_id = t.chat_id WHERE m.id = $1 AND t.message_id = $1 ORDER BY t.seq DESC LIMIT 1`,
      [messageId],
    );
    return row ?? null;
  }

  async causeOf(db: Db, turnId: string): Promise<string | null> {
    return (await db.query<{ cause: string }>('SELECT cause FROM turns WHERE id = $1', [turnId]))[0]?.cause ?? null;
  }

  /** Answers the call that a waiting turn waits in: a user wrote instead. */
  async interruptWait(tx: Db, turnId: string, at: Date): Promise<void> {
    const [row] = await tx.query<{ wait: TurnWait | null }>(`SELECT wait FROM turns WHERE id = $1 AND status = 'waiting'`, [turnId]);
    if (!row?.wait) return;
    const { step_no: stepNo, tool_call_id: toolCallId, tool_name: toolName } = row.wait;
    await this.commitToolStep(tx, { turnId, stepNo, messageId: uuidv7(), content: JSON.stringify({ status: 'interrupted_by_message' }), toolCallId, toolName, status: 'failed', at });
  }

  /** Puts a job off; the relay publishes it then. */
  async postpone(db: Db, jobId: string, until: Date): Promise<void> {
    await db.execute('UPDATE outbox SET available_at = $2 WHERE id = $1', [jobId, until]);
  }

  async removeJob(db: Db, jobId: string): Promise<void> {
    await db.execute('DELETE FROM outbox WHERE id = $1', [jobId]);
  }

  /** Takes a turn that is over the cap out of the queue. */
  async park(tx: Db, turn: { id: string; chat_id: string }, at: Date): Promise<void> {
    await tx.execute(`UPDATE turns SET parked = true, status = 'queued' WHERE id = $1`, [turn.id]);
    await tx.execute(`UPDATE chats SET pause = $2, updated_at = $3 WHERE id = $1`, [turn.chat_id, JSON.stringify({ kind: 'queued', since: at.toISOString() }), at]);
    await this.removeJob(tx, turn.id);
  }

  /** Lets a turn wait without a slot. Its lease ends; its job becomes due at the wait's end. */
  async beginWait(tx: Db, turn: { id: string; chat_id: string }, wait: TurnWait, at: Date): Promise<void> {
    await tx.execute(`UPDATE turns SET status = 'waiting', wait = $2, lease_owner = NULL, lease_expires_at = NULL, deliveries = 0 WHERE id = $1`, [turn.id, JSON.stringify(wait)]);
    await tx.execute(`UPDATE chats SET status = 'ACTIVE', pause = $2, updated_at = $3 WHERE id = $1`, [
      turn.chat_id,
      JSON.stringify({ kind: wait.kind, since: at.toISOString(), resume_at: wait.resume_at }),
      at,
    ]);
    await this.postpone(tx, turn.id, new Date(wait.resume_at));
  }

  /**
   * Hands a turn back: the next delivery finds no lease.
   *
   * @param free the delivery does not count, because nothing went wrong (a worker shuts down)
   */
  async release(db: Db, turn: { id: string; fence: string }, free = true): Promise<void> {
    await db.execute(
      `WITH t AS (UPDATE turns SET lease_owner = NULL, lease_expires_at = now(), deliveries = greatest(deliveries - $3, 0) WHERE id = $1 AND fence = $2 AND status = 'running' RETURNING id)
       UPDATE outbox SET available_at = now() FROM t WHERE outbox.id = t.id`,
      [turn.id, turn.fence, free ? 1 : 0],
    );
  }

  /**
   * Ends a turn whose chat this transaction has locked, and dispatches what waits behind it.
   *
   * @param dispatchNext false where what waits behind it is over, too
   * @returns jobs to publish after the commit
   */
  async endTurn(
    tx: Db,
    turn: { id: string; chat_id: string; org_id: string },
    end: { turnStatus: 'done' | 'stopped' | 'skipped' | 'failed' | 'cancelled'; chatStatus: string; chatError: ChatError | null; stopReason: string | null; at: Date; dispatchNext: boolean },
  ): Promise<{ id: string; org_id: string; chat_id: string }[]> {
    await tx.execute(
      `UPDATE turns SET status = $2, error = $3, finished_at = $4, lease_owner = NULL, lease_expires_at = NULL, parked = false, wait = NULL WHERE id = $1`,
      [turn.id, end.turnStatus, end.chatError && JSON.stringify(end.chatError), end.at],
    );
    await this.removeJob(tx, turn.id);
    const [next] = end.dispatchNext
      ? await tx.query<{ id: string }>(`SELECT id FROM turns WHERE chat_id = $1 AND status = 'queued' ORDER BY seq LIMIT 1`, [turn.chat_id])
      : [];
    if (!end.dispatchNext) {
      await tx.execute(`UPDATE turns SET status = 'skipped', finished_at = $2, parked = false WHERE chat_id = $1 AND status = 'queued'`, [turn.chat_id, end.at]);
    }
    await tx.execute(
      `UPDATE chats SET status = $2, error = $3, stop_reason = $4, pause = NULL, current_turn_id = $5,
         pending_turns = CASE WHEN $6 THEN greatest(pending_turns - (CASE WHEN $5::uuid IS NULL THEN 0 ELSE 1 END), 0) ELSE 0 END,
         archived_at = CASE WHEN $2 = 'ARCHIVED' THEN $7::timestamptz ELSE archived_at END, updated_at = $7 WHERE id = $1`,
      [turn.chat_id, end.chatStatus, end.chatError && JSON.stringify(end.chatError), end.stopReason, next?.id ?? null, end.dispatchNext, end.at],
    );
    const dispatched = next ? [await this.dispatch(tx, { id: next.id, org_id: turn.org_id, chat_id: turn.chat_id })] : [];
    return [...dispatched, ...(await this.dispatchParked(tx, turn.org_id))];
  }

  /** Writes the job of a turn. */
  async dispatch(tx: Db, turn: { id: string; org_id: string; chat_id: string }): Promise<{ id: string; org_id: string; chat_id: string }> {
    await tx.execute(
      `INSERT INTO outbox (id, job, version, payload, available_at) VALUES ($1, 'turn.run', 1, $2, now() + interval '5 seconds') ON CONFLICT (id) DO UPDATE SET available_at = now() + interval '5 seconds'`,
      [turn.id, JSON.stringify({ org_id: turn.org_id, chat_id: turn.chat_id, turn_id: turn.id })],
    );
    return turn;
  }

  /** Dispatches the organization's oldest turn that is over the cap, if any. */
  async dispatchParked(db: Db, orgId: string): Promise<{ id: string; org_id: string; chat_id: string }[]> {
    return db.query(`WITH ${DISPATCH_PARKED('SELECT $1::uuid AS org_id')} SELECT id, org_id, chat_id FROM p`, [orgId]);
  }

  /**
   * Makes the jobs of turns due whose lease or wait is over and which nobody has taken up: their job was lost, or was still held by the
   * queue when it was published again.
   *
   * @returns how many
   */
  wakeUnowned(db: Db): Promise<number> {
    return db.execute(
      `UPDATE outbox SET available_at = now() FROM turns t
       WHERE t.id = outbox.id AND outbox.available_at > now() + interval '5 seconds'
         AND ((t.status = 'running' AND t.lease_expires_at < now() - interval '1 second')
           OR (t.status = 'waiting' AND (t.wait->>'resume_at')::timestamptz < now() - interval '1 second'))`,
    );
  }

  /** Organizations with turns that are over the cap, and how many of their turns run. For the sweeper. */
  parkedOrgs(db: Db): Promise<{ org_id: string; running: number; parked: number }[]> {
    return db.query(
      `SELECT p.org_id, p.parked::int, (SELECT count(*)::int FROM turns r WHERE r.org_id = p.org_id AND r.status = 'running' AND r.lease_expires_at > now()) AS running
       FROM (SELECT org_id, count(*) AS parked FROM turns WHERE parked GROUP BY org_id) p`,
    );
  }
}
