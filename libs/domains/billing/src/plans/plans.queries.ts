import { Injectable } from '@nestjs/common';
import { CreditPack, Plan } from '@aps/entities';
import { Database, statement, Table, type Db } from '@aps/platform/database';
import { collisionsOf, pricePoint } from './catalog.policy';

/** What the calls of a plan's subscribers have cost that burned credits, and what those are worth. Decimal texts. */
export interface Margin {
  window_days: number;
  credits: string;
  usd_cost: string;
  usd_value: string;
  ratio: string | null;
}

/** A plan as operators see it. */
export interface PlanView extends Plan {
  subscriber_count: number;
  price_point: string | null;
  margin: Margin | null;
}

const DISPLAY_ORDER = { sort_order: 'ASC', code: 'ASC' } as const;
const MARGIN_DAYS = 30;

const SUBSCRIBERS = statement<{ plan_id: string; subscribers: number }>(`
  SELECT s.plan_id, count(*)::int AS subscribers FROM subscriptions s JOIN organizations o ON o.id = s.org_id
  WHERE s.plan_id = ANY ($1::uuid[]) AND o.deleted_at IS NULL GROUP BY s.plan_id`);

// Hours that usage is tallied by: a month of receipts is too much to add up for a list. Those that burned nothing are left out, also by the index.
const MARGINS = statement<{ plan_id: string; credits: string; usd_cost: string; usd_value: string; ratio: string | null }>(`
  WITH card AS (
    SELECT credits_per_usd FROM rate_cards WHERE effective_from <= (now() AT TIME ZONE 'UTC')::date ORDER BY effective_from DESC LIMIT 1
  ), used AS (
    SELECT s.plan_id, sum(t.burned_credits) AS credits, sum(t.burned_usd) AS usd_cost
    FROM subscriptions s JOIN usage_tallies t ON t.org_id = s.org_id
    WHERE s.plan_id = ANY ($2::uuid[]) AND t.burned_credits <> 0 AND t.hour >= date_trunc('hour', now()) - make_interval(days => $1)
    GROUP BY s.plan_id
  )
  SELECT plan_id, trim_scale(credits)::text AS credits, trim_scale(usd_cost)::text AS usd_cost, trim_scale(value)::text AS usd_value,
    trim_scale(round((value - usd_cost) / nullif(value, 0), 6))::text AS ratio
  FROM used, card, LATERAL (SELECT round(credits / credits_per_usd, 6) AS value) worth`);

/** Plans and packs as operators see them. */
@Injectable()
export class PlansQueries {
  private readonly plans = new Table(Plan);
  private readonly packs = new Table(CreditPack, 'Pack');

  constructor(private readonly db: Database) {}

  /** Every plan, in display order. */
  async list(): Promise<PlanView[]> {
    return this.views(await this.plans.list(this.db, {}, DISPLAY_ORDER));
  }

  /** Not within a transaction that has changed it: what it adds up may take long, and must not undo that. */
  async view(plan: Plan): Promise<PlanView> {
    return (await this.views([plan]))[0];
  }

  /** Of a plan that nobody is subscribed to, as one that was just made: nothing is asked for it that could fail. */
  viewWithoutSubscribers(plan: Plan): PlanView {
    return { ...plan, subscriber_count: 0, price_point: pricePoint(plan), margin: null };
  }

  /** Every pack, retired ones too, in display order. */
  listPacks(): Promise<CreditPack[]> {
    return this.packs.list(this.db, {}, DISPLAY_ORDER);
  }

  /** What the payment provider's products stand for. */
  async catalog(db: Db = this.db) {
    const plans = await this.plans.list(db, {}, DISPLAY_ORDER);
    const packs = await this.packs.list(db, {}, DISPLAY_ORDER);
    return { plans, packs, collisions: collisionsOf(plans, packs) };
  }

  private async views(plans: Plan[]): Promise<PlanView[]> {
    const ids = plans.map(({ id }) => id);
    const counts = new Map((await this.db.query(SUBSCRIBERS, [ids])).map((row) => [row.plan_id, row.subscribers]));
    const margins = new Map((await this.db.query(MARGINS, [MARGIN_DAYS, ids])).map(({ plan_id, ...margin }) => [plan_id, margin]));
    return plans.map((plan) => {
      const margin = margins.get(plan.id);
      return {
        ...this.viewWithoutSubscribers(plan),
        subscriber_count: counts.get(plan.id) ?? 0,
        margin: margin ? { window_days: MARGIN_DAYS, ...margin } : null,
      };
    });
  }
}
