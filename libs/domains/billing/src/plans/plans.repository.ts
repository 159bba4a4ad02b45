import { Injectable } from '@nestjs/common';
import { statement, type Tx } from '@aps/platform/database';
import { addMonths } from '../subscriptions/periods.policy';

const OTHER_WITH_PRODUCT = statement<{ code: string }>(`
  SELECT code FROM plans WHERE id <> $1 AND (polar_product_id = ANY ($2::uuid[]) OR polar_product_id_annual = ANY ($2::uuid[]))
  ORDER BY code LIMIT 1`);

const SUBSCRIBERS = statement<{ n: number }>(
  'SELECT count(*)::int AS n FROM subscriptions s JOIN organizations o ON o.id = s.org_id WHERE s.plan_id = $1 AND o.deleted_at IS NULL',
);
// Whose period an operator has ended has a start still; who pays has a period by what is paid.
const BEGIN_PERIODS = statement(`
  UPDATE subscriptions SET period_start = $2, period_anchor = $2, period_end = $3, updated_at = statement_timestamp()
  WHERE plan_id = $1 AND status IN ('trialing', 'active') AND period_start IS NULL AND period_end IS NULL AND external_subscription_id IS NULL`);
const FORGET_DELETED = statement(
  'DELETE FROM subscriptions s USING organizations o WHERE o.id = s.org_id AND s.plan_id = $1 AND o.deleted_at IS NOT NULL',
);

const RENAME = statement(`UPDATE billing_orders SET code = $2 WHERE kind = 'plan' AND code = $1`);

/** What plans are asked for beside their rows. */
@Injectable()
export class PlansRepository {
  /** The code of another plan that has one of the products, by the month or by the year. */
  async otherWithProduct(tx: Tx, planId: string, products: string[]): Promise<string | null> {
    return (await tx.query(OTHER_WITH_PRODUCT, [planId, products]))[0]?.code ?? null;
  }

  /** Live organizations that are subscribed to a plan, in whatever state. */
  async countSubscribers(tx: Tx, planId: string): Promise<number> {
    return (await tx.query(SUBSCRIBERS, [planId]))[0].n;
  }

  /** Begins a period for its subscribers who have none and whom nobody pays for. */
  async beginPeriods(tx: Tx, planId: string, start: Date): Promise<void> {
    await tx.execute(BEGIN_PERIODS, [planId, start, addMonths(start, 1)]);
  }

  /** Orders tell their plan by its code. */
  async renameInOrders(tx: Tx, from: string, to: string): Promise<void> {
    await tx.execute(RENAME, [from, to]);
  }

  /** What the provider still has of them is ended by what it knows itself. */
  async forgetDeleted(tx: Tx, planId: string): Promise<void> {
    await tx.execute(FORGET_DELETED, [planId]);
  }
}
