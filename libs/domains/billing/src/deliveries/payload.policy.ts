import { isUuid } from '@aps/contracts';
import { isObject } from '@aps/platform/definitions';
import { Decimal } from 'decimal.js';

/** What came with a delivery. Fields that are not known are left aside, and those that are known may be anything. */
type Fields = Record<string, unknown>;

/** What tells whose something is. */
export interface Belongings {
  checkout_id: string | null;
  subscription_id: string | null;
  customer_id: string | null;
  /** The user who pays. */
  payer_id: string | null;
  /** What a checkout of ours gave it. Anybody may have written it. */
  metadata: { org_id: string | null; kind: string | null; code: string | null; change_id: string | null };
}

/** A subscription, as an event or an order tells. */
export interface ToldSubscription {
  id: string;
  status: string | null;
  product_id: string | null;
  customer_id: string | null;
  current_period_start: Date | null;
  current_period_end: Date | null;
  /** Null where it does not say. */
  cancel_at_period_end: boolean | null;
  /** When it was like that. */
  at: Date;
}

export interface ToldOrder {
  id: string;
  status: string | null;
  billing_reason: string;
  product_id: string | null;
  at: Date;
  belongs: Belongings;
  subscription: ToldSubscription | null;
  /** The part of it that was paid back, from 0 to 1. */
  refunded: string;
  /** Grows with each refund. */
  refunded_amount: string;
}

/** Before all that is known of a subscription. */
const LONG_AGO = new Date(0);

/** @returns null where it is no order */
export function readOrder(payload: Fields): ToldOrder | null {
  const data = fields(payload.data);
  const id = text(data.id);
  if (id === null) return null;
  const belongs = belongingsOf(data, text(data.subscription_id) ?? text(fields(data.subscription).id));
  return {
    id,
    status: text(data.status),
    billing_reason: text(data.billing_reason) ?? '',
    product_id: uuid(data.product_id) ?? uuid(fields(data.product).id),
    at: timeOf(data, payload),
    belongs,
    subscription: belongs.subscription_id === null ? null : subscriptionOf(data, belongs.subscription_id, timeOf(data, payload)),
    ...refundOf(data),
  };
}

/** @returns null where it is no subscription */
export function readSubscription(payload: Fields): { told: ToldSubscription; belongs: Belongings } | null {
  const data = fields(payload.data);
  const id = text(data.id);
  if (id === null) return null;
  const belongs = belongingsOf(data, id);
  return { told: { ...toldOf(data, id), customer_id: belongs.customer_id, at: timeOf(data, payload) }, belongs };
}

/** Names of the order or the subscription that it is about, and of the order's subscription, in an order that all deliveries keep to. */
export function subjectsOf(payload: Fields): string[] {
  const data = fields(payload.data);
  const named = [text(data.id), text(data.subscription_id) ?? text(fields(data.subscription).id)];
  return [...new Set(named.filter((id) => id !== null))].sort();
}

/** What an order says of its subscription, at its own time where that has none. Of one that it only names, everything else knows more. */
function subscriptionOf(order: Fields, id: string, at: Date): ToldSubscription {
  const data = fields(order.subscription);
  const told = toldOf(data, id);
  return {
    ...told,
    status: told.status ?? 'active',
    product_id: told.product_id ?? uuid(order.product_id),
    customer_id: text(order.customer_id),
    at: time(data.modified_at) ?? time(data.created_at) ?? (told.status === null ? LONG_AGO : at),
  };
}

const toldOf = (data: Fields, id: string): Omit<ToldSubscription, 'at'> => ({
  id,
  status: text(data.status),
  product_id: uuid(data.product_id) ?? uuid(fields(data.product).id),
  customer_id: text(data.customer_id),
  current_period_start: time(data.current_period_start),
  current_period_end: time(data.current_period_end),
  cancel_at_period_end: typeof data.cancel_at_period_end === 'boolean' ? data.cancel_at_period_end : null,
});

function belongingsOf(data: Fields, subscriptionId: string | null): Belongings {
  const metadata = fields(data.metadata);
  const customer = fields(data.customer);
  return {
    checkout_id: text(data.checkout_id),
    subscription_id: subscriptionId,
    customer_id: text(data.customer_id) ?? text(customer.id),
    payer_id: uuid(customer.external_id),
    metadata: { org_id: uuid(metadata.org_id), kind: text(metadata.kind), code: text(metadata.code), change_id: text(metadata.change_id) },
  };
}

/** Without amounts, an order that is called refunded is wholly so. */
function refundOf(data: Fields): Pick<ToldOrder, 'refunded' | 'refunded_amount'> {
  const [back, paid] = [amount(data.refunded_amount), amount(data.net_amount) ?? amount(data.total_amount)];
  const isWhole = data.status === 'refunded' || back === null || paid === null || paid.isZero();
  const refunded = isWhole ? new Decimal(1) : Decimal.min(1, back.div(paid));
  return { refunded: refunded.toFixed(), refunded_amount: back?.toFixed() ?? 'all' };
}

const timeOf = (data: Fields, payload: Fields): Date =>
  time(data.modified_at) ?? time(data.created_at) ?? time(payload.timestamp) ?? LONG_AGO;

/** What stands there as an object; nothing is an object without fields. */
const fields = (value: unknown): Fields => (isObject(value) ? value : {});

const text = (value: unknown): string | null => (typeof value === 'string' && value.length > 0 && value.length <= 255 ? value : null);

const uuid = (value: unknown): string | null => (typeof value === 'string' && isUuid(value) ? value.toLowerCase() : null);

const amount = (value: unknown): Decimal | null => (typeof value === 'number' && value >= 0 ? new Decimal(value) : null);

/** A time that PostgreSQL keeps. */
function time(value: unknown): Date | null {
  const date = typeof value === 'string' ? new Date(value) : null;
  return date && date.getFullYear() >= 0 && date.getFullYear() < 10_000 ? date : null;
}
