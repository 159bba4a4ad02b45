import { Injectable } from '@nestjs/common';
import { AgentsQueries } from '@aps/agents';
import { notFound } from '@aps/contracts';
import type { Todo } from '@aps/entities';
import { readerOf, seenByEither, type OrgScope } from '@aps/guards';
import { Database, OrgListing, statement, type Listed, type Slice } from '@aps/platform/database';
import type { ChatRow, MessageRow } from './chat.types';
import { CHAT_COLUMNS, CHAT_COLUMNS_WITH_PLACE, VISIBLE_AMONG, VISIBLE_CHAT } from './chats.repository';
import { TodoRepository } from './tools/todo.repository';

const GET = statement<ChatRow>(`SELECT ${CHAT_COLUMNS_WITH_PLACE} FROM chats c WHERE ${VISIBLE_CHAT}`);
const MESSAGES = statement<MessageRow>(`
  SELECT id, seq, role, content, attachments, tool_calls, tool_call_id, tool_name, model, usage, finish_reason, interrupted, created_at FROM messages WHERE org_id = $1 AND chat_id = $2 AND seq <= $3 ORDER BY seq`);
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
   * @throws DomainError 404 for a chat that is not there or that the caller may not open
   */
  async withMessages(scope: OrgScope, agentId: string, chatId: string): Promise<{ chat: ChatRow; messages: MessageRow[] }> {
    const chat = await this.get(scope, agentId, chatId);
    return { chat, messages: await this.db.query(MESSAGES, [scope.orgId, chatId, chat.message_seq]) };
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

  async todosOf(scope: OrgScope, agentId: string, chatId: string): Promise<Todo[]> {
    await this.get(scope, agentId, chatId);
    return this.todos.list(this.db, scope, chatId);
  }
}
