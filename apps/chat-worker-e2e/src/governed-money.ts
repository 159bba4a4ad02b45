import { sql } from '@aps/platform/testing';
import { aMark, repliesOf } from '../../api-gateway-e2e/support';
import { DIALECTS, lastOf, type Dialect, type Governance } from './governance';

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
