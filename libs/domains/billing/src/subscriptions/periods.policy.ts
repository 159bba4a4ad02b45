import type { Plan, SubscriptionStatus } from '@aps/entities';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** How long the order that pays a period is waited for, milliseconds. Meanwhile the subscription is `past_due` and its gates are open. */
export const ORDER_AWAITED_MS = 3 * DAY;

/** What a subscription may be while what its plan entitles to holds. */
export const ENTITLED: readonly SubscriptionStatus[] = ['trialing', 'active', 'past_due'];

export const NO_PERIOD = { period_start: null, period_end: null, period_anchor: null };

/** Of the posting that grants the credits of a period where no order does. */
export const periodKey = (orgId: string, plan: Plan, start: Date): string => `grant:${orgId}:${plan.id}:${start.toISOString()}`;

/** So many months later in UTC; in a month that has no such day, on its last. */
export function addMonths(date: Date, months: number): Date {
  const first = new Date(date);
  first.setUTCDate(1);
  first.setUTCMonth(first.getUTCMonth() + months);
  const days = new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1, 0)).getUTCDate();
  first.setUTCDate(Math.min(date.getUTCDate(), days));
  return first;
}

/** The first end of a month, counted from the anchor, that is later than the date: periods that begin on the 31st end on the last days of months and come back to the 31st. */
export function nextPeriodEnd(anchor: Date, after: Date): Date {
  const months = (after.getUTCFullYear() - anchor.getUTCFullYear()) * 12 + after.getUTCMonth() - anchor.getUTCMonth();
  for (let n = Math.max(months, 0); ; n++) {
    const end = addMonths(anchor, n);
    if (end > after) return end;
  }
}

/** A provider's subscription that goes on being paid, or is meant to be. */
const LIVE = ['active', 'trialing', 'past_due', 'unpaid', 'incomplete', 'paused'];

interface External {
  status: string | null;
  product_id: string | null;
  current_period_end: Date | null;
  cancel_at_period_end: boolean;
  revoked_at: Date | null;
}

export const isLive = (external: External | null): external is External =>
  external !== null && external.revoked_at === null && LIVE.includes(external.status ?? '');

/** What pays the period that follows on `periodEnd`. */
export function payerOf(external: External | null, annualProductId: string | null, periodEnd: Date): 'nobody' | 'year' | 'order' {
  if (!isLive(external)) return 'nobody';
  const isAnnual = annualProductId !== null && external.product_id === annualProductId;
  // A year is paid at once; its months are granted here, and never one beyond its end.
  if (isAnnual && external.status === 'active' && external.current_period_end && external.current_period_end > periodEnd) return 'year';
  return 'order';
}
