import { Blockers, PlanEntitlements, RateCards } from '@aps/billing';
import { entitle } from '@aps/billing/testing';
import { CallHold, InferenceReceipt } from '@aps/entities';
import { aTeam, type TestTeam } from '@aps/orgs/testing';
import { Database, NO_CALLER, type Db } from '@aps/platform/database';
import { metrics } from '@aps/platform/observability';
import { sql } from '@aps/platform/testing';
import { uuidv7 } from 'uuidv7';
import { HoldRepository } from './hold.repository';
import { Holds, type WorkHold } from './holds.service';
import type { ChatResult } from '../client';
import { InferenceSettings } from '../inference.settings';
import { ModelCalls } from '../model-calls.service';
import type { ResolvedModel } from '../choice/model-resolver.service';
import { askFor, askInVain, CALL } from '../testing/calls';
import { inferenceService } from '../testing/inference';
import { aModel, aRoute } from '../testing/views';

const t = inferenceService();
let org: TestTeam;
let holds: Holds;
let repository: HoldRepository;
beforeEach(async () => {
  org = await aTeam(t);
  holds = t.get(Holds);
  repository = new HoldRepository();
});
afterEach(async () => {
  await entitle(t, { enforces_credits: false });
  jest.restoreAllMocks();
});

const MONTH = `date_trunc('month', now(), 'UTC')`;
const limit = (budget_limit_usd: string | null, of = org) =>
  t.make('PATCH', `${of.path}/settings/limits`, { as: of.owner, body: { budget_limit_usd } });
/** Of a chat, at a time in SQL. */
const receipt = (usd: string, { id = uuidv7(), at = 'now()', of = org } = {}) =>
  t.db.execute(
    sql(`INSERT INTO inference_receipts (id, org_id, feature, chat_id, model_key, resolve_reason, route_id, input_tokens, cached_input_tokens, cache_write_tokens, output_tokens,
      reasoning_tokens, usd_cost, duration_ms, created_at) VALUES ($1, $2, 'turn', $1, 'mock', 'requested', $1, 1, 0, 0, 0, 0, $3, 1, ${at})`),
    [id, of.id, usd],
  );
const asking = (usd: string, work = `turn:${uuidv7()}`, of = org) => ({
  work,
  org_id: of.id,
  receipt_id: uuidv7(),
  agent_id: null,
  amount: usd,
  spent: '0',
});
const granted = async (db: Db, call: ReturnType<typeof asking>) => (await repository.reserveBudget(db, call)) === 'granted';
const reserve = (usd: string, work?: string, of = org) => granted(t.db, asking(usd, work, of));
const reservations = () => t.db.manager.findBy(CallHold, { org_id: org.id });
const pass = (minutes: number) =>
  t.db.execute(sql(`UPDATE call_holds SET expires_at = expires_at - make_interval(mins => $1::int) WHERE org_id = $2`), [minutes, org.id]);
const blocker = () => t.get<Blockers>(Blockers).of(org.id);

/** A call whose estimate is so many dollars. */
const costing = (usd: string | null) =>
  ({
    entry: aModel('m', 'r', { input_price_per_1m: '0', output_price_per_1m: usd }),
    max_output_tokens: 1_000_000,
    requested_model: null,
    reason: 'default',
    route: aRoute('r'),
  }) as ResolvedModel;
const holding = <T>(act: (hold: WorkHold) => Promise<T>, over: { name?: string; chatId?: string | null } = {}) =>
  holds.holding({ orgId: org.id, chatId: uuidv7(), agentId: null, name: `turn:${uuidv7()}`, feature: 'turn', ...over }, act);

describe('the budget of an organization', () => {
  it('is passed by one of many calls at once, whatever connections and processes they come from', async () => {
    await limit('1');
    await receipt('0.955');
    const elsewhere = t.get(Database);
    const ways: ((call: ReturnType<typeof asking>) => Promise<boolean>)[] = [
      (call) => granted(t.db, call),
      (call) => granted(elsewhere, call),
      (call) => t.db.transaction(NO_CALLER, (tx) => granted(tx, call)),
    ];
    const calls = await Promise.all(Array.from({ length: 200 }, (_, i) => ways[i % ways.length](asking('0.02'))));
    // 0.955, 0.975 and 0.995 are less than 1; 1.015 is not.
    expect(calls.filter(Boolean)).toHaveLength(3);
    expect(await reservations()).toHaveLength(3);
  });

  it('is spent to its end by calls that come and go at once, and by no more than one call beyond', async () => {
    await limit('1');
    const spend = async (db: Db) => {
      const call = asking('0.1');
      if (!(await granted(db, call))) return;
      await receipt('0.07', { id: call.receipt_id });
    };
    const elsewhere = t.get(Database);
    for (let round = 0; round < 20; round++) await Promise.all(Array.from({ length: 10 }, (_, i) => spend(i % 2 ? t.db : elsewhere)));
    // 14 × 0.07 is less than 1.
    expect((await t.db.manager.findBy(InferenceReceipt, { org_id: org.id })).length).toBe(15);
  });

  it('is of one organization', async () => {
    const other = await aTeam(t);
    await limit('1');
    await limit('1', other);
    await receipt('5', { of: other });
    const [mine, theirs] = await Promise.all([
      Promise.all(Array.from({ length: 5 }, () => reserve('0.4'))),
      Promise.all(Array.from({ length: 5 }, () => reserve('0.4', undefined, other))),
    ]);
    expect([mine.filter(Boolean).length, theirs.filter(Boolean).length]).toEqual([3, 0]);
  });

  it('counts this month in UTC, and chats alone', async () => {
    await limit('1');
    await receipt('5', { at: `${MONTH} - interval '1 millisecond'` });
    const chatless = uuidv7();
    await receipt('0', { id: chatless });
    await t.db.execute(
      sql(`INSERT INTO inference_receipts (id, org_id, feature, model_key, resolve_reason, route_id, input_tokens, cached_input_tokens, cache_write_tokens, output_tokens,
        reasoning_tokens, usd_cost, duration_ms) VALUES ($1, $2, 'prompt_default', 'mock', 'requested', $1, 1, 0, 0, 0, 0, 5, 1)`),
      [uuidv7(), org.id],
    );
    expect(await blocker()).toBeNull();
    expect(await reserve('0.1')).toBe(true);
    await receipt('0.9', { at: MONTH });
    expect(await blocker()).toEqual({ code: 'budget_exceeded', budget_limit_usd: '1', spend_usd: '0.9' });
    expect(await reserve('0.1')).toBe(false);
  });

  it('is the one that holds at the call: raised, lowered, cleared', async () => {
    await limit('1');
    await receipt('1');
    expect(await reserve('0.1')).toBe(false);
    // As a process that has not heard of it yet.
    jest.spyOn(InferenceSettings.prototype, 'announce').mockImplementation(() => undefined);
    await limit('1.05');
    expect([await reserve('0.1'), await reserve('0.1')]).toEqual([true, false]);
    await limit(null);
    const held = await reservations();
    expect(await reserve('0.1')).toBe(true);
    expect(await reservations()).toEqual(held);
    await limit('0');
    expect(await reserve('0')).toBe(false);
  });

  it('lets a call without a price through while anything is left', async () => {
    await limit('1');
    expect([await reserve('0'), await reserve('1'), await reserve('0')]).toEqual([true, true, false]);
  });
});

describe('a reservation', () => {
  it('ends with the receipt that it is held for, and is removed by the next', async () => {
    await limit('1');
    const call = asking('1');
    expect(await granted(t.db, call)).toBe(true);
    expect(await blocker()).toEqual({ code: 'budget_exceeded', budget_limit_usd: '1', spend_usd: '0' });
    await receipt('0.2', { id: call.receipt_id });
    expect(await blocker()).toBeNull();
    const next = asking('0.5');
    expect(await granted(t.db, next)).toBe(true);
    expect((await reservations()).map(({ work }) => work)).toEqual([next.work]);
  });

  it('of a worker that died ends ten minutes after it was renewed last', async () => {
    await limit('1');
    const lost = asking('1');
    await granted(t.db, lost);
    await pass(9);
    expect(await reserve('0.1')).toBe(false);
    await repository.renew(t.db, [lost]);
    await pass(9);
    expect(await reserve('0.1')).toBe(false);
    await pass(1);
    expect(await blocker()).toBeNull();
    const next = asking('0.1');
    expect(await granted(t.db, next)).toBe(true);
    // A renewal that comes too late brings nothing back.
    await repository.renew(t.db, [lost]);
    expect((await reservations()).map(({ work }) => work)).toEqual([next.work]);
  });

  it('is taken over with its work, and does not count twice', async () => {
    await limit('1');
    const [first, second] = [asking('0.9', 'turn:same'), asking('0.8', 'turn:same')];
    expect(await granted(t.db, first)).toBe(true);
    await receipt('0.15');
    // Beside what its lost owner has reserved, nothing would be left.
    expect(await reserve('0.1')).toBe(false);
    expect(await granted(t.db, second)).toBe(true);
    expect(await reservations()).toMatchObject([{ work: 'turn:same', receipt_id: second.receipt_id, amount: '0.800000' }]);
    // What the lost owner does now touches nothing.
    await pass(5);
    const [before] = await reservations();
    await repository.renew(t.db, [first]);
    await repository.release(t.db, first);
    expect(await reservations()).toEqual([before]);
    await repository.release(t.db, second);
    expect(await reservations()).toEqual([]);
  });

  it('counts what its work has spent before, of which no receipt tells yet', async () => {
    await limit('1');
    const call = { ...asking('0.1'), spent: '0.9' };
    expect(await granted(t.db, call)).toBe(true);
    expect(await reservations()).toMatchObject([{ amount: '1.000000' }]);
    expect(await granted(t.db, { ...call, spent: '1' })).toBe(false);
  });

  it('stays where more is refused to its work', async () => {
    await limit('1');
    const call = asking('0.5');
    await granted(t.db, call);
    await receipt('1');
    expect(await granted(t.db, { ...call, amount: '0.6' })).toBe(false);
    expect(await reservations()).toMatchObject([{ amount: '0.500000' }]);
  });

  it('that nobody asks about is removed some time after its end', async () => {
    await limit('1');
    await reserve('0.1');
    expect(await repository.forget(t.db, 1_000)).toBe(0);
    await pass(10);
    expect(await repository.forget(t.db, 1_000)).toBeGreaterThan(0);
    expect(await reservations()).toEqual([]);
  });
});

describe('work that calls models', () => {
  const refusedCalls = async (feature: string) =>
    (await metrics.getSingleMetric('budget_refused_calls_total')!.get()).values.find(({ labels }) => labels.feature === feature)?.value ??
    0;

  it('holds its estimate until it fails', async () => {
    await limit('1');
    const held = await holding(async (hold) => {
      await askInVain(hold, costing('0.25'));
      const [row] = await reservations();
      return row;
    });
    expect(held.amount).toBe('0.250000');
    expect(await reservations()).toHaveLength(1);
    await expect(
      holding(async (hold) => {
        await askInVain(hold, costing('0.25'));
        throw new Error('no answer');
      }),
    ).rejects.toThrow('no answer');
    expect((await reservations()).map(({ work }) => work)).toEqual([held.work]);
  });

  it('holds what its earlier calls have cost beside the estimate of the next', async () => {
    await limit('1');
    await holding(async (hold) => {
      await askInVain(hold, costing('0.25'));
      const usage = { input: 0, cached_input: 0, cache_write: 0, output: 2_000_000, reasoning: 0 };
      await askFor(hold, costing('0.25'), usage);
      await askInVain(hold, costing('0.25'));
    });
    expect(await reservations()).toMatchObject([{ amount: '0.750000' }]);
  });

  it('reserves before a call is made, and has a receipt of what is answered alone', async () => {
    await limit('1');
    const usage = { input: 0, cached_input: 0, cache_write: 0, output: 1_000_000, reasoning: 0 };
    const happened: string[] = [];
    const made = jest.spyOn(t.get(ModelCalls), 'streamChat').mockImplementation(() => {
      happened.push('call');
      return Promise.resolve({ usage, durationMs: 7, firstTokenMs: 3 } as ChatResult);
    });
    await holding(async (hold) => {
      const before = async () => void happened.push(`${(await reservations()).length} held`, `${hold.receipts.length} answered`);
      await hold.ask(costing('0.25'), CALL, { before });
      expect(happened).toEqual(['1 held', '0 answered', 'call']);
      made.mockRejectedValueOnce(new Error('away'));
      await expect(hold.ask(costing('0.25'), CALL)).rejects.toThrow('away');
      await expect(hold.ask(costing('0.25'), CALL, { before: () => Promise.reject(new Error('no room')) })).rejects.toThrow('no room');
      await limit('0');
      await expect(hold.ask(costing('0.25'), CALL)).rejects.toMatchObject({ code: 'budget_exceeded' });
      expect(made).toHaveBeenCalledTimes(2);
      expect(hold.receipts).toMatchObject([{ usd_cost: '0.25', duration_ms: 7, first_token_ms: 3 }]);
    });
  });

  it('is refused before its call, and counted', async () => {
    await limit('1');
    await receipt('1');
    const before = await refusedCalls('turn');
    await expect(holding((hold) => askInVain(hold, costing(null)))).rejects.toMatchObject({
      name: 'InferenceError',
      code: 'budget_exceeded',
      message: 'The budget of this organization is used up.',
    });
    expect(await refusedCalls('turn')).toBe(before + 1);
  });

  it('is renewed while it lasts, and no longer', async () => {
    await limit('1');
    const left = async () => ((await reservations())[0].expires_at.getTime() - t.db.now().getTime()) / 60_000;
    await holding(async (hold) => {
      await askInVain(hold, costing('0.25'));
      await pass(5);
      expect(await left()).toBeLessThan(6);
      await holds.renew();
      expect(await left()).toBeGreaterThan(9);
    });
    await pass(5);
    await holds.renew();
    expect(await left()).toBeLessThan(6);
  });

  it.each([
    ['without a budget', null, {}],
    ['of no chat', '0', { chatId: null }],
  ])('asks nothing %s', async (_, budget, work) => {
    // Not by a request: its broadcast comes back and drops the view a moment later.
    await t.db.execute(sql('INSERT INTO org_ai_settings (org_id, budget_limit_usd) VALUES ($1, $2)'), [org.id, budget]);
    // What is held in memory is there, however long that took.
    jest.spyOn(performance, 'now').mockReturnValue(performance.now());
    await t.get(InferenceSettings).view(org.id);
    await t.get(RateCards).current();
    await t.get(PlanEntitlements).of(org.id);
    const asked = [
      jest.spyOn(Database.prototype, 'batchedAhead'),
      jest.spyOn(Database.prototype, 'query'),
      jest.spyOn(Database.prototype, 'execute'),
    ];
    await holding((hold) => askInVain(hold, costing('1')), work);
    if (!('chatId' in work)) expect(await blocker()).toBeNull();
    expect(asked.flatMap((spy): unknown[] => spy.mock.calls)).toEqual([]);
  });

  it('reserves nothing while what it waits for may fail', async () => {
    await limit('1');
    const after = Promise.reject(new Error('the claim failed'));
    after.catch(() => undefined);
    const work = { orgId: org.id, chatId: uuidv7(), agentId: null, name: 'turn:unowned', feature: 'turn', after };
    await expect(holds.holding(work, (hold) => askInVain(hold, costing('1')))).rejects.toThrow('the claim failed');
    expect(await reservations()).toEqual([]);
  });
});
