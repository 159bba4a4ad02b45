import { Injectable } from '@nestjs/common';
import type { BillingEvent, BillingOrder, Plan } from '@aps/entities';
import { OrgScope } from '@aps/guards';
import type { Author, By } from '@aps/platform/audit';
import { advisoryLock, type Tx } from '@aps/platform/database';
import { Decimal } from 'decimal.js';
import { isPositive, minus } from '../amounts';
import type { PlanPaid } from '../subscriptions/orders.policy';
import { PaidOrders } from '../subscriptions/paid-orders.service';
import { isByTheYear, isLive } from '../subscriptions/periods.policy';
import { SubscriptionsRepository } from '../subscriptions/subscriptions.repository';
import { Subscriptions } from '../subscriptions/subscriptions.service';
import { EffectsRepository } from './effects.repository';
import { readOrder, readSubscription, subjectsOf, type ToldOrder } from './payload.policy';

/** What a delivery has done. */
export interface Effect {
  /** `no_op`: it was done before, or something newer has. `ignored`: it says nothing to us. `unresolved`: a human must look at it. */
  outcome: 'applied' | 'no_op' | 'ignored' | 'unresolved';
  org_id: string | null;
  detail: string | null;
  ledger_keys: string[];
  /** What it is about: deliveries that could not be resolved before it may be now. */
  about: string[];
}

type Told = Pick<BillingEvent, 'type' | 'payload'>;
type Method = 'onOrderPaid' | 'onOrderRefunded' | 'onSubscriptionRevoked' | 'onSubscriptionTold';

const METHODS: Record<string, Method> = {
  'order.paid': 'onOrderPaid',
  'order.refunded': 'onOrderRefunded',
  'subscription.revoked': 'onSubscriptionRevoked',
};
/** They tell how a subscription is, and change nothing else. */
const TELLS_OF_SUBSCRIPTION = ['created', 'active', 'updated', 'past_due', 'cycled', 'paused', 'resumed', 'canceled', 'uncanceled'];
for (const event of TELLS_OF_SUBSCRIPTION) METHODS[`subscription.${event}`] = 'onSubscriptionTold';

/** An order that was paid may have been paid back when it is read. */
const PAID = ['paid', 'refunded', 'partially_refunded'];

/**
 * What deliveries of the payment provider do. They come late, twice and in any order, so each is judged by what is stored: an order is
 * applied once, a subscription knows the time of its newest event, and one that has ended beats its older orders. Organizations that are
 * suspended are no exception: money was paid.
 */
@Injectable()
export class BillingEffects {
  constructor(
    private readonly repository: EffectsRepository,
    private readonly subscriptions: Subscriptions,
    private readonly orders: PaidOrders,
    private readonly subscribed: SubscriptionsRepository,
  ) {}

  /** What would apply a delivery of this type, as operators read it. */
  static symbolOf(type: string): string {
    return `BillingEffects.${METHODS[type] ?? 'apply'}`;
  }

  /** Whether deliveries of this type change anything. */
  static knows(type: string): boolean {
    return Object.hasOwn(METHODS, type);
  }

  /** @param actor who is on record for it; without one, the provider */
  async apply(tx: Tx, event: Told, actor?: Author): Promise<Effect> {
    const method = METHODS[event.type];
    if (!method) return said('ignored', null, 'Deliveries of this type change nothing.');
    // What finds that the order is not there must be found by the order: else neither would have the other tried again.
    for (const id of subjectsOf(event.payload)) await advisoryLock(tx, `delivery:${id}`);
    return this[method](tx, event, (orgId) => (actor ? { orgId, actor } : OrgScope.system(orgId, 'payment provider')));
  }

  /** The only thing that brings a paid plan, and the credits of a pack. The product decides which; nothing else that comes with it does. */
  private async onOrderPaid(tx: Tx, { payload }: Told, by: (orgId: string) => By): Promise<Effect> {
    const order = readOrder(payload);
    if (!order) return said('unresolved', null, 'It names no order.');
    if (order.status !== null && !PAID.includes(order.status)) return said('ignored', null, 'The order is not paid.');
    const orgId = await this.repository.ownerOf(tx, order.belongs);
    if (orgId === null) return said('unresolved', null, 'No organization can be told from it.');
    const { subscription_id } = order.belongs;
    const isOnce = order.billing_reason === 'purchase' || subscription_id === null;
    const offer = await this.repository.offerOf(tx, orgId, order, isOnce);
    if (!offer) return said('unresolved', orgId, 'Neither a plan nor a pack has its product.');
    // It would go on for ever, paid once.
    if (offer.plan && isOnce) return said('unresolved', orgId, 'Its product is a plan’s, and it pays no subscription.');

    const held = await this.subscriptions.lock(tx, orgId);
    if (await this.repository.findOrder(tx, order.id)) return said('no_op', orgId, 'The order was applied before.');
    const current = held?.subscription.external_subscription_id ?? null;
    const isOther = current !== null && current !== subscription_id && order.billing_reason !== 'subscription_create' && subscription_id;
    // One that is over in all but the news of its end gives way.
    if (offer.plan && isOther && isLive(await this.repository.findSubscription(tx, current)))
      return said('unresolved', orgId, 'It pays a subscription that is not the current one of the organization.');

    const keys = offer.plan
      ? await this.planPaid(tx, orgId, order, offer.plan, by(orgId))
      : await this.orders.packPaid(tx, by(orgId), orgId, { order_id: order.id, pack: offer.pack });
    await this.repository.keepOrder(tx, {
      id: order.id,
      org_id: orgId,
      kind: offer.plan ? 'plan' : 'pack',
      code: (offer.plan ?? offer.pack).code,
      product_id: order.product_id,
      subscription_id,
      customer_id: order.belongs.customer_id,
      billing_reason: order.billing_reason,
      granted: await this.repository.brought(tx, keys),
      paid_at: order.at,
    });
    return { ...said('applied', orgId, null, keys), about: [order.id, ...(subscription_id ? [subscription_id] : [])] };
  }

  private async planPaid(tx: Tx, orgId: string, order: ToldOrder, plan: Plan, by: By): Promise<string[]> {
    const told = order.subscription;
    if (told && (await this.repository.tell(tx, orgId, told))) await this.subscriptions.endIfGone(tx, orgId);
    const external = told && (await this.repository.findSubscription(tx, told.id));
    const newest = await this.repository.newestPlanOrder(tx, orgId);
    return this.orders.planPaid(tx, by, orgId, {
      order_id: order.id,
      plan,
      reason: REASONS.find((reason) => reason === order.billing_reason) ?? 'subscription_create',
      external_subscription_id: told?.id ?? null,
      external_status: external?.status ?? null,
      paid_at: order.at,
      period_start: told?.current_period_start ?? null,
      period_end: told?.current_period_end ?? null,
      annual: isByTheYear(told) || order.product_id === plan.polar_product_id_annual,
      change_id: order.belongs.metadata.change_id,
      superseded: (newest !== null && newest > order.at) || (!!external?.revoked_at && external.revoked_at >= order.at),
    });
  }

  /** Takes back the part of what an order has brought that was paid back, as far as it is still there: what expired is not, whatever came since. */
  private async onOrderRefunded(tx: Tx, { payload }: Told, by: (orgId: string) => By): Promise<Effect> {
    const told = readOrder(payload);
    const found = told && (await this.repository.findOrder(tx, told.id));
    if (!told || !found) return said('unresolved', null, 'The order was not applied.');
    const orgId = found.org_id;
    await this.subscriptions.lock(tx, orgId);
    const order = (await this.repository.findOrder(tx, told.id))!;
    const back = new Decimal(order.granted).times(told.refunded).toDecimalPlaces(6, Decimal.ROUND_HALF_UP).toFixed();
    const amount = minus(back, order.refunded);
    if (!isPositive(amount)) return said('no_op', orgId, 'As much was taken back before.');
    const { keys, missing } = (await this.hasExpired(tx, order))
      ? { keys: [], missing: amount }
      : await this.orders.refunded(tx, by(orgId), orgId, {
          order_id: order.id,
          refund_id: `${order.id}:${told.refunded_amount}`,
          bucket: order.kind === 'plan' ? 'granted' : 'purchased',
          amount,
        });
    await this.repository.setRefunded(tx, order.id, back);
    if (isPositive(missing)) return said('unresolved', orgId, `Of the credits, ${missing} are not there any more.`, keys);
    return said('applied', orgId, null, keys);
  }

  /** Another order for a plan, the end of its subscription or of its period, and operators expire what an order has brought. */
  private async hasExpired(tx: Tx, { id, org_id, kind, subscription_id }: BillingOrder): Promise<boolean> {
    if (kind !== 'plan') return false;
    if ((await this.repository.isOver(tx, org_id, id)) || (await this.repository.isFollowed(tx, id))) return true;
    return subscription_id !== null && !!(await this.repository.findSubscription(tx, subscription_id))?.revoked_at;
  }

  /** The subscription has ended. Its older orders count no more, and if it was the current one, its plan neither. */
  private async onSubscriptionRevoked(tx: Tx, { payload }: Told, by: (orgId: string) => By): Promise<Effect> {
    const read = readSubscription(payload);
    const orgId = read && (await this.repository.ownerOf(tx, read.belongs));
    if (!read || !orgId) return said('unresolved', null, 'No organization can be told from it.');
    const { told } = read;
    const held = await this.subscriptions.lock(tx, orgId);
    await this.repository.tell(tx, orgId, told);
    if (!(await this.subscribed.bury(tx, told.id, told.at))) return said('no_op', orgId, 'The subscription had ended before.');
    const current = held?.subscription.external_subscription_id ?? null;
    const isCurrent = current === told.id;
    const keys = isCurrent ? await this.subscriptions.revoked(tx, by(orgId), orgId) : [];
    // What has come for others meanwhile brings their plan now, also where its period was over before this was told.
    const others = isCurrent || current === null ? await this.subscribed.live(tx, orgId) : [];
    const about = [told.id, ...others.map(({ id }) => id)];
    return { ...said('applied', orgId, isCurrent ? null : 'It was not the current subscription.', keys), about };
  }

  /** How a subscription is: its state, its period, whether it ends with it. Never a plan, and never credits. */
  private async onSubscriptionTold(tx: Tx, { payload }: Told): Promise<Effect> {
    const read = readSubscription(payload);
    const orgId = read && (await this.repository.ownerOf(tx, read.belongs));
    if (!read || !orgId) return said('unresolved', null, 'No organization can be told from it.');
    const { told } = read;
    const held = await this.subscriptions.lock(tx, orgId);
    if (!(await this.repository.tell(tx, orgId, told))) return said('no_op', orgId, 'Something newer is known.');
    await this.subscriptions.endIfGone(tx, orgId);
    const isCurrent = held?.subscription.external_subscription_id === told.id;
    if (isCurrent && told.status !== null) await this.subscriptions.externalStatus(tx, orgId, told.status);
    return { ...said('applied', orgId, isCurrent ? null : 'It is not the current subscription.'), about: [told.id] };
  }
}

const REASONS: PlanPaid['reason'][] = ['subscription_create', 'subscription_update', 'subscription_cycle'];

const said = (outcome: Effect['outcome'], org_id: string | null, detail: string | null, ledger_keys: string[] = []): Effect => ({
  outcome,
  org_id,
  detail,
  ledger_keys,
  about: [],
});
