import { Injectable } from '@nestjs/common';
import type { Plan } from '@aps/entities';
import { statement, type Db } from '@aps/platform/database';

/** The plan of a subscription that counts, and what of it the organization has otherwise. */
export interface SubscribedPlan {
  plan: Plan;
  overrides: Record<string, boolean | number>;
}

const SUBSCRIBED = statement<Plan & { org_id: string; overrides: Record<string, boolean | number> }>(`
  SELECT p.*, s.org_id, s.overrides FROM subscriptions s JOIN plans p ON p.id = s.plan_id
  WHERE s.org_id = ANY ($1) AND s.status IN ('trialing', 'active', 'past_due')`);

const CODES = statement<{ org_id: string; code: string }>(
  'SELECT s.org_id, p.code FROM subscriptions s JOIN plans p ON p.id = s.plan_id WHERE s.org_id = ANY ($1)',
);

/** What an organization has of plans and credits, as operators list it. Decimal texts. */
export interface Standing {
  plan_code: string | null;
  subscription_status: string | null;
  credits_remaining: string | null;
  credits_balance: string | null;
  credits_purchased: string | null;
  credits_overdraft: string | null;
}

// Who has no account yet, and a plan, has nothing.
const STANDINGS = statement<Standing & { org_id: string }>(`
  SELECT o.id AS org_id, p.code AS plan_code, s.status AS subscription_status, trim_scale(c.balance)::text AS credits_balance,
    trim_scale(c.purchased_balance)::text AS credits_purchased, trim_scale(c.overdraft)::text AS credits_overdraft,
    trim_scale(c.balance + c.purchased_balance + c.overdraft)::text AS credits_remaining
  FROM unnest($1::uuid[]) o (id) LEFT JOIN subscriptions s ON s.org_id = o.id LEFT JOIN plans p ON p.id = s.plan_id
  LEFT JOIN org_credits a ON a.org_id = o.id
  LEFT JOIN LATERAL (
    SELECT coalesce(a.balance, 0) AS balance, coalesce(a.purchased_balance, 0) AS purchased_balance,
      coalesce(round(p.monthly_credits * p.overdraft_pct / 100, 6), 0) AS overdraft
    WHERE a.org_id IS NOT NULL OR s.org_id IS NOT NULL
  ) c ON true`);

/** What organizations are subscribed to. */
@Injectable()
export class SubscribedPlanRepository {
  /** @returns null where nothing that counts is subscribed to */
  async of(db: Db, orgId: string): Promise<SubscribedPlan | null> {
    return (await this.ofMany(db, [orgId])).get(orgId) ?? null;
  }

  /** Of many at once; who has subscribed to nothing that counts is missing. */
  async ofMany(db: Db, orgIds: readonly string[]): Promise<Map<string, SubscribedPlan>> {
    const rows = await db.query(SUBSCRIBED, [orgIds]);
    return new Map(rows.map(({ org_id, overrides, ...plan }) => [org_id, { plan, overrides }]));
  }

  /** Organizations with what they have of plans and credits. */
  async withStandings<O extends { id: string }>(db: Db, orgs: O[]): Promise<(O & Standing)[]> {
    const standings = await db.query(STANDINGS, [orgs.map(({ id }) => id)]);
    const known = new Map(standings.map(({ org_id, ...standing }) => [org_id, standing]));
    return orgs.map((org) => ({ ...org, ...known.get(org.id)! }));
  }

  /** Codes of plans by organization, whatever the state of the subscription. */
  async codesOf(db: Db, orgIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return new Map((await db.query(CODES, [orgIds])).map(({ org_id, code }) => [org_id, code]));
  }
}
