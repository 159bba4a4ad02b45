import { Injectable } from '@nestjs/common';
import type { CreditPack, Plan, Subscription } from '@aps/entities';
import { Audit, type By } from '@aps/platform/audit';
import type { Tx } from '@aps/platform/database';
import { isPositive, isZero, minus, negated, plus, smallest } from '../amounts';
import { Ledger } from '../ledger/ledger.repository';
import { markOf, marksOf } from '../self-serve/self-serve.policy';
import { Grants, type Grant } from './grants';
import {
  covers,
  isLater,
  isPast,
  othersThan,
  paidStatus,
  pendingAfter,
  periodOf,
  restOf,
  restOfMonth,
  type PlanPaid,
} from './orders.policy';
import { addMonths, periodKey, type Period } from './periods.policy';
import { SubscriptionsRepository, type Subscribed } from './subscriptions.repository';
import { Subscriptions } from './subscriptions.service';

/** What paid orders bring, and what their refunds take. Each takes part in the caller's transaction, under the lock of the organization's billing. */
@Injectable()
export class PaidOrders {
  constructor(
    private readonly repository: SubscriptionsRepository,
    private readonly subscriptions: Subscriptions,
    private readonly grants: Grants,
    private readonly ledger: Ledger,
    private readonly audit: Audit,
  ) {}

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
    const current = before?.subscription;
    const { plan, reason, order_id } = paid;
    const isChange = before?.plan.id !== plan.id;
    const isLate = paid.superseded || isPast(paid, current);
    const period = periodOf(paid, isChange ? undefined : current);
    // A change that others have followed brings nothing of its month any more.
    const opensMonth = isChange ? !isLate && (await this.bringsMonth(tx, orgId, paid, before?.plan)) : !!period.period_start;
    const isWithin = reason === 'subscription_update' && !opensMonth;
    const allocation = await this.grants.allocationOf(tx, orgId, plan);
    const isAllocated = allocation && (isChange || reason === 'subscription_create');
    const credits = isAllocated ? allocation : isWithin ? null : await this.monthOf(tx, orgId, paid, before, period);
    if (isLate) return this.tooLate(tx, orgId, paid, current, credits);

    const keys: (string | null)[] = [];
    if (isChange || !(await this.isOpened(tx, orgId, paid, current, period))) {
      // Of a plan that was had before, as much is kept as a month of it brings.
      const keep = isWithin && !allocation ? plan.monthly_credits : undefined;
      if (isChange || !isWithin) keys.push(await this.grants.expire(tx, orgId, `expire:order:${order_id}`, { keep }));
      await this.repository.save(tx, orgId, { plan_id: plan.id, ...period });
      if (credits) keys.push(await this.grants.grant(tx, orgId, credits, order_id));
    }
    await this.repository.save(tx, orgId, {
      plan_id: plan.id,
      status: paidStatus(paid),
      external_subscription_id: paid.external_subscription_id ?? current?.external_subscription_id ?? null,
      pending_change: pendingAfter(current?.pending_change ?? null, paid, isChange),
    });
    if (isChange) {
      const facts = { from: before?.plan.code ?? null, to: plan.code, order_id };
      await this.audit.record(tx, by, 'subscription.plan_changed', { kind: 'organization', id: orgId }, facts);
    }
    this.subscriptions.announce(tx, orgId);
    return keys.filter((key) => key !== null);
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

  /** The order is of a time that is over: its credits come and go, and so does the wish for it. @returns the keys of what was posted */
  private async tooLate(
    tx: Tx,
    orgId: string,
    paid: PlanPaid,
    current: Subscription | undefined,
    credits: Grant | null,
  ): Promise<string[]> {
    const keys: (string | null)[] = [];
    if (credits) {
      keys.push(await this.grants.grant(tx, orgId, credits, paid.order_id));
      keys.push(await this.grants.expire(tx, orgId, `expire:order:${paid.order_id}`, { amount: credits.amount }));
    }
    const pending = current?.pending_change ?? null;
    const others = othersThan(paid.change_id, pending);
    if (current && others.length < marksOf(pending).length)
      await this.repository.save(tx, orgId, { plan_id: current.plan_id, pending_change: markOf(others) });
    return keys.filter((key) => key !== null);
  }

  /** Whether an operator has opened the period that the order pays before it came. */
  private async isOpened(
    tx: Tx,
    orgId: string,
    { plan, reason }: PlanPaid,
    current: Subscription | undefined,
    { period_end }: Partial<Period>,
  ): Promise<boolean> {
    if (reason !== 'subscription_cycle' || !covers(current, period_end)) return false;
    return this.repository.isPosted(tx, periodKey(orgId, plan, current!.period_start!));
  }

  /** What the order brings of a month of its plan; null for nothing. */
  private async monthOf(tx: Tx, orgId: string, paid: PlanPaid, before: Subscribed | null, period: Partial<Period>): Promise<Grant | null> {
    const { plan, reason, order_id } = paid;
    const isUpdate = reason === 'subscription_update';
    const month = isUpdate && before?.plan.id !== plan.id ? restOfMonth(paid, period) : plan.monthly_credits;
    const isAhead = isUpdate && isLater(paid.period_start, before?.subscription.period_start);
    const amount = minus(month, isAhead ? await this.spentAhead(tx, orgId, paid, before) : '0');
    return isPositive(amount) ? { key: `polar:order:${order_id}:plan`, amount } : null;
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
}
