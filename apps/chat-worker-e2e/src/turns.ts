import type { Chance } from '@aps/platform/testing';
import { repliesOf, script, type Place, type Platform } from '../../api-gateway-e2e/support';

/** A chat with work in it, and what must have come of it in the end. */
export interface Work {
  chat: string;
  place: Place;
  /** The final answers, in order. */
  replies: string[];
  /** Titles of the todos that the chat ends with. */
  todos: string[];
  /** What is remembered exactly once. */
  memory?: string;
}

const words = (n: number, name: string): string => Array.from({ length: n }, (_, i) => `${name}${i}`).join(' ');

let serial = 0;

/** The kinds of turns: each sends its messages and says what must come of them. */
const KINDS = {
  plain: () => ({ messages: ['hello'], replies: ['You said: hello'], todos: [] as string[] }),
  streaming: (chance: Chance) => {
    const text = words(10, 'w');
    return { messages: [script({ text, chunk_delay_ms: chance.between(60, 120) })], replies: [text], todos: [] as string[] };
  },
  slow: () => ({ messages: [script({ text: words(14, 's'), chunk_delay_ms: 800 })], replies: [words(14, 's')], todos: [] as string[] }),
  tools: (chance: Chance) => {
    const memory = `fact ${process.pid} ${++serial}`;
    const text = words(6, 't');
    const todo = (title: string) => ({ title, status: 'pending' });
    return {
      messages: [
        script(
          {
            text: 'planning',
            tool_calls: [{ name: 'todo_write', arguments: { todos: [todo('a'), todo('b')] } }],
            delay_ms: chance.between(50, 300),
          },
          {
            tool_calls: [
              { name: 'memory_write', arguments: { content: memory } },
              { name: 'no_such_tool', arguments: {} },
            ],
            delay_ms: chance.between(50, 300),
          },
          {
            tool_calls: [{ name: 'todo_write', arguments: { todos: [todo('a'), todo('b'), todo('c')] } }],
            delay_ms: chance.between(50, 300),
          },
          { text, chunk_delay_ms: chance.between(20, 80) },
        ),
      ],
      replies: [text],
      todos: ['a', 'b', 'c'],
      memory,
    };
  },
  waits: (chance: Chance) => ({
    messages: [
      script(
        { tool_calls: [{ name: 'wait_until', arguments: { for_s: chance.between(1, 3) } }] },
        { text: 'awake again', chunk_delay_ms: 60 },
      ),
    ],
    replies: ['awake again'],
    todos: [] as string[],
  }),
  /** A second message during the first one's turn: it is answered after it, and by its own turn. */
  pair: (chance: Chance) => ({
    messages: [script({ text: words(8, 'first'), chunk_delay_ms: chance.between(40, 120) }), 'second'],
    replies: [words(8, 'first'), 'You said: second'],
    todos: [] as string[],
  }),
};
export type Kind = keyof typeof KINDS;
const ALL: Kind[] = ['plain', 'streaming', 'tools', 'waits', 'pair'];

/** Opens so many chats and sends what each kind sends, until each send is accepted. */
export async function begin(
  platform: Platform,
  chance: Chance,
  count: number,
  { kinds = ALL, place = platform.home }: { kinds?: Kind[]; place?: Place } = {},
): Promise<Work[]> {
  const works = Array.from({ length: count }, (_, i) => KINDS[kinds[i % kinds.length]](chance));
  return Promise.all(
    works.map(async ({ messages, ...rest }) => {
      const chat = await platform.openChat(place);
      for (const message of messages) await platform.say(chat, message, place);
      return { chat, place, ...rest };
    }),
  );
}

/** Waits for every chat, and checks through the API that each message has its one answer. */
export async function finish(platform: Platform, works: Work[], timeoutMs?: number): Promise<void> {
  await Promise.all(
    works.map(async (work) => {
      const chat = await platform.settled(work.chat, work.replies.length, { place: work.place, timeoutMs });
      expect(repliesOf(chat as never).map((m) => (m as unknown as { content: string }).content)).toEqual(work.replies);
      expect(chat).toMatchObject({ status: 'ACTIVE', error: null });
      const todos = await platform.call('GET', `${platform.chatsPath(work.place)}/${work.chat}/todos`, { as: work.place.token });
      expect(todos.body.items.map((t: { title: string }) => t.title)).toEqual(work.todos);
    }),
  );
}

/** Turns that a worker says it runs. */
export async function running(platform: Platform, worker: 'chat-worker' | `chat-worker:${string}` = 'chat-worker'): Promise<number> {
  return Number(/^runs_running\{[^}]*kind="turn"[^}]*\} (\d+)/m.exec(await platform.app(worker).metrics())?.[1] ?? 0);
}
