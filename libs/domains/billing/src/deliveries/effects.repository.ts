import { Injectable } from '@nestjs/common';
import { BillingOrder, CreditPack, ExternalSubscription, Plan } from '@aps/entities';
import { statement, type Tx } from '@aps/platform/database';
import type { FindOptionsWhere } from 'typeorm';
import type { Belongings, ToldOrder, ToldSubscription } from './payload.policy';

type Owner = { org_id: string };

const BY_CHECKOUT = statement<Owner>('SELECT org_id FROM billing_checkouts WHERE id = $1');
const BY_METADATA = statement<Owner>(`
  SELECT org_id FROM billing_checkouts WHERE org_id = $1 AND ($2::text IS NULL OR kind = $2) AND ($3::text IS NULL OR code = $3) LIMIT 1`);
const BY_SUBSCRIPTION = statement<Owner>('SELECT org_id FROM external_subscriptions WHERE id = $1');
// Two are as many as matter.
const BY_CUSTOMER = statement<Owner>(`
  SELECT org_id FROM external_subscriptions WHERE customer_id = $1 UNION SELECT org_id FROM billing_orders WHERE customer_id = $1 LIMIT 2`);
const BY_PAYER = statement<Owner>('SELECT DISTINCT org_id FROM billing_checkouts WHERE user_id = $1 LIMIT 2');

const TELL = statement(`
  INSERT INTO external_subscriptions AS s (id, org_id, customer_id, product_id, status, current_period_start, current_period_end, cancel_at_period_end, modified_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, coalesce($8, false), $9)
  ON CONFLICT (id) DO UPDATE SET customer_id = coalesce(EXCLUDED.customer_id, s.customer_id), product_id = coalesce(EXCLUDED.product_id, s.product_id),
    status = coalesce(EXCLUDED.status, s.status), current_period_start = coalesce(EXCLUDED.current_period_start, s.current_period_start),
    current_period_end = coalesce(EXCLUDED.current_period_end, s.current_period_end), cancel_at_period_end = coalesce($8, s.cancel_at_period_end),
    modified_at = EXCLUDED.modified_at
  WHERE EXCLUDED.modified_at >= s.modified_at`);

// What has ended keeps no other subscription from its plan.
const NEWEST_PLAN_ORDER = statement<{ paid_at: Date | null }>(`
  SELECT max(o.paid_at) AS paid_at FROM billing_orders o LEFT JOIN external_subscriptions s ON s.id = o.subscription_id
  WHERE o.org_id = $1 AND o.kind = 'plan' AND s.revoked_at IS NULL`);
// One that was applied since has expired what this brought, whatever became of it; so has one before, while it goes on.
const FOLLOWED = statement<{ id: string }>(`
  SELECT n.id FROM billing_orders o JOIN billing_orders n ON n.org_id = o.org_id AND n.kind = 'plan' AND n.paid_at > o.paid_at
  LEFT JOIN external_subscriptions s ON s.id = n.subscription_id
  WHERE o.id = $1 AND (n.applied_at > o.applied_at OR s.revoked_at IS NULL) LIMIT 1`);
const OFFERED = statement<{ offer_id: string | null }>(
  'SELECT offer_id FROM billing_checkouts WHERE id = $1 AND org_id = $2 AND product_id = $3',
);
// By its id: who waits for it while it gets another code would not find it by the old one.
const PLAN_BOUGHT = statement<{ plan_id: string | null }>(`
  SELECT p.id AS plan_id FROM billing_orders o LEFT JOIN plans p ON p.code = o.code
  WHERE o.org_id = $1 AND o.product_id = $2 AND o.kind = 'plan' ORDER BY o.paid_at DESC, o.id LIMIT 1`);
const BROUGHT = statement<{ granted: string }>(`
  SELECT coalesce(trim_scale(sum(delta)), 0)::text AS granted FROM credit_ledger WHERE key = ANY ($1) AND kind IN ('grant', 'purchase')`);
// What older orders bring comes and goes by itself; of newer ones their time tells. A debt leaves nothing to expire before the next grant.
const OVER = statement<{ id: string }>(`
  SELECT l.id FROM credit_ledger l WHERE l.org_id = $1 AND l.bucket = 'granted' AND l.ref_type IS NULL
    AND (l.kind IN ('grant', 'reset') OR l.kind = 'expire' AND NOT starts_with(l.key, 'expire:order:'))
    AND l.seq > (SELECT max(g.seq) FROM credit_ledger g WHERE g.org_id = $1 AND g.kind = 'grant' AND g.ref_type = 'order' AND g.ref_id = $2)
  LIMIT 1`);
const REFUNDED = statement('UPDATE billing_orders SET refunded = $2 WHERE id = $1');

/** Keeps the plan's code until the commit: a rename in between would leave the order under a code that no plan has. */
const lockedPlan = (tx: Tx, where: FindOptionsWhere<Plan> | FindOptionsWhere<Plan>[]): Promise<Plan | null> =>
  tx.manager.findOne(Plan, { where, lock: { mode: 'for_key_share' } });

/** Whose something of the provider's is, and what is known of it. */
@Injectable()
export class EffectsRepository {
  /**
   * The organization that something is about: by the checkout that was begun here, or that its metadata name; else by its subscription,
   * and where it names no organization, by its customer or payer, if that is the payer of one organization alone.
   *
   * @returns null where nobody can tell
   */
  async ownerOf(tx: Tx, { checkout_id, subscription_id, customer_id, payer_id, metadata }: Belongings): Promise<string | null> {
    const one = (rows: Owner[]): string | undefined => (rows.length === 1 ? rows[0].org_id : undefined);
    const byCheckout =
      checkout_id !== null
        ? await tx.query(BY_CHECKOUT, [checkout_id])
        : metadata.org_id !== null
          ? await tx.query(BY_METADATA, [metadata.org_id, metadata.kind, metadata.code])
          : [];
    const known = one(byCheckout) ?? (subscription_id === null ? undefined : one(await tx.query(BY_SUBSCRIPTION, [subscription_id])));
    if (known !== undefined || metadata.org_id !== null) return known ?? null;
    const byCustomer = customer_id === null ? [] : await tx.query(BY_CUSTOMER, [customer_id]);
    if (byCustomer.length > 0 || payer_id === null) return one(byCustomer) ?? null;
    return one(await tx.query(BY_PAYER, [payer_id])) ?? null;
  }

  /**
   * What a product of the provider's stands for here; else what the checkout of the organization offered by it, or the plan that it has paid by
   * it before. Of a plan and a pack that share it, the pack is what is purchased once, and the plan what a subscription pays.
   */
  async offerOf(
    tx: Tx,
    orgId: string,
    { product_id: productId, belongs }: Pick<ToldOrder, 'product_id' | 'belongs'>,
    isOnce: boolean,
  ): Promise<{ plan: Plan; pack?: never } | { pack: CreditPack; plan?: never } | null> {
    if (productId === null) return null;
    const plan = await lockedPlan(tx, [{ polar_product_id: productId }, { polar_product_id_annual: productId }]);
    const pack = !plan || isOnce ? await tx.manager.findOneBy(CreditPack, { polar_product_id: productId }) : null;
    if (pack) return { pack };
    if (plan) return { plan };
    const [offered] = await tx.query(OFFERED, [belongs.checkout_id, orgId, productId]);
    const id = offered?.offer_id ?? null;
    const sold = id === null ? null : await tx.manager.findOneBy(CreditPack, { id });
    if (sold) return { pack: sold };
    const [bought] = await tx.query(PLAN_BOUGHT, [orgId, productId]);
    for (const planId of [id, bought?.plan_id]) {
      const before = planId && (await lockedPlan(tx, { id: planId }));
      if (before) return { plan: before };
    }
    return null;
  }

  findSubscription(tx: Tx, id: string): Promise<ExternalSubscription | null> {
    return tx.manager.findOneBy(ExternalSubscription, { id });
  }

  /** Keeps what is told of a subscription, unless something newer is known. @returns whether it was kept */
  async tell(tx: Tx, orgId: string, told: ToldSubscription): Promise<boolean> {
    const { id, customer_id, product_id, status, current_period_start, current_period_end, cancel_at_period_end, at } = told;
    const values = [id, orgId, customer_id, product_id, status, current_period_start, current_period_end, cancel_at_period_end, at];
    return (await tx.execute(TELL, values)) > 0;
  }

  findOrder(tx: Tx, id: string): Promise<BillingOrder | null> {
    return tx.manager.findOneBy(BillingOrder, { id });
  }

  /** When the newest order for a plan was paid that was applied, and whose subscription has not ended; null without one. */
  async newestPlanOrder(tx: Tx, orgId: string): Promise<Date | null> {
    return (await tx.query(NEWEST_PLAN_ORDER, [orgId]))[0].paid_at;
  }

  /** Whether a newer order for a plan has taken the place of one. */
  async isFollowed(tx: Tx, orderId: string): Promise<boolean> {
    return (await tx.query(FOLLOWED, [orderId])).length > 0;
  }

  /** How much postings with these keys have brought. */
  async brought(tx: Tx, keys: string[]): Promise<string> {
    return (await tx.query(BROUGHT, [keys]))[0].granted;
  }

  /** Whether what an order has granted expired since, or something else was granted, other than by orders. */
  async isOver(tx: Tx, orgId: string, orderId: string): Promise<boolean> {
    return (await tx.query(OVER, [orgId, orderId])).length > 0;
  }

  async keepOrder(tx: Tx, order: Omit<BillingOrder, 'applied_at' | 'refunded'>): Promise<void> {
    await tx.manager.insert(BillingOrder, order);
  }

  async setRefunded(tx: Tx, id: string, refunded: string): Promise<void> {
    await tx.execute(REFUNDED, [id, refunded]);
  }
}
