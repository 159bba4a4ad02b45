import { LEDGER_SUMMED_EVERY } from '@aps/entities';
import { statement, type Statement } from '@aps/platform/database';

/** What one invariant has come to. */
export interface InvariantRow {
  name: string;
  /** Rows that were looked at. */
  checked: number;
  violations: number;
  /** By how many credits, or rows, they differ; a decimal text. */
  difference: string;
  /** The first of them. */
  sample: object[];
}

/** An invariant of rows, in SQL. */
interface Invariant {
  /** Which of the rows it is about; all, where it does not say. */
  of?: string;
  broken: string;
  difference: string;
  /** What is told of a broken one. */
  found: string;
}

/**
 * Invariants that are decided by the same rows. They are gone through once, with each decision made once (OFFSET keeps it apart), and none is kept;
 * where some are broken, a second time for the first of them. That looks at all rows, too: with a LIMIT, PostgreSQL would plan for one in every few,
 * and look for one in a million by a nested loop.
 */
const proof = (rows: string, invariants: Record<string, Invariant>): Statement<InvariantRow> => {
  const all = Object.entries(invariants);
  const decided = ({ of = 'true', broken, difference }: Invariant, i: number) =>
    `${of} AS of_${i}, CASE WHEN ${of} AND (${broken}) THEN coalesce(abs(${difference}), 0) END AS wrong_${i}`;
  const summed = (_: unknown, i: number) =>
    `count(*) FILTER (WHERE d.of_${i}) AS checked_${i}, count(d.wrong_${i}) AS violations_${i}, sum(d.wrong_${i}) AS difference_${i}`;
  const told = ([name, { of = 'true', broken, found }]: [string, Invariant], i: number) => `
      ('${name}', s.checked_${i}, s.violations_${i}, s.difference_${i}, CASE s.violations_${i} WHEN 0 THEN '[]' ELSE (
        SELECT jsonb_agg(f.found) FROM (SELECT ${found} AS found, row_number() OVER () AS place FROM ${rows} AND ${of} AND (${broken})) f WHERE f.place <= 5) END)`;
  return statement<InvariantRow>(`
    SELECT p.name, p.checked::int AS checked, p.violations::int AS violations, trim_scale(coalesce(p.difference, 0))::text AS difference, p.sample
    FROM (
      SELECT ${all.map(summed).join(', ')} FROM (SELECT ${all.map(([, invariant], i) => decided(invariant, i)).join(', ')} FROM ${rows} OFFSET 0) d
    ) s CROSS JOIN LATERAL (VALUES ${all.map(told).join(',')}
    ) p (name, checked, violations, difference, sample)`);
};

/** Key, organization and amount of a row of the ledger `l`. */
const LINE = `jsonb_build_object('key', l.key, 'org_id', l.org_id, 'seq', l.seq, 'delta', trim_scale(l.delta)::text)`;

/** What a receipt `r` costs by the rule `u` that it cites of its card `c`; the rules of rate-card.policy.ts once more. */
const BY_CARD = `
  CASE WHEN r.unpriced OR (r.rule_index IS NULL AND r.byo_key) THEN 0 ELSE round(
    CASE WHEN r.rule_index IS NULL THEN b.base ELSE greatest(
      CASE WHEN u.rule->>'credits_per_unit' IS NULL OR (coalesce(u.rule->>'unit', 'usd') = 'usd' AND r.usd_cost IS NULL) THEN b.base
        ELSE (u.rule->>'credits_per_unit')::numeric * CASE coalesce(u.rule->>'unit', 'usd')
          WHEN '1k_tokens' THEN b.tokens / 1000 WHEN 'second' THEN r.duration_ms::numeric / 1000 WHEN 'call' THEN 1 ELSE r.usd_cost END
      END * coalesce((u.rule->>'multiplier')::numeric, 1), coalesce((u.rule->>'min_credits')::numeric, 0)) END, 6) END`;

/** What must hold of credits, each computed from rows alone. `of` says whose rows are meant. */
const invariants = (of: (column: string) => string): Statement<InvariantRow>[] => [
  proof(
    `(
      SELECT c.org_id, b.bucket, CASE b.bucket WHEN 'granted' THEN c.balance ELSE c.purchased_balance END AS kept, coalesce(s.summed, 0) AS summed
      FROM org_credits c CROSS JOIN (VALUES ('granted'), ('purchased')) b (bucket)
      LEFT JOIN (SELECT l.org_id, l.bucket, sum(l.delta) AS summed FROM credit_ledger l WHERE ${of('l.org_id')} GROUP BY 1, 2) s ON s.org_id = c.org_id AND s.bucket = b.bucket
    ) k WHERE ${of('k.org_id')}`,
    {
      balance_is_ledger_sum: {
        broken: 'k.kept <> k.summed',
        difference: 'k.kept - k.summed',
        found: `jsonb_build_object('org_id', k.org_id, 'bucket', k.bucket, 'balance', trim_scale(k.kept)::text, 'ledger', trim_scale(k.summed)::text)`,
      },
    },
  ),
  proof(
    `(
      SELECT l.*, coalesce(lag(l.balance_after) OVER (PARTITION BY l.org_id, l.bucket ORDER BY l.seq), 0) AS before, row_number() OVER o AS place, sum(l.delta) OVER (o ROWS UNBOUNDED PRECEDING) AS summed
      FROM credit_ledger l WHERE ${of('l.org_id')} WINDOW o AS (PARTITION BY l.org_id ORDER BY l.seq)
    ) l WHERE true`,
    {
      balance_after_is_a_chain: {
        broken: `l.balance_after <> l.before + l.delta OR l.seq <> l.place
          OR l.sum_until IS DISTINCT FROM CASE WHEN l.seq % ${LEDGER_SUMMED_EVERY} = 0 THEN l.summed END`,
        difference: 'l.balance_after - l.before - l.delta',
        found: LINE,
      },
    },
  ),
  proof(
    `inference_receipts r LEFT JOIN (
      SELECT l.ref_id, l.org_id, count(*) FILTER (WHERE l.key NOT LIKE '%:purchased') AS postings, -sum(l.delta) AS burned
      FROM credit_ledger l WHERE l.kind = 'burn' AND ${of('l.org_id')} GROUP BY 1, 2
    ) b ON b.ref_id = r.id::text WHERE ${of('r.org_id')}`,
    {
      one_burn_per_receipt: {
        broken:
          'coalesce(b.postings, 0) <> CASE WHEN r.enforced AND r.credits > 0 AND coalesce(b.org_id, r.org_id) = r.org_id THEN 1 ELSE 0 END',
        difference: 'r.credits',
        found: `jsonb_build_object('receipt_id', r.id, 'org_id', r.org_id, 'burns', coalesce(b.postings, 0))`,
      },
      burn_is_receipt_credits: {
        of: 'b.ref_id IS NOT NULL',
        broken: 'b.burned <> r.credits OR b.org_id <> r.org_id',
        difference: 'b.burned - r.credits',
        found: `jsonb_build_object('receipt_id', r.id, 'org_id', r.org_id, 'burned', trim_scale(b.burned)::text, 'credits', trim_scale(r.credits)::text)`,
      },
    },
  ),
  proof(
    `(
      SELECT r.id, r.org_id, r.credits, r.usd_cost, ${BY_CARD} AS by_card,
        round((r.input_price_per_1m * r.input_tokens + r.cached_input_price_per_1m * r.cached_input_tokens + r.cache_write_price_per_1m * r.cache_write_tokens
          + r.output_price_per_1m * (r.output_tokens + r.reasoning_tokens)) / 1000000, 6) AS by_price
      FROM inference_receipts r JOIN rate_cards c ON c.version = r.rate_card_version
      CROSS JOIN LATERAL (SELECT (r.input_tokens::numeric + r.cached_input_tokens + r.cache_write_tokens + r.output_tokens + r.reasoning_tokens) AS tokens) n
      CROSS JOIN LATERAL (SELECT n.tokens, coalesce(r.usd_cost * c.credits_per_usd, r.fallback_credits_per_1k_tokens * n.tokens / 1000, 0) AS base) b
      CROSS JOIN LATERAL (SELECT c.rules->r.rule_index AS rule) u
    ) k WHERE ${of('k.org_id')}`,
    {
      receipt_is_card_times_usage: {
        broken: 'k.credits <> k.by_card OR k.usd_cost IS DISTINCT FROM k.by_price',
        difference: 'k.credits - k.by_card',
        found: `jsonb_build_object('receipt_id', k.id, 'org_id', k.org_id, 'credits', trim_scale(k.credits)::text, 'by_card', trim_scale(k.by_card)::text,
        'usd', trim_scale(k.usd_cost)::text, 'by_price', trim_scale(k.by_price)::text)`,
      },
    },
  ),
  proof(`(SELECT l.key, count(*) AS rows FROM credit_ledger l WHERE ${of('l.org_id')} GROUP BY l.key) k WHERE true`, {
    keys_are_unique: { broken: 'k.rows > 1', difference: 'k.rows - 1', found: `jsonb_build_object('key', k.key, 'rows', k.rows)` },
  }),
  proof(`credit_ledger l WHERE ${of('l.org_id')}`, {
    floor_held: {
      broken: `l.balance_after < 0 AND l.delta < 0 AND (l.bucket = 'purchased' OR l.kind NOT IN ('burn', 'adjust'))`,
      difference: 'l.balance_after',
      found: LINE,
    },
  }),
  proof(`call_holds h WHERE h.unit = 'credits' AND ${of('h.org_id')}`, {
    holds_are_open_and_young: {
      broken: `h.amount < 0 OR h.expires_at > now() + interval '11 minutes' OR h.expires_at < now() - interval '2 hours'`,
      difference: 'h.amount',
      found: `jsonb_build_object('work', h.work, 'org_id', h.org_id, 'expires_at', h.expires_at)`,
    },
  }),
  proof(
    `billing_orders o LEFT JOIN (
      SELECT l.org_id, l.ref_id, count(*) AS postings, sum(l.delta) AS brought FROM credit_ledger l
      WHERE l.ref_type = 'order' AND l.kind IN ('grant', 'purchase') AND ${of('l.org_id')} GROUP BY 1, 2
    ) b ON b.ref_id = o.id AND b.org_id = o.org_id WHERE ${of('o.org_id')}`,
    {
      one_effect_per_order: {
        broken: `CASE o.kind WHEN 'pack' THEN coalesce(b.postings, 0) <> 1 ELSE coalesce(b.postings, 0) > 1 END OR coalesce(b.brought, o.granted) <> o.granted`,
        difference: 'coalesce(b.brought, 0) - o.granted',
        found: `jsonb_build_object('order_id', o.id, 'org_id', o.org_id, 'postings', coalesce(b.postings, 0), 'granted', trim_scale(o.granted)::text)`,
      },
    },
  ),
  proof(
    `(
      SELECT p.org_id, p.start, count(*) AS grants FROM (
        SELECT l.org_id, substring(l.key FROM ':(\\d{4}-\\d\\d-\\d\\dT.*)$') AS start FROM credit_ledger l WHERE l.kind = 'grant' AND l.key LIKE 'grant:%' AND ${of('l.org_id')}
      ) p WHERE p.start IS NOT NULL GROUP BY p.org_id, p.start
    ) p WHERE true`,
    {
      one_grant_per_period: {
        broken: 'p.grants > 1',
        difference: 'p.grants - 1',
        found: `jsonb_build_object('org_id', p.org_id, 'start', p.start, 'grants', p.grants)`,
      },
    },
  ),
  proof(
    `credit_ledger l
      LEFT JOIN inference_receipts r ON l.kind = 'burn' AND r.id::text = l.ref_id AND r.org_id = l.org_id
      LEFT JOIN billing_orders o ON l.ref_type = 'order' AND o.id = l.ref_id AND o.org_id = l.org_id
    WHERE ${of('l.org_id')}`,
    {
      no_ledger_row_without_cause: {
        broken: `NOT CASE
          WHEN l.kind = 'burn' THEN r.id IS NOT NULL AND starts_with(l.key, 'burn:' || r.id)
          WHEN l.key LIKE 'polar:order:%' THEN o.id IS NOT NULL
          WHEN l.kind = 'refund' THEN o.id IS NOT NULL
          WHEN l.kind IN ('adjust', 'reset') THEN l.actor_id IS NOT NULL
          WHEN l.kind = 'grant' THEN l.key LIKE 'grant:' || l.org_id || ':%'
          ELSE l.kind = 'expire' AND l.key LIKE 'expire:%' END`,
        difference: 'l.delta',
        found: LINE,
      },
    },
  ),
];

/** Of every organization. */
export const OF_ALL = invariants(() => 'true');
/** Of the organization `$1`. */
export const OF_ONE = invariants((column) => `${column} = $1`);
