import { Injectable } from '@nestjs/common';
import { AgentsQueries } from '@aps/agents';
import { notFound } from '@aps/contracts';
import type { Todo } from '@aps/entities';
import { chatSeenBy, readerOf, seenByEither, type OrgScope } from '@aps/guards';
import {
  batchesBehind,
  Database,
  listed,
  listedInBatches,
  OrgListing,
  PIECE,
  statement,
  type Db,
  type Listed,
  type Slice,
} from '@aps/platform/database';
import type { ChatRow, MessageRow } from '../state/chat.types';
import { VISIBLE_CHAT } from '../state/visible-chats.sql';
import { TodoRepository } from '../tools/todo.repository';

const columns = (
  pause: string,
): string => `c.id, c.org_id, c.agent_id, c.agent_revision_id, c.rollout_id, c.arm_label, c.title, c.status, ${pause}, c.stop_reason, c.error, c.stop_requested_at,
  c.completed_at, c.archived_at, c.shared, c.created_by, c.environment_id, c.sandbox_enabled, c.model_mode_override, c.parent_chat_id, c.root_chat_id, c.source_chat_id,
  c.origin_kind, c.origin_ref_id, c.cost_usd, c.cost_credits, c.event_seq, c.message_seq, c.message_count, c.last_message_at, c.created_at, c.updated_at,
  (SELECT count(*)::int FROM hitl_requests h WHERE h.chat_id = c.id AND h.status = 'pending') AS pending_hitl_count`;
const CHAT_COLUMNS = columns('c.pause');
/** With the place of a chat that waits for a slot: turns of its organization that wait before it. Too dear for a list. */
const CHAT_COLUMNS_WITH_PLACE = columns(`CASE WHEN c.pause->>'kind' = 'queued' THEN c.pause || jsonb_build_object('queue_position', (
    SELECT count(*) FROM turns t JOIN turns w ON w.org_id = t.org_id AND w.parked AND w.dispatched_at < t.dispatched_at WHERE t.id = c.current_turn_id)) ELSE c.pause END AS pause`);

/** A message of a turn: what it answers, what its agent has called and been told, and what it has said. */
export type TurnMessage = Pick<MessageRow, 'role' | 'content' | 'tool_calls' | 'tool_call_id' | 'tool_name'>;

/** One row per reader, in their order. Values: orgs, users, chats, as lists of the same length. */
const VISIBLE_AMONG = statement<{ visible: boolean }>(`
  SELECT EXISTS (SELECT 1 FROM chats c WHERE c.id = r.chat AND c.org_id = r.org AND ${chatSeenBy('r.reader')}) AS visible
  FROM unnest($1::uuid[], $2::uuid[], $3::uuid[]) WITH ORDINALITY AS r(org, reader, chat, place) ORDER BY r.place`);
const MESSAGES_SEEN = statement<{ id: string }>(`
  SELECT m.id FROM messages m JOIN chats c ON c.id = m.chat_id
  WHERE m.org_id = $1 AND m.id = ANY($3::uuid[]) AND c.org_id = $1 AND ${chatSeenBy('$2')}`);
const SAID_LAST = statement<{ content: string }>(
  `SELECT content FROM messages WHERE org_id = $1 AND turn_id = $2 AND role = 'assistant' ORDER BY seq DESC LIMIT 1`,
);
const SAID_IN = statement<TurnMessage>(`
  SELECT m.role, m.content, m.tool_calls, m.tool_call_id, m.tool_name FROM turns t JOIN chats c ON c.id = t.chat_id JOIN messages m ON m.chat_id = t.chat_id AND m.turn_no = t.seq
  WHERE t.org_id = $1 AND t.id = $3 AND ${chatSeenBy('$2')} ORDER BY m.seq`);
const WHY = statement<Pick<ChatRow, 'error' | 'stop_reason'>>('SELECT error, stop_reason FROM chats WHERE org_id = $1 AND id = $2');
const GET = statement<ChatRow>(`SELECT ${CHAT_COLUMNS_WITH_PLACE} FROM chats c WHERE ${VISIBLE_CHAT}`);
/** Of a chat that its reader may still open. */
const MESSAGES = statement<MessageRow>(`
  SELECT id, seq, role, content, attachments, tool_calls, tool_call_id, tool_name, model, usage, finish_reason, interrupted, created_at FROM messages
  WHERE org_id = $1 AND chat_id = $4 AND seq <= $5 AND seq > $6 AND EXISTS (SELECT 1 FROM chats c WHERE ${VISIBLE_CHAT}) ORDER BY seq LIMIT $7`);
/** `seen_by` is who reads, `seen` that somebody may: for the system. */
const SEEN = new OrgListing<ChatRow, { seen_by?: string; seen?: boolean; agent_id?: string; ids?: string[] }>({
  key: 'c.id',
  org: 'c.org_id',
  select: CHAT_COLUMNS,
  from: 'chats c',
  where: { seen_by: seenByEither('$'), seen: 'c.private_to IS NOT NULL', agent_id: 'c.agent_id = $', ids: 'c.id = ANY($::uuid[])' },
  tally: { from: 'chat_tallies t', where: { seen_by: seenByEither('$', 't'), seen: 'true', agent_id: 't.agent_id = $' } },
  // UUIDv7 ids are in order of creation.
  order: 'c.id DESC',
});

/** Reads of chats. Never writes. */
@Injectable()
export class ChatsQueries {
  constructor(
    private readonly db: Database,
    private readonly todos: TodoRepository,
    private readonly agents: AgentsQueries,
  ) {}

  /** @throws DomainError 404 for a chat that is not there or that the caller may not open */
  async get(scope: OrgScope, agentId: string, chatId: string): Promise<ChatRow> {
    const [row] = await this.db.query(GET, [scope.orgId, scope.actor.userId, agentId, chatId]);
    if (!row) throw notFound('Chat');
    return row;
  }

  /** Those of some chats that the caller may open, in no order. */
  byIds(scope: OrgScope, ids: string[]): Promise<ChatRow[]> {
    return SEEN.list(this.db, scope, { ...readerOf(scope), ids });
  }

  /** Which of these chats their users may still open, in one question and in their order. */
  async visibleAmong(readers: { orgId: string; userId: string; id: string }[]): Promise<boolean[]> {
    if (readers.length === 0) return [];
    const values = [readers.map((r) => r.orgId), readers.map((r) => r.userId), readers.map((r) => r.id)];
    return (await this.db.query(VISIBLE_AMONG, values)).map((r) => r.visible);
  }

  /**
   * A chat with its messages, both as of the same moment: a message that came after the row was read is left to the next reading.
   *
   * @throws DomainError 404 for a chat that is not there or that the caller may not open, in the middle of its messages, too
   */
  async withMessages(scope: OrgScope, agentId: string, chatId: string): Promise<{ chat: ChatRow; messages: Listed<MessageRow> }> {
    const chat = await this.get(scope, agentId, chatId);
    const read = async (after: number, limit: number) => {
      const reader = [scope.orgId, scope.actor.userId, agentId, chatId];
      const messages = await this.db.query(MESSAGES, [...reader, chat.message_seq, after, limit]);
      // Others were to come, and the list must not look whole without them.
      if (!messages.length && after < chat.message_seq) await this.get(scope, agentId, chatId);
      return messages;
    };
    const messages = await listedInBatches(
      {},
      ({ limit = PIECE }) => listed({ limit }, read(0, limit + 1), () => 0),
      (_, size) =>
        batchesBehind(
          0,
          ({ seq }) => seq,
          (seq) => read(seq, size),
        ),
    );
    return { chat, messages };
  }

  /**
   * Newest first.
   *
   * @throws DomainError 404 where there are no chats because there is no such agent
   */
  async list(scope: OrgScope, agentId: string, slice: Slice): Promise<Listed<ChatRow>> {
    const chats = await SEEN.page(this.db, scope, { ...readerOf(scope), agent_id: agentId }, slice);
    if (chats.total === 0) await this.agents.idOf(scope, agentId);
    return chats;
  }

  /** Of these messages, those in chats that the caller may open. */
  messagesSeen(db: Db, scope: OrgScope, ids: string[]): Promise<{ id: string }[]> {
    return db.query(MESSAGES_SEEN, [scope.orgId, scope.actor.userId, ids]);
  }

  /** What a turn has said last, before its transaction has committed, too; null when that is nothing. */
  async answerOf(db: Db, scope: OrgScope, turnId: string): Promise<string | null> {
    const content = (await db.query(SAID_LAST, [scope.orgId, turnId]))[0]?.content;
    return content?.trim() ? content : null;
  }

  /** All messages of a turn, in their order; none where the caller may not open its chat. */
  saidIn(scope: OrgScope, turnId: string): Promise<TurnMessage[]> {
    return this.db.query(SAID_IN, [scope.orgId, scope.actor.userId, turnId]);
  }

  /** Why a chat has failed, or was stopped or closed, before its transaction has committed, too; null where it was not, or goes on. */
  async whyOver(db: Db, scope: OrgScope, chatId: string): Promise<Pick<ChatRow, 'error' | 'stop_reason'>> {
    return (await db.query(WHY, [scope.orgId, chatId]))[0] ?? { error: null, stop_reason: null };
  }

  async todosOf(scope: OrgScope, agentId: string, chatId: string): Promise<Todo[]> {
    await this.get(scope, agentId, chatId);
    return this.todos.list(this.db, scope, chatId);
  }
}
