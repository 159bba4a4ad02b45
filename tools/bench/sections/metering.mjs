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
/** What a turn asks for that is paid in credits: the hold, and nothing else of its own. */
const HOLDS = /INSERT INTO call_holds/;

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

/** A plan like the one that they have, paid in credits, and more of them than will be burned. */
async function payInCredits(url, orgs) {
  const plan = randomUUID();
  const ids = orgs.map(({ id }) => `'${id}'`).join(', ');
  const [{ columns }] = await query(
    url,
    `SELECT string_agg(quote_ident(column_name), ', ') AS columns FROM information_schema.columns
     WHERE table_name = 'plans' AND column_name NOT IN ('id', 'code', 'enforces_credits', 'polar_product_id', 'polar_product_id_annual')`,
  );
  await query(
    url,
    `INSERT INTO plans (id, code, enforces_credits, ${columns})
     SELECT '${plan}', 'bench-credits', true, ${columns} FROM plans WHERE id = (SELECT plan_id FROM subscriptions WHERE org_id = '${orgs[0].id}')`,
  );
  await query(url, `UPDATE subscriptions SET plan_id = '${plan}' WHERE org_id IN (${ids})`);
  await query(
    url,
    `SELECT credit_post(o.id, 'granted', 1000000000, 'adjust', 'adjust:bench:' || o.id, NULL, NULL, NULL, 'bench', NULL) FROM organizations o WHERE o.id IN (${ids})`,
  );
  await sleep(HEARD_MS);
}

/** Every turn of who pays has burned, and no turn of who does not. */
async function assertMetered(url, plain, paying) {
  const of = async (orgs) => {
    const ids = orgs.map(({ id }) => `'${id}'`).join(', ');
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
  await payInCredits(url, [one, ...many]);

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
    const holds = [];
    for (const system of [systems.plain, systems.one]) {
      const { result, statements } = await logged(servers, DATABASE, () => run(system, ms, width));
      holds.push(statements.filter(({ text }) => HOLDS.test(text)).length / result.count);
    }
    asked.push([`holds per turn, ${width} in flight`, ...holds.map(figure), '', '', '']);
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
