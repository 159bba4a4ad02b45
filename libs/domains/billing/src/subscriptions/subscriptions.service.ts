import { Injectable } from '@nestjs/common';
import type { CreditPack, Plan, Subscription, SubscriptionStatus } from '@aps/entities';
import { Audit, type By } from '@aps/platform/audit';
import { Database, type Tx } from '@aps/platform/database';
import { Outbox } from '@aps/platform/outbox';
import { forEach, isPositive, isZero, minus, negated, plus, smallest } from '../amounts';
import { Ledger } from '../ledger/ledger.repository';
import { PlanEntitlements } from '../plans/plan-entitlements';
import { markOf, marksOf } from '../self-serve/self-serve.policy';
import { billingConfig } from '../billing.config';
import { addMonths, ENTITLED, monthOf, nextPeriodEnd, NO_PERIOD, payerOf, periodKey, type Period } from './periods.policy';
import { SubscriptionsRepository, type Subscribed } from './subscriptions.repository';

/** Code of the plan that a revoked subscription falls back to. */
const TRIAL = 'trial';

/** A paid order for a plan. */
export interface PlanPaid {
  order_id: string;
  plan: Plan;
  reason: 'subscription_create' | 'subscription_update' | 'subscription_cycle';
  external_subscription_id: string | null;
  /** The provider's word for the state of the subscription. */
  external_status: string | null;
  paid_at: Date;
  /** What is paid for; of a year's product, its month begins with it. */
  period_start: Date | null;
  period_end: Date | null;
  annual: boolean;
  /** Names the change of plan that was asked for here. */
  change_id: string | null;
  /** A newer order, or the end of the subscription, has come before it: its credits come and go, and the plan stays. */
  superseded: boolean;
}

/** The provider's word for the state of a subscription, and ours. */
export const OURS: Record<string, SubscriptionStatus> = {
  active: 'active',
  trialing: 'trialing',
  past_due: 'past_due',
  unpaid: 'past_due',
  incomplete: 'past_due',
  paused: 'past_due',
  canceled: 'canceled',
  incomplete_expired: 'canceled',
};

/**
 * What happens to an organization's plan and the credits that come with it, whoever causes it: its founding, an order, an operator. Each takes part in the caller's transaction, under the lock of the organization's billing.
 *
 * Granted credits belong to a plan and a period: what is positive expires with either, a debt is carried over. What was bought stays.
 */
@Injectable()
export class Subscriptions {
  constructor(
    private readonly db: Database,
    private readonly repository: SubscriptionsRepository,
    private readonly ledger: Ledger,
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
    await this.allocate(tx, orgId, plan);
    this.announce(tx, orgId);
    return true;
  }

  /**
   * Another plan from now on: what is positive of the old one expires, and the allocation of the new one is granted, once ever.
   *
   * @param cause names it in the ledger
   */
  async change(tx: Tx, orgId: string, plan: Plan, cause: string): Promise<void> {
    await this.expire(tx, orgId, `expire:${cause}`);
    await this.begin(tx, orgId, plan, await this.repository.lock(tx, orgId));
    await this.allocate(tx, orgId, plan);
    this.announce(tx, orgId);
  }

  /**
   * An order for a plan was paid: the only thing that changes to a paid plan. The plan's allocation is granted the first time; later an
   * order that pays a period grants that month's credits, and so does one for another interval of the plan, which begins a period of its own.
   * A change to a larger plan grants what is left of that month, as it is paid, and nothing twice within a period, so going up and down earns none. Nor
   * does going to and fro between intervals: what was spent of the days that the provider gives back the money for is not granted once more.
   *
   * @param by who is on record for it
   * @returns the keys of what was posted
   */
  async planPaid(tx: Tx, by: By, orgId: string, paid: PlanPaid): Promise<string[]> {
    const before = await this.repository.lock(tx, orgId);
    const keys: string[] = [];
    const posted = (key: string | null) => void (key && keys.push(key));
    const { plan, reason } = paid;
    const isChange = before?.plan.id !== plan.id;
    const first = (await this.allocationOf(tx, orgId, plan)) !== null;
    const current = before?.subscription;
    const period = periodOf(paid, isChange ? undefined : current);
    const isOver = paid.superseded || isPast(paid, current);
    // A change that others have followed brings nothing of its month any more.
    const brings = isChange ? !isOver && (await this.bringsMonth(tx, orgId, paid, before?.plan)) : !!period.period_start;
    const isWithin = reason === 'subscription_update' && !brings;
    const ahead = reason === 'subscription_update' && isLater(paid.period_start, current?.period_start) ? await this.spentAhead(tx, orgId, paid, before) : '0'; // prettier-ignore
    const grant = async (): Promise<string> => {
      if (first && (isChange || reason === 'subscription_create'))
        return this.noting(posted, await this.allocate(tx, orgId, plan, paid.order_id));
      if (isWithin || isZero(plan.monthly_credits)) return '0';
      const month = isChange && reason === 'subscription_update' ? restOfMonth(paid, period) : plan.monthly_credits;
      const amount = minus(month, ahead);
      if (!isPositive(amount)) return '0';
      return this.noting(posted, await this.grant(tx, orgId, `polar:order:${paid.order_id}:plan`, amount, paid.order_id));
    };

    const marks = marksOf(current?.pending_change ?? null);
    const others = marks.filter(({ change_id }) => change_id !== paid.change_id);
    if (isOver) {
      const granted = await grant();
      if (isPositive(granted)) posted(await this.expire(tx, orgId, `expire:order:${paid.order_id}`, { amount: granted }));
      // What was asked for has come, though too late to be what is had.
      if (before && others.length < marks.length)
        await this.repository.save(tx, orgId, { plan_id: before.plan.id, pending_change: markOf(others) });
      return keys;
    }
    // An operator has opened that period before its order came.
    const isOpened =
      reason === 'subscription_cycle' &&
      !isChange &&
      covers(current, period.period_end) &&
      (await this.repository.isPosted(tx, periodKey(orgId, plan, current!.period_start!)));
    if (!isOpened) {
      // Of a plan that was had before, as much is kept as a month of it brings.
      const keep = isWithin && !first ? plan.monthly_credits : undefined;
      if (isChange || !isWithin) posted(await this.expire(tx, orgId, `expire:order:${paid.order_id}`, { keep }));
      await this.repository.save(tx, orgId, { plan_id: plan.id, ...period });
      await grant();
    }
    const [marker] = marks;
    // The next period of the plan that is paid anyway is no change.
    const isAnswered =
      marker && (marker.change_id === paid.change_id || (marker.plan_code === plan.code && (isChange || reason !== 'subscription_cycle')));
    await this.repository.save(tx, orgId, {
      plan_id: plan.id,
      status: paidStatus(paid),
      external_subscription_id: paid.external_subscription_id ?? current?.external_subscription_id ?? null,
      ...(marker && { pending_change: isAnswered ? null : markOf(others) }),
    });
    if (isChange) {
      const facts = { from: before?.plan.code ?? null, to: plan.code, order_id: paid.order_id };
      await this.audit.record(tx, by, 'subscription.plan_changed', { kind: 'organization', id: orgId }, facts);
    }
    this.announce(tx, orgId);
    return keys;
  }

  /** An order for a pack was paid. @returns the keys of what was posted */
  async packPaid(tx: Tx, by: By, orgId: string, { order_id, pack }: { order_id: string; pack: CreditPack }): Promise<string[]> {
    const key = `polar:order:${order_id}:pack`;
    const ref = { type: 'order', id: order_id };
    if (!(await this.ledger.post(tx, orgId, { kind: 'purchase', key, bucket: 'purchased', amount: plus(pack.credits), ref }))) return [];
    const facts = { pack: pack.code, credits: plus(pack.credits), order_id };
    await this.audit.record(tx, by, 'credits.purchased', { kind: 'organization', id: orgId }, facts);
    return [key];
  }

  /** Takes back what an order has brought, as far as it is still there. @returns the keys of what was posted, and what is not there any more */
  async refunded(
    tx: Tx,
    by: By,
    orgId: string,
    { order_id, refund_id, bucket, amount }: { order_id: string; refund_id: string; bucket: 'granted' | 'purchased'; amount: string },
  ): Promise<{ keys: string[]; missing: string }> {
    const balances = await this.ledger.lock(tx, orgId);
    const left = bucket === 'granted' ? balances.balance : balances.purchased_balance;
    const taken = isPositive(left) ? smallest(left, amount) : '0';
    const missing = minus(amount, taken);
    if (isZero(taken)) return { keys: [], missing };
    const key = `polar:refund:${refund_id}`;
    const ref = { type: 'order', id: order_id };
    if (!(await this.ledger.post(tx, orgId, { kind: 'refund', key, bucket, amount: negated(taken), ref })))
      return { keys: [], missing: '0' };
    await this.audit.record(tx, by, 'credits.refunded', { kind: 'organization', id: orgId }, { credits: taken, missing, order_id });
    return { keys: [key], missing };
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
    const key = await this.expire(
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
    const ours = OURS[status];
    if (!before || !ours) return;
    const reopened = this.reopened(before);
    if (before.subscription.status === ours && !reopened) return;
    await this.repository.save(tx, orgId, { plan_id: before.plan.id, status: ours, ...reopened });
    if (reopened) await this.grantMonth(tx, orgId, before.plan, reopened.period_start);
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

  /**
   * Grants what a plan brings when it is first had, once ever to an organization.
   *
   * @returns its key and how much; null where it was granted before, or is nothing
   */
  async allocate(tx: Tx, orgId: string, plan: Plan, orderId?: string): Promise<{ key: string; amount: string } | null> {
    const amount = await this.allocationOf(tx, orgId, plan);
    return amount === null ? null : this.grant(tx, orgId, allocationKey(orgId, plan), amount, orderId);
  }

  /** Expires what is positive of granted credits, but for what is kept, or no more than so much. @returns its key, null where nothing is */
  async expire(
    tx: Tx,
    orgId: string,
    key: string,
    { keep = '0', amount }: { keep?: string; amount?: string } = {},
  ): Promise<string | null> {
    const { balance } = await this.ledger.lock(tx, orgId);
    const excess = amount === undefined ? minus(balance, keep) : smallest(balance, amount);
    if (!isPositive(excess)) return null;
    await this.ledger.post(tx, orgId, { kind: 'expire', key, bucket: 'granted', amount: negated(excess) });
    return key;
  }

  /** Grants credits for a cause, once. */
  async grant(tx: Tx, orgId: string, key: string, amount: string, orderId?: string): Promise<{ key: string; amount: string }> {
    const ref = orderId === undefined ? undefined : { type: 'order', id: orderId };
    await this.ledger.post(tx, orgId, { kind: 'grant', key, bucket: 'granted', amount: plus(amount), ref });
    return { key, amount };
  }

  /**
   * Grants the credits of a month that no order brings, once to it.
   *
   * @returns how much
   */
  async grantMonth(tx: Tx, orgId: string, plan: Plan, start: Date): Promise<string> {
    const key = periodKey(orgId, plan, start);
    if (isZero(plan.monthly_credits) || (await this.repository.isPosted(tx, key))) return '0';
    return (await this.grant(tx, orgId, key, plus(plan.monthly_credits))).amount;
  }

  /** The month of a paid year that it is, where none is open: those before went by unpaid. Null where an order opens it. */
  private reopened({ subscription, plan, external }: Subscribed) {
    const paidFrom = external?.current_period_start;
    if (subscription.period_end || !plan.renews || !paidFrom) return null;
    const month = monthOf(paidFrom, this.db.now());
    return payerOf(external, month.period_start) === 'year' ? month : null;
  }

  /** Whether a change to a plan that was had before brings a month of it: a larger plan does, where it has granted nothing in this one. */
  private async bringsMonth(tx: Tx, orgId: string, paid: PlanPaid, before: Plan | undefined): Promise<boolean> {
    const { plan } = paid;
    if (!paid.period_start || !isPositive(minus(plan.monthly_credits, before?.monthly_credits ?? '0'))) return false;
    const since = periodOf(paid, undefined).period_start;
    if (!since) return false;
    const last = await this.repository.lastGrant(tx, orgId, plan);
    return !last || last < since;
  }

  /**
   * What a plan has granted for days to come, as far as it is spent. An order for another interval begins a period of its own, and the provider gives back,
   * in money, what was paid for those days. What has expired by changes of plan is not spent.
   */
  private async spentAhead(tx: Tx, orgId: string, { plan, paid_at }: PlanPaid, before: Subscribed | null): Promise<string> {
    const held = before?.plan.id === plan.id ? before.subscription : null;
    const from = held?.period_start ?? (await this.repository.lastGrant(tx, orgId, plan));
    if (!from) return '0';
    const rest = restOf(plan.monthly_credits, from, held?.period_end ?? addMonths(from, 1), paid_at);
    const { balance } = await this.ledger.lock(tx, orgId);
    const { granted, taken } = await this.repository.unspent(tx, orgId, plan, from, paid_at);
    // Of a period that is not known any more it may have granted no more than some days.
    const ahead = held ? rest : smallest(rest, granted);
    const spent = minus(ahead, isPositive(balance) ? plus(balance, taken) : taken);
    return isPositive(spent) ? spent : '0';
  }

  private noting(posted: (key: string) => void, granted: { key: string; amount: string } | null): string {
    if (granted) posted(granted.key);
    return granted?.amount ?? '0';
  }

  /** What the plan brings when it is first had; null where it was granted, or is nothing. */
  private async allocationOf(tx: Tx, orgId: string, plan: Plan): Promise<string | null> {
    const amount = plus(plan.initial_credits, plan.monthly_credits);
    return isZero(amount) || (await this.repository.isPosted(tx, allocationKey(orgId, plan))) ? null : amount;
  }

  private async grantTrial(tx: Tx, orgId: string, plan: Plan, emailCanonical: string): Promise<void> {
    if ((await this.allocationOf(tx, orgId, plan)) === null) return;
    const isFirst = isZero(plan.initial_credits) || (await this.repository.rememberTrial(tx, emailCanonical, orgId));
    // What comes every month is no trial's.
    if (isFirst) await this.allocate(tx, orgId, plan);
    else if (isPositive(plan.monthly_credits)) await this.grant(tx, orgId, allocationKey(orgId, plan), plan.monthly_credits);
  }

  /** On a plan from now on. */
  async begin(tx: Tx, orgId: string, plan: Plan, before: Subscribed | null): Promise<void> {
    const now = this.db.now();
    const period = plan.renews ? { period_start: now, period_end: addMonths(now, 1), period_anchor: now } : NO_PERIOD;
    // Nor does the end of what was paid before end it.
    const isFree = before?.external?.revoked_at && { external_subscription_id: null };
    await this.repository.save(tx, orgId, { plan_id: plan.id, status: 'active', ...period, ...isFree });
  }
}

/** Of the posting by which an organization first has a plan's credits. */
export const allocationKey = (orgId: string, plan: Plan): string => `grant:${orgId}:${plan.id}:allocation`;

/** What was paid is entitled, whatever the provider calls it. */
function paidStatus({ external_status }: PlanPaid): SubscriptionStatus {
  const status = OURS[external_status ?? ''] ?? 'active';
  return ENTITLED.includes(status) ? status : 'active';
}

/** What an order pays for. A change within a period leaves it as it is; one to another interval begins a later one. */
function periodOf(paid: PlanPaid, current: Subscription | undefined): Partial<Period> {
  if (!paid.plan.renews) return NO_PERIOD;
  if (paid.reason === 'subscription_update' && current?.period_end && !isLater(paid.period_start, current.period_start)) return {};
  const start = paid.period_start ?? (paid.reason === 'subscription_cycle' ? current?.period_end : undefined) ?? paid.paid_at;
  // A plan that is changed to within a year begins with the month of it in which it is paid.
  if (paid.annual) return monthOf(start, paid.paid_at);
  const anchor = paid.reason === 'subscription_cycle' ? (current?.period_anchor ?? start) : start;
  return { period_start: start, period_end: paid.period_end ?? nextPeriodEnd(anchor, start), period_anchor: anchor };
}

/** Of a month's credits, what the rest of it brings. */
function restOfMonth({ plan, paid_at }: PlanPaid, { period_start, period_end }: Partial<Period>): string {
  return period_start && period_end ? restOf(plan.monthly_credits, period_start, period_end, paid_at) : plan.monthly_credits;
}

/** Of what is for a time, the part from a moment in it on. */
function restOf(amount: string, from: Date, until: Date, at: Date): string {
  const left = until.getTime() - Math.max(at.getTime(), from.getTime());
  return left > 0 ? forEach(left, amount, String(until.getTime() - from.getTime())) : '0';
}

const isLater = (start: Date | null, than: Date | null | undefined): boolean => !!start && !!than && start > than;

/** The order pays a period that was over before the current one began. */
const isPast = (paid: PlanPaid, current: Subscription | undefined): boolean =>
  paid.reason === 'subscription_cycle' && !!paid.period_end && !!current?.period_start && paid.period_end <= current.period_start;

/** The current period reaches as far as the one that the order opens. */
const covers = (current: Subscription | undefined, end: Date | null | undefined): boolean =>
  !!end && !!current?.period_start && !!current.period_end && end <= current.period_end;
