/**
 * Follows a chat with typed events. Needs nothing but the generated types (`node tools/openapi/client-types.mjs` makes them from
 * the document): `fetch` and server-sent events are of the platform.
 * A `switch` over `type` narrows `data`, and the compiler says when an event is missing.
 */
import type { components, paths } from '../openapi';

type FollowChat = paths['/api/orgs/{org_id}/agents/{agent_id}/chats/{chat_id}/stream']['get'];
export type ChatEvent = FollowChat['responses'][200]['content']['text/event-stream'];
export type ChatMessage = components['schemas']['ChatMessageDto'];

/** As browsers and Node have it. */
interface Reader {
  read(): Promise<{ done: boolean; value?: Uint8Array }>;
  cancel(): Promise<void>;
}

/** Every event of a chat, from `after` on where it is given. Ends with the stream; call it anew with the last `id`. */
export async function* follow(
  base: string,
  token: string,
  chat: FollowChat['parameters']['path'],
  after?: string,
): AsyncGenerator<ChatEvent> {
  const answer = await fetch(`${base}/api/orgs/${chat.org_id}/agents/${chat.agent_id}/chats/${chat.chat_id}/stream`, {
    headers: { Authorization: `Bearer ${token}`, ...(after !== undefined && { 'Last-Event-ID': after }) },
  });
  if (!answer.ok || !answer.body) throw new Error(`The stream was refused: ${answer.status}`);
  const reader: Reader = answer.body.getReader();
  const decoder = new TextDecoder();
  try {
    for (let text = '', end = -1; ;) {
      const { done, value } = await reader.read();
      if (done) return;
      text += decoder.decode(value, { stream: true });
      while ((end = text.indexOf('\n\n')) >= 0) {
        const data = text
          .slice(0, end)
          .split('\n')
          .find((line) => line.startsWith('data: '));
        text = text.slice(end + 2);
        if (data) yield JSON.parse(data.slice('data: '.length)) as ChatEvent;
      }
    }
  } finally {
    await reader.cancel();
  }
}

/** One line about an event, for a log or a terminal; null where there is nothing to say. */
export function describe(event: ChatEvent): string | null {
  switch (event.type) {
    case 'snapshot':
      return `chat ${event.data.chat.title ?? event.data.chat.id} is ${event.data.chat.status}`;
    case 'status_changed':
      return `${event.data.from} → ${event.data.to}${event.data.pause ? `, waits for ${event.data.pause.kind}` : ''}`;
    case 'message_created':
    case 'message_completed':
      return said(event.data.message);
    case 'message_delta':
      return event.data.text;
    case 'message_restarted':
      return `message ${event.data.message_id} begins anew`;
    case 'tool_call':
      return `calls ${event.data.name}(${event.data.arguments})`;
    case 'tool_result':
      return `${event.data.name}: ${event.data.status}`;
    case 'hitl_requested':
      return `asks: ${event.data.prompt}${event.data.options.map((option) => ` [${option.label}]`).join('')}`;
    case 'hitl_resolved':
      return `request ${event.data.status}${event.data.answer?.answer ? `: ${event.data.answer.answer}` : ''}`;
    case 'decision_recorded':
      return `decided ${event.data.kind}: ${event.data.summary} (${event.data.basis})`;
    case 'delegation_started':
      return `delegates to ${event.data.agent}`;
    case 'delegation_finished':
      return `${event.data.agent}: ${event.data.status}`;
    case 'todo_updated':
      return event.data.todos.map((todo) => `${todo.status} ${todo.title}`).join('; ');
    case 'memory_written':
      return `remembers ${event.data.id}`;
    case 'compaction':
      return `${event.data.messages} messages are summed up`;
    case 'blocker':
      return `cannot go on: ${event.data.message}`;
    case 'error':
      return `failed: ${event.data.code}${event.data.retryable ? ', may be continued' : ''}`;
    case 'title_changed':
      return `is called ${event.data.title ?? 'nothing'}`;
    case 'presence_changed':
      return `${event.data.viewers.length} look on`;
    case 'org_suspended':
      return 'the organization is suspended';
    case 'ping':
      return null;
    default:
      return unknown(event);
  }
}

const said = ({ role, content, tool_calls: calls, usage }: ChatMessage): string =>
  `${role}: ${content}${calls.length ? ` (${calls.length} calls)` : ''}${usage?.cost_usd ? ` for $${usage.cost_usd}` : ''}`;

/** An event that came after this client was written: to be passed over. The parameter makes the compiler find a missing case. */
const unknown = (_event: never): null => null;
