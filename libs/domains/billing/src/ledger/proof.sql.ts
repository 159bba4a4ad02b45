import { statement, type Statement } from '@aps/platform/database';

/** What one invariant has come to. */
export interface InvariantRow {
  /** Rows that were looked at. */
  checked: number;
  violations: number;
  /** By how many credits, or rows, they differ; a decimal text. */
  difference: string;
  /** The first of them. */
  sample: unknown[];
}

/**
 * An invariant from rows of `(broken boolean, difference numeric, found jsonb)`, one for each thing that is looked at.
 *
 */
const invariant = (rows: string): Statement<InvariantRow> =>
  statement<InvariantRow>(`
    WITH r AS (${rows})
    SELECT count(*)::int AS checked, (count(*) FILTER (WHERE broken))::int AS violations,
      trim_scale(coalesce(sum(abs(difference)) FILTER (WHERE broken), 0))::text AS difference,
      coalesce((SELECT jsonb_agg(s.found) FROM (SELECT found FROM r WHERE broken LIMIT 5) s), '[]') AS sample
    FROM r`);

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
const invariants = (of: (column: string) => string): Record<string, Statement<InvariantRow>> => ({
  balance_is_ledger_sum: invariant(`
    SELECT k.kept <> k.summed AS broken, k.kept - k.summed AS difference,
      jsonb_build_object('org_id', k.org_id, 'bucket', k.bucket, 'balance', trim_scale(k.kept)::text, 'ledger', trim_scale(k.summed)::text) AS found
    FROM (
      SELECT c.org_id, b.bucket, CASE b.bucket WHEN 'granted' THEN c.balance ELSE c.purchased_balance END AS kept, coalesce(s.summed, 0) AS summed
      FROM org_credits c CROSS JOIN (VALUES ('granted'), ('purchased')) b (bucket)
      LEFT JOIN (SELECT l.org_id, l.bucket, sum(l.delta) AS summed FROM credit_ledger l WHERE ${of('l.org_id')} GROUP BY 1, 2) s ON s.org_id = c.org_id AND s.bucket = b.bucket
      WHERE ${of('c.org_id')}
    ) k`),
  balance_after_is_a_chain: invariant(`
    SELECT l.balance_after <> l.before + l.delta OR l.seq <> l.place AS broken, l.balance_after - l.before - l.delta AS difference, ${LINE} AS found
    FROM (
      SELECT l.*, coalesce(lag(l.balance_after) OVER (PARTITION BY l.org_id, l.bucket ORDER BY l.seq), 0) AS before, row_number() OVER (PARTITION BY l.org_id ORDER BY l.seq) AS place
      FROM credit_ledger l WHERE ${of('l.org_id')}
    ) l`),
  one_burn_per_receipt: invariant(`
    SELECT coalesce(b.postings, 0) <> CASE WHEN r.enforced AND r.credits > 0 THEN 1 ELSE 0 END AS broken, r.credits AS difference,
      jsonb_build_object('receipt_id', r.id, 'org_id', r.org_id, 'burns', coalesce(b.postings, 0)) AS found
    FROM inference_receipts r LEFT JOIN (
      SELECT l.ref_id, count(*) FILTER (WHERE l.key NOT LIKE '%:purchased') AS postings FROM credit_ledger l WHERE l.kind = 'burn' AND ${of('l.org_id')} GROUP BY 1
    ) b ON b.ref_id = r.id::text
    WHERE ${of('r.org_id')}`),
  burn_is_receipt_credits: invariant(`
    SELECT b.burned <> r.credits OR b.org_id <> r.org_id AS broken, b.burned - r.credits AS difference,
      jsonb_build_object('receipt_id', r.id, 'org_id', r.org_id, 'burned', trim_scale(b.burned)::text, 'credits', trim_scale(r.credits)::text) AS found
    FROM inference_receipts r JOIN (
      SELECT l.ref_id, l.org_id, -sum(l.delta) AS burned FROM credit_ledger l WHERE l.kind = 'burn' AND ${of('l.org_id')} GROUP BY 1, 2
    ) b ON b.ref_id = r.id::text
    WHERE ${of('r.org_id')}`),
  receipt_is_card_times_usage: invariant(`
    SELECT k.credits <> k.by_card OR k.usd_cost IS DISTINCT FROM k.by_price AS broken, k.credits - k.by_card AS difference,
      jsonb_build_object('receipt_id', k.id, 'org_id', k.org_id, 'credits', trim_scale(k.credits)::text, 'by_card', trim_scale(k.by_card)::text,
        'usd', trim_scale(k.usd_cost)::text, 'by_price', trim_scale(k.by_price)::text) AS found
    FROM (
      SELECT r.id, r.org_id, r.credits, r.usd_cost, ${BY_CARD} AS by_card,
        round((r.input_price_per_1m * r.input_tokens + r.cached_input_price_per_1m * r.cached_input_tokens + r.cache_write_price_per_1m * r.cache_write_tokens
          + r.output_price_per_1m * (r.output_tokens + r.reasoning_tokens)) / 1000000, 6) AS by_price
      FROM inference_receipts r JOIN rate_cards c ON c.version = r.rate_card_version
      CROSS JOIN LATERAL (SELECT (r.input_tokens::numeric + r.cached_input_tokens + r.cache_write_tokens + r.output_tokens + r.reasoning_tokens) AS tokens) n
      CROSS JOIN LATERAL (SELECT n.tokens, coalesce(r.usd_cost * c.credits_per_usd, r.fallback_credits_per_1k_tokens * n.tokens / 1000, 0) AS base) b
      CROSS JOIN LATERAL (SELECT c.rules->r.rule_index AS rule) u
      WHERE ${of('r.org_id')}
    ) k`),
  keys_are_unique: invariant(`
    SELECT count(*) > 1 AS broken, count(*) - 1 AS difference, jsonb_build_object('key', l.key, 'rows', count(*)) AS found
    FROM credit_ledger l WHERE ${of('l.org_id')} GROUP BY l.key`),
  floor_held: invariant(`
    SELECT l.balance_after < 0 AND l.delta < 0 AND (l.bucket = 'purchased' OR l.kind NOT IN ('burn', 'adjust')) AS broken, l.balance_after AS difference, ${LINE} AS found
    FROM credit_ledger l WHERE ${of('l.org_id')}`),
  holds_are_open_and_young: invariant(`
    SELECT h.amount < 0 OR h.expires_at > now() + interval '11 minutes' OR h.expires_at < now() - interval '2 hours' AS broken, h.amount AS difference,
      jsonb_build_object('work', h.work, 'org_id', h.org_id, 'expires_at', h.expires_at) AS found
    FROM call_holds h WHERE h.unit = 'credits' AND ${of('h.org_id')}`),
  one_effect_per_order: invariant(`
    SELECT CASE o.kind WHEN 'pack' THEN coalesce(b.postings, 0) <> 1 ELSE coalesce(b.postings, 0) > 1 END OR coalesce(b.brought, o.granted) <> o.granted AS broken,
      coalesce(b.brought, 0) - o.granted AS difference,
      jsonb_build_object('order_id', o.id, 'org_id', o.org_id, 'postings', coalesce(b.postings, 0), 'granted', trim_scale(o.granted)::text) AS found
    FROM billing_orders o LEFT JOIN (
      SELECT l.org_id, l.ref_id, count(*) AS postings, sum(l.delta) AS brought FROM credit_ledger l
      WHERE l.ref_type = 'order' AND l.kind IN ('grant', 'purchase') AND ${of('l.org_id')} GROUP BY 1, 2
    ) b ON b.ref_id = o.id AND b.org_id = o.org_id
    WHERE ${of('o.org_id')}`),
  one_grant_per_period: invariant(`
    SELECT count(*) > 1 AS broken, count(*) - 1 AS difference, jsonb_build_object('org_id', p.org_id, 'start', p.start, 'grants', count(*)) AS found
    FROM (
      SELECT l.org_id, substring(l.key FROM ':(\\d{4}-\\d\\d-\\d\\dT.*)$') AS start FROM credit_ledger l WHERE l.kind = 'grant' AND l.key LIKE 'grant:%' AND ${of('l.org_id')}
    ) p WHERE p.start IS NOT NULL GROUP BY p.org_id, p.start`),
  no_ledger_row_without_cause: invariant(`
    SELECT NOT CASE
        WHEN l.kind = 'burn' THEN r.id IS NOT NULL AND l.key LIKE 'burn:' || r.id || '%'
        WHEN l.key LIKE 'polar:order:%' THEN o.id IS NOT NULL
        WHEN l.kind = 'refund' THEN o.id IS NOT NULL
        WHEN l.kind IN ('adjust', 'reset') THEN l.actor_id IS NOT NULL
        WHEN l.kind = 'grant' THEN l.key LIKE 'grant:' || l.org_id || ':%'
        ELSE l.kind = 'expire' AND l.key LIKE 'expire:%' END AS broken,
      l.delta AS difference, ${LINE} AS found
    FROM credit_ledger l
    LEFT JOIN inference_receipts r ON l.kind = 'burn' AND r.id::text = l.ref_id AND r.org_id = l.org_id
    LEFT JOIN billing_orders o ON l.ref_type = 'order' AND o.id = l.ref_id AND o.org_id = l.org_id
    WHERE ${of('l.org_id')}`),
});

/** Of every organization. */
export const OF_ALL = invariants(() => 'true');
/** Of the organization `$1`. */
export const OF_ONE = invariants((column) => `${column} = $1`);
