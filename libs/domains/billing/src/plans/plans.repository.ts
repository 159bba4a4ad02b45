import { Injectable } from '@nestjs/common';
import { statement, type Tx } from '@aps/platform/database';

const OTHER_WITH_PRODUCT = statement<{ code: string }>(`
  SELECT code FROM plans WHERE id <> $1 AND (polar_product_id = ANY ($2::uuid[]) OR polar_product_id_annual = ANY ($2::uuid[]))
  ORDER BY code LIMIT 1`);

const SUBSCRIBERS = statement<{ n: number }>('SELECT count(*)::int AS n FROM subscriptions WHERE plan_id = $1');

/** What plans are asked for beside their rows. */
@Injectable()
export class PlansRepository {
  /** The code of another plan that has one of the products, by the month or by the year. */
  async otherWithProduct(tx: Tx, planId: string, products: string[]): Promise<string | null> {
    return (await tx.query(OTHER_WITH_PRODUCT, [planId, products]))[0]?.code ?? null;
  }

  /** Organizations that are subscribed to a plan, in whatever state. */
  async countSubscribers(tx: Tx, planId: string): Promise<number> {
    return (await tx.query(SUBSCRIBERS, [planId]))[0].n;
  }
}
