import { AgentsService } from '@aps/agents';
import { OrgScope } from '@aps/guards';
import type { Answer } from '@aps/platform/testing';
import { sql } from '@aps/platform/testing';
import { script, type ChatsService, type TestOrg } from './chats';

/** An agent of an organization, and where its chats are. */
export interface TestPlace extends TestOrg {
  slug: string;
}

interface Message {
  role: string;
  content: string;
  tool_calls: unknown[];
}

/** Adds an agent to an organization. */
export async function addAgent(app: ChatsService, org: TestOrg, agent: { name: string } & Record<string, unknown>): Promise<TestPlace> {
  const made = await app.get(AgentsService).create(OrgScope.member(org.id, org.owner.id, 'OWNER'), agent);
  return { ...org, agentId: made.id, slug: made.slug, path: `/api/orgs/${org.id}/agents/${made.id}/chats` };
}

/** A call that has another agent do something; the task is what the child's model plays. */
export const delegate = (to: { slug: string }, task: string, more: Record<string, unknown> = {}) => ({
  name: 'delegate_to_agent',
  arguments: { agent: to.slug, task, ...more },
});

/** A turn that delegates all this in one step, and then says `text`. */
export const delegating = (calls: unknown[], text = 'all done') => script({ tool_calls: calls }, { text });

/** What the calls of a chat came to, as its model got it. */
export const resultsOf = (chat: Answer['body']): unknown[] =>
  chat.messages
    .filter((m: Message) => m.role === 'tool')
    .map((m: Message) => (m.content.startsWith('{') ? (JSON.parse(m.content) as unknown) : m.content));

/** What a chat was told of children that it did not wait for. */
export const notesOf = (chat: Answer['body']): unknown[] =>
  chat.messages.filter((m: Message) => m.role === 'system').map((m: Message) => JSON.parse(m.content) as unknown);

/** The final answers of a chat. */
export const repliesOf = (chat: Answer['body']): string[] =>
  chat.messages.filter((m: Message) => m.role === 'assistant' && m.tool_calls.length === 0).map((m: Message) => m.content);

export interface ChildRow {
  id: string;
  agent_id: string;
  status: string;
  depth: number;
  wait: string;
  waits: boolean;
  turns: number;
}

/** The children of a chat with what their parent knows of them, in the order of their making. */
export const childrenOf = (app: ChatsService, chat: string): Promise<ChildRow[]> =>
  app.db.query(
    sql<ChildRow>(`SELECT c.id, c.agent_id, c.status, c.depth, w.status AS wait, w.waits, (SELECT count(*)::int FROM turns t WHERE t.chat_id = c.id) AS turns
     FROM chats c JOIN child_waits w ON w.child_chat_id = c.id WHERE c.parent_chat_id = $1 ORDER BY c.id`),
    [chat],
  );
