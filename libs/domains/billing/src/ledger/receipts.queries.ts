import { Injectable } from '@nestjs/common';
import { notFound } from '@aps/contracts';
import type { InferenceReceipt } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { Database, NO_CALLER, OrgListing, statement, type Listed, type Slice, type Statement } from '@aps/platform/database';
import { AT_LEISURE, LEDGER_TOTAL, REQUEST_MS } from './at-leisure.sql';

/** What calls of a feature by a model have burned on a day in UTC. Amounts are decimal texts. */
export interface ForensicsBucket {
  feature: string;
  model_key: string;
  day: string;
  credits: string;
  usd: string;
  calls: number;
  tokens: number;
}

export interface Forensics {
  days: number;
  from: Date;
  to: Date;
  buckets: ForensicsBucket[];
  /** Of all time, as is what follows. */
  ledger_total: string;
  reconciled: boolean;
  unreceipted_burns: number;
}

const RECEIPTS = new OrgListing<InferenceReceipt, object>({
  key: 'r.id',
  org: 'r.org_id',
  select: 'r.*',
  from: 'inference_receipts r',
  tally: { from: '(SELECT org_id, calls AS n FROM usage_tallies) t', where: { org_id: 't.org_id = $' } },
  order: 'r.created_at DESC, r.id DESC',
});

const BUCKETS = statement<ForensicsBucket>(`
  SELECT b.feature, b.model_key, to_char(b.day, 'YYYY-MM-DD') AS day, trim_scale(b.credits)::text AS credits, trim_scale(b.usd)::text AS usd, b.calls, b.tokens
  FROM (
    SELECT r.feature, r.model_key, (r.created_at AT TIME ZONE 'UTC')::date AS day, sum(r.credits) AS credits, coalesce(sum(r.usd_cost), 0) AS usd, count(*)::int AS calls,
      sum(r.input_tokens::bigint + r.cached_input_tokens + r.cache_write_tokens + r.output_tokens + r.reasoning_tokens)::float8 AS tokens
    FROM inference_receipts r WHERE r.org_id = $1 AND r.created_at >= $2 AND r.created_at < $3 AND r.enforced
    GROUP BY 1, 2, 3
  ) b ORDER BY b.day DESC, b.credits DESC, b.feature, b.model_key`);

// Burns without a receipt are found in two indexes, which have both in the same order.
const ALL_TIME = statement<Pick<Forensics, 'ledger_total' | 'reconciled' | 'unreceipted_burns'>>(`
  SELECT trim_scale(l.total)::text AS ledger_total, coalesce(c.balance + c.purchased_balance, 0) = l.total AS reconciled, u.burns AS unreceipted_burns
  FROM organizations o LEFT JOIN org_credits c ON c.org_id = o.id
  CROSS JOIN ${LEDGER_TOTAL} l
  CROSS JOIN (
    SELECT count(*)::int AS burns FROM credit_ledger l LEFT JOIN inference_receipts r ON r.id = l.ref_id::uuid WHERE l.org_id = $1 AND l.kind = 'burn' AND r.id IS NULL
  ) u
  WHERE o.id = $1 AND o.deleted_at IS NULL`);

/** Reads what calls have cost, for operators. */
@Injectable()
export class CreditReceiptsQueries {
  constructor(private readonly db: Database) {}

  /** Every call of an organization, newest first. */
  page(scope: OrgScope, slice: Slice): Promise<Listed<InferenceReceipt>> {
    return RECEIPTS.page(this.db, scope, {}, slice);
  }

  /**
   * What has burned credits in so many days until now, and whether the ledger is what it says.
   *
   * @throws DomainError 404 `not_found` without such a live organization
   */
  async forensics({ orgId }: OrgScope, days: number): Promise<Forensics> {
    const to = this.db.now();
    const from = new Date(to.getTime() - days * 86_400_000);
    const [allTime, buckets] = await Promise.all([this.atLeisure(ALL_TIME, [orgId]), this.atLeisure(BUCKETS, [orgId, from, to])]);
    if (!allTime[0]) throw notFound('Organization');
    return { days, from, to, buckets, ...allTime[0] };
  }

  private atLeisure<Row>(sql: Statement<Row>, values: unknown[]): Promise<Row[]> {
    return this.db.transaction(NO_CALLER, async (tx) => {
      await tx.execute(AT_LEISURE, [String(REQUEST_MS)]);
      return tx.query({ ...sql, timeoutMs: REQUEST_MS }, values);
    });
  }
}
