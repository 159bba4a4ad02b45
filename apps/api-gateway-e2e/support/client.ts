import { randomUUID } from 'node:crypto';
import { accepted, persist } from './persist';
import type { Demo } from './platform';
import { SseReader } from './sse';
import { until } from './until';

export interface Answer {
  status: number;
  // Specs read into it freely; what is there is what they check.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- of many shapes; specs look into it with matchers
  body: any;
  headers: Headers;
}

/** An agent whose chats are talked to, and with whose token. */
export interface Place {
  org_id: string;
  agent_id: string;
  token: string;
}

export interface CallOptions {
  /** A bearer token. Default: the demo owner's; null sends none. */
  as?: string | null;
  body?: unknown;
  headers?: Record<string, string>;
  timeoutMs?: number;
}

export interface StreamOptions {
  /** Another gateway than the first. */
  url?: string;
  lastEventId?: string;
  /** Reads nothing until it is resumed. */
  paused?: boolean;
}

let scripts = 0;

/** A message that the mock model answers by these steps. No two are equal, since the mock counts failures by the message's text. */
export const script = (...steps: Record<string, unknown>[]): string =>
  `run ${process.pid}-${++scripts}\n\`\`\`mock\n${JSON.stringify({ steps })}\n\`\`\``;

interface ChatMessage {
  role: string;
  tool_calls: unknown[];
}

/** Final answers among a chat's messages: assistant messages that ask for no tool. */
export const repliesOf = (chat: { messages: ChatMessage[] }): ChatMessage[] =>
  chat.messages.filter((m) => m.role === 'assistant' && m.tool_calls.length === 0);

/** Talks to the platform over HTTP, as a client does. */
export class ApiClient {
  private readonly streams = new Set<SseReader>();

  constructor(
    /** `http://127.0.0.1:<port>` of the gateway. */
    readonly url: string,
    readonly demo: Demo,
  ) {}

  /** The demo organization's agent and its owner. */
  get home(): Place {
    return { org_id: this.demo.org_id, agent_id: this.demo.agent_id, token: this.demo.api_token };
  }

  async call(
    method: string,
    path: string,
    { as = this.demo.api_token, body, headers, timeoutMs = 60_000 }: CallOptions = {},
  ): Promise<Answer> {
    const response = await fetch(this.url + path, {
      method,
      headers: {
        // A request on a kept connection is lost when a process that ends closes that connection, as idle, in the same moment: no matter of
        // specs that do not look at it.
        Connection: 'close',
        ...(as !== null && { Authorization: `Bearer ${as}` }),
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      signal: AbortSignal.timeout(timeoutMs),
    });
    const text = await response.text();
    return {
      status: response.status,
      body: text && response.headers.get('content-type')?.includes('json') ? JSON.parse(text) : text || undefined,
      headers: response.headers,
    };
  }

  chatsPath(place: Place = this.home): string {
    return `/api/orgs/${place.org_id}/agents/${place.agent_id}/chats`;
  }

  /** Calls the administration as the demo's platform administrator; needs `admin-api` among the apps. */
  async admin(method: string, path: string, body?: unknown): Promise<Answer> {
    return this.call(method, `/api/admin${path}`, { as: this.demo.admin_token, body });
  }

  /** @returns the chat's id. It has a title, so that no title call comes between. */
  async openChat(place: Place = this.home, body: Record<string, unknown> = { title: 'Test' }): Promise<string> {
    const answer = await this.call('POST', this.chatsPath(place), { as: place.token, body });
    if (answer.status !== 201) throw new Error(`Opening a chat answered ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body.id as string;
  }

  send(
    chat: string,
    content: string,
    { place = this.home, headers, timeoutMs }: { place?: Place; headers?: Record<string, string>; timeoutMs?: number } = {},
  ): Promise<Answer> {
    return this.call('POST', `${this.chatsPath(place)}/${chat}/messages`, { as: place.token, body: { content }, headers, timeoutMs });
  }

  /** Sends until it is accepted: where so much runs side by side, Redis may not answer in time; then the message is stored, and handed out by its repeat. */
  say(chat: string, content: string, place: Place = this.home): Promise<Answer['body']> {
    const headers = { 'Idempotency-Key': randomUUID() };
    return persist(async () => accepted(await this.send(chat, content, { place, headers })));
  }

  getChat(chat: string, place: Place = this.home): Promise<Answer> {
    return this.call('GET', `${this.chatsPath(place)}/${chat}`, { as: place.token });
  }

  /** Asks until the chat is as wanted; what it was last is in the failure. Answers that are no chat count as "not yet". */
  async untilChat(
    chat: string,
    wanted: (chat: Answer['body']) => boolean,
    { place = this.home, timeoutMs, what = 'the chat becomes what is wanted' }: { place?: Place; timeoutMs?: number; what?: string } = {},
  ): Promise<Answer['body']> {
    let last: unknown;
    try {
      return await until(
        what,
        async () => {
          const answer = await this.getChat(chat, place).catch((error: Error) => ({ status: 0, body: error.message }));
          last = answer.body;
          return answer.status === 200 && wanted(answer.body) ? answer.body : undefined;
        },
        timeoutMs,
        100,
      );
    } catch (error) {
      throw new Error(`${(error as Error).message}\nchat ${chat} was last: ${JSON.stringify(last).slice(0, 3_000)}`, { cause: error });
    }
  }

  /** Waits until nothing of the chat runs or waits, and so many final answers are there. */
  settled(chat: string, replies: number, options: { place?: Place; timeoutMs?: number } = {}): Promise<Answer['body']> {
    return this.untilChat(
      chat,
      (c) => c.status !== 'RUNNING' && c.pause === null && repliesOf(c as { messages: ChatMessage[] }).length >= replies,
      { ...options, what: `the chat settles with ${replies} replies` },
    );
  }

  /** Opens a chat's event stream. */
  stream(
    chat: string,
    { place = this.home, query = '', ...options }: StreamOptions & { place?: Place; query?: string } = {},
  ): Promise<SseReader> {
    return this.follow(`${this.chatsPath(place)}/${chat}/stream${query}`, { as: place.token, ...options });
  }

  /** Opens an event stream of many topics. */
  events(topics: string[], options: StreamOptions = {}): Promise<SseReader> {
    return this.follow(`/api/orgs/${this.demo.org_id}/events?topics=${topics.join()}`, { as: this.demo.api_token, ...options });
  }

  /** @param as null sends no bearer token */
  async follow(path: string, { as, url = this.url, lastEventId, paused }: StreamOptions & { as: string | null }): Promise<SseReader> {
    const reader = await SseReader.open(url + path, { ...(as !== null && { as }), lastEventId, paused });
    this.streams.add(reader);
    return reader;
  }

  closeStreams(): void {
    for (const stream of this.streams) stream.close();
    this.streams.clear();
  }
}
