import { Blockers } from '@aps/billing';
import { entitle, withCredits, withRateCard } from '@aps/billing/testing';
import { CallHold } from '@aps/entities';
import { aTeam, type TestTeam } from '@aps/orgs/testing';
import type { Database } from '@aps/platform/database';
import { randomly, sql } from '@aps/platform/testing';
import { eventually } from '@aps/testing';
import { uuidv7 } from 'uuidv7';
import { Allowances, type Spender } from './allowances';
import { HoldRepository, type Verdict, type WideHold } from './hold.repository';
import { Holds, type WorkHold } from './holds.service';
import type { ResolvedModel } from '../choice/model-resolver.service';
import { askFor, askInVain } from '../testing/calls';
import { inferenceService } from '../testing/inference';
import { aModel } from '../testing/views';

const t = inferenceService();
const repository = new HoldRepository();
let org: TestTeam;
beforeEach(async () => {
  org = await aTeam(t);
});
afterEach(async () => {
  await entitle(t, { enforces_credits: false });
  jest.restoreAllMocks();
});

const limit = (budget_limit_usd: string | null) =>
  t.make('PATCH', `${org.path}/settings/limits`, { as: org.owner, body: { budget_limit_usd } });
/** What calls of chats have cost. */
const spend = (usd: number, id = uuidv7(), db: Pick<Database, 'execute'> = t.db) =>
  db.execute(
    sql(`INSERT INTO inference_receipts (id, org_id, feature, chat_id, model_key, resolve_reason, route_id, input_tokens, cached_input_tokens, cache_write_tokens, output_tokens,
      reasoning_tokens, usd_cost, duration_ms) VALUES ($1, $2, 'turn', $1, 'mock', 'requested', $1, 1, 0, 0, 0, 0, $3, 1)`),
    [id, org.id, usd],
  );
const held = async () =>
  (await t.db.manager.find(CallHold, { where: { org_id: org.id }, order: { work: 'ASC' } }))
    .map(({ work, amount }) => `${work.split(':')[0]} ${Number(amount)}`)
    .filter((text) => text !== 'turn 0.000001')
    .sort();

/** A call whose estimate is so many dollars. */
const costing = (usd: string) =>
  ({ entry: aModel('m', 'r', { input_price_per_1m: '0', output_price_per_1m: usd }), max_output_tokens: 1_000_000 }) as ResolvedModel;
const holding = <T>(act: (hold: WorkHold) => Promise<T>, agentId: string | null = null) =>
  t.get(Holds).holding({ orgId: org.id, chatId: uuidv7(), agentId, name: `turn:${uuidv7()}`, feature: 'turn' }, act);
/** Has what comes next follow another call. */
const precede = (agentId: string | null = null) => holding((hold) => askInVain(hold, costing('0.000001')), agentId);
/** How often somebody asked to hold something. */
const asked = () => ['reserveBudget' as const, 'reserveCredits' as const].map((name) => jest.spyOn(HoldRepository.prototype, name));

describe('calls of an organization with plenty', () => {
  // What is believed for a second is believed however long the statements take.
  beforeEach(() => void jest.spyOn(performance, 'now').mockReturnValue(performance.now()));

  it('are covered by what one of them has asked for, as far as that reaches', async () => {
    await limit('1000');
    await precede();
    const [ask] = asked();
    await holding(async (first) => {
      await askInVain(first, costing('1'));
      expect(await held()).toEqual(['calls 2']);
      await holding(async (second) => {
        await askInVain(second, costing('1'));
        expect(ask).toHaveBeenCalledTimes(1);
        // All three, and as much again.
        await holding((third) => askInVain(third, costing('0.5')));
        expect(await held()).toEqual(['calls 5']);
      });
    });
    expect(ask).toHaveBeenCalledTimes(2);
    // Nothing is under way: what one call alone needs is there.
    await holding((hold) => askInVain(hold, costing('5')));
    expect(ask).toHaveBeenCalledTimes(2);
  });

  it('have holds of their own where they come alone', async () => {
    await limit('1000');
    await holding((hold) => askInVain(hold, costing('1')));
    expect(await held()).toEqual(['turn 1']);
  });

  it('have holds of their own where little is left', async () => {
    await limit('1000');
    await spend(900);
    await precede();
    await holding(async (dear) => {
      await askInVain(dear, costing('1'));
      await holding((cheap) => askInVain(cheap, costing('0.4')));
      expect(await held()).toEqual(['calls 0.8', 'turn 1']);
    });
  });

  it('come to no more than is left, whoever makes them', async () => {
    await limit('100');
    await precede();
    await holding(async (hold) => {
      await askInVain(hold, costing('0.4'));
      await spend(98.9);
      // 98.9 and 0.8 are less than 100, and so is 0.25 beside it; 99.95 and 0.05 are not.
      const call = { org_id: org.id, agent_id: null, spent: '0' };
      const ask = (amount: string) => repository.reserveBudget(t.db, { ...call, amount, work: `turn:${uuidv7()}`, receipt_id: uuidv7() });
      expect([await ask('0.25'), await ask('0.05'), await ask('0.01')]).toEqual(['granted', 'granted', 'budget_exceeded']);
    });
  });

  it('are covered no longer where there is not plenty any more, and what is under way stays held', async () => {
    await limit('100');
    await precede();
    await holding(async (hold) => {
      await askInVain(hold, costing('0.4'));
      await spend(70);
      await holding((next) => askInVain(next, costing('0.5')));
      expect(await held()).toEqual(['calls 0.8', 'turn 0.5']);
      // It would have been room for this one.
      await holding((next) => askInVain(next, costing('0.3')));
      expect(await held()).toEqual(['calls 0.8', 'turn 0.3', 'turn 0.5']);
    });
    await eventually(held, (all) => !all.some((work) => work.startsWith('calls')));
  });

  it('ask anew where one has cost more than was thought', async () => {
    await limit('1000');
    await precede();
    const model = { ...costing('1'), requested_model: null, reason: 'default', route: { id: org.id } } as ResolvedModel;
    const used = (output: number) => ({ input: 0, cached_input: 0, cache_write: 0, output, reasoning: 0 });
    const [ask] = asked();
    for (const [output, asks] of [
      [1_000_000, 1],
      [900_000_000, 1],
      [1, 2],
    ])
      await holding((hold) => askFor(hold, model, used(output), () => expect(ask).toHaveBeenCalledTimes(asks)));
  });

  it('are held to another limit as soon as it is known', async () => {
    await limit('1000');
    await precede();
    await holding((hold) => askInVain(hold, costing('1')));
    await spend(5);
    await limit('5');
    await expect(holding((hold) => askInVain(hold, costing('1')))).rejects.toMatchObject({ code: 'budget_exceeded' });
    await eventually(held, (all) => all.length === 0);
    expect(await t.get<Blockers>(Blockers).of(org.id)).toMatchObject({ code: 'budget_exceeded' });
  });

  it('need a hold each where they cost nothing', async () => {
    await limit('1000');
    await precede();
    await holding((hold) => askInVain(hold, costing('0')));
    expect(await held()).toEqual(['turn 0']);
    await holding(async (dear) => {
      await askInVain(dear, costing('1'));
      await holding((hold) => askInVain(hold, costing('0')));
      expect(await held()).toEqual(['calls 2', 'turn 0', 'turn 0']);
    });
  });

  it('that pay in credits are covered by agent, and only while the agent has plenty as well', async () => {
    await withRateCard(t);
    await entitle(t, { enforces_credits: true });
    await withCredits(t, org.id, { granted: '100000' });
    const agents = [uuidv7(), uuidv7()];
    for (const [i, budget] of ['50000', '150'].entries()) {
      const revision = uuidv7();
      await t.db.execute(sql(`INSERT INTO agents (id, org_id, slug, name, live_revision_id) VALUES ($1, $2, $3, 'A', $4)`), [
        agents[i],
        org.id,
        `agent-${agents[i]}`,
        revision,
      ]);
      await t.db.execute(sql(`INSERT INTO agent_revisions (id, org_id, agent_id, version, hash, config) VALUES ($1, $2, $3, 1, 'h', $4)`), [
        revision,
        org.id,
        agents[i],
        JSON.stringify({ budget_credits_per_period: budget }),
      ]);
    }
    const ofAgent = (agent: string) => holding((hold) => askInVain(hold, { ...costing('0.01'), byo_key: false } as ResolvedModel), agent);
    for (const agent of agents) {
      await ofAgent(agent);
      await ofAgent(agent);
    }
    expect(await held()).toEqual(['calls 2', 'turn 1', 'turn 1', 'turn 1']);
  });
});

describe('an allowance', () => {
  const spender: Spender = { org_id: 'org', agent_id: null, unit: 'usd', limit: '1' };
  const anAllowance = async (...verdicts: (Verdict | Error)[]) => {
    const state = { now: 0, wide: [] as (WideHold | null)[], released: [] as string[] };
    const allowances = new Allowances(t.db, { release: (_, { work }) => Promise.resolve(void state.released.push(work)) }, () => state.now);
    const ask = (receipt: string, estimate: number) =>
      allowances.ask(spender, receipt, estimate, (wide) => {
        state.wide.push(wide);
        const verdict = verdicts.shift() ?? 'plenty';
        return verdict instanceof Error ? Promise.reject(verdict) : Promise.resolve(verdict);
      });
    // One call follows another.
    await allowances.ask(spender, 'first', 1, () => Promise.resolve('granted'));
    return { allowances, state, ask, amounts: () => state.wide.map((wide) => wide && Number(wide.amount)) };
  };

  it('is asked for by one at a time, and not by who comes two seconds later', async () => {
    const { state, ask, amounts } = await anAllowance();
    await Promise.all([ask('a', 1), ask('b', 1)]);
    expect(amounts()).toEqual([2, null]);
    state.now = 2_000;
    await ask('c', 1);
    expect(amounts()).toEqual([2, null, null]);
  });

  it('is asked for anew after a second, and falls by no more than half', async () => {
    const { allowances, state, ask, amounts } = await anAllowance();
    await ask('a', 10);
    state.now = 999;
    expect(allowances.cover(spender, 'b', 1)).toBe(true);
    state.now = 1_000;
    expect(allowances.cover(spender, 'c', 1)).toBe(false);
    ['a', 'b'].forEach((id) => allowances.end(id));
    await ask('c', 1);
    expect(amounts()).toEqual([20, 10]);
    expect([allowances.cover(spender, 'd', 9), allowances.cover(spender, 'e', 1)]).toEqual([true, false]);
  });

  it('is given back where it rests, when its last call is over, and at the end', async () => {
    const { allowances, state, ask } = await anAllowance();
    await ask('a', 1);
    const { work } = state.wide[0]!;
    state.now = 60_000;
    allowances.sweep();
    expect(state.released).toEqual([]);
    allowances.end('a');
    allowances.sweep();
    expect(state.released).toEqual([work]);

    await ask('b', 1);
    await ask('c', 1);
    allowances.closeAll();
    expect(allowances.cover(spender, 'd', 0.1)).toBe(false);
    expect([state.released.length, allowances.held().length]).toEqual([1, 1]);
    allowances.end('c');
    expect([state.released.length, allowances.held().length]).toEqual([2, 0]);
    await ask('d', 1);
    expect([state.wide.at(-1), allowances.held()]).toEqual([null, []]);
  });

  it('is given back where nobody knows what is held, or there is not plenty any more', async () => {
    for (const verdict of [new Error('connection lost'), 'granted' as const]) {
      const { allowances, state, ask } = await anAllowance('plenty', verdict);
      await ask('a', 1);
      await ask('b', 5).catch(() => undefined);
      expect(allowances.cover(spender, 'c', 0.1)).toBe(false);
      expect(state.released).toEqual([]);
      allowances.end('a');
      expect(state.released).toEqual([state.wide[0]!.work]);
    }
    const lost = await anAllowance(new Error('connection lost'));
    await expect(lost.ask('a', 1)).rejects.toThrow('connection lost');
    expect(lost.state.released).toEqual([lost.state.wide[0]!.work]);
  });

  it('that is not granted leaves nothing', async () => {
    const { allowances, state, ask } = await anAllowance('granted');
    await ask('a', 1);
    expect([allowances.held(), state.released]).toEqual([[], []]);
  });
});

it('a budget is spent to its end by calls in many processes at once, and by no more than one call beyond', async () => {
  await limit('40');
  const pick = randomly(7);
  const processes = Array.from({ length: 6 }, () => new Allowances(t.db, repository));
  const spender: Spender = { org_id: org.id, agent_id: null, unit: 'usd', limit: '40' };
  const counts = { calls: 0, asked: 0 };
  const dearest = 0.2;
  let spent = 0;
  const call = async (): Promise<boolean> => {
    const allowances = processes[Math.floor(pick() * processes.length)];
    const id = uuidv7();
    const estimate = Math.round(pick() * dearest * 1e6) / 1e6;
    const reserved = { work: `turn:${id}`, receipt_id: id, org_id: org.id, agent_id: null, amount: estimate.toFixed(6), spent: '0' };
    counts.calls += 1;
    if (!allowances.cover(spender, id, estimate)) {
      counts.asked += 1;
      const verdict = await allowances.ask(spender, id, estimate, (wide) => repository.reserveBudget(t.db, reserved, wide));
      if (verdict === 'budget_exceeded') return false;
    }
    await spend(estimate, id);
    spent += estimate;
    allowances.end(id);
    return true;
  };
  // Whoever is refused comes again when nobody holds any more what he does not need.
  const worker = async () => {
    for (let refused = 0; refused < 3;) {
      if (await call()) continue;
      refused += 1;
      processes.forEach((allowances) => allowances.doubt(spender));
    }
  };
  await Promise.all(Array.from({ length: 12 }, worker));
  expect(spent).toBeLessThan(40 + dearest);
  expect(spent).toBeGreaterThanOrEqual(40 - dearest);
  expect(counts.asked).toBeLessThan(counts.calls);
});
