import { Injectable } from '@nestjs/common';
import type { FileReference } from '@aps/files';
import type { OrgScope } from '@aps/guards';
import { statement, type Db, type Tx } from '@aps/platform/database';
import type { ChatRow } from '../state/chat.types';
import { agentDeletedAt, VISIBLE_CHAT } from '../state/visible-chats.sql';

/** What a retry takes from its source. */
export interface RetrySource {
  id: string;
  created_by: string | null;
  environment_id: string | null;
  sandbox_enabled: boolean | null;
  model_mode_override: ChatRow['model_mode_override'];
  enabled_scopes: string[] | null;
  max_steps: number | null;
  origin_kind: ChatRow['origin_kind'];
  origin_ref_id: string | null;
  originator: string | null;
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
  SELECT c.id, c.created_by, c.environment_id, c.sandbox_enabled, c.model_mode_override, c.enabled_scopes, c.max_steps, c.origin_kind, c.origin_ref_id, c.originator, ${agentDeletedAt('c.agent_id')} IS NOT NULL AS agent_deleted
  FROM chats c WHERE ${VISIBLE_CHAT} FOR KEY SHARE OF c`);

/** The condition on `m` that holds for what users wrote before the first answer. */
const OPENING = `m.role = 'user' AND m.seq < coalesce((SELECT min(a.seq) FROM messages a WHERE a.chat_id = m.chat_id AND a.role = 'assistant'), 2147483647)`;
/** So many of them are carried, the last ones, and of these so many bytes. */
const MAX_MESSAGES = 500;
const MAX_BYTES = 8_000_000;
const OPENING_OF = statement<OpeningMessage>(`
  SELECT id, content, attachments, author_id, turn_id FROM (
    SELECT o.*, sum(octet_length(o.content)) OVER (ORDER BY o.seq DESC) - octet_length(o.content) AS newer
    FROM (SELECT m.id, m.content, m.attachments, m.author_id, m.turn_id, m.seq FROM messages m WHERE m.org_id = $1 AND m.chat_id = $2 AND ${OPENING} ORDER BY m.seq DESC LIMIT ${MAX_MESSAGES}) o
  ) o WHERE newer < ${MAX_BYTES} ORDER BY seq`);

/** Whether a chat has anything that a retry could begin with; `c` is the chat. */
export const HAS_OPENING = `EXISTS (SELECT 1 FROM messages m WHERE m.chat_id = c.id AND ${OPENING})`;

/** What a retry reads. */
@Injectable()
export class RetryQueries {
  /** A chat that the caller may open; null when there is none. Who ends it with its retries waits for this transaction; its turn goes on meanwhile. */
  async source(tx: Tx, scope: OrgScope, agentId: string, chatId: string): Promise<RetrySource | null> {
    return (await tx.query(SOURCE, [scope.orgId, scope.actor.userId, agentId, chatId]))[0] ?? null;
  }

  /** The user messages before the first answer, in their order: of very many the last. */
  opening(db: Db, scope: OrgScope, chatId: string): Promise<OpeningMessage[]> {
    return db.query(OPENING_OF, [scope.orgId, chatId]);
  }
}
