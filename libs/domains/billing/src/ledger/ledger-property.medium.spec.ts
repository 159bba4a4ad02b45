import { type CreditPack, type Plan } from '@aps/entities';
import { anOrg } from '@aps/orgs/testing';
import { NO_CALLER, type Tx } from '@aps/platform/database';
import { randomly, sql } from '@aps/platform/testing';
import { BASE_MODULES, testService } from '@aps/testing';
import { uuidv7 } from 'uuidv7';
import { BillingModule } from '../billing.module';
import { Periods } from '../subscriptions/periods.service';
import { PaidOrders } from '../subscriptions/paid-orders.service';
import { Subscriptions } from '../subscriptions/subscriptions.service';
import { aPlan, LedgerModel, onPlan, type ModelPlan } from '../testing';
import { Ledger } from './ledger.repository';
import { OF_ALL } from './proof.sql';

/** How many operations are done in all; `npm run certify` does far more. */
const OPERATIONS = Number(process.env.CERTIFY_LEDGER ?? 1_500);
const CLIENTS = 200;
const LONG = 600_000 + OPERATIONS * 20;
const SEED = Number(process.env.TEST_SEED ?? Date.now() % 1_000_000);

const t = testService([...BASE_MODULES, BillingModule]);
const BY = { kind: 'system', userId: null, reason: 'a spec' } as const;
/** What breaks off between two statements. */
const CRASH = new Error('crash');

const micros = (amount: string): bigint => {
  const [whole, fraction = ''] = amount.replace('-', '').split('.');
  return BigInt(whole + fraction.padEnd(6, '0')) * (amount.startsWith('-') ? -1n : 1n);
};
const decimal = (amount: bigint): string => `${amount / 1_000_000n}.${String(amount % 1_000_000n).padStart(6, '0')}`;

let plans: { row: Plan; model: ModelPlan }[];
beforeAll(async () => {
  const made = [
    await aPlan(t, { code: 'trial', renews: false, initial_credits: '500' }),
    await aPlan(t, { monthly_credits: '3000' }),
    await aPlan(t, { monthly_credits: '20000', initial_credits: '7.000001' }),
  ];
  plans = made.map((row) => ({
    row,
    model: { code: row.code, renews: row.renews, initial: micros(row.initial_credits), monthly: micros(row.monthly_credits) },
  }));
});

/** An operation: what the service does in a transaction, and what the model does. */
interface Operation {
  name: string;
  act: (tx: Tx) => Promise<unknown>;
  expected: (model: LedgerModel) => void;
}

/** An operation that was drawn, some of them with a cause that was there before. */
function draw(rng: () => number, orgId: string): Operation {
  const below = (n: number) => Math.floor(rng() * n);
  const amount = BigInt(1 + below(rng() < 0.1 ? 30_000_000_000 : 50_000_000));
  // Few names, so that causes come again.
  const n = `${orgId}:${below(2_000)}`;
  const of = (seed: string) => BigInt(1 + ([...seed].reduce((sum, c) => (sum * 31 + c.charCodeAt(0)) % 99_991, 7) % 50_000_000)) * 1_000n;
  const { row, model } = plans[below(plans.length)];
  const [ledger, subscriptions, orders] = [t.get(Ledger), t.get(Subscriptions), t.get(PaidOrders)];
  const by = { orgId, actor: BY };
  const post = (name: string, bucket: 'granted' | null, kind: 'burn' | 'adjust', key: string, what: bigint): Operation => ({
    name,
    act: (tx) => ledger.post(tx, orgId, { bucket, kind, key, amount: decimal(what) }),
    expected: (m) => (bucket ? m.give(key, what) : m.take(key, what)),
  });
  const draws: (() => Operation)[] = [
    () => post('burn', null, 'burn', `burn:${uuidv7()}`, amount),
    () => post('burn again', null, 'burn', `burn:${n}`, of(n)),
    () => post('debit', null, 'adjust', `adjust:debit:${n}`, of(n)),
    () => post('credit', 'granted', 'adjust', `adjust:credit:${n}`, of(n)),
    () => ({
      name: 'pack',
      act: (tx) => orders.packPaid(tx, by, orgId, { order_id: n, pack: { code: 'pack', credits: decimal(of(n)) } as CreditPack }),
      expected: (m) => m.buy(n, of(n)),
    }),
    () => ({
      name: 'refund',
      act: (tx) => orders.refunded(tx, by, orgId, { order_id: n, refund_id: uuidv7(), bucket: 'purchased', amount: decimal(amount) }),
      expected: (m) => m.refund(uuidv7(), amount),
    }),
    () => ({
      name: `change to ${row.code}`,
      act: async (tx) => {
        await subscriptions.lock(tx, orgId);
        await subscriptions.change(tx, orgId, row, `${orgId}:change:${uuidv7()}`);
      },
      expected: (m) => m.change(model),
    }),
    () => ({
      name: `order of ${row.code}`,
      act: (tx) =>
        orders.planPaid(tx, by, orgId, {
          order_id: uuidv7(),
          plan: row,
          reason: 'subscription_update',
          external_subscription_id: null,
          external_status: 'active',
          paid_at: new Date(),
          period_start: null,
          period_end: null,
          annual: false,
          change_id: null,
          superseded: false,
        }),
      expected: (m) => m.update(uuidv7(), model),
    }),
    () => ({ name: 'end of the period', act: (tx) => t.get(Periods).close(tx, orgId, { force: true }), expected: (m) => m.close() }),
    () => ({ name: 'revocation', act: (tx) => subscriptions.revoked(tx, by, orgId), expected: (m) => m.revoke() }),
  ];
  return draws[below(draws.length)]();
}

/** Does it, and breaks off after so many of its statements. */
const run = (operation: Operation, statements = Infinity): Promise<unknown> =>
  t.db.transaction(NO_CALLER, (tx) => {
    let left = statements;
    const crashing = new Proxy(tx, {
      get(target, name) {
        const value = Reflect.get(target, name, target) as unknown;
        if (typeof value !== 'function') return value;
        return (...values: unknown[]) => {
          if ((name === 'query' || name === 'execute') && left-- <= 0) throw CRASH;
          return (value as (...values: unknown[]) => unknown).apply(target, values);
        };
      },
    });
    return operation.act(crashing);
  });

const balances = async (orgId: string): Promise<[bigint, bigint]> => {
  const [row] = await t.db.query(
    sql<{ granted: string; purchased: string }>(
      'SELECT balance::text AS granted, purchased_balance::text AS purchased FROM org_credits WHERE org_id = $1',
    ),
    [orgId],
  );
  return row ? [micros(row.granted), micros(row.purchased)] : [0n, 0n];
};

const anAccount = async (): Promise<string> => {
  const { id } = await anOrg(t, { plan: null });
  await onPlan(t, id, plans[0].row);
  return id;
};

/** What rows alone say. Receipts and orders are none of this spec's. */
const PROVEN = ['balance_is_ledger_sum', 'balance_after_is_a_chain', 'keys_are_unique', 'floor_held', 'one_grant_per_period'];
const proven = async (): Promise<Record<string, number>> => {
  const found: Record<string, number> = {};
  for (const statement of OF_ALL) for (const { name, violations } of await t.db.query(statement)) found[name] = violations;
  return Object.fromEntries(PROVEN.filter((name) => found[name] !== 0).map((name) => [name, found[name]]));
};

describe(`credits, by operations drawn with seed ${SEED}`, () => {
  it(
    'are what the rules say after each, whatever came before, came again or broke off',
    async () => {
      const rng = randomly(SEED);
      const model = new LedgerModel(plans[0].model);
      const orgId = await anAccount();
      const history: string[] = [];
      for (let i = 0; i < OPERATIONS / 2; i++) {
        const operation = draw(rng, orgId);
        const crashes = rng() < 0.15;
        history.push(operation.name + (crashes ? ' (crash)' : ''));
        if (crashes && (await run(operation, Math.floor(rng() * 8)).catch((error: unknown) => error)) === CRASH) continue;
        if (!crashes) await run(operation);
        operation.expected(model);
        expect({ seed: SEED, i, last: history.slice(-5), balances: await balances(orgId) }).toEqual({
          seed: SEED,
          i,
          last: history.slice(-5),
          balances: [model.granted, model.purchased],
        });
      }
      expect(await proven()).toEqual({});
    },
    LONG,
  );

  it(
    `are the sum of their rows after ${CLIENTS} clients at once`,
    async () => {
      const orgs = await Promise.all(Array.from({ length: 12 }, anAccount));
      await Promise.all(
        Array.from({ length: CLIENTS }, async (_, client) => {
          const rng = randomly(SEED + client);
          for (let i = 0; i < OPERATIONS / 2 / CLIENTS; i++) {
            const operation = draw(rng, orgs[Math.floor(rng() * orgs.length)]);
            await run(operation, rng() < 0.15 ? Math.floor(rng() * 8) : Infinity).catch((error: unknown) => {
              if (error !== CRASH) throw error;
            });
          }
        }),
      );
      expect({ seed: SEED, violations: await proven() }).toEqual({ seed: SEED, violations: {} });
    },
    LONG,
  );
});
