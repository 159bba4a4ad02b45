import { Injectable } from '@nestjs/common';
import type { ChatStatus, TurnStatus } from '@aps/entities';
import type { FileReference } from '@aps/files';
import { chatSeenBy, memberStands, type OrgScope } from '@aps/guards';
import { batchStatement, statement, type Ahead, type Database, type Db, type Tx } from '@aps/platform/database';
import { insertJobs } from '@aps/platform/outbox';
import { appendEvent } from '@aps/platform/realtime';
import { topicOf } from './chat-log.repository';
import type { ChatRow, Pause } from './chat.types';
import type { TurnChoices } from './chats.policy';

const columns = (
  pause: string,
): string => `c.id, c.org_id, c.agent_id, c.agent_revision_id, c.rollout_id, c.arm_label, c.title, c.status, ${pause}, c.stop_reason, c.error, c.stop_requested_at,
  c.completed_at, c.archived_at, c.shared, c.created_by, c.environment_id, c.sandbox_enabled, c.model_mode_override, c.parent_chat_id, c.root_chat_id, c.source_chat_id,
  c.origin_kind, c.origin_ref_id, c.cost_usd, c.cost_credits, c.event_seq, c.message_seq, c.message_count, c.last_message_at, c.created_at, c.updated_at,
  (SELECT count(*)::int FROM hitl_requests h WHERE h.chat_id = c.id AND h.status = 'pending') AS pending_hitl_count`;
export const CHAT_COLUMNS = columns('c.pause');
/** With the place of a chat that waits for a slot: turns of its organization that wait before it. Too dear for a list. */
export const CHAT_COLUMNS_WITH_PLACE = columns(`CASE WHEN c.pause->>'kind' = 'queued' THEN c.pause || jsonb_build_object('queue_position', (
    SELECT count(*) FROM turns t JOIN turns w ON w.org_id = t.org_id AND w.parked AND w.dispatched_at < t.dispatched_at WHERE t.id = c.current_turn_id)) ELSE c.pause END AS pause`);

/**
 * A chat that the caller may open.
 *
 * The id alone is to find it. An equal sign would let a connection that plans this while there are few chats look through all of the
 * organization, or of the agent, from then on.
 */
const visibleChat = (by: Record<'org' | 'user' | 'agent' | 'chat', string>): string =>
  `c.id = ${by.chat} AND c.org_id IS NOT DISTINCT FROM ${by.org} AND c.agent_id IS NOT DISTINCT FROM ${by.agent} AND ${chatSeenBy(by.user)}`;

/** The same by values: org, user (null = system), agent, chat. */
export const VISIBLE_CHAT = visibleChat({ org: '$1', user: '$2', agent: '$3', chat: '$4' });
/** One row per reader, in their order. Values: orgs, users, chats, as lists of the same length. */
export const VISIBLE_AMONG = statement<{ visible: boolean }>(`
  SELECT EXISTS (SELECT 1 FROM chats c WHERE c.id = r.chat AND c.org_id = r.org AND ${chatSeenBy('r.reader')}) AS visible
  FROM unnest($1::uuid[], $2::uuid[], $3::uuid[]) WITH ORDINALITY AS r(org, reader, chat, place) ORDER BY r.place`);

const INSERT = statement(`
  INSERT INTO chats (id, org_id, agent_id, agent_revision_id, rollout_id, arm_label, title, created_by, environment_id, sandbox_enabled, model_mode_override, root_chat_id, origin_kind, origin_ref_id, created_at, updated_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $1, $12, $13, $14, $14)`);

/** When the agent of a chat was deleted; null while it is there. A scalar, which is looked up by its id whatever the plan was made for. */
export const agentDeletedAt = (agent: string): string => `(SELECT a.deleted_at FROM agents a WHERE a.id = ${agent})`;

/** A message on its way into its chat. */
interface Sending {
  org_id: string;
  user_id: string | null;
  credential_id: string | null;
  agent_id: string;
  chat_id: string;
  message_id: string;
  turn_id: string;
  content: string;
  model: string | null;
  mode: string | null;
  effort: string | null;
  at: Date;
  attachments: FileReference[] | null;
  request_id: string | null;
  traceparent: string | null;
  event: Record<string, unknown>;
}

/**
 * Takes user messages: a message, the turn that answers it, its job and the event are one statement. While a turn runs, the new turn
 * waits behind it without a job. When it was dispatched is the database's time under the lock, so that a stop is before or after it for
 * everybody. Chats that wait for something, have failed or are closed, or whose agent is deleted, are not touched (`dispatch` is null).
 */
const SEND = batchStatement<Sending>(
  'send',
  (item) => item.chat_id,
  (locked) => `
WITH i AS MATERIALIZED (
  SELECT * FROM jsonb_to_recordset($1::jsonb) AS x(org_id uuid, user_id uuid, credential_id uuid, agent_id uuid, chat_id uuid, message_id uuid, turn_id uuid, content text, model text, mode text, effort text,
    at timestamptz, attachments jsonb, request_id text, traceparent text, event jsonb)
), c AS MATERIALIZED (
  SELECT i.*, k.*, CASE WHEN k.agent_deleted THEN 'deleted' WHEN k.status IN ('ACTIVE', 'RUNNING') AND (k.pause IS NULL OR k.pause->>'kind' = 'queued') THEN 'taken' ELSE 'left' END AS verdict
  FROM i CROSS JOIN LATERAL (
    SELECT c.status, c.pause, c.event_seq, c.message_seq, c.turn_seq, c.current_turn_id, ${agentDeletedAt('c.agent_id')} IS NOT NULL AS agent_deleted
    FROM chats c WHERE ${visibleChat({ org: 'i.org_id', user: 'i.user_id', agent: 'i.agent_id', chat: 'i.chat_id' })}
      AND ${memberStands({ credential: 'i.credential_id', user: 'i.user_id', org: 'i.org_id' })}
    FOR UPDATE ${locked}
  ) k
), v AS (
  SELECT c.*, c.current_turn_id IS NULL AS dispatch FROM c WHERE c.verdict = 'taken'
), t AS (
  INSERT INTO turns (id, org_id, chat_id, seq, status, cause, message_id, model, model_mode_override, reasoning_effort, dispatched_at)
  SELECT v.turn_id, v.org_id, v.chat_id, v.turn_seq + 1, 'queued', 'message', v.message_id, v.model, v.mode, v.effort, clock_timestamp() FROM v
), m AS (
  INSERT INTO messages (id, org_id, chat_id, seq, role, content, attachments, turn_id, turn_no, author_id, created_at)
  SELECT v.message_id, v.org_id, v.chat_id, v.message_seq + 1, 'user', v.content, v.attachments, v.turn_id, v.turn_seq + 1, v.user_id, v.at FROM v
), o AS (${insertJobs('turn.run', { from: 'v WHERE v.dispatch', id: 'v.turn_id', payload: { org_id: 'v.org_id', chat_id: 'v.chat_id', turn_id: 'v.turn_id' }, requestId: 'v.request_id', traceparent: 'v.traceparent' })}
), e AS (${appendEvent({ from: 'v', topic: topicOf('v.chat_id'), orgId: 'v.org_id', after: 'v.event_seq', type: 'message_created', data: `jsonb_set(v.event, '{message,seq}', to_jsonb(v.message_seq + 1))`, at: 'v.at' })}
), u AS (
  UPDATE chats SET message_seq = v.message_seq + 1, message_count = chats.message_count + 1, turn_seq = v.turn_seq + 1, event_seq = v.event_seq + 1,
    current_turn_id = coalesce(v.current_turn_id, v.turn_id), pending_turns = chats.pending_turns + (CASE WHEN v.dispatch THEN 0 ELSE 1 END), last_message_at = v.at, updated_at = v.at
  FROM v WHERE chats.id = v.chat_id
)
SELECT c.chat_id AS batch_key, row_to_json(a) AS answer
FROM c CROSS JOIN LATERAL (SELECT c.status, c.pause, c.agent_deleted, CASE c.verdict WHEN 'taken' THEN c.current_turn_id IS NULL END AS dispatch, c.event_seq, c.message_seq + 1 AS message_seq) a`,
);

export interface SendRow {
  status: ChatStatus;
  pause: Pause | null;
  agent_deleted: boolean;
  /** Null when the chat takes messages another way, or none. */
  dispatch: boolean | null;
  event_seq: number;
  message_seq: number;
}

export interface NewMessage {
  messageId: string;
  turnId: string;
  content: string;
  model: string | null;
  mode: string | null;
  effort: string | null;
  attachments: FileReference[] | null;
  at: Date;
  event: Record<string, unknown>;
}

const sending = (scope: OrgScope, agentId: string, chatId: string, m: NewMessage): Sending => ({
  org_id: scope.orgId,
  user_id: scope.actor.userId,
  credential_id: scope.credentialId ?? null,
  agent_id: agentId,
  chat_id: chatId,
  message_id: m.messageId,
  turn_id: m.turnId,
  content: m.content,
  model: m.model,
  mode: m.mode,
  effort: m.effort,
  at: m.at,
  attachments: m.attachments,
  request_id: scope.requestId ?? null,
  traceparent: scope.traceparent ?? null,
  event: m.event,
});

/** What a chat is, under its row's lock. */
export interface LockedChat {
  id: string;
  org_id: string;
  status: ChatStatus;
  pause: Pause | null;
  title: string | null;
  created_by: string | null;
  shared: boolean;
  stop_reason: string | null;
  stop_requested_at: Date | null;
  current_turn_id: string | null;
  message_seq: number;
  turn_seq: number;
  agent_deleted: boolean;
}

/** A turn that is over, as far as one that goes on from it wants to know. */
export interface TurnToResume extends TurnChoices {
  id: string;
  status: TurnStatus;
  cause: 'message' | 'continue' | 'retry';
  message_id: string | null;
}

const NEWEST_TURN = statement<TurnToResume>(
  'SELECT id, status, cause, message_id, model, model_mode_override, reasoning_effort FROM turns WHERE chat_id = $1 ORDER BY seq DESC LIMIT 1',
);

const MESSAGES_SEEN = statement<{ id: string }>(`
  SELECT m.id FROM messages m JOIN chats c ON c.id = m.chat_id
  WHERE m.org_id = $1 AND m.id = ANY($3::uuid[]) AND c.org_id = $1 AND ${chatSeenBy('$2')}`);
const INSERT_UNDISPATCHED = statement(
  `INSERT INTO messages (id, org_id, chat_id, seq, role, content, attachments, turn_no, author_id, created_at) VALUES ($1, $2, $3, $4, 'user', $5, $6, $7, $8, $9)`,
);
const COUNT_MESSAGE = statement(
  'UPDATE chats SET message_seq = message_seq + 1, message_count = message_count + 1, last_message_at = $2, updated_at = $2 WHERE id = $1',
);
const LOCK =
  statement<LockedChat>(`SELECT c.id, c.org_id, c.status, c.pause, c.title, c.created_by, c.shared, c.stop_reason, c.stop_requested_at, c.current_turn_id, c.message_seq, c.turn_seq, ${agentDeletedAt('c.agent_id')} IS NOT NULL AS agent_deleted
       FROM chats c WHERE ${VISIBLE_CHAT} FOR UPDATE`);
const INSERT_TURN =
  statement(`INSERT INTO turns (id, org_id, chat_id, seq, status, cause, message_id, model, model_mode_override, reasoning_effort, unpriced_allowed, dispatched_at)
       VALUES ($1, $2, $3, $4, 'queued', $5, $6, $7, $8, $9, $10, clock_timestamp())`);
const BEGIN_TURN = statement('UPDATE chats SET turn_seq = turn_seq + 1, current_turn_id = $2, updated_at = $3 WHERE id = $1');

/** The tables of chats and messages, outside of running turns. */
@Injectable()
export class ChatsRepository {
  /** Of these messages, those in chats that the caller may open. */
  async messagesSeen(db: Db, scope: OrgScope, ids: string[]): Promise<string[]> {
    return (await db.query(MESSAGES_SEEN, [scope.orgId, scope.actor.userId, ids])).map((row) => row.id);
  }

  async insert(
    db: Db,
    scope: OrgScope,
    chat: Pick<
      ChatRow,
      | 'id'
      | 'agent_id'
      | 'agent_revision_id'
      | 'rollout_id'
      | 'arm_label'
      | 'title'
      | 'created_by'
      | 'environment_id'
      | 'sandbox_enabled'
      | 'model_mode_override'
      | 'origin_kind'
      | 'origin_ref_id'
      | 'created_at'
    >,
  ): Promise<void> {
    await db.execute(INSERT, [
      chat.id,
      scope.orgId,
      chat.agent_id,
      chat.agent_revision_id,
      chat.rollout_id,
      chat.arm_label,
      chat.title,
      chat.created_by,
      chat.environment_id,
      chat.sandbox_enabled,
      chat.model_mode_override,
      chat.origin_kind,
      chat.origin_ref_id,
      chat.created_at,
    ]);
  }

  /** Null when there is no such chat for the caller. */
  send(tx: Tx, scope: OrgScope, agentId: string, chatId: string, m: NewMessage): Promise<SendRow | null> {
    return tx.batched(SEND, sending(scope, agentId, chatId, m));
  }

  /** The same in a transaction of its own, told while that is being committed. */
  sendAhead(db: Database, scope: OrgScope, agentId: string, chatId: string, m: NewMessage): Promise<Ahead<SendRow> | null> {
    return db.batchedAhead(SEND, sending(scope, agentId, chatId, m));
  }

  /** Stores a message that no turn answers yet; the chat's next turn will see it. */
  async insertUndispatched(tx: Db, scope: OrgScope, chat: LockedChat, m: NewMessage): Promise<number> {
    await tx.execute(INSERT_UNDISPATCHED, [
      m.messageId,
      scope.orgId,
      chat.id,
      chat.message_seq + 1,
      m.content,
      m.attachments && JSON.stringify(m.attachments),
      chat.turn_seq + 1,
      scope.actor.userId,
      m.at,
    ]);
    await tx.execute(COUNT_MESSAGE, [chat.id, m.at]);
    return chat.message_seq + 1;
  }

  /** Locks a chat that the caller may open for the rest of the transaction. */
  async lock(tx: Db, scope: OrgScope, agentId: string, chatId: string): Promise<LockedChat | null> {
    const [row] = await tx.query(LOCK, [scope.orgId, scope.actor.userId, agentId, chatId]);
    return row ?? null;
  }

  /** Adds a turn to a locked chat that has none. */
  async insertTurn(
    tx: Db,
    chat: LockedChat,
    turn: {
      id: string;
      cause: 'message' | 'continue' | 'retry';
      messageId: string | null;
      choices: TurnChoices | null;
      unpricedAllowed: boolean;
      at: Date;
    },
  ): Promise<void> {
    await tx.execute(INSERT_TURN, [
      turn.id,
      chat.org_id,
      chat.id,
      chat.turn_seq + 1,
      turn.cause,
      turn.messageId,
      turn.choices?.model ?? null,
      turn.choices?.model_mode_override ?? null,
      turn.choices?.reasoning_effort ?? null,
      turn.unpricedAllowed,
    ]);
    await tx.execute(BEGIN_TURN, [chat.id, turn.id, turn.at]);
  }

  /** Null where the caller may not open it. */
  async asking(db: Db, scope: OrgScope, agentId: string, chatId: string): Promise<AskingChat | null> {
    return (await db.query(ASKING, [scope.orgId, scope.userId, agentId, chatId]))[0] ?? null;
  }

  /** The newest turn of a chat. */
  async newestTurn(db: Db, chatId: string): Promise<TurnToResume | null> {
    return (await db.query(NEWEST_TURN, [chatId]))[0] ?? null;
  }

  /** Turns of an organization that wait for a worker or a slot, counted up to `limit`. */
  async waitingTurns(db: Db, orgId: string, limit: number): Promise<number> {
    const [{ n }] = await db.query(WAITING, [orgId, limit]);
    return n;
  }
}

/** What of a chat says how its next turn would ask. */
export interface AskingChat extends TurnChoices {
  id: string;
  org_id: string;
  agent_id: string;
  agent_deleted: boolean;
  agent_revision_id: string;
  chat_mode: string | null;
  enabled_scopes: string[] | null;
  stop_reason: string | null;
  error_code: string | null;
}

// The choices are those of its newest turn.
const ASKING = statement<AskingChat>(`
  SELECT c.id, c.org_id, c.agent_id, ${agentDeletedAt('c.agent_id')} IS NOT NULL AS agent_deleted, c.agent_revision_id, c.model_mode_override AS chat_mode, c.enabled_scopes,
         c.stop_reason, c.error->>'code' AS error_code, t.model, t.model_mode_override, t.reasoning_effort
  FROM chats c LEFT JOIN LATERAL (SELECT * FROM turns t WHERE t.chat_id = c.id ORDER BY t.seq DESC LIMIT 1) t ON true
  WHERE ${VISIBLE_CHAT}`);

const WAITING = statement<{ n: number }>(
  `SELECT count(*)::int AS n FROM (SELECT 1 FROM turns WHERE org_id = $1 AND status = 'queued' AND finished_at IS NULL LIMIT $2) q`,
);
