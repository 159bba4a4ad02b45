import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { DomainError, refuseField } from '@aps/contracts';
import { CreditPack, Plan, type PendingChange } from '@aps/entities';
import type { OrgScope } from '@aps/guards';
import { Audit } from '@aps/platform/audit';
import { Database, NO_CALLER, Table, type Tx } from '@aps/platform/database';
import { PaymentProvider, type ProviderPage } from '../provider/payment-provider';
import { SubscriptionsRepository, type Subscribed } from '../subscriptions/subscriptions.repository';
import { intervalFor, isInFlight, markOf, marksOf, productOf, productOfPack, type Interval } from './self-serve.policy';
import { SelfServeRepository } from './self-serve.repository';

/** What is to be bought: one of both. */
export interface Purchase {
  plan_code?: string | null;
  pack_code?: string | null;
  interval?: Interval;
}

/** A page for the customer, or why there is none. */
export type Portal = ({ state: 'ready' } & ProviderPage) | { state: 'no_customer'; url: null; expires_at: null };

/** Somebody pays for this organization. */
type Paid = Subscribed & { external: NonNullable<Subscribed['external']> };

/**
 * What administrators of an organization ask of the payment provider. It does what they ask, and what comes of it comes back as
 * deliveries: those alone change a plan or credits. It is never asked inside a transaction, but after one that has asked whether the caller
 * still may.
 */
@Injectable()
export class SelfServeService {
  private readonly plans = new Table(Plan);
  private readonly packs = new Table(CreditPack, 'Pack');

  constructor(
    private readonly db: Database,
    private readonly repository: SelfServeRepository,
    private readonly subscriptions: SubscriptionsRepository,
    private readonly provider: PaymentProvider,
    private readonly audit: Audit,
  ) {}

  /**
   * A page where a plan or a pack is paid. The first plan is bought so; another one is changed to.
   *
   * @throws DomainError 422 `exactly_one_required`; 404; 409 `not_sellable`, `subscription_live`; 422 and 502 of the provider
   */
  async checkout(scope: OrgScope, purchase: Purchase): Promise<ProviderPage & { id: string }> {
    const { buyer, offer } = await this.db.transaction(scope, async (tx) => ({
      offer: await this.offer(tx, scope, purchase),
      buyer: await this.repository.buyer(tx, scope.userId),
    }));
    const { kind, code, product_id } = offer;
    const metadata = { org_id: scope.orgId, kind, code };
    const checkout = await this.provider.createCheckout({ product_id, buyer, metadata });
    await this.db.transaction(scope, (tx) => this.repository.keepCheckout(tx, scope, { id: checkout.id, ...offer }));
    return checkout;
  }

  /**
   * Asks for another plan, paid at once, and marks the subscription with that wish until it was paid. The mark comes first, so that of
   * several who ask for the same at once one reaches the provider; where that says no, the mark is what it was.
   *
   * @throws DomainError 404; 409 `not_sellable`, `no_live_subscription`, `already_on_plan`, `change_in_flight`; 422 and 502 of the provider
   */
  async changePlan(scope: OrgScope, { plan_code, interval }: { plan_code: string; interval?: Interval }): Promise<PendingChange> {
    const plan = await this.plans.get(this.db, { code: plan_code });
    const { product_id, external_id, pending } = await this.mark(scope, plan, interval);
    const metadata = { org_id: scope.orgId, change_id: pending.change_id };
    try {
      await this.provider.changeSubscription(external_id, { product_id, metadata });
    } catch (error) {
      await this.unmark(scope, pending, error);
      throw error;
    }
    return pending;
  }

  /**
   * Lets the subscription end with what is paid, or go on after all.
   *
   * @returns what is known here of it, which changes when the provider tells
   * @throws DomainError 409 `no_live_subscription`; 422 and 502 of the provider
   */
  async setCancelAtPeriodEnd(scope: OrgScope, cancel: boolean): Promise<boolean> {
    const { external } = requirePaid(await this.db.transaction(scope, (tx) => this.paid(tx, scope)));
    await this.provider.setCancelAtPeriodEnd(external.id, cancel);
    // It is done, whatever has become of who asked for it.
    await this.db.transaction(NO_CALLER, (tx) =>
      this.audit.record(tx, scope, 'subscription.cancellation_requested', target(scope), { cancel_at_period_end: cancel }),
    );
    return external.cancel_at_period_end;
  }

  /** The page of who pays the subscription, else of who made the last purchase. It shows whatever else they pay, too. */
  async portal(scope: OrgScope): Promise<Portal> {
    const customer = await this.db.transaction(scope, async (tx) => {
      const subscribed = await this.subscriptions.find(tx, scope.orgId);
      return subscribed?.external?.customer_id ?? (await this.repository.lastCustomer(tx, scope));
    });
    if (customer === null) return { state: 'no_customer', url: null, expires_at: null };
    return { state: 'ready', ...(await this.provider.createCustomerSession(customer)) };
  }

  private async offer(
    tx: Tx,
    scope: OrgScope,
    { plan_code, pack_code, interval = 'monthly' }: Purchase,
  ): Promise<{ kind: 'plan' | 'pack'; code: string; offer_id: string; product_id: string }> {
    if (!plan_code === !pack_code) throw refuseField('exactly_one_required', ['plan_code'], 'Give either plan_code or pack_code.');
    if (pack_code) {
      const pack = await this.packs.get(tx, { code: pack_code });
      return { kind: 'pack', code: pack.code, offer_id: pack.id, product_id: productOfPack(pack) };
    }
    const plan = await this.plans.get(tx, { code: plan_code! });
    const product_id = productOf(plan, interval);
    if (await this.subscriptions.isPaying(tx, scope.orgId))
      throw new DomainError('subscription_live', 'This organization pays a subscription already; change its plan.');
    return { kind: 'plan', code: plan.code, offer_id: plan.id, product_id };
  }

  private mark(scope: OrgScope, plan: Plan, wished: Interval | undefined) {
    return this.db.transaction(scope, async (tx) => {
      await this.subscriptions.lock(tx, scope.orgId);
      const subscribed = await this.paid(tx, scope);
      const interval = wished ?? intervalFor(plan, subscribed?.external ?? null);
      const product_id = productOf(plan, interval);
      const paid = requirePaid(subscribed);
      // Another interval of it is another product.
      const isOfPlan = [plan.polar_product_id, plan.polar_product_id_annual].includes(paid.external.product_id);
      if (plan.id === paid.plan.id && !(isOfPlan && paid.external.product_id !== product_id))
        throw new DomainError('already_on_plan', `This organization is on the plan ${plan.code}.`);
      const replaced = paid.subscription.pending_change;
      const now = this.db.now();
      if (isInFlight(replaced, { plan_code: plan.code, product_id }, now))
        throw new DomainError('change_in_flight', 'This change was asked for already and is not paid yet.', {
          context: { change_id: replaced!.change_id },
        });
      const pending = { change_id: randomUUID(), plan_code: plan.code, requested_at: now.toISOString(), requested_by: scope.userId };
      await this.repository.setPending(tx, scope, markOf([{ ...pending, product_id }, ...marksOf(replaced)]));
      await this.audit.record(tx, scope, 'subscription.change_requested', target(scope), {
        plan_code: plan.code,
        interval,
        change_id: pending.change_id,
      });
      return { product_id, external_id: paid.external.id, pending };
    });
  }

  /** What is subscribed to, with what is paid for it: another subscription, where the current one is not. */
  private async paid(tx: Tx, { orgId }: OrgScope): Promise<Subscribed | null> {
    const subscribed = await this.subscriptions.find(tx, orgId);
    return subscribed && { ...subscribed, external: await this.subscriptions.paying(tx, orgId, subscribed.external?.id ?? null) };
  }

  /** Nobody's right to it is asked: what was marked on their behalf is not so. A later mark has it no longer to go back to. */
  private unmark(scope: OrgScope, { change_id }: PendingChange, error: unknown): Promise<void> {
    return this.db.transaction(NO_CALLER, async (tx) => {
      const subscribed = await this.subscriptions.lock(tx, scope.orgId);
      const marks = marksOf(subscribed?.subscription.pending_change ?? null);
      const others = marks.filter((mark) => mark.change_id !== change_id);
      if (others.length === marks.length) return;
      await this.repository.setPending(tx, scope, markOf(others));
      const because = error instanceof DomainError ? error.code : null;
      await this.audit.record(tx, scope, 'subscription.change_withdrawn', target(scope), { change_id, because });
    });
  }
}

const target = (scope: OrgScope) => ({ kind: 'organization', id: scope.orgId });

const isPaid = (subscribed: Subscribed | null): subscribed is Paid => !!subscribed?.external;

function requirePaid(subscribed: Subscribed | null): Paid {
  if (!isPaid(subscribed)) throw new DomainError('no_live_subscription', 'Nobody pays a subscription for this organization.');
  return subscribed;
}
