import type { ExternalSubscription, Plan, Subscription, SubscriptionStatus } from '@aps/entities';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** How long the order that pays a period is waited for, milliseconds. Meanwhile the subscription is `past_due` and its gates are open. */
export const ORDER_AWAITED_MS = 3 * DAY;

/** What a subscription may be while what its plan entitles to holds. */
export const ENTITLED: readonly SubscriptionStatus[] = ['trialing', 'active', 'past_due'];

export type Period = Pick<Subscription, 'period_start' | 'period_end' | 'period_anchor'>;

export const NO_PERIOD: Period = { period_start: null, period_end: null, period_anchor: null };

/** Key of the posting that grants the credits of a period where no order does. */
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

/** How many months after the anchor the first end of a month is that is later than the date. */
function monthsUntil(anchor: Date, after: Date): number {
  const months = (after.getUTCFullYear() - anchor.getUTCFullYear()) * 12 + after.getUTCMonth() - anchor.getUTCMonth();
  for (let n = Math.max(months, 0); ; n++) if (addMonths(anchor, n) > after) return n;
}

/** The first end of a month, counted from the anchor, that is later than the date: periods that begin on the 31st end on the last days of months and come back to the 31st. */
export const nextPeriodEnd = (anchor: Date, after: Date): Date => addMonths(anchor, monthsUntil(anchor, after));

/** The month, counted from the anchor, that the date is in; the first, where it is before all of them. */
export function monthOf(anchor: Date, date: Date) {
  const n = Math.max(monthsUntil(anchor, date), 1);
  return { period_start: addMonths(anchor, n - 1), period_end: addMonths(anchor, n), period_anchor: anchor };
}

/** Whether a period is a month that came by itself, and none whose end was set. */
export const isMonth = ({ period_start, period_end, period_anchor }: Period): boolean =>
  period_start !== null && period_anchor !== null && +monthOf(period_anchor, period_start).period_end === +(period_end ?? 0);

/** A provider's subscription that goes on being paid, or is meant to be. */
const LIVE = ['active', 'trialing', 'past_due', 'unpaid', 'incomplete', 'paused'];

export const isLive = <E extends Pick<ExternalSubscription, 'status' | 'revoked_at'>>(external: E | null): external is E =>
  external !== null && external.revoked_at === null && LIVE.includes(external.status ?? '');

/** It is live, and not to end with what is paid. */
export const goesOn = (external: ExternalSubscription | null): external is ExternalSubscription =>
  isLive(external) && !external.cancel_at_period_end;

/** Days that no trial and no quarter has. What is paid at once for longer is paid by the year, whatever plan or product it is of by now. */
export const NEARLY_A_YEAR = 300;

/** Whether the provider has told of a year that is paid at once. */
export const isByTheYear = (told: Pick<ExternalSubscription, 'current_period_start' | 'current_period_end'> | null): boolean =>
  !!told?.current_period_start &&
  !!told.current_period_end &&
  told.current_period_end.getTime() - told.current_period_start.getTime() > NEARLY_A_YEAR * DAY;

/** What pays the period that follows on `periodEnd`. */
export function payerOf(external: ExternalSubscription | null, periodEnd: Date): 'nobody' | 'year' | 'order' {
  if (external === null) return 'nobody';
  // A year is paid at once; its months are granted here, but for the first, which its order brings, and never one beyond its end.
  const { current_period_start: start, current_period_end: end } = external;
  const isWithinYear = isByTheYear(external) && end! > periodEnd && start!.getTime() !== periodEnd.getTime();
  // An order that is newer than the end of its subscription has paid what it paid, and nobody pays what follows.
  if (external.revoked_at) return isWithinYear ? 'year' : 'nobody';
  if (!isLive(external)) return 'nobody';
  return isWithinYear && external.status === 'active' ? 'year' : 'order';
}
