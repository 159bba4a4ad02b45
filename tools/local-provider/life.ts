import { randomUUID } from 'node:crypto';
import {
  bareSubscription,
  checkoutObject,
  orderObject,
  subscriptionObject,
  type Checkout,
  type Customer,
  type Metadata,
  type Order,
  type Product,
  type Subscription,
} from './objects';
import type { Delivery } from './deliveries';

/** What the provider refuses, as Polar says it. */
export class Refusal extends Error {
  constructor(
    readonly status: 402 | 403 | 404 | 422,
    readonly reason: string,
  ) {
    super(reason);
  }
}

/** All that it knows, as it is kept in a file. */
export interface Books {
  customers: Customer[];
  checkouts: Checkout[];
  subscriptions: Subscription[];
  orders: Order[];
  /** Customers by the token of their session. */
  sessions: Record<string, string>;
  deliveries: Delivery[];
}
export const EMPTY_BOOKS: Books = { customers: [], checkouts: [], subscriptions: [], orders: [], sessions: {}, deliveries: [] };

export interface CheckoutWish {
  products: string[];
  metadata?: Metadata;
  external_customer_id?: string | null;
  customer_email?: string | null;
  customer_name?: string | null;
  success_url?: string | null;
}

const HOUR_MS = 3_600_000;

/**
 * What becomes of checkouts and subscriptions, as Polar has it: each event with the whole object. Time stands still for periods; they
 * end when somebody says so.
 */
export class Life {
  private last = 0;

  /**
   * @param tell an event, and the object that it is about
   * @param catalog what is sold; undefined for what nobody sells
   */
  constructor(
    readonly books: Books,
    private readonly catalog: (productId: string) => Promise<Product | undefined>,
    private readonly tell: (type: string, data: unknown) => void,
    private readonly baseUrl: () => string,
  ) {}

  async openCheckout(wish: CheckoutWish) {
    const product = await this.product(wish.products?.[0]);
    const now = this.now();
    const checkout: Checkout = {
      id: randomUUID(),
      customer_id: this.customerFor(wish).id,
      product_id: product.id,
      status: 'open',
      metadata: wish.metadata ?? {},
      success_url: wish.success_url ?? null,
      created_at: now,
      modified_at: null,
      expires_at: new Date(Date.parse(now) + HOUR_MS).toISOString(),
    };
    this.books.checkouts.push(checkout);
    return this.shown(checkout);
  }

  async checkout(id: string) {
    return this.shown(found(this.books.checkouts, id));
  }

  /** Pays. Paid once, however often it is opened. */
  async complete(id: string): Promise<Checkout> {
    const checkout = found(this.books.checkouts, id);
    if (checkout.status !== 'open') return checkout;
    const product = await this.product(checkout.product_id);
    if (checkout.status !== 'open') return checkout;
    Object.assign(checkout, { status: 'succeeded', modified_at: this.now() });
    this.tell('checkout.updated', await this.shown(checkout));
    const { customer_id, metadata } = checkout;
    if (!product.interval) {
      await this.order({
        customer_id,
        product,
        subscription: null,
        checkout_id: id,
        billing_reason: 'purchase',
        amount: product.price,
        metadata,
      });
      return checkout;
    }
    const now = this.now();
    const subscription: Subscription = {
      id: randomUUID(),
      customer_id,
      product_id: product.id,
      checkout_id: id,
      status: 'active',
      current_period_start: now,
      current_period_end: later(now, product.interval),
      cancel_at_period_end: false,
      canceled_at: null,
      ended_at: null,
      metadata,
      created_at: now,
      modified_at: null,
    };
    this.books.subscriptions.push(subscription);
    await this.tellOf(subscription, 'created', 'active');
    await this.order({
      ...{ customer_id, product, subscription, checkout_id: id, metadata },
      billing_reason: 'subscription_create',
      amount: product.price,
    });
    return checkout;
  }

  subscription(id: string): Promise<object> {
    return this.shownSubscription(found(this.books.subscriptions, id));
  }

  /** Puts a subscription on another product at once. What costs less is an order of nothing. */
  async change(id: string, productId: string, metadata: Metadata = {}): Promise<object> {
    const subscription = this.live(id);
    const [before, product] = [await this.product(subscription.product_id), await this.product(productId)];
    if (!product.interval) throw new Refusal(422, 'This product is not a subscription.');
    if (product.id === before.id) throw new Refusal(422, 'The subscription is on this product already.');
    const now = this.now();
    // Its metadata stay those of the checkout; the order has what came with the change as well.
    const period =
      product.interval === before.interval ? {} : { current_period_start: now, current_period_end: later(now, product.interval) };
    Object.assign(subscription, { product_id: product.id, modified_at: now, ...period });
    await this.tellOf(subscription, 'updated');
    await this.order({
      ...{ customer_id: subscription.customer_id, product, subscription, checkout_id: null },
      billing_reason: 'subscription_update',
      amount: Math.max(0, product.price - before.price),
      metadata: { ...subscription.metadata, ...metadata },
    });
    return this.shownSubscription(subscription);
  }

  async cancelAtPeriodEnd(id: string, cancel: boolean): Promise<object> {
    const subscription = this.live(id);
    if (subscription.cancel_at_period_end !== cancel) {
      const now = this.now();
      Object.assign(subscription, { cancel_at_period_end: cancel, canceled_at: cancel ? now : null, modified_at: now });
      await this.tellOf(subscription, 'updated', cancel ? 'canceled' : 'uncanceled');
    }
    return this.shownSubscription(subscription);
  }

  /** Ends a period: the next one is paid, or the subscription ends where that was wished. */
  async renew(id: string): Promise<object> {
    const subscription = this.live(id);
    if (subscription.cancel_at_period_end) return this.revoke(id);
    const product = await this.product(subscription.product_id);
    const start = subscription.current_period_end;
    Object.assign(subscription, {
      status: 'active',
      current_period_start: start,
      current_period_end: later(start, product.interval),
      modified_at: this.now(),
    });
    await this.tellOf(subscription, 'updated', 'cycled');
    await this.order({
      ...{ customer_id: subscription.customer_id, product, subscription, checkout_id: null },
      billing_reason: 'subscription_cycle',
      amount: product.price,
      metadata: subscription.metadata,
    });
    return this.shownSubscription(subscription);
  }

  /** The payment of the next period has failed. */
  async fall(id: string): Promise<object> {
    const subscription = this.live(id);
    Object.assign(subscription, { status: 'past_due', modified_at: this.now() });
    await this.tellOf(subscription, 'updated', 'past_due');
    return this.shownSubscription(subscription);
  }

  async revoke(id: string): Promise<object> {
    const subscription = this.live(id);
    const now = this.now();
    Object.assign(subscription, { status: 'canceled', ended_at: now, canceled_at: subscription.canceled_at ?? now, modified_at: now });
    await this.tellOf(subscription, 'updated', 'revoked');
    return this.shownSubscription(subscription);
  }

  /** Gives back money of an order. @param amount in cents; without one, all that is left */
  async refund(id: string, amount?: number): Promise<object> {
    const order = found(this.books.orders, id);
    const left = order.amount - order.refunded_amount;
    if (amount !== undefined && !(Number.isInteger(amount) && amount > 0 && amount <= left))
      throw new Refusal(422, `Of this order ${left} can be refunded.`);
    order.refunded_amount += amount ?? left;
    Object.assign(order, {
      status: order.refunded_amount === order.amount ? 'refunded' : 'partially_refunded',
      modified_at: this.now(),
    });
    const shown = await this.shownOrder(order);
    this.tell('order.updated', shown);
    this.tell('order.refunded', shown);
    return shown;
  }

  openSession(wish: { customer_id?: string; external_customer_id?: string }) {
    const customer = this.books.customers.find(
      ({ id, external_id }) => id === wish.customer_id || (external_id !== null && external_id === wish.external_customer_id),
    );
    if (!customer) throw new Refusal(422, 'Customer does not exist.');
    const token = `local_cst_${randomUUID()}`;
    this.books.sessions[token] = customer.id;
    return { token, customer, created_at: this.now() };
  }

  /** What a customer sees: all that they pay, for whomever. */
  portal(token: string): { customer: Customer; orders: Order[]; subscriptions: Subscription[] } {
    const customer = this.books.customers.find(({ id }) => id === this.books.sessions[token]);
    if (!customer) throw new Refusal(404, 'Not found');
    const theirs = (one: { customer_id: string }) => one.customer_id === customer.id;
    return { customer, orders: this.books.orders.filter(theirs), subscriptions: this.books.subscriptions.filter(theirs) };
  }

  private async order({ product, subscription, ...rest }: NewOrder): Promise<void> {
    const now = this.now();
    const order: Order = {
      ...rest,
      id: randomUUID(),
      product_id: product.id,
      subscription_id: subscription?.id ?? null,
      status: 'paid',
      refunded_amount: 0,
      subscription: subscription && bareSubscription(subscription, product),
      created_at: now,
      modified_at: now,
    };
    this.books.orders.push(order);
    const shown = await this.shownOrder(order);
    this.tell('order.created', shown);
    this.tell('order.paid', shown);
  }

  private async tellOf(subscription: Subscription, ...events: string[]): Promise<void> {
    const shown = await this.shownSubscription(subscription);
    for (const event of events) this.tell(`subscription.${event}`, shown);
  }

  private async shown(checkout: Checkout) {
    const customer = found(this.books.customers, checkout.customer_id);
    return checkoutObject(checkout, await this.product(checkout.product_id), customer, `${this.baseUrl()}/checkout/${checkout.id}`);
  }

  private async shownSubscription(subscription: Subscription) {
    const customer = found(this.books.customers, subscription.customer_id);
    return subscriptionObject(subscription, await this.product(subscription.product_id), customer);
  }

  private async shownOrder(order: Order) {
    return orderObject(order, await this.product(order.product_id), found(this.books.customers, order.customer_id));
  }

  private live(id: string): Subscription {
    const subscription = found(this.books.subscriptions, id);
    if (subscription.ended_at) throw new Refusal(403, 'This subscription is already canceled or will be at the end of the period.');
    return subscription;
  }

  private async product(id: string | undefined): Promise<Product> {
    const product = id === undefined ? undefined : await this.catalog(id);
    if (!product) throw new Refusal(422, 'Product does not exist.');
    return product;
  }

  private customerFor({ external_customer_id, customer_email, customer_name }: CheckoutWish): Customer {
    const known = this.books.customers.find(({ external_id }) => external_id !== null && external_id === external_customer_id);
    if (known) return known;
    const customer: Customer = {
      id: randomUUID(),
      external_id: external_customer_id ?? null,
      email: customer_email ?? 'somebody@example.com',
      name: customer_name ?? null,
      created_at: this.now(),
    };
    this.books.customers.push(customer);
    return customer;
  }

  /** Later than all times before, so that who is told of two events can say which was first. */
  private now(): string {
    this.last = Math.max(Date.now(), this.last + 1);
    return new Date(this.last).toISOString();
  }
}

type NewOrder = Pick<Order, 'customer_id' | 'checkout_id' | 'billing_reason' | 'amount' | 'metadata'> & {
  product: Product;
  subscription: Subscription | null;
};

function found<T extends { id: string }>(all: T[], id: string): T {
  const one = all.find((each) => each.id === id);
  if (!one) throw new Refusal(404, 'Not found');
  return one;
}

/** A month or a year on, at the latest on its last day. */
function later(from: string, interval: Product['interval']): string {
  const end = new Date(from);
  const day = end.getUTCDate();
  end.setUTCDate(1);
  end.setUTCMonth(end.getUTCMonth() + (interval === 'year' ? 12 : 1));
  end.setUTCDate(Math.min(day, new Date(Date.UTC(end.getUTCFullYear(), end.getUTCMonth() + 1, 0)).getUTCDate()));
  return end.toISOString();
}
