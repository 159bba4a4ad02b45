import { DomainError } from '@aps/contracts';
import type { CreditPack, ExternalSubscription, PendingChange, Plan } from '@aps/entities';
import { isByTheYear } from '../subscriptions/periods.policy';

/** How often a plan is paid. */
export type Interval = 'monthly' | 'annual';

/** What the provider knows a plan by. @throws DomainError 409 `not_sellable` */
export function productOf(plan: Plan, interval: Interval): string {
  const product = interval === 'annual' ? plan.polar_product_id_annual : plan.polar_product_id;
  if (!product) throw notSellable(`The plan ${plan.code} cannot be bought${interval === 'annual' ? ' by the year' : ''}.`);
  return product;
}

/** @throws DomainError 409 `not_sellable` */
export function productOfPack(pack: CreditPack): string {
  if (!pack.is_active || !pack.polar_product_id) throw notSellable(`The pack ${pack.code} cannot be bought.`);
  return pack.polar_product_id;
}

const notSellable = (sentence: string): DomainError => new DomainError('not_sellable', sentence);

/** Somebody who pays by the year goes on to do so, where nothing else is wished and the other plan is sold so. */
export const intervalFor = (plan: Plan, paid: ExternalSubscription | null): Interval =>
  isByTheYear(paid) && plan.polar_product_id_annual ? 'annual' : 'monthly';

const MAX_OPEN_WISHES = 10;

/** A mark with those that it has taken the place of, the newest first. */
export function marksOf(pending: PendingChange | null): PendingChange[] {
  if (!pending) return [];
  const { replaced = [], ...newest } = pending;
  return [newest, ...replaced];
}

/** The newest of these, which remembers the others. */
export function markOf([newest, ...replaced]: PendingChange[]): PendingChange | null {
  return newest ? { ...newest, ...(replaced.length && { replaced: replaced.slice(0, MAX_OPEN_WISHES) }) } : null;
}

/** After so long nobody waits any more for a change to be paid. */
const STALE_MS = 24 * 3_600_000;

/** Whether this change was asked for and may still be paid. */
export const isInFlight = (pending: PendingChange | null, wish: { plan_code: string; product_id: string }, now: Date): boolean =>
  pending !== null &&
  pending.plan_code === wish.plan_code &&
  (pending.product_id ?? wish.product_id) === wish.product_id &&
  now.getTime() - Date.parse(pending.requested_at) < STALE_MS;
