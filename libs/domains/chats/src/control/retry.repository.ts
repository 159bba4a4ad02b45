import { Injectable } from '@nestjs/common';
import type { FileReference } from '@aps/files';
import type { OrgScope } from '@aps/guards';
import { statement, type Db, type Tx } from '@aps/platform/database';
import { appendEvents } from '@aps/platform/realtime';
import { uuidv7 } from 'uuidv7';
import { topicOf } from '../chat-log.repository';
import { eventMessage, type ChatRow, type NewEvent } from '../chat.types';
import type { TurnChoices } from '../chats.policy';
import { agentDeletedAt, VISIBLE_CHAT } from '../chats.repository';

/** What a retry takes from its source. */
export interface RetrySource {
  id: string;
  created_by: string | null;
  environment_id: string | null;
  sandbox_enabled: boolean | null;
  model_mode_override: ChatRow['model_mode_override'];
  enabled_scopes: string[] | null;
  origin_kind: ChatRow['origin_kind'];
  origin_ref_id: string | null;
  agent_deleted: boolean;
}

/** A user message before the first answer. */
export interface OpeningMessage {
  id: string;
  content: string;
  attachments: FileReference[] | null;
  author_id: string | null;
  turn_id: string | null;
}

const SOURCE = statement<RetrySource>(`
  SELECT c.id, c.created_by, c.environment_id, c.sandbox_enabled, c.model_mode_override, c.enabled_scopes, c.origin_kind, c.origin_ref_id, ${agentDeletedAt('c.agent_id')} IS NOT NULL AS agent_deleted
  FROM chats c WHERE ${VISIBLE_CHAT}`);

/** The condition on `m` that holds for what users wrote before the first answer. */
const OPENING = `m.role = 'user' AND m.seq < coalesce((SELECT min(a.seq) FROM messages a WHERE a.chat_id = m.chat_id AND a.role = 'assistant'), 2147483647)`;
const OPENING_OF = statement<OpeningMessage>(
  `SELECT m.id, m.content, m.attachments, m.author_id, m.turn_id FROM messages m WHERE m.org_id = $1 AND m.chat_id = $2 AND ${OPENING} ORDER BY m.seq`,
);

/** Whether a chat has anything that a retry could begin with; `c` is the chat. */
export const HAS_OPENING = `EXISTS (SELECT 1 FROM messages m WHERE m.chat_id = c.id AND ${OPENING})`;

const CHOICES = statement<TurnChoices>('SELECT model, model_mode_override, reasoning_effort FROM turns WHERE id = $1');

const INSERT = statement(`
  WITH c AS (
    INSERT INTO chats (id, org_id, agent_id, agent_revision_id, rollout_id, arm_label, created_by, environment_id, sandbox_enabled, model_mode_override, enabled_scopes,
      root_chat_id, source_chat_id, origin_kind, origin_ref_id, event_seq, message_seq, message_count, turn_seq, current_turn_id, last_message_at, created_at, updated_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $1, $22, $12, $13, jsonb_array_length($17::jsonb), jsonb_array_length($16::jsonb), jsonb_array_length($16::jsonb), 1, $15, $14, $14, $14)
    RETURNING id
  ), m AS (
    INSERT INTO messages (id, org_id, chat_id, seq, role, content, attachments, turn_id, turn_no, author_id, created_at)
    SELECT (x->>'id')::uuid, $2, $1, x.ord, 'user', x->>'content', nullif(x->'attachments', 'null'::jsonb), $15, 1, (x->>'author_id')::uuid, $14
    FROM jsonb_array_elements($16::jsonb) WITH ORDINALITY AS x(x, ord)
  ), e AS (${appendEvents({ from: 'c', topic: topicOf('c.id'), orgId: '$2', after: '0', events: '$17::jsonb', at: '$14' })}
  ), t AS (
    INSERT INTO turns (id, org_id, chat_id, seq, status, cause, message_id, model, model_mode_override, reasoning_effort, dispatched_at)
    SELECT $15, $2, c.id, 1, 'queued', 'retry', $18, $19, $20, $21, clock_timestamp() FROM c
  ) SELECT id FROM c`);

/** What a retry reads and writes. */
@Injectable()
export class RetryRepository {
  /** A chat that the caller may open; null when there is none. */
  async source(db: Db, scope: OrgScope, agentId: string, chatId: string): Promise<RetrySource | null> {
    return (await db.query(SOURCE, [scope.orgId, scope.actor.userId, agentId, chatId]))[0] ?? null;
  }

  /** The user messages before the first answer, in their order. */
  opening(db: Db, scope: OrgScope, chatId: string): Promise<OpeningMessage[]> {
    return db.query(OPENING_OF, [scope.orgId, chatId]);
  }

  /** How a turn asked for its model; null when there is no such turn. */
  async choicesOf(db: Db, turnId: string | null): Promise<TurnChoices | null> {
    return turnId === null ? null : ((await db.query(CHOICES, [turnId]))[0] ?? null);
  }

  /** Stores a chat with its opening messages and the one turn that answers them. @returns the ids of the messages, in their order */
  async insert(
    tx: Tx,
    scope: OrgScope,
    chat: RetrySource & { new_id: string; agent_id: string; revision_id: string; rollout_id: string | null; arm_label: string | null },
    opening: OpeningMessage[],
    turn: { id: string; choices: TurnChoices | null; at: Date },
  ): Promise<string[]> {
    const messages = opening.map((m) => ({ id: uuidv7(), content: m.content, attachments: m.attachments, author_id: m.author_id }));
    const events = messages.map(({ id, content, attachments }, i): NewEvent => {
      const message = eventMessage({ id, seq: i + 1, role: 'user', content, attachments: attachments ?? [], at: turn.at });
      return { type: 'message_created', data: { message, turn_id: turn.id } };
    });
    await tx.query(INSERT, [
      chat.new_id,
      scope.orgId,
      chat.agent_id,
      chat.revision_id,
      chat.rollout_id,
      chat.arm_label,
      chat.created_by,
      chat.environment_id,
      chat.sandbox_enabled,
      chat.model_mode_override,
      chat.enabled_scopes,
      chat.origin_kind,
      chat.origin_ref_id,
      turn.at,
      turn.id,
      JSON.stringify(messages),
      JSON.stringify(events),
      messages.at(-1)?.id ?? null,
      turn.choices?.model ?? null,
      turn.choices?.model_mode_override ?? null,
      turn.choices?.reasoning_effort ?? null,
      chat.id,
    ]);
    return messages.map((m) => m.id);
  }
}
