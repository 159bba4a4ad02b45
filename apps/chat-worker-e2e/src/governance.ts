import { InternalTokens } from '@aps/platform/crypto';
import { sql } from '@aps/platform/testing';
import { aMark, repliesOf, script, type Answer, type Asked, type Place, type Platform, type Upstream } from '../../api-gateway-e2e/support';
import { check } from './invariants';

/** Half of the time after which a worker looks again by itself: what it knows before, it was told. */
const HEARD_MS = 5_000;
const DIALECTS = ['dialect_1', 'dialect_2', 'dialect_3'] as const;
type Dialect = (typeof DIALECTS)[number];

interface Row {
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
interface Turn {
  /** Null: it was answered. */
  error: string | null;
  /** Undefined: nothing. */
  asked: Asked | undefined;
}

let serial = 0;
const fresh = (what: string): string => `${what}-${process.pid}-${++serial}`;

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

const lastOf = (chat: Answer['body']) => chat.messages.at(-1);

/** By the seeded rate card: 100 to the dollar. */
const inCredits = (usd: string): string => String(Number((Number(usd) * 100).toFixed(6)));

/** Prompts that are shorter than the tier, longer by one token, and just as long. Dialect 3 does not tell what was written to a cache. */
const USES = [
  { input: 1_237, cached_input: 311, cache_write: 97, output: 53, reasoning: 29 },
  { input: 1_500, cached_input: 400, cache_write: 101, output: 10, reasoning: 0 },
  { input: 1_500, cached_input: 400, cache_write: 100, output: 10, reasoning: 0 },
];
const PRICES = {
  input_price_per_1m: '1.237',
  output_price_per_1m: '9.87',
  cached_input_price_per_1m: '0.123',
  cache_write_price_per_1m: '1.55',
  price_tiers: [{ above_tokens: 2_000, input_price_per_1m: '2.474', output_price_per_1m: '19.74' }],
};
/** Worked out by hand, in millionths: 2528.112, 4114.15 and 2158.4; where what is written counts as input 2497.751, 4207.474 and 2127.1. */
const COSTS: Record<Dialect, { each: string[]; sum: string }> = {
  dialect_1: { each: ['0.002528', '0.004114', '0.002158'], sum: '0.0088' },
  dialect_2: { each: ['0.002528', '0.004114', '0.002158'], sum: '0.0088' },
  dialect_3: { each: ['0.002498', '0.004207', '0.002127'], sum: '0.008832' },
};
const WIRE: Record<Dialect, { path: (model: string) => string; key: string }> = {
  dialect_1: { path: () => '/chat/completions', key: 'authorization: Bearer ' },
  dialect_2: { path: () => '/messages', key: 'x-api-key: ' },
  dialect_3: { path: (model) => `/models/${model}:streamGenerateContent?alt=sse`, key: 'x-goog-api-key: ' },
};

/** Routes of all dialects are made, and what their models use is charged to the last digit, long prompts by their tier. */
export async function pricedInAllDialects(g: Governance): Promise<void> {
  const routes = await Promise.all(DIALECTS.map((dialect) => g.route({ dialect })));
  await Promise.all(routes.map((route) => g.putKey(route, `sk-${route.slug}`)));
  const models = await Promise.all(routes.map((route) => g.model(route, { ...PRICES, remote_model_id: `remote-${route.slug}` })));
  const first = await g.org(models[0]);
  const places = [first, ...(await Promise.all(models.slice(1).map((model) => g.agent(first.org_id, model))))];

  await Promise.all(
    DIALECTS.map(async (dialect, i) => {
      const talk = await g.talk(places[i]);
      const remote = `remote-${routes[i].slug}`;
      const uses = USES.map((use) => (dialect === 'dialect_3' ? { ...use, input: use.input + use.cache_write, cache_write: 0 } : use));
      for (const [n, usage] of uses.entries()) {
        const mark = await g.say(talk, { steps: [{ text: `answer ${n}`, usage }] });
        const said = lastOf(await g.settled(talk, n + 1));
        const cost_usd = COSTS[dialect].each[n];
        expect(said).toMatchObject({ content: `answer ${n}`, model: models[i].key, usage: { ...usage, model: models[i].key, cost_usd } });
        expect(g.upstream.asked(mark)).toEqual([
          {
            mark,
            address: routes[i].slug,
            path: WIRE[dialect].path(remote),
            model: remote,
            key: `${WIRE[dialect].key}sk-${routes[i].slug}`,
          },
        ]);
      }
      const chat = (await g.platform.getChat(talk.chat, talk.place)).body;
      const costs = (await g.act(talk, 'cost-breakdown', 'GET')).body;
      const { items } = (await g.act(talk, 'timeline', 'GET')).body as {
        items: { metadata: { kind?: string }; usage: unknown; cost: unknown }[];
      };
      const steps = items.filter(({ metadata }) => metadata.kind === 'llm').reverse();
      expect([chat.cost_usd, costs.total_cost_usd]).toEqual([COSTS[dialect].sum, COSTS[dialect].sum]);
      expect(costs.by_model).toMatchObject([{ model_key: models[i].key, calls: 3, unpriced_calls: 0, cost_usd: COSTS[dialect].sum }]);
      expect(steps.map(({ usage, cost }) => ({ usage, cost }))).toEqual(
        uses.map((usage, n) => ({ usage, cost: { cost_usd: COSTS[dialect].each[n], credits: inCredits(COSTS[dialect].each[n]) } })),
      );
    }),
  );
  expect(await g.setting(first, 'GET', 'limits/usage')).toMatchObject({ spend_usd: '0.026432', metered_spend_usd: '0.026432' });
}

/** The route of the next scenario is named ahead: its key of the environment is given to the worker when it starts. */
export const KEYED_ROUTE = { slug: 'keyed', variable: 'ROUTE_KEYED_API_KEY', key: 'sk-of-the-environment' };

/** A platform's key is stored, changed, lent and cleared, and an organization brings its own. */
export async function keysChanged(g: Governance): Promise<void> {
  const route = await g.route({ slug: KEYED_ROUTE.slug });
  const borrower = await g.route({ dialect: 'dialect_2', credential_route_id: route.id });
  const [model, borrowing] = [await g.model(route), await g.model(borrower)];
  const place = await g.org(model);
  const other = await g.org(model);
  const borrowers = await g.agent(other.org_id, borrowing);
  const spends = (header: string) => (turn: Turn) => turn.asked?.key === header;
  const bearer = (key: string) => spends(`authorization: Bearer ${key}`);
  const lent = (key: string) => spends(`x-api-key: ${key}`);

  await g.heard('the key of the environment is spent', place, bearer(KEYED_ROUTE.key));
  await g.putKey(route, 'sk-stored-1');
  await g.heard('the stored key is spent', place, bearer('sk-stored-1'));

  // A call that runs meanwhile ends as it began.
  const [running, mark] = [await g.talk(place), aMark()];
  g.upstream.hold(mark);
  const todo = { name: 'todo_write', arguments: { todos: [{ title: 'one', status: 'pending' }] } };
  await g.say(running, { mark, steps: [{ text: 'the first step', tool_calls: [todo] }, { text: 'the second step' }] });
  await g.upstream.arrived(mark);
  await g.putKey(route, 'sk-stored-2');
  await g.heard('the next key is spent', place, bearer('sk-stored-2'));
  await g.heard('the lent key is spent', borrowers, lent('sk-stored-2'));
  g.upstream.release(mark);
  expect(repliesOf(await g.settled(running, 1))).toMatchObject([{ content: 'the second step' }]);
  expect(g.upstream.asked(mark).map(({ key }) => key)).toEqual(Array(2).fill('authorization: Bearer sk-stored-1'));

  await g.setting(place, 'PATCH', 'ai/routes', { routes: { [route.slug]: { api_key: 'sk-of-the-organization' } } });
  await g.heard('the organization’s own key is spent', place, bearer('sk-of-the-organization'));
  await g.heard('nobody else spends it', other, bearer('sk-stored-2'));

  await g.putKey(route, null);
  await g.heard('the key of the environment is spent again', other, bearer(KEYED_ROUTE.key));
  await g.heard('and lent', borrowers, lent(KEYED_ROUTE.key));
  await g.heard('but not where there is an own one', place, bearer('sk-of-the-organization'));
  await g.setting(place, 'PATCH', 'ai/routes', { routes: { [route.slug]: { api_key: null } } });
  await g.heard('all spend the same', place, bearer(KEYED_ROUTE.key));
}

/** A model is disabled while a chat runs on it: its successor answers from the next turn on. */
export async function modelRetired(g: Governance): Promise<void> {
  const route = await g.route();
  const next = await g.model(route);
  const old = await g.model(route);
  const talk = await g.talk(await g.org(old));
  const mark = aMark();
  g.upstream.hold(mark);
  await g.say(talk, { mark });
  await g.upstream.arrived(mark);
  await g.operate('PATCH', `/models/${old.id}`, { enabled: false, replacement_model_id: next.id });
  await g.heard('the successor answers', talk.place, ({ asked }) => asked?.model === next.key);
  g.upstream.release(mark);
  const before = lastOf(await g.settled(talk, 1));
  expect(before).toMatchObject({ model: old.key, usage: { model: old.key, requested_model: old.key, reason: 'requested' } });

  await g.say(talk);
  const after = lastOf(await g.settled(talk, 2));
  expect(after).toMatchObject({ model: next.key, usage: { model: next.key, requested_model: old.key, reason: 'replaced' } });
  const { items } = (await g.act(talk, 'timeline', 'GET')).body as { items: { metadata: Record<string, unknown> }[] };
  expect(items.filter(({ metadata }) => metadata.kind === 'llm').map(({ metadata }) => [metadata.requested_model, metadata.model])).toEqual(
    [
      [old.key, next.key],
      [old.key, old.key],
    ],
  );
}

/** A route is switched off under a chat, by the platform and by the organization: a turn fails and says why, and goes on afterwards. */
export async function routeDisabled(g: Governance): Promise<void> {
  const route = await g.route();
  const model = await g.model(route);
  const place = await g.org(model);
  const other = await g.org(model);
  const off = ({ error, asked }: Turn) => error === 'route_disabled' && asked === undefined;
  const on = ({ error, asked }: Turn) => error === null && asked?.address === route.slug;
  const talk = await g.talk(place);
  await g.say(talk);
  await g.settled(talk, 1);

  const failsAndGoesOn = async (replies: number, enable: () => Promise<unknown>) => {
    await g.heard('turns fail', place, off);
    const mark = await g.say(talk);
    expect(await g.ended(talk, replies)).toMatchObject({ status: 'ERRORED', error: { code: 'route_disabled', retryable: false } });
    const { blocked_by, next_action } = (await g.act(talk, 'diagnosis', 'GET')).body;
    expect([blocked_by, next_action]).toMatchObject([{ kind: 'route', ref: 'route_disabled' }, 'fix_route']);
    expect(g.upstream.asked(mark)).toEqual([]);
    await enable();
    await g.heard('turns are answered', place, on);
    expect((await g.act(talk, 'continue')).status).toBe(200);
    expect(lastOf(await g.settled(talk, replies)).content).toBe(`You said: ${mark}`);
  };

  const pinned = await g.platform.admin('PATCH', `/ai/routes/${route.id}`, { enabled: false });
  expect([pinned.status, pinned.body.code]).toEqual([409, 'route_pinned']);
  await g.operate('PATCH', `/models/${model.id}`, { enabled: false });
  await g.operate('PATCH', `/ai/routes/${route.id}`, { enabled: false });
  await g.operate('PATCH', `/models/${model.id}`, { enabled: true });
  await failsAndGoesOn(2, () => g.operate('PATCH', `/ai/routes/${route.id}`, { enabled: true }));

  const switched = (enabled: boolean | null) => g.setting(place, 'PATCH', 'ai/routes', { routes: { [route.slug]: { enabled } } });
  await switched(false);
  await failsAndGoesOn(3, async () => {
    expect(on(await g.turn(other))).toBe(true);
    await switched(null);
  });
}

/** What is on a route moves to another one, of another dialect, while ten turns run on it. */
export async function routeRepointed(g: Governance): Promise<void> {
  const [source, target] = [await g.route(), await g.route({ dialect: 'dialect_2' })];
  const place = await g.org(await g.model(source));
  const talks = await Promise.all(Array.from({ length: 10 }, () => g.talk(place)));
  const marks = talks.map(aMark);
  g.upstream.hold(...marks);
  const todo = { name: 'todo_write', arguments: { todos: [{ title: 'one', status: 'pending' }] } };
  const steps = (i: number) => [...(i % 2 ? [{ text: 'a step', tool_calls: [todo] }] : []), { text: `answer ${i}` }];
  await Promise.all(talks.map((talk, i) => g.say(talk, { mark: marks[i], steps: steps(i) })));
  await Promise.all(marks.map((mark) => g.upstream.arrived(mark)));

  const moved = { catalog: 1, prompt_templates: 0, mode_presets: 0, feature_models: 0 };
  const repointed = await g.operate('POST', `/ai/routes/${source.id}/repoint`, { target_route_id: target.id });
  expect(repointed).toEqual({ moved, merged: [], left: { org_offerings: 0 } });
  await g.heard('turns go to the target', place, ({ asked }) => asked?.address === target.slug && asked.path === '/messages');
  g.upstream.release(...marks);
  const chats = await Promise.all(talks.map((talk) => g.settled(talk, 1)));
  expect(chats.map((chat) => repliesOf(chat))).toMatchObject(talks.map((_, i) => [{ content: `answer ${i}` }]));
  // A turn ends where it began.
  expect(marks.map((mark) => g.upstream.asked(mark).map(({ address }) => address))).toEqual(
    talks.map((_, i) => steps(i).map(() => source.slug)),
  );

  const later = await Promise.all(talks.map((talk) => g.say(talk)));
  await Promise.all(talks.map((talk) => g.settled(talk, 2)));
  expect(later.map((mark) => g.upstream.asked(mark).map(({ address }) => address))).toEqual(talks.map(() => [target.slug]));
}

/** An answer that costs 0.01001 where input costs 1 dollar a million and output 100. */
const DEAR = { text: 'dear', usage: { input: 10, output: 100 } };
const dollars = (answers: number): string => String(Number((answers * 0.01001).toFixed(5)));

/** A budget is set just above what is spent: one more call is made, then the chat stops, until the budget is raised. */
export async function budgetReached(g: Governance): Promise<void> {
  const model = await g.model(await g.route(), { output_price_per_1m: '100' });
  const talk = await g.talk(await g.org(model));
  const limit = (budget_limit_usd: string) => g.setting(talk.place, 'PATCH', 'limits', { budget_limit_usd });
  const usage = () => g.setting(talk.place, 'GET', 'limits/usage');
  await g.say(talk, { steps: [DEAR] });
  await g.settled(talk, 1);
  expect(await usage()).toMatchObject({ spend_usd: dollars(1), remaining_usd: null });

  await limit('0.010011');
  let answers = 1;
  const mark = await g.told('a turn is refused', async () => {
    const said = await g.say(talk, { steps: [DEAR] });
    const chat = await g.ended(talk, answers + 1);
    if (chat.status === 'ERRORED') expect(chat.error).toMatchObject({ code: 'budget_exceeded', retryable: true });
    else answers++;
    return chat.status === 'ERRORED' && said;
  });
  // The first of them began with something left.
  expect(answers).toBeGreaterThan(1);
  expect(g.upstream.asked(mark)).toEqual([]);
  expect(await g.turn(talk.place)).toEqual({ error: 'budget_exceeded', asked: undefined });
  expect(await usage()).toMatchObject({ spend_usd: dollars(answers), budget_limit_usd: '0.010011', remaining_usd: '0' });
  expect(await g.act(talk, 'continue')).toMatchObject({
    status: 402,
    body: { code: 'budget_exceeded', context: { budget_limit_usd: '0.010011', spend_usd: dollars(answers) } },
  });
  expect((await g.act(talk, 'diagnosis', 'GET')).body).toMatchObject({ blocked_by: { kind: 'budget' }, next_action: 'raise_budget' });

  await limit('1');
  expect((await g.act(talk, 'continue')).status).toBe(200);
  await g.settled(talk, answers + 1);
  expect(g.upstream.asked(mark)).toHaveLength(1);
  expect(await usage()).toMatchObject({ spend_usd: dollars(answers + 1) });
}

/** The gateway's word about a caller counts for nothing when a caller says it. */
export async function headersForged(g: Governance): Promise<void> {
  const { platform } = g;
  const { user } = await g.done('GET', '/api/auth/me', undefined, platform.demo.admin_token);
  const claims = { user_id: user.id, email: user.email, credential_id: user.id, scope: '*', request_id: 'forged', aud: 'admin-api' };
  const word = await platform.database(async (db) => new InternalTokens().sign(claims, db.now()));
  const forged = { 'X-Aps-Internal': word, 'X-Aps-User-Id': user.id, 'X-Aps-Platform-Admin': 'true', 'X-Forwarded-User': user.email };
  const direct = (headers: Record<string, string>) => fetch(`${platform.app('admin-api').url}/api/admin/ai/routes`, { headers });
  // It is a good one: within the cluster it opens the door, and a bearer token does not.
  expect((await direct(forged)).status).toBe(200);
  expect((await direct({ Authorization: `Bearer ${platform.demo.admin_token}` })).status).toBe(401);

  const body = { slug: fresh('forged'), label: 'Forged', dialect: 'dialect_1' };
  for (const [as, refusal] of [
    [null, [401, 'not_authenticated']],
    [platform.demo.api_token, [403, 'platform_admin_required']],
  ] as const) {
    for (const [method, wish] of [
      ['GET', undefined],
      ['POST', body],
    ] as const) {
      const answer = await platform.call(method, '/api/admin/ai/routes', { as, body: wish, headers: forged });
      expect([answer.status, answer.body.code]).toEqual(refusal);
    }
  }
  const listed = await platform.call('GET', '/api/admin/ai/routes', {
    as: platform.demo.admin_token,
    headers: { 'X-Aps-Internal': 'forged' },
  });
  expect(listed.status).toBe(200);
  expect(listed.body.map(({ slug }: Row) => slug)).not.toContain(body.slug);
}

/**
 * The worker dies in a call for which its organization's whole budget is reserved. Resolves when another one is there; what must come of
 * it is a scenario for later, when the lease has run out.
 */
export async function killedAmongCalls(g: Governance): Promise<() => Promise<void>> {
  const model = await g.model(await g.route(), { output_price_per_1m: '100', max_output_tokens: 1_000 });
  const place = await g.org(model);
  await g.setting(place, 'PATCH', 'limits', { budget_limit_usd: '0.05' });
  const [talk, mark] = [await g.talk(place), aMark()];
  g.upstream.hold(mark);
  await g.say(talk, { mark, steps: [DEAR] });
  await g.upstream.arrived(mark);
  await g.platform.restart('chat-worker');

  return async () => {
    const spent = async () => (await g.setting(place, 'GET', 'limits/usage')).spend_usd;
    const refused = await g.talk(place);
    await g.say(refused, { steps: [DEAR] });
    expect(await g.ended(refused, 1)).toMatchObject({ status: 'ERRORED', error: { code: 'budget_exceeded' } });
    expect(await g.act(refused, 'continue')).toMatchObject({ status: 402, body: { code: 'budget_exceeded' } });

    // Beside what the lost call has reserved, nothing would be left for it.
    await g.upstream.arrived(mark, 2);
    expect(await spent()).toBe('0');
    g.upstream.release(mark);
    expect(repliesOf(await g.settled(talk, 1))).toMatchObject([{ content: 'dear', usage: { cost_usd: dollars(1) } }]);
    expect([await spent(), g.upstream.asked(mark).length]).toEqual([dollars(1), 2]);

    expect((await g.act(refused, 'continue')).status).toBe(200);
    await g.settled(refused, 1);
    expect(await spent()).toBe(dollars(2));
    const [left] = await g.platform.database((db) =>
      db.query(
        sql<{ receipts: number; open: number }>(`SELECT
          (SELECT count(*)::int FROM inference_receipts WHERE chat_id = $2) AS receipts,
          (SELECT count(*)::int FROM call_holds b WHERE org_id = $1 AND NOT EXISTS (SELECT FROM inference_receipts r WHERE r.id = b.receipt_id)) AS open`),
        [place.org_id, talk.chat],
      ),
    );
    expect(left).toEqual({ receipts: 1, open: 0 });
  };
}
