/**
 * What paying in credits costs: turns of an organization that does it beside those of one that does not, and those of one organization,
 * whose burns wait for each other, beside the same number of turns of many.
 */
import { strictEqual } from 'node:assert';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { query } from '../../dev/lib/postgres.mjs';
import { compared, figure, interleaved, printTable } from '../lib/measure.mjs';
import { logged } from '../lib/statements.mjs';
import { Product } from '../lib/systems.mjs';
import { organization, usedBy } from './governance.mjs';
import { measure } from './turns.mjs';

const DATABASE = 'metering';
const IN_FLIGHT = 64;
/** Until every process has read again what a plan entitles to. */
const HEARD_MS = 1_500;

/** The product with the chats of several organizations, one after the other. */
function spread(product, orgs) {
  let next = 0;
  return Object.assign(Object.create(product), {
    newChat: async () => {
      const url = product.url + orgs[next++ % orgs.length].chats;
      return { ...(await product.newChat(url)), url };
    },
  });
}

/** A plan that bounds nothing which is measured here. */
async function subscribe(url, orgs, { inCredits }) {
  const plan = randomUUID();
  const own = { id: plan, code: `bench-${plan}`, enforces_credits: inCredits, enforced_idp_sso: false, max_concurrent_chats: 2_000 };
  const left = [...Object.keys(own), 'polar_product_id', 'polar_product_id_annual'].map((column) => `'${column}'`).join(', ');
  const [{ columns }] = await query(
    url,
    `SELECT string_agg(column_name, ', ') AS columns FROM information_schema.columns WHERE table_name = 'plans' AND column_name NOT IN (${left})`,
  );
  const values = Object.values(own).map((value) => (typeof value === 'string' ? `'${value}'` : value));
  await query(
    url,
    `INSERT INTO plans (${Object.keys(own).join(', ')}, ${columns}) SELECT ${values.join(', ')}, ${columns} FROM plans WHERE code = 'enterprise'`,
  );
  await query(url, `UPDATE subscriptions SET plan_id = '${plan}' WHERE org_id IN (${idsOf(orgs)})`);
}

const idsOf = (orgs) => orgs.map(({ id }) => `'${id}'`).join(', ');

/** More than will be burned. */
const giveCredits = (url, orgs) =>
  query(
    url,
    `SELECT credit_post(o.id, 'granted', 1000000000, 'adjust', 'adjust:bench:' || o.id, NULL, NULL, NULL, 'bench', NULL) FROM organizations o WHERE o.id IN (${idsOf(orgs)})`,
  );

/** Every turn of who pays has burned, and no turn of who does not. */
async function assertMetered(url, plain, paying) {
  const of = async (orgs) => {
    const ids = idsOf(orgs);
    const [counts] = await query(
      url,
      `SELECT (SELECT count(*)::int FROM inference_receipts WHERE org_id IN (${ids})) AS receipts, (SELECT count(*)::int FROM credit_ledger WHERE kind = 'burn' AND org_id IN (${ids})) AS burns`,
    );
    return counts;
  };
  const [free, paid] = [await of(plain), await of(paying)];
  strictEqual(free.burns, 0);
  strictEqual(paid.burns, paid.receipts);
}

export async function metering({ product: shared, servers, quick }) {
  // A database is copied while nobody is there.
  await shared.stop();
  await query(servers.env.DATABASE_URL, `CREATE DATABASE ${DATABASE} TEMPLATE agent_platform`);
  const url = Object.assign(new URL(servers.env.DATABASE_URL), { pathname: `/${DATABASE}` }).href;
  const product = new Product({ ...servers, env: { ...servers.env, DATABASE_URL: url, REDIS_PREFIX: DATABASE, MAX_OWNED_ORGS: '0' } });
  product.flags = shared.flags;
  await product.start();

  const plain = await organization(product, 'Plain');
  const one = await organization(product, 'Paying');
  const many = [];
  for (let n = 0; n < IN_FLIGHT; n++) many.push(await organization(product, `Paying ${n}`));
  await subscribe(url, [plain], { inCredits: false });
  await subscribe(url, [one, ...many], { inCredits: true });
  await giveCredits(url, [one, ...many]);
  await sleep(HEARD_MS);

  const [ms, rounds] = quick ? [1_000, 2] : [3_000, 8];
  const systems = { plain: usedBy(product, plain), one: usedBy(product, one), many: spread(product, many) };
  const run = (system, time, width = IN_FLIGHT) => measure(system, servers.pids, { width, ms: time, listening: true });
  const variants = (time) => Object.fromEntries(Object.entries(systems).map(([name, system]) => [name, () => run(system, time)]));
  // As long as V8 goes on making code faster.
  await interleaved(variants(quick ? 2_000 : 10_000), 1);
  const runs = await interleaved(variants(ms), rounds);
  await assertMetered(url, [plain], [one, ...many]);

  const row = (name, key) => [
    name,
    ...compared(runs.plain, runs.one, key),
    ...compared(runs.many, runs.one, key).slice(0, 1),
    compared(runs.many, runs.one, key)[2],
  ];
  const asked = [];
  for (const width of [1, IN_FLIGHT]) {
    const perTurn = [];
    for (const system of [systems.plain, systems.one]) {
      const { result, statements } = await logged(servers, DATABASE, () => run(system, ms, width));
      perTurn.push(statements.length / result.count);
    }
    asked.push([`statements per turn, ${width} in flight`, ...perTurn.map(figure), figure(perTurn[1] / perTurn[0]), '', '']);
  }
  printTable(
    `Turns of an organization that pays in credits, ${IN_FLIGHT} in flight`,
    ['', 'without credits', 'with', 'ratio', `of ${IN_FLIGHT} organizations`, 'ratio of one to them'],
    [
      row('turns/s', 'rate'),
      row('p50, ms', 'p50'),
      row('p95, ms', 'p95'),
      row('CPU ms of gateway and worker per turn', 'apps'),
      row('CPU ms of PostgreSQL per turn', 'postgres'),
      ...asked,
    ],
  );
  await product.stop();
}
