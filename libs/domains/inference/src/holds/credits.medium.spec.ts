import { Blockers, PlanEntitlements } from '@aps/billing';
import { addCredits, entitle, override, withCredits, withRateCard, type TestCredits } from '@aps/billing/testing';
import { CallHold, CreditLedgerRow, InferenceReceipt, Subscription } from '@aps/entities';
import { aTeam, type TestTeam } from '@aps/orgs/testing';
import { Database, NO_CALLER, type Db } from '@aps/platform/database';
import { sql } from '@aps/platform/testing';
import { uuidv7 } from 'uuidv7';
import { HoldRepository } from './hold.repository';
import { Holds, type HoldingWork, type WorkHold } from './holds.service';
import type { Usage } from '../client';
import type { ResolvedModel } from '../choice/model-resolver.service';
import { ReceiptsRepository } from '../receipts.repository';
import { askFor, askInVain } from '../testing/calls';
import { inferenceService } from '../testing/inference';
import { aModel, aRoute } from '../testing/views';

const t = inferenceService();
const repository = new HoldRepository();
let org: TestTeam;
beforeAll(() => withRateCard(t));
beforeEach(async () => {
  org = await aTeam(t);
  await entitle(t, { enforces_credits: true });
});
afterEach(() => entitle(t, { enforces_credits: false }));

const subscribed = (credits: TestCredits, of = org) => withCredits(t, of.id, credits);
const asking = (amount: string, over: { work?: string; of?: TestTeam; agentId?: string | null } = {}) => ({
  work: over.work ?? `turn:${uuidv7()}`,
  org_id: (over.of ?? org).id,
  agent_id: over.agentId ?? null,
  receipt_id: uuidv7(),
  amount,
  spent: '0',
});
const reserve = (amount: string, over?: Parameters<typeof asking>[1], db: Db = t.db) => repository.reserveCredits(db, asking(amount, over));
const holds = (of = org) => t.db.manager.findBy(CallHold, { org_id: of.id });
const balance = async (of = org) =>
  (
    await t.db.query(
      sql<{ granted: string; purchased: string }>(
        `SELECT trim_scale(balance)::text AS granted, trim_scale(purchased_balance)::text AS purchased FROM org_credits WHERE org_id = $1`,
      ),
      [of.id],
    )
  )[0];
const burns = (of = org) => t.db.manager.find(CreditLedgerRow, { where: { org_id: of.id, kind: 'burn' }, order: { seq: 'ASC' } });
const RECEIPT = `inference_receipts (id, org_id, feature, agent_id, model_key, resolve_reason, route_id, input_tokens, cached_input_tokens, cache_write_tokens, output_tokens, reasoning_tokens,
  credits, enforced, rate_card_version, duration_ms, created_at)`;
/** What calls have come to, in one statement. */
const write = (receipts: { credits: string; id?: string; of?: TestTeam; enforced?: boolean; agentId?: string; at?: string }[]) =>
  t.db.execute(
    sql(`INSERT INTO ${RECEIPT} SELECT id, org_id, 'turn', agent_id, 'mock', 'requested', id, 1, 0, 0, 0, 0, credits, enforced, 1, 1, coalesce(at, now())
      FROM jsonb_to_recordset($1::jsonb) AS x(id uuid, org_id uuid, agent_id uuid, credits numeric, enforced boolean, at timestamptz) ON CONFLICT DO NOTHING`),
    [
      JSON.stringify(
        receipts.map(({ credits, id = uuidv7(), of = org, enforced = true, agentId = null, at = null }) => ({
          id,
          org_id: of.id,
          credits,
          enforced,
          agent_id: agentId,
          at,
        })),
      ),
    ],
  );
const used: Usage = { input: 1_000_000, cached_input: 0, cache_write: 0, output: 0, reasoning: 0 };
/** A million tokens of output are one dollar, and a million of input are two. */
const model = (over: Partial<ResolvedModel> = {}) =>
  ({
    entry: aModel('m', 'r', { input_price_per_1m: '2', output_price_per_1m: '1' }),
    route: aRoute('r'),
    requested_model: null,
    reason: 'default',
    max_output_tokens: 500_000,
    mode: null,
    byo_key: false,
    ...over,
  }) as ResolvedModel;
const holding = <T>(act: (hold: WorkHold) => Promise<T>, over: Partial<HoldingWork> = {}) =>
  t.get(Holds).holding({ orgId: org.id, chatId: null, agentId: null, name: `prompt:${uuidv7()}`, feature: 'prompt_default', ...over }, act);
const pass = (minutes: number) =>
  t.db.execute(sql('UPDATE call_holds SET expires_at = expires_at - make_interval(mins => $1::int) WHERE org_id = $2'), [minutes, org.id]);
const blocker = () => t.get<Blockers>(Blockers).of(org.id);

describe('the credits of an organization', () => {
  it('let calls through that they are enough for, whatever connections and processes they come from', async () => {
    await subscribed({ granted: '6', purchased: '4' });
    const elsewhere = t.get(Database);
    const ways: (() => Promise<string>)[] = [
      () => reserve('0.75'),
      () => reserve('0.75', {}, elsewhere),
      () => t.db.transaction(NO_CALLER, (tx) => reserve('0.75', {}, tx)),
    ];
    const verdicts = await Promise.all(Array.from({ length: 200 }, (_, i) => ways[i % ways.length]()));
    // 13 × 0.75 is less than 10, and 14 × 0.75 is more.
    expect(verdicts.filter((verdict) => verdict === 'granted')).toHaveLength(13);
    expect(new Set(verdicts)).toEqual(new Set(['granted', 'credits_exhausted']));
    expect(await holds()).toHaveLength(13);
  });

  it('are passed by what calls cost beyond their estimate, each by itself, and then no call is made', async () => {
    await subscribed({ granted: '10' });
    const calls = Array.from({ length: 200 }, () => asking('4'));
    const verdicts = await Promise.all(calls.map((call) => repository.reserveCredits(t.db, call)));
    const made = calls.filter((_, i) => verdicts[i] === 'granted');
    expect(made).toHaveLength(2);
    await Promise.all(made.map(({ receipt_id }) => write([{ id: receipt_id, credits: '7' }])));
    expect(await balance()).toEqual({ granted: '-4', purchased: '0' });
    expect(new Set(await Promise.all(Array.from({ length: 50 }, () => reserve('0.000001'))))).toEqual(new Set(['credits_exhausted']));
    expect(await blocker()).toEqual({ code: 'credits_exhausted', credits_remaining: '-4' });
  });

  it('are used to their end by calls that come and go at once, and never beyond by those that keep to their estimate', async () => {
    await subscribed({ granted: '5', purchased: '5' });
    const spend = async (db: Db) => {
      const call = asking('0.7');
      if ((await repository.reserveCredits(db, call)) === 'granted') await write([{ id: call.receipt_id, credits: '0.6' }]);
    };
    const elsewhere = t.get(Database);
    for (let round = 0; round < 15; round++) await Promise.all(Array.from({ length: 8 }, (_, i) => spend(i % 2 ? t.db : elsewhere)));
    // 16 × 0.6; then 0.4 are left.
    expect([(await burns()).filter(({ key }) => !key.endsWith(':purchased')).length, await balance()]).toEqual([
      16,
      { granted: '0', purchased: '0.4' },
    ]);
  });

  it('reach below zero as far as the plan says', async () => {
    await subscribed({ granted: '1', overdraft: '2' });
    expect([await reserve('2.5'), await reserve('0.6'), await reserve('0.5')]).toEqual(['granted', 'credits_exhausted', 'granted']);
    expect(await blocker()).toEqual({ code: 'credits_exhausted', credits_remaining: '3' });
  });

  it('are those of the moment of the call: bought, taken away', async () => {
    await subscribed({});
    expect(await reserve('1')).toBe('credits_exhausted');
    await addCredits(t, org.id, '1', 'purchased');
    expect(await blocker()).toBeNull();
    expect(await reserve('1')).toBe('granted');
    await addCredits(t, org.id, '-1', 'purchased');
    expect(await reserve('0.1')).toBe('credits_exhausted');
  });

  it('are of one organization, in one batch with others', async () => {
    const others = await Promise.all(Array.from({ length: 7 }, () => aTeam(t)));
    await Promise.all([org, ...others].map((of) => subscribed({ granted: '1' }, of)));
    const verdicts = await Promise.all([org, ...others].flatMap((of) => [reserve('0.7', { of }), reserve('0.7', { of })]));
    expect(verdicts.filter((verdict) => verdict === 'granted')).toHaveLength(8);
    for (const of of [org, ...others]) expect(await holds(of)).toHaveLength(1);
  });

  it('are refused to a call that is too dear, and to none beside it', async () => {
    await subscribed({ granted: '10' });
    const verdicts = await Promise.all(['2', '50', '3', '4', '40'].map((amount) => reserve(amount)));
    expect(verdicts).toEqual(['granted', 'credits_exhausted', 'granted', 'granted', 'credits_exhausted']);
  });

  it('are of who has a subscription that counts: for others no call is made, whatever is left', async () => {
    await subscribed({ granted: '10' });
    await t.db.manager.update(Subscription, { org_id: org.id }, { status: 'unsubscribed' });
    t.get(PlanEntitlements).drop(org.id);
    expect(await blocker()).toEqual({ code: 'credits_exhausted', credits_remaining: '10', because: 'no_subscription' });
    const refused = { name: 'InferenceError', code: 'credits_exhausted' };
    await expect(holding((hold) => askInVain(hold, model({ byo_key: true })))).rejects.toMatchObject(refused);
    await t.db.manager.delete(Subscription, { org_id: org.id });
    t.get(PlanEntitlements).drop(org.id);
    expect([await reserve('1'), await blocker()]).toMatchObject([refused.code, { code: refused.code, credits_remaining: '0' }]);
    await expect(holding((hold) => askInVain(hold, model()))).rejects.toMatchObject(refused);
    expect(await holds()).toEqual([]);
  });
});

describe('what calls burn', () => {
  it('is taken in the statement that writes their receipts, from what is granted, then bought, then granted below zero', async () => {
    await subscribed({ granted: '5', purchased: '2' });
    const ids = [uuidv7(), uuidv7()];
    await write([
      { id: ids[0], credits: '4' },
      { id: ids[1], credits: '4.5' },
    ]);
    expect(await balance()).toEqual({ granted: '-1.5', purchased: '0' });
    expect((await burns()).map(({ key, delta, ref_id, rate_card_version }) => [key, Number(delta), ref_id, rate_card_version])).toEqual([
      [`burn:${ids[0]}`, -4, ids[0], 1],
      [`burn:${ids[1]}`, -2.5, ids[1], 1],
      [`burn:${ids[1]}:purchased`, -2, ids[1], 1],
    ]);
  });

  it('is nothing of receipts that cost nothing, or of organizations that do not pay in credits', async () => {
    await subscribed({ granted: '5' });
    await write([{ credits: '0' }, { credits: '3', enforced: false }]);
    expect([await burns(), await balance()]).toEqual([[], { granted: '5', purchased: '0' }]);
  });

  it('is nothing where no receipt is written, and once where it is written again', async () => {
    await subscribed({ granted: '5' });
    const id = uuidv7();
    await t.db
      .transaction(NO_CALLER, async (tx) => {
        await tx.execute(
          sql(`INSERT INTO ${RECEIPT} VALUES ($1, $2, 'turn', NULL, 'mock', 'requested', $1, 1, 0, 0, 0, 0, 2, true, 1, 1, now())`),
          [id, org.id],
        );
        throw new Error('killed before the commit');
      })
      .catch(() => undefined);
    expect([await burns(), await balance()]).toEqual([[], { granted: '5', purchased: '0' }]);
    for (let i = 0; i < 3; i++) await write([{ id, credits: '2' }]);
    expect([(await burns()).length, await balance()]).toEqual([1, { granted: '3', purchased: '0' }]);
  });

  it('waits for nobody for ever where batches of several organizations meet', async () => {
    const orgs = await Promise.all(Array.from({ length: 4 }, () => aTeam(t)));
    await Promise.all(orgs.map((of) => subscribed({ granted: '1000' }, of)));
    const batches = Array.from({ length: 24 }, (_, i) => (i % 2 ? orgs : orgs.toReversed()).map((of) => ({ of, credits: '1' })));
    await Promise.all(batches.map(write));
    for (const of of orgs) expect((await balance(of)).granted).toBe('976');
  });

  it('changes the balance and ends the hold at once', async () => {
    await subscribed({ granted: '10' });
    const call = asking('6');
    await repository.reserveCredits(t.db, call);
    expect(await blocker()).toBeNull();
    expect(await reserve('5')).toBe('credits_exhausted');
    await write([{ id: call.receipt_id, credits: '2' }]);
    const next = asking('8');
    expect(await repository.reserveCredits(t.db, next)).toBe('granted');
    expect((await holds()).map(({ work }) => work)).toEqual([next.work]);
  });
});

describe('a hold of a worker that died', () => {
  it('ends ten minutes after it was renewed last, and has burned nothing', async () => {
    await subscribed({ granted: '1' });
    const lost = asking('1');
    await repository.reserveCredits(t.db, lost);
    await pass(9);
    expect(await reserve('0.5')).toBe('credits_exhausted');
    await repository.renew(t.db, [lost]);
    await pass(9);
    expect(await reserve('0.5')).toBe('credits_exhausted');
    await pass(1);
    expect(await reserve('0.5')).toBe('granted');
    expect([await burns(), await balance()]).toEqual([[], { granted: '1', purchased: '0' }]);
  });

  it('is taken over with its work', async () => {
    await subscribed({ granted: '1' });
    expect([await reserve('1', { work: 'turn:same' }), await reserve('0.9', { work: 'turn:same' })]).toEqual(['granted', 'granted']);
    expect(await holds()).toMatchObject([{ work: 'turn:same', amount: '0.900000', unit: 'credits' }]);
  });
});

describe('the budget of an agent', () => {
  let agentId: string;
  const budget = async (credits: string | null) => {
    const revision = uuidv7();
    agentId = uuidv7();
    await t.db.execute(sql(`INSERT INTO agents (id, org_id, slug, name, live_revision_id) VALUES ($1, $2, $3, 'A', $4)`), [
      agentId,
      org.id,
      `agent-${agentId}`,
      revision,
    ]);
    await t.db.execute(sql(`INSERT INTO agent_revisions (id, org_id, agent_id, version, hash, config) VALUES ($1, $2, $3, 1, 'h', $4)`), [
      revision,
      org.id,
      agentId,
      JSON.stringify({ budget_credits_per_period: credits }),
    ]);
  };
  const period = (since: string) =>
    t.db.execute(sql(`UPDATE subscriptions SET period_start = ${since}, period_end = now() + interval '20 days' WHERE org_id = $1`), [
      org.id,
    ]);
  const ofAgent = (amount: string) => reserve(amount, { agentId });

  it('is passed by one of many calls at once', async () => {
    await subscribed({ granted: '1000' });
    await budget('10');
    await write([{ credits: '9.5', agentId }]);
    const verdicts = await Promise.all(Array.from({ length: 50 }, () => ofAgent('0.4')));
    // 9.5 and 9.9 are less than 10; 10.3 is not.
    expect(verdicts.filter((verdict) => verdict === 'granted')).toHaveLength(2);
    expect(new Set(verdicts)).toEqual(new Set(['granted', 'budget_exceeded']));
    expect(await reserve('1')).toBe('granted');
  });

  it('is of a period: since the begin of the subscription’s, or of the month', async () => {
    await subscribed({ granted: '1000' });
    await budget('10');
    await write([{ credits: '20', agentId, at: new Date(t.db.now().getTime() - 40 * 86_400_000).toISOString() }]);
    expect(await ofAgent('1')).toBe('granted');
    await write([{ credits: '9', agentId }]);
    expect(await ofAgent('1')).toBe('budget_exceeded');
    // What was burned before it in the same hour is of the period before.
    await period('clock_timestamp()');
    expect(await ofAgent('1')).toBe('granted');
    await write([{ credits: '9', agentId, at: new Date(Date.now() + 1_000).toISOString() }]);
    expect(await ofAgent('1')).toBe('budget_exceeded');
  });

  it('is what its live revision says', async () => {
    await subscribed({ granted: '1000' });
    await budget(null);
    await write([{ credits: '20', agentId }]);
    expect(await ofAgent('1')).toBe('granted');
    await t.db.execute(sql(`UPDATE agent_revisions SET config = '{"budget_credits_per_period": "5"}' WHERE agent_id = $1`), [agentId]);
    expect(await ofAgent('1')).toBe('budget_exceeded');
  });

  it('gives way to the credits of its organization', async () => {
    await subscribed({ granted: '1' });
    await budget('0');
    expect([await ofAgent('2'), await ofAgent('1')]).toEqual(['credits_exhausted', 'budget_exceeded']);
  });
});

describe('work that calls models for credits', () => {
  const called = (hold: WorkHold, of = model(), usage = used) => askFor(hold, of, usage);
  const written = ({ receipts }: WorkHold) => t.get(ReceiptsRepository).insertOnce(t.db, receipts, { org_id: org.id });
  const receipt = async (hold: WorkHold, of = model()) => {
    await called(hold, of);
    return written(hold);
  };
  const receipts = () => t.db.manager.findBy(InferenceReceipt, { org_id: org.id });
  afterEach(() => withRateCard(t));

  it('holds its estimate, chat or not, and is charged what it used', async () => {
    await subscribed({ granted: '1000' });
    await holding(async (hold) => {
      await askInVain(hold, model());
      expect(await holds()).toMatchObject([{ amount: '50.000000', unit: 'credits' }]);
      await called(hold);
      await askInVain(hold, model());
      expect(await holds()).toMatchObject([{ amount: '250.000000' }]);
      await written(hold);
    });
    expect(await receipts()).toMatchObject([
      {
        credits: '200.000000',
        enforced: true,
        rate_card_version: 1,
        rule_index: null,
        usd_cost: '2.000000',
        fallback_credits_per_1k_tokens: null,
      },
    ]);
    expect((await balance()).granted).toBe('800');
  });

  it('is refused before its call', async () => {
    await subscribed({ granted: '49' });
    const refused = holding((hold) => askInVain(hold, model()));
    await expect(refused).rejects.toMatchObject({ name: 'InferenceError', code: 'credits_exhausted' });
    expect(await holds()).toEqual([]);
  });

  it('is charged by the rule that says so, which its receipt names', async () => {
    await withRateCard(t, {
      rules: [
        { match: { feature: 'turn' }, multiplier: '9' },
        { match: { feature: 'prompt_default' }, multiplier: '0.5' },
      ],
    });
    await subscribed({ granted: '1000' });
    await holding(async (hold) => {
      await askInVain(hold, model());
      expect(await holds()).toMatchObject([{ amount: '25.000000' }]);
      await receipt(hold);
    });
    expect(await receipts()).toMatchObject([{ credits: '100.000000', rule_index: 1 }]);
  });

  it('is charged call by call: for the length of each prompt, and a fee for each', async () => {
    const PRICES = { output_price_per_1m: null, cached_input_price_per_1m: null, cache_write_price_per_1m: null };
    const entry = aModel('m', 'r', { price_tiers: [{ ...PRICES, above_tokens: 200_000, input_price_per_1m: '4' }] });
    const call = { ...used, input: 120_000 };
    await withRateCard(t, { rules: [{ match: { model_key: 'm' }, multiplier: '1', min_credits: '30' }] });
    await subscribed({ granted: '1000' });
    await holding(async (hold) => {
      await called(hold, model({ entry }), call);
      await called(hold, model({ entry }), { ...call, input: 480_000 });
      await called(hold, model({ entry }), call);
      await askInVain(hold, model());
      expect(await holds()).toMatchObject([{ amount: '302.000000' }]);
      await written(hold);
    });
    expect((await receipts()).map(({ usd_cost, credits }) => [Number(usd_cost), Number(credits)]).sort(([a], [b]) => a - b)).toEqual([
      [0.12, 30],
      [0.12, 30],
      [1.92, 192],
    ]);
    expect((await balance()).granted).toBe('748');
  });

  it('is charged by the rate of its model where that has no dollar price', async () => {
    await subscribed({ granted: '10000' });
    const entry = aModel('m', 'r', { input_price_per_1m: null, output_price_per_1m: null, fallback_credits_per_1k_tokens: '3' });
    await holding((hold) => receipt(hold, model({ entry })));
    expect(await receipts()).toMatchObject([
      { credits: '3000.000000', usd_cost: null, unpriced: false, fallback_credits_per_1k_tokens: '3.000000' },
    ]);
  });

  it('costs nothing with a key of one’s own, and leaves a receipt', async () => {
    await subscribed({});
    await holding((hold) => receipt(hold, model({ byo_key: true })));
    expect([await receipts(), await burns()]).toMatchObject([
      [{ credits: '0.000000', byo_key: true, enforced: true, rate_card_version: 1 }],
      [],
    ]);
  });

  it('is not done where nobody knows a price, unless somebody lets it through: then it costs nothing, and says so', async () => {
    await subscribed({});
    const entry = aModel('m', 'r', { input_price_per_1m: null, output_price_per_1m: null });
    await expect(holding((hold) => askInVain(hold, model({ entry })))).rejects.toMatchObject({ code: 'model_unavailable' });
    await holding((hold) => askInVain(hold, model({ entry, byo_key: true })));
    await holding((hold) => receipt(hold, model({ entry })), { unpricedAllowed: true });
    expect([await receipts(), await burns()]).toMatchObject([[{ credits: '0.000000', usd_cost: null, unpriced: true }], []]);
  });

  it('has a receipt and burns nothing where its organization does not pay in credits', async () => {
    await subscribed({ granted: '1' });
    await override(t, org.id, { enforces_credits: false });
    await holding((hold) => receipt(hold));
    expect([await receipts(), await burns(), await holds()]).toMatchObject([[{ credits: '200.000000', enforced: false }], [], []]);
  });

  it('writes several receipts that end its hold together', async () => {
    await subscribed({ granted: '1000' });
    await holding(async (hold) => {
      await called(hold);
      await receipt(hold);
      // Whose commit was not heard of.
      await written(hold);
    });
    expect((await receipts()).length).toBe(2);
    expect([(await balance()).granted, await reserve('600')]).toEqual(['600', 'granted']);
  });
});
