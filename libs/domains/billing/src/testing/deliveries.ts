import { randomUUID } from 'node:crypto';
import { CreditPack } from '@aps/entities';
import type { TestService } from '@aps/testing';
import { uuidv7 } from 'uuidv7';

/** A pack that the provider sells. */
export async function aPack(t: TestService, { code, ...rest }: Partial<CreditPack> & { code: string }): Promise<CreditPack> {
  const id = await t.insert(CreditPack, { ...{ code, name: code, credits: '1000', polar_product_id: randomUUID() }, ...rest });
  return t.db.manager.findOneByOrFail(CreditPack, { id });
}

let clock = Date.parse('2026-11-01T00:00:00Z');
/** Later than all that were given out before. */
export const nextTime = (): string => new Date((clock += 60_000)).toISOString();

export interface OrderWish {
  id?: string;
  product_id: string | null;
  billing_reason?: string;
  subscription_id?: string | null;
  checkout_id?: string | null;
  customer_id?: string;
  payer_id?: string;
  metadata?: Record<string, unknown>;
  at?: string;
  /** What it says of its subscription. */
  subscription?: object | null;
  [more: string]: unknown;
}

/** `order.paid`, or another event about an order. */
export function orderEvent({ id = uuidv7(), at = nextTime(), payer_id, ...wish }: OrderWish, type = 'order.paid') {
  const data = {
    ...{ id, status: 'paid', billing_reason: 'purchase', subscription_id: null, checkout_id: null, customer_id: randomUUID() },
    ...{ metadata: {}, created_at: at, modified_at: at, net_amount: 1_000, total_amount: 1_000, refunded_amount: 0 },
    customer: { external_id: payer_id ?? null },
    ...wish,
  };
  return { type, timestamp: at, data };
}

/** An event about a subscription. */
export function subscriptionEvent(type: string, { id, at = nextTime(), ...wish }: { id: string; at?: string; [more: string]: unknown }) {
  const data = {
    id,
    status: 'active',
    customer_id: randomUUID(),
    metadata: {},
    created_at: at,
    modified_at: at,
    cancel_at_period_end: false,
    ...wish,
  };
  return { type: `subscription.${type}`, timestamp: at, data };
}
