import type { Bearer } from '@aps/platform/testing';
import { entitle } from '@aps/billing/testing';
import { AgentsService } from '@aps/agents';
import { OrgScope } from '@aps/guards';
import { sql, type Answer } from '@aps/platform/testing';
import { Decimal } from 'decimal.js';
import { uuidv7 } from 'uuidv7';
import { chatsService, script, type TestOrg } from '../testing/chats';

const TYPES = ['input', 'cached_input', 'cache_write', 'output', 'reasoning'] as const;
const Exact = Decimal.clone({ precision: 100 });

interface Parts {
  total_cost_usd: string | null;
  total_credits: string;
  by_token_type: Record<(typeof TYPES)[number], { tokens: number; cost_usd: string | null; credits: string }>;
  by_model: {
    model_key: string;
    calls: number;
    unpriced_calls: number;
    tokens: Record<string, number>;
    cost_usd: string | null;
    credits: string;
  }[];
  rounding: string;
}

const sum = (values: (string | null)[]) => values.reduce((all, v) => all.plus(v ?? 0), new Exact(0)).toFixed();
const usdOf = (p: Parts) => TYPES.map((t) => p.by_token_type[t].cost_usd);
const creditsOf = (p: Parts) => TYPES.map((t) => p.by_token_type[t].credits);

describe('cost breakdown', () => {
  const app = chatsService();
  let org: TestOrg;
  let route: string;

  const costs = (chat: string, as: Bearer = org.owner): Promise<Answer> => app.call('GET', `${org.path}/${chat}/cost-breakdown`, { as });
  const child = async (parent: string): Promise<string> => {
    const id = await app.chat(org);
    await app.db.execute(sql('UPDATE chats SET parent_chat_id = $2 WHERE id = $1'), [id, parent]);
    return id;
  };
  interface Receipt {
    feature?: string;
    model?: string;
    tokens: number[];
    /** Input, cached, written, output; null: no price in dollars. */
    prices: string[] | null;
    credits?: string;
  }
  /** Writes a receipt, and adds it to the chat, as whoever makes a call does. */
  const spend = async (chat: string, { feature = 'turn', model = 'mock', tokens, prices, credits = '0' }: Receipt): Promise<void> => {
    const price = [0, 1, 2, 3, 3];
    const usd =
      prices &&
      tokens
        .reduce((all, n, i) => all.plus(new Exact(prices[price[i]]).times(n)), new Exact(0))
        .div(1_000_000)
        .toDecimalPlaces(6, Decimal.ROUND_HALF_UP)
        .toFixed();
    await app.db.execute(
      sql(`INSERT INTO inference_receipts (id, org_id, feature, chat_id, model_key, resolve_reason, route_id, input_tokens, cached_input_tokens, cache_write_tokens, output_tokens, reasoning_tokens,
         input_price_per_1m, cached_input_price_per_1m, cache_write_price_per_1m, output_price_per_1m, usd_cost, credits, unpriced, duration_ms)
       VALUES ($1, $2, $3, $4, $5, 'agent', $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, 1)`),
      [
        uuidv7(),
        org.id,
        feature,
        chat,
        model,
        route,
        ...tokens,
        ...(prices ?? [null, null, null, null]),
        usd,
        credits,
        prices === null && credits === '0',
      ],
    );
    await app.db.execute(sql('UPDATE chats SET cost_usd = cost_usd + $2, cost_credits = cost_credits + $3 WHERE id = $1'), [
      chat,
      usd ?? 0,
      credits,
    ]);
  };

  beforeAll(async () => {
    org = await app.org();
    [{ id: route }] = await app.db.query(sql<{ id: string }>('SELECT id FROM inference_routes LIMIT 1'));
  });
  afterEach(() => entitle(app, { enforces_credits: false }));

  it('is nothing for a chat that has asked no model', async () => {
    const chat = await app.chat(org);
    const zero = { tokens: 0, cost_usd: '0', credits: '0' };
    const nothing = {
      total_cost_usd: '0',
      total_credits: '0',
      by_token_type: Object.fromEntries(TYPES.map((t) => [t, zero])),
      by_model: [],
      rounding: '0',
    };
    expect(await costs(chat)).toMatchObject({
      status: 200,
      body: { chat_id: chat, billing_unit: 'usd', ...nothing, descendants: { chats: 0, ...nothing } },
    });
  });

  it('splits what calls cost by the prices of their time, the name of the chat included', async () => {
    const chat = await app.chat(org, {});
    await app.send(
      org,
      chat,
      script({ text: 'Done.', usage: { input: 1000, cached_input: 200, cache_write: 30, output: 40, reasoning: 5 } }),
    );
    await app.until(org, chat, (c) => c.title !== null);
    const { body: before } = await costs(chat);
    await app.db.execute(sql(`UPDATE model_catalog SET input_price_per_1m = 77, output_price_per_1m = 99 WHERE key = 'mock'`));
    const { body } = await costs(chat);
    await app.db.execute(sql(`UPDATE model_catalog SET input_price_per_1m = 1, output_price_per_1m = 2 WHERE key = 'mock'`));
    expect(body).toEqual(before);
    expect(body.by_token_type).toMatchObject({
      cached_input: { tokens: 200, cost_usd: '0.0002' },
      cache_write: { tokens: 30, cost_usd: '0.00003' },
      reasoning: { tokens: 5, cost_usd: '0.00001' },
    });
    const receipts = await app.db.query(
      sql<{ feature: string; input_tokens: number }>('SELECT feature, input_tokens FROM inference_receipts WHERE chat_id = $1'),
      [chat],
    );
    expect(receipts.map((r) => r.feature).sort()).toEqual(['title', 'turn']);
    expect(body.by_token_type.input.tokens).toBe(receipts.reduce((n, r) => n + r.input_tokens, 0));
    expect(body.total_cost_usd).toBe((await app.read(org, chat)).body.cost_usd);
    expect(sum([...usdOf(body as Parts), body.rounding as string])).toBe(body.total_cost_usd);
    expect(body.by_model).toMatchObject([{ model_key: 'mock', calls: 2, unpriced_calls: 0, cost_usd: body.total_cost_usd }]);
  });

  it('sums exactly, in dollars and in credits, whatever was spent', async () => {
    let seed = 7;
    const random = (below: number) => Math.floor(((seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648) / 2_147_483_648) * below);
    const amount = (below: number) => `${random(below)}.${String(random(1_000_000)).padStart(6, '0')}`;
    for (let i = 0; i < 15; i++) {
      const chat = await app.chat(org);
      const below = await child(chat);
      for (let n = random(12); n >= 0; n--) {
        await spend(random(3) ? chat : below, {
          model: `m${random(3)}`,
          feature: ['turn', 'title', 'compaction'][random(3)],
          tokens: TYPES.map(() => (random(4) ? random(100_000) : 0)),
          prices: random(5) ? [amount(30), amount(3), amount(40), amount(100)].map((p) => (random(6) ? p : '0')) : null,
          credits: random(4) ? amount(500) : '0',
        });
      }
      for (const inCredits of [false, true]) {
        await entitle(app, { enforces_credits: inCredits });
        const { body } = await costs(chat);
        const { body: shown } = await app.read(org, chat);
        expect([body.total_cost_usd, body.total_credits]).toEqual([shown.cost_usd, shown.cost_credits]);
        for (const part of [body, body.descendants] as Parts[]) {
          expect(sum(inCredits ? [...creditsOf(part), part.rounding] : creditsOf(part))).toBe(part.total_credits);
          expect(sum(part.by_model.map((m) => m.credits))).toBe(part.total_credits);
          for (const type of TYPES) expect(part.by_token_type[type].tokens).toBe(part.by_model.reduce((all, m) => all + m.tokens[type], 0));
          if (inCredits)
            expect([...usdOf(part), part.total_cost_usd, ...part.by_model.map((m) => m.cost_usd)].every((v) => v === null)).toBe(true);
          else {
            expect(sum([...usdOf(part), part.rounding])).toBe(part.total_cost_usd);
            expect(sum(part.by_model.map((m) => m.cost_usd))).toBe(part.total_cost_usd);
          }
        }
      }
    }
  });

  it('shares credits out by dollars, or by tokens where there are none', async () => {
    await entitle(app, { enforces_credits: true });
    const dear = await app.chat(org);
    await spend(dear, { tokens: [1000, 0, 0, 1000, 0], prices: ['1', '1', '1', '3'], credits: '8' });
    const flat = await app.chat(org);
    await spend(flat, { tokens: [1000, 0, 500, 0, 500], prices: null, credits: '8' });
    const free = await app.chat(org);
    await spend(free, { tokens: [0, 0, 0, 0, 0], prices: null, credits: '0.5' });
    expect(creditsOf((await costs(dear)).body as Parts)).toEqual(['2', '0', '0', '6', '0']);
    expect(creditsOf((await costs(flat)).body as Parts)).toEqual(['4', '0', '2', '0', '2']);
    expect((await costs(free)).body).toMatchObject({
      billing_unit: 'credits',
      total_cost_usd: null,
      total_credits: '0.5',
      rounding: '0.5',
    });
  });

  it('counts calls without a price', async () => {
    const chat = await app.chat(org);
    await spend(chat, { model: 'wild', tokens: [10, 0, 0, 5, 0], prices: null });
    expect((await costs(chat)).body).toMatchObject({
      total_cost_usd: '0',
      by_token_type: { input: { tokens: 10, cost_usd: '0' } },
      by_model: [{ model_key: 'wild', calls: 1, unpriced_calls: 1 }],
    });
  });

  it('adds up all that was delegated to, at any depth, apart from its own', async () => {
    const root = await app.chat(org);
    const [first, second] = [await child(root), await child(root)];
    const deep = await child(first);
    const prices = ['1', '1', '1', '1'];
    for (const [chat, tokens] of [
      [root, 1],
      [first, 10],
      [second, 100],
      [deep, 1000],
    ] as const)
      await spend(chat, { tokens: [tokens * 1000, 0, 0, 0, 0], prices });
    await app.db.execute(sql('UPDATE chats SET deleted_at = now() WHERE id = $1'), [second]);
    expect((await costs(root)).body).toMatchObject({
      total_cost_usd: '0.001',
      by_token_type: { input: { tokens: 1000 } },
      descendants: { chats: 3, total_cost_usd: '1.11', by_token_type: { input: { tokens: 1_110_000, cost_usd: '1.11' } } },
    });
    expect((await costs(first)).body).toMatchObject({ total_cost_usd: '0.01', descendants: { chats: 1, total_cost_usd: '1' } });
    expect((await costs(deep)).body).toMatchObject({ total_cost_usd: '1', descendants: { chats: 0, total_cost_usd: '0', by_model: [] } });
  });

  it('is open to whoever may open the chat, by its own agent', async () => {
    const chat = await app.chat(org);
    expect((await costs(chat, org.member)).status).toBe(404);
    await app.db.execute(sql('UPDATE chats SET shared = true WHERE id = $1'), [chat]);
    expect((await costs(chat, org.member)).status).toBe(200);
    const other = await app.get(AgentsService).create(OrgScope.member(org.id, org.owner.id, 'OWNER'), { name: 'Other' });
    expect(await app.call('GET', `/api/orgs/${org.id}/agents/${other.id}/chats/${chat}/cost-breakdown`, { as: org.owner })).toMatchObject({
      status: 404,
      body: { code: 'not_found' },
    });
    await app.db.execute(sql('UPDATE chats SET deleted_at = now() WHERE id = $1'), [chat]);
    expect((await costs(chat)).status).toBe(404);
  });
});
