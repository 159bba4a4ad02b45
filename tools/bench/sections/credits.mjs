/**
 * What operators ask about all credits, over 1,000,000 calls of one organization: the proof, and its forensics; and what turns notice of the proof, which is
 * computed beside them all the time.
 */
import { deepStrictEqual } from 'node:assert';
import { query } from '../../dev/lib/postgres.mjs';
import { compared, figure, interleaved, middle, printTable } from '../lib/measure.mjs';
import { Product } from '../lib/systems.mjs';
import { organization } from './governance.mjs';
import { measure } from './turns.mjs';

const DATABASE = 'credits';
const IN_FLIGHT = 64;
const DAYS = 30;
const GRANTED = 100_000_000;

/** Calls and what they have burned, as the triggers would write it. They are off: each row by itself would take minutes. */
const seed = (org, rows) => `
  SET statement_timeout = 0;
  BEGIN;
  SET LOCAL session_replication_role = replica;
  INSERT INTO inference_receipts (id, org_id, feature, agent_id, model_key, resolve_reason, route_id, input_tokens, cached_input_tokens, cache_write_tokens, output_tokens, reasoning_tokens,
    input_price_per_1m, cached_input_price_per_1m, cache_write_price_per_1m, output_price_per_1m, usd_cost, credits, rate_card_version, enforced, duration_ms, created_at)
  SELECT uuidv7(at - now()), '${org}', (ARRAY['turn', 'title', 'compaction'])[1 + n % 3], '${org}', 'mock', 'agent', '${org}', 1000, 0, 0, 400, 100, 1, 1, 1, 2, 0.002, 0.2, 1, true, 20, at
  FROM (SELECT n, now() - interval '${DAYS - 1} days' * (1 - n::float / ${rows + 1}) AS at FROM generate_series(1, ${rows}) n) s;
  INSERT INTO credit_ledger (id, org_id, seq, bucket, delta, kind, key, content_hash, actor_id, balance_after, created_at)
  VALUES (uuidv7(interval '-${DAYS + 1} days'), '${org}', 1, 'granted', ${GRANTED}, 'adjust', 'adjust:bench', '', '${org}', ${GRANTED}, now() - interval '${DAYS + 1} days');
  INSERT INTO credit_ledger (id, org_id, seq, bucket, delta, kind, key, content_hash, ref_type, ref_id, rate_card_version, balance_after, sum_until, created_at)
  SELECT uuidv7(created_at - now()), org_id, 1 + n, 'granted', -credits, 'burn', 'burn:' || id, sha256(uuid_send(id)), 'receipt', id, 1, ${GRANTED} - n * credits, CASE (1 + n) % 1000 WHEN 0 THEN ${GRANTED} - n * credits END, created_at
  FROM (SELECT *, row_number() OVER (ORDER BY id) AS n FROM inference_receipts WHERE org_id = '${org}') r;
  INSERT INTO org_credits (org_id, balance, ledger_seq) VALUES ('${org}', ${GRANTED} - ${rows} * 0.2, ${rows} + 1)
  ON CONFLICT (org_id) DO UPDATE SET balance = excluded.balance, ledger_seq = excluded.ledger_seq;
  COMMIT;`;

async function timed(operation) {
  const since = performance.now();
  const answer = await operation();
  return { ms: performance.now() - since, answer };
}

export async function credits({ product: shared, servers, quick }) {
  const rows = quick ? 100_000 : 1_000_000;
  // A database is copied while nobody is there.
  await shared.stop();
  await query(servers.env.DATABASE_URL, `CREATE DATABASE ${DATABASE} TEMPLATE agent_platform`);
  const url = Object.assign(new URL(servers.env.DATABASE_URL), { pathname: `/${DATABASE}` }).href;
  const env = { ...servers.env, DATABASE_URL: url, REDIS_PREFIX: DATABASE };
  const product = await new Product({ ...servers, env }, { admin: true }).start();
  const { id } = await organization(product, 'Many calls');
  await query(url, seed(id, rows));
  await query(url, 'VACUUM ANALYZE');

  const ask = (path) => timed(() => product.call(`${product.url}/api/admin${path}`, { token: product.seed.admin_token }));
  const prove = () => ask('/credits/proof');
  const forensics = () => ask(`/orgs/${id}/credits/forensics?days=${DAYS}`);
  const held = () => ask(`/orgs/${id}/credits`);
  const ofOne = () => ask(`/credits/proof?org_id=${id}`);
  const [all, { answer: proof }, { answer: sums }, { answer: has }] = [await prove(), await ofOne(), await forensics(), await held()];
  deepStrictEqual([all.answer.ok, proof.ok, has.reconciled], [true, true, true]);
  const seen = Object.fromEntries(proof.invariants.map(({ name, checked }) => [name, checked]));
  deepStrictEqual([seen.one_burn_per_receipt, seen.burn_is_receipt_credits], [rows, rows]);
  deepStrictEqual([sums.reconciled, sums.unreceipted_burns, sums.buckets.reduce((n, { calls }) => n + calls, 0)], [true, 0, rows]);

  const rounds = quick ? 2 : 5;
  const runs = await interleaved({ all: prove, one: ofOne, forensics, held }, rounds);
  const most = (of) => Math.max(...of.map(({ ms }) => ms));
  printTable(
    `Over ${rows.toLocaleString('en')} calls of one organization, s`,
    ['', 'p50', 'max'],
    [
      ['proof of all credits', runs.all],
      ['proof of that organization', runs.one],
      [`forensics of ${DAYS} days`, runs.forensics],
      ['what it has', runs.held],
    ].map(([name, of]) => [name, figure(middle(of, 'ms') / 1_000), figure(most(of) / 1_000)]),
  );

  const turns = (ms) => measure(product, servers.pids, { width: IN_FLIGHT, ms, listening: true });
  const beside = async (ms) => {
    let over = false;
    const proofs = (async () => {
      while (!over) await prove();
    })();
    const result = await turns(ms);
    over = true;
    await proofs;
    return result;
  };
  await turns(quick ? 2_000 : 10_000);
  const ms = quick ? 1_000 : 5_000;
  const { alone, during } = await interleaved({ alone: () => turns(ms), during: () => beside(ms) }, quick ? 2 : 4);
  printTable(
    `Turns beside a proof that is computed all the time, ${IN_FLIGHT} in flight`,
    ['', 'alone', 'beside it', 'ratio'],
    [
      ['turns/s', 'rate'],
      ['p50, ms', 'p50'],
      ['p95, ms', 'p95'],
    ].map(([name, of]) => [name, ...compared(alone, during, of)]),
  );
  await product.stop();
}
