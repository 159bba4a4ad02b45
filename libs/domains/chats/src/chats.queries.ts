import { Injectable } from '@nestjs/common';
import { AgentsQueries } from '@aps/agents';
import { notFound } from '@aps/contracts';
import type { OrgScope } from '@aps/guards';
import { Database, sliceBounds, statement } from '@aps/platform/database';
import { toPage, type Page } from '@aps/platform/http';
import type { ChatRow, MessageRow, TodoRow } from './chat.types';
import { CHAT_COLUMNS, CHAT_COLUMNS_WITH_PLACE, VISIBLE_AMONG, VISIBLE_CHAT, VISIBLE_CHATS, VISIBLE_CHATS_BY_ID } from './chats.repository';
import { TodoRepository } from './tools/todo.repository';

const GET = statement<ChatRow>(`SELECT ${CHAT_COLUMNS_WITH_PLACE} FROM chats c WHERE ${VISIBLE_CHAT}`);
const BY_ID = statement<ChatRow>(`SELECT ${CHAT_COLUMNS} FROM chats c WHERE ${VISIBLE_CHATS_BY_ID}`);
const MESSAGES = statement<MessageRow>(`
  SELECT id, seq, role, content, attachments, tool_calls, tool_call_id, tool_name, model, usage, finish_reason, interrupted, created_at FROM messages WHERE org_id = $1 AND chat_id = $2 AND seq <= $3 ORDER BY seq`);
const COUNT = `SELECT count(*)::int FROM chats c WHERE ${VISIBLE_CHATS}`;
// The count stands beside the page and not in a window over it: the page then reads its own rows and no others.
const LIST = statement<ChatRow & { total: number }>(
  `SELECT ${CHAT_COLUMNS}, (${COUNT}) AS total FROM chats c WHERE ${VISIBLE_CHATS} ORDER BY c.id DESC LIMIT $4 OFFSET $5`,
);
const TOTAL = statement<{ total: number }>(`SELECT (${COUNT}) AS total`);

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
    return this.db.query(BY_ID, [scope.orgId, scope.actor.userId, ids]);
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
   * @throws DomainError 404 for a chat that is not there or that the caller may not open
   */
  async withMessages(scope: OrgScope, agentId: string, chatId: string): Promise<{ chat: ChatRow; messages: MessageRow[] }> {
    const chat = await this.get(scope, agentId, chatId);
    return { chat, messages: await this.db.query(MESSAGES, [scope.orgId, chatId, chat.message_seq]) };
  }

  /**
   * Newest first; UUIDv7 ids are in order of creation.
   *
   * @throws DomainError 404 where there are no chats because there is no such agent
   */
  async list(scope: OrgScope, agentId: string, query: { limit?: number; offset?: number }): Promise<Page<ChatRow>> {
    const [limit, offset] = sliceBounds(query);
    const values = [scope.orgId, scope.actor.userId, agentId];
    const rows = await this.db.query(LIST, [...values, limit, offset]);
    // A page past the end has no row that could carry the total.
    const total = rows[0]?.total ?? (offset > 0 ? (await this.db.query(TOTAL, values))[0].total : 0);
    if (total === 0) await this.agents.get(scope, agentId);
    return toPage(rows, total, query);
  }

  async todosOf(scope: OrgScope, agentId: string, chatId: string): Promise<TodoRow[]> {
    await this.get(scope, agentId, chatId);
    return this.todos.list(this.db, scope, chatId);
  }
}
