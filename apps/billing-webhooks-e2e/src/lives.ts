import { randomUUID } from 'node:crypto';
import type { Chance } from '@aps/platform/testing';
import { orderEvent, subscriptionEvent } from '@aps/billing/testing';
import type { Platform } from '../../api-gateway-e2e/support';

/** What is sold. */
interface Product {
  code: string;
  polar_product_id: string;
  /** That it brings: by the month, or of a pack. */
  credits: number;
}

export interface Catalog {
  plans: Product[];
  packs: Product[];
}

/** What the provider was paid, and what must have come of it. */
export interface PaidOrder {
  id: string;
  kind: 'plan' | 'pack';
  code: string;
  reason: 'purchase' | 'subscription_create' | 'subscription_update' | 'subscription_cycle';
  credits: number;
}

/** How a subscription is. */
interface Subscribed {
  id: string;
  checkout_id: string;
  product: Product;
  status: string;
  cancel_at_period_end: boolean;
  /** Months since it began. */
  month: number;
  metadata: Record<string, unknown>;
}

const SECOND_MS = 1_000;
const HOUR_MS = 3_600_000;
const MONTH_MS = 30 * 24 * HOUR_MS;
/** What every order costs, in cents. */
const PRICE = 1_000;

/** What is sold by the month and at once, as operators see it. */
export async function catalogOf(platform: Platform): Promise<Catalog> {
  type Row = { code: string; polar_product_id: string | null; monthly_credits: string; credits: string };
  const sold = (rows: Row[], creditsOf: (row: Row) => string): Product[] =>
    rows
      .filter(({ polar_product_id }) => polar_product_id !== null)
      .map((row) => ({ code: row.code, polar_product_id: row.polar_product_id!, credits: Number(creditsOf(row)) }));
  const [plans, packs] = [await platform.admin('GET', '/plans'), await platform.admin('GET', '/credit-packs')];
  return { plans: sold(plans.body.items, (row) => row.monthly_credits), packs: sold(packs.body, (row) => row.credits) };
}

/**
 * An organization, all that the provider tells of it, in the order in which it happened, and what must have come of it, in whatever order
 * that is delivered. It goes up to a plan once: credits of a plan that was had before depend on what is left of them.
 */
export class Life {
  /** What is delivered. */
  readonly events: object[] = [];
  readonly orders: PaidOrder[] = [];
  /** Of the packs' credits, what was not paid back. */
  purchased = 0;
  /** The subscription that it has in the end. */
  subscribed: Subscribed | null = null;
  /** Subscriptions that were revoked. */
  readonly ended: string[] = [];
  private readonly customer = randomUUID();
  private clock = Date.now() - HOUR_MS;

  private constructor(
    private readonly platform: Platform,
    private readonly chance: Chance,
    private readonly catalog: Catalog,
    readonly orgId: string,
  ) {}

  /** Founds an organization and begins its checkouts; nothing is delivered yet. */
  static async of(platform: Platform, chance: Chance, catalog: Catalog): Promise<Life> {
    const { body } = await platform.call('POST', '/api/orgs', { body: { name: 'Buyers' } });
    const life = new Life(platform, chance, catalog, body.id as string);
    await life.pass();
    return life;
  }

  private async pass(): Promise<void> {
    const { chance } = this;
    const subscribes = chance.between(1, 5) > 1;
    for (let packs = chance.between(subscribes ? 0 : 2, 3); packs > 0; packs--) await this.buyPack();
    if (!subscribes) return;
    await this.subscribe();
    const again = chance.between(1, 6) === 1;
    // What is left of a subscription that another one follows is for humans, unless it is its first order.
    for (let more = again ? 0 : chance.between(0, 4); more > 0; more--) this.goOn();
    const first = this.orders.at(-1)!;
    if (again || chance.between(1, 3) === 1) this.revoke();
    if (again) await this.subscribe();
    else if (!this.subscribed && chance.between(1, 2) === 1) this.refund(first, chance.choose([PRICE / 4, PRICE]));
  }

  private async buyPack(): Promise<void> {
    const pack = this.chance.choose(this.catalog.packs);
    const checkout = await this.checkout('pack', pack.code);
    const order = this.order('purchase', pack, { kind: 'pack', ...this.ofCheckout(checkout, 'pack', pack.code) });
    const refunds = this.chance.choose([[], [], [PRICE / 4], [PRICE / 4, PRICE / 2], [PRICE]]);
    for (const amount of refunds) this.refund(order, amount);
    this.purchased += pack.credits * (1 - (refunds.at(-1) ?? 0) / PRICE);
  }

  private async subscribe(): Promise<void> {
    const plan = this.chance.choose(this.catalog.plans);
    const checkout_id = await this.checkout('plan', plan.code);
    const metadata = { org_id: this.orgId, kind: 'plan', code: plan.code };
    this.subscribed = {
      ...{ id: randomUUID(), checkout_id, product: plan, status: 'active' },
      ...{ cancel_at_period_end: false, month: 0, metadata },
    };
    this.tell('created');
    this.tell('active');
    this.order('subscription_create', plan, this.ofCheckout(checkout_id, 'plan', plan.code));
  }

  /** The next thing that happens to a subscription. */
  private goOn(): void {
    const subscribed = this.subscribed!;
    const down = this.catalog.plans.filter(({ credits }) => credits < subscribed.product.credits);
    const up = this.catalog.plans.filter(({ code, credits }) => credits > subscribed.product.credits && !this.hasHad(code));
    const change = (to: Product) => () => {
      subscribed.product = to;
      this.tell('updated');
      this.order('subscription_update', to);
    };
    const cycle = () => {
      subscribed.month++;
      subscribed.status = 'active';
      this.tell('cycled');
      this.order('subscription_cycle', subscribed.product);
    };
    const fall = () => {
      subscribed.status = 'past_due';
      this.tell('past_due');
    };
    const cancel = () => {
      subscribed.cancel_at_period_end = !subscribed.cancel_at_period_end;
      this.tell(subscribed.cancel_at_period_end ? 'canceled' : 'uncanceled');
    };
    this.chance.choose([cycle, cycle, fall, cancel, ...[...up, ...down].map(change)])();
  }

  private hasHad(code: string): boolean {
    return this.orders.some((order) => order.code === code);
  }

  private revoke(): void {
    this.subscribed!.status = 'canceled';
    this.tell('revoked');
    this.ended.push(this.subscribed!.id);
    this.subscribed = null;
  }

  /** The product is paid, and the provider tells of it when it is made, too. */
  private order(
    reason: PaidOrder['reason'],
    product: Product,
    { kind = 'plan', ...belongs }: { kind?: 'plan' | 'pack'; [more: string]: unknown } = {},
  ): PaidOrder {
    const id = randomUUID();
    const at = this.now();
    const subscription = kind === 'plan' ? this.shown(at) : null;
    const told = {
      ...{ id, at, product_id: product.polar_product_id, billing_reason: reason, customer_id: this.customer },
      ...(subscription && {
        subscription_id: subscription.id,
        subscription,
        metadata: this.chance.choose([{}, this.subscribed!.metadata]),
      }),
      ...belongs,
    };
    if (this.chance.between(1, 4) === 1) this.events.push(orderEvent(told, 'order.created'));
    this.events.push(orderEvent(told));
    const order = { id, kind, code: product.code, reason, credits: product.credits };
    this.orders.push(order);
    return order;
  }

  /** @param amount cents that were paid back so far */
  private refund({ id, kind }: PaidOrder, amount: number): void {
    const at = this.now();
    const { data } = orderEvent({ id, at, product_id: null, refunded_amount: amount, net_amount: PRICE, customer_id: this.customer });
    const subscription_id = kind === 'plan' ? this.ended.at(-1) : null;
    const status = amount === PRICE ? 'refunded' : 'partially_refunded';
    this.events.push({ type: 'order.refunded', timestamp: at, data: { ...data, status, subscription_id } });
  }

  /** Some name whose they are, others no more than the subscription. */
  private tell(what: string): void {
    const { checkout_id, metadata } = this.subscribed!;
    const at = this.now();
    const belongs = this.chance.choose([{}, { checkout_id }, { metadata }]);
    this.events.push(subscriptionEvent(what, { ...this.shown(at), at, customer_id: this.customer, ...belongs }));
  }

  private shown(at: string) {
    const { id, product, status, cancel_at_period_end, month } = this.subscribed!;
    const after = (months: number) => new Date(Date.now() + months * MONTH_MS).toISOString();
    return {
      ...{ id, product_id: product.polar_product_id, status, cancel_at_period_end, created_at: at, modified_at: at },
      ...{ current_period_start: after(month), current_period_end: after(month + 1) },
    };
  }

  private ofCheckout(checkout_id: string, kind: string, code: string): Record<string, unknown> {
    return this.chance.choose([{ checkout_id }, { metadata: { org_id: this.orgId, kind, code } }]);
  }

  private async checkout(kind: 'plan' | 'pack', code: string): Promise<string> {
    const wish = { [`${kind}_code`]: code };
    const { status, body } = await this.platform.call('POST', `/api/orgs/${this.orgId}/billing/checkout`, { body: wish });
    if (status >= 300) throw new Error(`A checkout answered ${status} ${JSON.stringify(body)}`);
    return body.checkout_id as string;
  }

  /** Later than all before. */
  private now(): string {
    return new Date((this.clock += SECOND_MS)).toISOString();
  }
}
