import { Injectable } from '@nestjs/common';
import type { ChatStatus } from '@aps/entities';
import type { FileReference } from '@aps/files';
import { memberStands, type OrgScope } from '@aps/guards';
import { batchStatement, type Ahead, type Database, type Tx } from '@aps/platform/database';
import { insertJobs } from '@aps/platform/outbox';
import { appendEvent } from '@aps/platform/realtime';
import { changeChats, insertMessages, topicOf } from '../state/chat-state.sql';
import { eventMessage, type EventMessage, type Pause } from '../state/chat.types';
import { agentDeletedAt, visibleChat } from '../state/visible-chats.sql';
import type { TurnChoices } from '../turns/turn-choices';
import { insertTurns } from '../turns/turn.sql';
import { uuidv7 } from 'uuidv7';

/** A message on its way into its chat. */
interface Sending {
  org_id: string;
  user_id: string | null;
  credential_id: string | null;
  agent_id: string;
  chat_id: string;
  message_id: string;
  turn_id: string;
  principal_id: string | null;
  content: string;
  model: string | null;
  mode: string | null;
  effort: string | null;
  at: Date;
  attachments: FileReference[] | null;
  request_id: string | null;
  traceparent: string | null;
  event: NewMessage['event'];
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
  SELECT * FROM jsonb_to_recordset($1::jsonb) AS x(org_id uuid, user_id uuid, credential_id uuid, agent_id uuid, chat_id uuid, message_id uuid, turn_id uuid, principal_id uuid, content text, model text, mode text, effort text,
    at timestamptz, attachments jsonb, request_id text, traceparent text, event jsonb)
), c AS MATERIALIZED (
  SELECT i.*, k.*, CASE WHEN k.agent_deleted THEN 'deleted' WHEN k.status IN ('ACTIVE', 'RUNNING') AND (k.pause IS NULL OR k.pause->>'kind' = 'queued') THEN 'taken' ELSE 'left' END AS verdict
  FROM i CROSS JOIN LATERAL (
    SELECT c.status, c.pause, c.event_seq, c.message_seq, c.turn_seq, c.current_turn_id, ${agentDeletedAt('c.agent_id')} IS NOT NULL AS agent_deleted
    FROM chats c WHERE ${visibleChat({ org: 'i.org_id', user: 'i.user_id', agent: 'i.agent_id', chat: 'i.chat_id' })}
      AND ${memberStands({ credential: 'i.credential_id', user: 'i.user_id', org: 'i.org_id' })}
    FOR NO KEY UPDATE ${locked}
  ) k
), v AS (
  SELECT c.*, c.current_turn_id IS NULL AS dispatch FROM c WHERE c.verdict = 'taken'
), t AS (${insertTurns('v', {
    id: 'v.turn_id',
    org_id: 'v.org_id',
    chat_id: 'v.chat_id',
    seq: 'v.turn_seq + 1',
    cause: `'message'`,
    message_id: 'v.message_id',
    principal_id: 'v.principal_id',
    model: 'v.model',
    model_mode_override: 'v.mode',
    reasoning_effort: 'v.effort',
  })}
), m AS (${insertMessages('v', {
    id: 'v.message_id',
    org_id: 'v.org_id',
    chat_id: 'v.chat_id',
    seq: 'v.message_seq + 1',
    role: `'user'`,
    content: 'v.content',
    attachments: 'v.attachments',
    turn_id: 'v.turn_id',
    turn_no: 'v.turn_seq + 1',
    author_id: 'v.user_id',
    created_at: 'v.at',
  })}
), o AS (${insertJobs('turn.run', { from: 'v WHERE v.dispatch', id: 'v.turn_id', payload: { org_id: 'v.org_id', chat_id: 'v.chat_id', turn_id: 'v.turn_id' }, requestId: 'v.request_id', traceparent: 'v.traceparent' })}
), e AS (${appendEvent({ from: 'v', topic: topicOf('v.chat_id'), orgId: 'v.org_id', after: 'v.event_seq', type: 'message_created', data: `jsonb_set(v.event, '{message,seq}', to_jsonb(v.message_seq + 1))`, at: 'v.at' })}
), u AS (${changeChats({
    from: 'v',
    id: 'v.chat_id',
    at: 'v.at',
    messageAfter: 'v.message_seq',
    set: {
      turn_seq: 'v.turn_seq + 1',
      event_seq: 'v.event_seq + 1',
      current_turn_id: 'coalesce(v.current_turn_id, v.turn_id)',
      pending_turns: 'chats.pending_turns + (CASE WHEN v.dispatch THEN 0 ELSE 1 END)',
    },
  })}
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
  /** On whose behalf, where the sender is no user. */
  principalId: string | null;
  content: string;
  model: string | null;
  mode: string | null;
  effort: string | null;
  attachments: FileReference[] | null;
  at: Date;
  /** What the chat's readers are told. The message's number is written when it has been given. */
  event: { message: EventMessage; turn_id: string | null };
}

/** A message that nobody has stored yet, and the turn that will answer it. */
export function newMessage(
  said: { content: string; attachments?: FileReference[]; principal_id?: string | null } & Partial<TurnChoices>,
  at: Date,
): NewMessage {
  const {
    content,
    attachments = [],
    principal_id: principalId = null,
    model = null,
    model_mode_override: mode = null,
    reasoning_effort: effort = null,
  } = said;
  const [messageId, turnId] = [uuidv7(), uuidv7()];
  const message = eventMessage({ id: messageId, role: 'user', content, attachments, at });
  return {
    messageId,
    turnId,
    principalId,
    content,
    model,
    mode,
    effort,
    attachments: attachments.length ? attachments : null,
    at,
    event: { message, turn_id: turnId },
  };
}

const sending = (scope: OrgScope, agentId: string, chatId: string, m: NewMessage): Sending => ({
  org_id: scope.orgId,
  user_id: scope.actor.userId,
  credential_id: scope.credentialId ?? null,
  agent_id: agentId,
  chat_id: chatId,
  message_id: m.messageId,
  turn_id: m.turnId,
  principal_id: scope.actor.userId ?? m.principalId,
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

/** Messages of users, each with the turn that answers it. */
@Injectable()
export class SendRepository {
  /** Null when there is no such chat for the caller. */
  send(tx: Tx, scope: OrgScope, agentId: string, chatId: string, m: NewMessage): Promise<SendRow | null> {
    return tx.batched(SEND, sending(scope, agentId, chatId, m));
  }

  /** The same in a transaction of its own, told while that is being committed. */
  sendAhead(db: Database, scope: OrgScope, agentId: string, chatId: string, m: NewMessage): Promise<Ahead<SendRow> | null> {
    return db.batchedAhead(SEND, sending(scope, agentId, chatId, m));
  }
}
