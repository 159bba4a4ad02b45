import { Injectable } from '@nestjs/common';
import { BillingCheckout, CreditPack, Plan, Subscription, type PendingChange } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { statement, type Db, type Tx } from '@aps/platform/database';
import { IsNull, Not } from 'typeorm';

const BUYER = statement<{ id: string; email: string; name: string }>('SELECT id, email, name FROM users WHERE id = $1');
const LAST_CUSTOMER = statement<{ customer_id: string | null }>(
  'SELECT customer_id FROM billing_orders WHERE org_id = $1 AND customer_id IS NOT NULL ORDER BY paid_at DESC, id LIMIT 1',
);

const IN_ORDER = { sort_order: 'ASC', code: 'ASC' } as const;

/** What is sold, to whom, and what they asked for. */
@Injectable()
export class SelfServeRepository {
  /** Plans that the provider sells, by the month or by the year, in display order. */
  plans(db: Db): Promise<Plan[]> {
    const isSold = Not(IsNull());
    return db.manager.find(Plan, { where: [{ polar_product_id: isSold }, { polar_product_id_annual: isSold }], order: IN_ORDER });
  }

  /** Packs that the provider sells, in display order. */
  packs(db: Db): Promise<CreditPack[]> {
    return db.manager.find(CreditPack, { where: { polar_product_id: Not(IsNull()), is_active: true }, order: IN_ORDER });
  }

  async buyer(db: Db, userId: string): Promise<{ id: string; email: string; name: string }> {
    return (await db.query(BUYER, [userId]))[0];
  }

  /** Who made the last purchase; null without one. */
  async lastCustomer(db: Db, scope: OrgScope): Promise<string | null> {
    return (await db.query(LAST_CUSTOMER, [scope.orgId]))[0]?.customer_id ?? null;
  }

  /** So that its order can be told from one that merely names the organization. */
  async keepCheckout(tx: Tx, scope: OrgScope, checkout: Omit<BillingCheckout, 'org_id' | 'user_id' | 'created_at'>): Promise<void> {
    await tx.manager.insert(BillingCheckout, { ...checkout, org_id: scope.orgId, user_id: scope.userId });
  }

  async setPending(tx: Tx, scope: OrgScope, pending_change: PendingChange | null): Promise<void> {
    await tx.manager.update(Subscription, { org_id: scope.orgId }, { pending_change: pending_change as never });
  }
}
