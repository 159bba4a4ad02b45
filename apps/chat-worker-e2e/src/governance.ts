import { aMark, repliesOf, script, type Answer, type Asked, type Place, type Platform, type Upstream } from '../../api-gateway-e2e/support';
import { check } from './invariants';

/** Half of the time after which a worker looks again by itself: what it knows before, it was told. */
const HEARD_MS = 5_000;
export const DIALECTS = ['dialect_1', 'dialect_2', 'dialect_3'] as const;
export type Dialect = (typeof DIALECTS)[number];

export interface Row {
  id: string;
  /** Of a route. */
  slug: string;
  /** Of a model. */
  key: string;
}

/** A chat, and who talks in it. */
interface Talk {
  chat: string;
  place: Place;
}

/** How a turn ended, and what the provider was asked for it. */
export interface Turn {
  /** Null: it was answered. */
  error: string | null;
  /** Undefined: nothing. */
  asked: Asked | undefined;
}

let serial = 0;
export const fresh = (what: string): string => `${what}-${process.pid}-${++serial}`;

/** What operators and owners do to models while chats run on them. Each scenario has organizations and routes of its own. */
export class Governance {
  private readonly orgs: string[] = [];

  constructor(
    readonly platform: Platform,
    readonly upstream: Upstream,
  ) {}

  /** The body of what must succeed. */
  async done(method: string, path: string, body?: unknown, as = this.platform.demo.api_token): Promise<Answer['body']> {
    const answer = await this.platform.call(method, path, { as, body });
    if (answer.status >= 300) throw new Error(`${method} ${path} answered ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  }

  operate(method: string, path: string, body?: unknown): Promise<Answer['body']> {
    return this.done(method, `/api/admin${path}`, body, this.platform.demo.admin_token);
  }

  /** A route whose address leads to the upstream, under the route's slug. */
  route(over: { dialect?: Dialect; slug?: string; credential_route_id?: string } = {}): Promise<Row> {
    const { dialect = 'dialect_1', slug = fresh('route') } = over;
    return this.operate('POST', '/ai/routes', { label: slug, base_url: this.upstream.base(slug, dialect), ...over, dialect, slug });
  }

  /** A model that the worker has heard of: until then, others would answer for it. */
  async model(route: Row, over: Record<string, unknown> = {}): Promise<Row> {
    const key = fresh('model');
    const prices = { input_price_per_1m: '1', output_price_per_1m: '2' };
    const model = await this.operate('POST', '/models', { key, label: key, provider: 'test', route_id: route.id, ...prices, ...over });
    const scout = await this.org(model);
    await this.told('the model answers', async () => (await this.turn(scout)).asked !== undefined);
    return model;
  }

  putKey(route: Row, api_key: string | null): Promise<unknown> {
    return this.operate('PUT', `/ai/route-keys/${route.id}`, { api_key });
  }

  /** An organization with an agent of this model. */
  async org(model: Row): Promise<Place> {
    const { id } = await this.done('POST', '/api/orgs', { name: fresh('Org') });
    this.orgs.push(id);
    return this.agent(id, model);
  }

  /** Another agent of an organization. */
  async agent(orgId: string, model: Row): Promise<Place> {
    const agent = await this.done('POST', `/api/orgs/${orgId}/agents`, { name: fresh('Agent'), model: model.key });
    return { org_id: orgId, agent_id: agent.id, token: this.platform.demo.api_token };
  }

  setting({ org_id }: Place, method: string, path: string, body?: unknown): Promise<Answer['body']> {
    return this.done(method, `/api/orgs/${org_id}/settings/${path}`, body);
  }

  async talk(place: Place): Promise<Talk> {
    return { chat: await this.platform.openChat(place), place };
  }

  act({ chat, place }: Talk, what: string, method = 'POST'): Promise<Answer> {
    return this.platform.call(method, `${this.platform.chatsPath(place)}/${chat}/${what}`);
  }

  /** Sends a message by which its requests are found; with steps, the model plays them. @returns its mark */
  async say({ chat, place }: Talk, { mark = aMark(), steps }: { mark?: string; steps?: Record<string, unknown>[] } = {}): Promise<string> {
    await this.platform.say(chat, steps ? `${mark} ${script(...steps)}` : mark, place);
    return mark;
  }

  settled({ chat, place }: Talk, replies: number): Promise<Answer['body']> {
    return this.platform.settled(chat, replies, { place });
  }

  /** Waits until a turn has failed, or so many are answered. */
  ended({ chat, place }: Talk, replies: number): Promise<Answer['body']> {
    const isOver = (c: Answer['body']) => c.status === 'ERRORED' || repliesOf(c).length >= replies;
    return this.platform.untilChat(chat, isOver, { place, what: 'the turn ends' });
  }

  /** A turn of a new chat, to its end. */
  async turn(place: Place): Promise<Turn> {
    const talk = await this.talk(place);
    const mark = await this.say(talk);
    const chat = await this.ended(talk, 1);
    const asked = this.upstream.asked(mark);
    if (chat.error === null) expect([lastOf(chat).content, asked.length <= 1]).toEqual([`You said: ${mark}`, true]);
    return { error: chat.error?.code ?? null, asked: asked[0] };
  }

  /** Tries until something is so. What begins {@link HEARD_MS} later must find it so. */
  async told<T>(what: string, attempt: () => Promise<T | false>): Promise<T> {
    for (const end = Date.now() + HEARD_MS; ;) {
      const isLast = Date.now() > end;
      const found = await attempt();
      if (found !== false) return found;
      if (isLast) throw new Error(`Not so ${HEARD_MS / 1000} s after the change: ${what}`);
    }
  }

  /** Begins turns until one is as wanted, which is when the worker has heard of a change; from then on all must be. */
  async heard(what: string, place: Place, wanted: (turn: Turn) => boolean): Promise<void> {
    await this.told(what, async () => wanted(await this.turn(place)));
    const later = await Promise.all(Array.from({ length: 4 }, () => this.turn(place)));
    expect(later.filter((turn) => !wanted(turn))).toEqual([]);
  }

  /** What must hold of every organization once everything has come to rest. */
  async check(): Promise<void> {
    for (const orgId of this.orgs) await check(this.platform, [], orgId);
  }

  /** What was told to nobody but the provider. */
  async checkSecrets(): Promise<void> {
    const told = [
      ...(['api-gateway', 'admin-api', 'chat-worker'] as const).map((app) => this.platform.logs(app)),
      JSON.stringify(await this.operate('GET', '/audit?limit=100')),
    ].join();
    const keys = this.upstream.keys();
    expect([keys.length > 5, keys.filter((key) => told.includes(key))]).toEqual([true, []]);
  }
}

export const lastOf = (chat: Answer['body']) => chat.messages.at(-1);
