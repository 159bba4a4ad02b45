import { Injectable } from '@nestjs/common';
import type { Plan } from '@aps/entities';
import { Audit, type By } from '@aps/platform/audit';
import { Database, type Tx } from '@aps/platform/database';
import { Outbox } from '@aps/platform/outbox';
import { isPositive, isZero } from '../amounts';
import { PlanEntitlements } from '../plans/plan-entitlements';
import { billingConfig } from '../billing.config';
import { allocationKey, Grants } from './grants';
import { STATUS_BY_PROVIDER } from './orders.policy';
import { addMonths, monthOf, NO_PERIOD, payerOf } from './periods.policy';
import { SubscriptionsRepository, type Subscribed } from './subscriptions.repository';

/** Code of the plan that a revoked subscription falls back to. */
const TRIAL = 'trial';

/**
 * What happens to an organization's plan, but for what paid orders make of it: its founding, an operator's change, the provider's end. Each takes part
 * in the caller's transaction, under the lock of the organization's billing.
 */
@Injectable()
export class Subscriptions {
  constructor(
    private readonly db: Database,
    private readonly repository: SubscriptionsRepository,
    private readonly grants: Grants,
    private readonly audit: Audit,
    private readonly entitlements: PlanEntitlements,
    private readonly outbox: Outbox,
  ) {}

  /** Has the organization's billing until the transaction ends. @returns null where it was never subscribed */
  lock(tx: Tx, orgId: string): Promise<Subscribed | null> {
    return this.repository.lock(tx, orgId);
  }

  /**
   * Puts a new organization on the plan of new ones, if there is one. Its first credits are given once to a person, and not before the
   * address is proven.
   */
  async found(tx: Tx, orgId: string, owner: { email_canonical: string; is_proven: boolean }): Promise<void> {
    const plan = await this.repository.planByCode(tx, billingConfig.value.newOrgPlan);
    if (!plan) return;
    await this.begin(tx, orgId, plan, await this.repository.lock(tx, orgId));
    if (owner.is_proven) await this.grantTrial(tx, orgId, plan, owner.email_canonical);
  }

  /** Gives the first credits to the organization that somebody founded before their address was proven. */
  async proven(tx: Tx, owner: { id: string; email_canonical: string }): Promise<void> {
    const orgId = await this.repository.foundedBy(tx, owner.id);
    const subscribed = orgId && (await this.repository.lock(tx, orgId));
    if (!subscribed || subscribed.plan.code !== billingConfig.value.newOrgPlan) return;
    await this.grantTrial(tx, orgId, subscribed.plan, owner.email_canonical);
  }

  /** Puts an organization that has no subscription on a plan. @returns false where it has one */
  async subscribe(tx: Tx, orgId: string, plan: Plan): Promise<boolean> {
    if (await this.repository.lock(tx, orgId)) return false;
    await this.begin(tx, orgId, plan, null);
    await this.grants.allocate(tx, orgId, plan);
    this.announce(tx, orgId);
    return true;
  }

  /**
   * Another plan from now on: what is positive of the old one expires, and the allocation of the new one is granted, once ever.
   *
   * @param cause names it in the ledger
   */
  async change(tx: Tx, orgId: string, plan: Plan, cause: string): Promise<void> {
    await this.grants.expire(tx, orgId, `expire:${cause}`);
    await this.begin(tx, orgId, plan, await this.repository.lock(tx, orgId));
    await this.grants.allocate(tx, orgId, plan);
    this.announce(tx, orgId);
  }

  /**
   * The provider has ended the subscription: what is granted expires, what was bought stays, and the organization is on the trial plan
   * without its credits.
   *
   * @returns the keys of what was posted
   */
  async revoked(tx: Tx, by: By, orgId: string): Promise<string[]> {
    const before = await this.repository.lock(tx, orgId);
    if (!before) return [];
    const key = await this.grants.expire(
      tx,
      orgId,
      `expire:${orgId}:revoked:${before.subscription.external_subscription_id ?? before.subscription.updated_at.toISOString()}`,
    );
    const trial = await this.repository.planByCode(tx, TRIAL);
    // Without a trial plan there is nothing to fall back to.
    if (trial) await this.begin(tx, orgId, trial, before);
    else await this.repository.save(tx, orgId, { plan_id: before.plan.id, status: 'canceled', ...NO_PERIOD });
    await this.repository.save(tx, orgId, { plan_id: trial?.id ?? before.plan.id, external_subscription_id: null, pending_change: null });
    const facts = { from: before.plan.code, to: trial?.code ?? null, because: 'revoked' };
    await this.audit.record(tx, by, 'subscription.plan_changed', { kind: 'organization', id: orgId }, facts);
    this.announce(tx, orgId);
    return key ? [key] : [];
  }

  /** The provider's word for the state of the current subscription, as ours. */
  async externalStatus(tx: Tx, orgId: string, status: string): Promise<void> {
    const before = await this.repository.lock(tx, orgId);
    const ours = STATUS_BY_PROVIDER[status];
    if (!before || !ours) return;
    const reopened = this.reopened(before);
    if (before.subscription.status === ours && !reopened) return;
    await this.repository.save(tx, orgId, { plan_id: before.plan.id, status: ours, ...reopened });
    if (reopened) await this.grants.grantMonth(tx, orgId, before.plan, reopened.period_start);
    this.announce(tx, orgId);
  }

  /**
   * Has the provider end, with what is paid, whatever is still paid for an organization that is deleted. What it does comes back as
   * deliveries.
   */
  async end(tx: Tx, orgId: string): Promise<void> {
    await this.repository.lock(tx, orgId);
    if ((await this.repository.goingOn(tx, orgId)).length) await this.outbox.enqueue(tx, 'billing.cancel', { org_id: orgId });
  }

  /** What was paid, or let go on, while its organization was being deleted, ends as well. Under the lock of its billing. */
  async endIfGone(tx: Tx, orgId: string): Promise<void> {
    if (await this.repository.isGone(tx, orgId)) await this.end(tx, orgId);
  }

  /** Tells gates, in every process, that what an organization may do has changed. */
  announce(tx: Tx, orgId: string): void {
    this.entitlements.announce(tx, orgId);
  }

  /** The month of a paid year that it is, where none is open: those before went by unpaid. Null where an order opens it. */
  private reopened({ subscription, plan, external }: Subscribed) {
    const paidFrom = external?.current_period_start;
    if (subscription.period_end || !plan.renews || !paidFrom) return null;
    const month = monthOf(paidFrom, this.db.now());
    return payerOf(external, month.period_start) === 'year' ? month : null;
  }

  private async grantTrial(tx: Tx, orgId: string, plan: Plan, emailCanonical: string): Promise<void> {
    if ((await this.grants.allocationOf(tx, orgId, plan)) === null) return;
    const isFirst = isZero(plan.initial_credits) || (await this.repository.rememberTrial(tx, emailCanonical, orgId));
    // What comes every month is no trial's.
    if (isFirst) await this.grants.allocate(tx, orgId, plan);
    else if (isPositive(plan.monthly_credits))
      await this.grants.grant(tx, orgId, { key: allocationKey(orgId, plan), amount: plan.monthly_credits });
  }

  /** On a plan from now on. */
  async begin(tx: Tx, orgId: string, plan: Plan, before: Subscribed | null): Promise<void> {
    const now = this.db.now();
    const period = plan.renews ? { period_start: now, period_end: addMonths(now, 1), period_anchor: now } : NO_PERIOD;
    // The provider's end of a subscription that is revoked already must not end this plan.
    const isFree = before?.external?.revoked_at && { external_subscription_id: null };
    await this.repository.save(tx, orgId, { plan_id: plan.id, status: 'active', ...period, ...isFree });
  }
}
