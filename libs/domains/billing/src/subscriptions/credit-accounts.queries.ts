import { Injectable } from '@nestjs/common';
import { notFound } from '@aps/contracts';
import type { CreditLedgerRow, PendingChange, SubscriptionStatus } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { Database, OrgListing, statement, type Db, type Listed, type Slice } from '@aps/platform/database';
import { Entitlements, type EntitlementSet } from '../entitlements';
import { LEDGER_TOTAL } from '../ledger/at-leisure.sql';
import type { Overrides } from './overrides.policy';
import { NEARLY_A_YEAR } from './periods.policy';

/** A subscription as it is shown: ours, and what the provider says of it. */
export interface SubscriptionView {
  plan_code: string;
  status: SubscriptionStatus;
  external_status: string | null;
  cancel_at_period_end: boolean;
  period_start: Date | null;
  period_end: Date | null;
  /** Until when a year is paid; null where each month is. */
  paid_until: Date | null;
  pending_change: PendingChange | null;
}

/** What an organization has, may do and is subscribed to. Amounts are decimal texts. */
export interface CreditAccount {
  balance: string;
  purchased_balance: string;
  purchase_total: string;
  credits_overdraft: string;
  credits_remaining: string;
  /** What calls under way may cost. */
  open_holds: string;
  subscription: SubscriptionView | null;
  entitlements: EntitlementSet;
  overrides: Overrides;
  override_reason: string | null;
}

type AccountRow = Omit<CreditAccount, 'subscription' | 'entitlements' | 'overrides'> &
  Partial<SubscriptionView> & { overrides: Overrides | null };

// The function sees what is posted while it runs, the rest what was there when it began: what is left is summed from the rows that are answered.
const ACCOUNT = statement<AccountRow>(`
  SELECT trim_scale(a.balance)::text AS balance, trim_scale(a.purchased_balance)::text AS purchased_balance, trim_scale(a.purchase_total)::text AS purchase_total,
    trim_scale(a.overdraft)::text AS credits_overdraft, trim_scale(a.balance + a.purchased_balance + a.overdraft)::text AS credits_remaining, trim_scale(u.held)::text AS open_holds,
    a.plan_code, a.status, x.status AS external_status, coalesce(x.cancel_at_period_end, false) AS cancel_at_period_end,
    a.period_start, a.period_end, CASE WHEN x.current_period_end - x.current_period_start > interval '${NEARLY_A_YEAR} days' THEN x.current_period_end END AS paid_until,
    a.pending_change - '{product_id,replaced}'::text[] AS pending_change, a.overrides, a.override_reason
  FROM (
    SELECT o.id, coalesce(c.balance, 0) AS balance, coalesce(c.purchased_balance, 0) AS purchased_balance, coalesce(c.purchase_total, 0) AS purchase_total,
      coalesce(round(p.monthly_credits * p.overdraft_pct / 100, 6), 0) AS overdraft, p.code AS plan_code, s.status, s.external_subscription_id, s.period_start, s.period_end, s.pending_change, s.overrides, s.override_reason
    FROM organizations o LEFT JOIN org_credits c ON c.org_id = o.id LEFT JOIN subscriptions s ON s.org_id = o.id LEFT JOIN plans p ON p.id = s.plan_id
    WHERE o.id = $1 AND o.deleted_at IS NULL
  ) a CROSS JOIN LATERAL credit_use(a.id, '{}') u LEFT JOIN external_subscriptions x ON x.id = a.external_subscription_id`);

const RECONCILED = statement<{ reconciled: boolean }>(`
  SELECT l.total = coalesce((SELECT c.balance + c.purchased_balance FROM org_credits c WHERE c.org_id = $1), 0) AS reconciled FROM ${LEDGER_TOTAL} l`);

// Rows are counted as they are appended, and never go.
const LEDGER = new OrgListing<CreditLedgerRow, object>({
  select: 't.*',
  from: 'credit_ledger t',
  org: 't.org_id',
  key: 't.id',
  tally: { from: '(SELECT org_id, ledger_seq AS n FROM org_credits) t', where: { org_id: 't.org_id = $' } },
  order: 't.seq DESC',
});

/** Reads what organizations have, and how it came. */
@Injectable()
export class CreditAccountsQueries {
  constructor(
    private readonly db: Database,
    private readonly entitlements: Entitlements,
  ) {}

  /** @throws DomainError 404 `not_found` without such a live organization */
  async get(orgId: string, db: Db = this.db): Promise<CreditAccount> {
    const row = (await db.query(ACCOUNT, [orgId]))[0];
    if (!row) throw notFound('Organization');
    const { plan_code, status, external_status, cancel_at_period_end, period_start, period_end, paid_until, pending_change, ...account } =
      row;
    const subscription = plan_code
      ? { plan_code, status, external_status, cancel_at_period_end, period_start, period_end, paid_until, pending_change }
      : null;
    return {
      ...account,
      subscription: subscription as SubscriptionView | null,
      overrides: account.overrides ?? {},
      entitlements: await this.entitlements.of(orgId, db),
    };
  }

  /** Whether both balances are the sum of all that was ever posted, by what was summed up when it was. The proof adds all of it up anew. */
  async isReconciled(orgId: string): Promise<boolean> {
    return (await this.db.query(RECONCILED, [orgId]))[0].reconciled;
  }

  /** What moved an organization's credits, newest first. */
  ledger(scope: OrgScope, slice: Slice): Promise<Listed<CreditLedgerRow>> {
    return LEDGER.page(this.db, scope, {}, slice);
  }
}
