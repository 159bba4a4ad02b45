import type { PendingChange, Plan, Subscription, SubscriptionStatus } from '@aps/entities';
import { forEach } from '../amounts';
import { markOf, marksOf } from '../self-serve/self-serve.policy';
import { ENTITLED, monthOf, nextPeriodEnd, NO_PERIOD, type Period } from './periods.policy';

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

/** What the provider calls the state of a subscription, and what we do. */
export const STATUS_BY_PROVIDER: Record<string, SubscriptionStatus> = {
  active: 'active',
  trialing: 'trialing',
  past_due: 'past_due',
  unpaid: 'past_due',
  incomplete: 'past_due',
  paused: 'past_due',
  canceled: 'canceled',
  incomplete_expired: 'canceled',
};

/** What was paid is entitled, whatever the provider calls it. */
export function paidStatus({ external_status }: PlanPaid): SubscriptionStatus {
  const status = STATUS_BY_PROVIDER[external_status ?? ''] ?? 'active';
  return ENTITLED.includes(status) ? status : 'active';
}

/** The marks of changes that were asked for, without the one that is named, if any is. */
export const othersThan = (changeId: string | null, pending: PendingChange | null): PendingChange[] =>
  marksOf(pending).filter(({ change_id }) => change_id !== changeId);

/** What is still awaited once the order is applied. The next period of the plan that is paid anyway answers no wish for a change. */
export function pendingAfter(
  pending: PendingChange | null,
  { plan, reason, change_id }: PlanPaid,
  isChange: boolean,
): PendingChange | null {
  const isAnswered =
    pending && (pending.change_id === change_id || (pending.plan_code === plan.code && (isChange || reason !== 'subscription_cycle')));
  return isAnswered ? null : markOf(othersThan(change_id, pending));
}

/** What an order pays for. A change within a period leaves it as it is; one to another interval begins a later one. */
export function periodOf(paid: PlanPaid, current: Subscription | undefined): Partial<Period> {
  if (!paid.plan.renews) return NO_PERIOD;
  if (paid.reason === 'subscription_update' && current?.period_end && !isLater(paid.period_start, current.period_start)) return {};
  const start = paid.period_start ?? (paid.reason === 'subscription_cycle' ? current?.period_end : undefined) ?? paid.paid_at;
  // A plan that is changed to within a year begins with the month of it in which it is paid.
  if (paid.annual) return monthOf(start, paid.paid_at);
  const anchor = paid.reason === 'subscription_cycle' ? (current?.period_anchor ?? start) : start;
  return { period_start: start, period_end: paid.period_end ?? nextPeriodEnd(anchor, start), period_anchor: anchor };
}

/** Of a month's credits, what the rest of it brings. */
export function restOfMonth({ plan, paid_at }: PlanPaid, { period_start, period_end }: Partial<Period>): string {
  return period_start && period_end ? restOf(plan.monthly_credits, period_start, period_end, paid_at) : plan.monthly_credits;
}

/** Of what is for a time, the part from a moment in it on. */
export function restOf(amount: string, from: Date, until: Date, at: Date): string {
  const left = until.getTime() - Math.max(at.getTime(), from.getTime());
  return left > 0 ? forEach(left, amount, String(until.getTime() - from.getTime())) : '0';
}

export const isLater = (start: Date | null, than: Date | null | undefined): boolean => !!start && !!than && start > than;

/** The order pays a period that was over before the current one began. */
export const isPast = (paid: PlanPaid, current: Subscription | undefined): boolean =>
  paid.reason === 'subscription_cycle' && !!paid.period_end && !!current?.period_start && paid.period_end <= current.period_start;

/** The current period reaches as far as the one that the order opens. */
export const covers = (current: Subscription | undefined, end: Date | null | undefined): boolean =>
  !!end && !!current?.period_start && !!current.period_end && end <= current.period_end;
