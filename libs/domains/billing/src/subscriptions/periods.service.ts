import { Injectable } from '@nestjs/common';
import { Database, type Tx } from '@aps/platform/database';
import { isPositive, isZero, plus } from '../amounts';
import { Ledger } from '../ledger/ledger.repository';
import { ENTITLED, nextPeriodEnd, NO_PERIOD, ORDER_AWAITED_MS, payerOf, periodKey } from './periods.policy';
import { SubscriptionsRepository, type Subscribed } from './subscriptions.repository';
import { Subscriptions } from './subscriptions.service';

/** What closing a period did, and why it did not. */
export interface PeriodRoll {
  rolled: boolean;
  reason: 'rolled' | 'not_due' | 'no_period' | 'unsubscribed' | 'waiting_for_payment';
  period_start: Date | null;
  period_end: Date | null;
  expired: string;
  granted: string;
}

const PERIOD_END = { kind: 'system', userId: null, reason: 'end of the period' } as const;

/** The ends of periods, whoever causes them: the clock, or an operator. */
@Injectable()
export class Periods {
  constructor(
    private readonly db: Database,
    private readonly repository: SubscriptionsRepository,
    private readonly subscriptions: Subscriptions,
    private readonly ledger: Ledger,
  ) {}

  /**
   * Closes a period that is over and opens the next. Where the provider's order pays it, that is waited for; it does both then.
   *
   * @param force closes it now, whoever pays
   */
  async close(tx: Tx, orgId: string, { force = false } = {}): Promise<PeriodRoll> {
    const before = await this.repository.lock(tx, orgId);
    const none = {
      rolled: false,
      period_start: before?.subscription.period_start ?? null,
      period_end: before?.subscription.period_end ?? null,
      expired: '0',
      granted: '0',
    };
    if (!before || !ENTITLED.includes(before.subscription.status)) return { ...none, reason: 'unsubscribed' };
    const { subscription, plan, external } = before;
    const { period_end } = subscription;
    if (!period_end) return { ...none, reason: 'no_period' };
    const now = this.db.now();
    if (!force && period_end > now) return { ...none, reason: 'not_due' };
    const payer = payerOf(external, plan.polar_product_id_annual, period_end);
    if (payer === 'order' && !force) return this.await(tx, orgId, before, now, none);

    const closedAt = force && period_end > now ? now : period_end;
    const expired = await this.expired(tx, orgId, periodEndKey(orgId, closedAt));
    if (!plan.renews) {
      await this.repository.save(tx, orgId, { plan_id: plan.id, status: 'expired' });
      this.subscriptions.announce(tx, orgId);
      return { ...none, rolled: true, reason: 'rolled', expired };
    }
    // Forced while somebody pays, the next period begins early and ends as it would have: its order finds it open.
    const anchor = closedAt === period_end || payer !== 'nobody' ? (subscription.period_anchor ?? period_end) : closedAt;
    const end = nextPeriodEnd(anchor, payer === 'nobody' ? closedAt : period_end);
    const next = {
      period_start: closedAt,
      period_end: payer === 'year' ? earlier(end, external!.current_period_end!) : end,
      period_anchor: anchor,
    };
    await this.repository.save(tx, orgId, { plan_id: plan.id, ...next, ...(payer === 'nobody' && { status: 'active' as const }) });
    const granted = isZero(plan.monthly_credits) ? '0' : plus(plan.monthly_credits);
    if (isPositive(granted)) await this.subscriptions.grant(tx, orgId, periodKey(orgId, plan, closedAt), granted);
    this.subscriptions.announce(tx, orgId);
    return { rolled: true, reason: 'rolled', period_start: next.period_start, period_end: next.period_end, expired, granted };
  }

  /** Closes what is due. @returns how many were touched */
  async closeDue(limit: number): Promise<number> {
    const due = await this.repository.due(this.db, ORDER_AWAITED_MS, limit);
    for (const orgId of due) await this.db.transaction({}, (tx) => this.close(tx, orgId));
    return due.length;
  }

  /** A period is over, and its order has not come. */
  private async await(
    tx: Tx,
    orgId: string,
    { subscription, plan, external }: Subscribed,
    now: Date,
    none: Omit<PeriodRoll, 'reason'>,
  ): Promise<PeriodRoll> {
    const end = subscription.period_end!;
    if (now.getTime() - end.getTime() < ORDER_AWAITED_MS) {
      if (subscription.status !== 'past_due') {
        await this.repository.save(tx, orgId, { plan_id: plan.id, status: 'past_due' });
        this.subscriptions.announce(tx, orgId);
      }
      return { ...none, reason: 'waiting_for_payment' };
    }
    const expired = await this.expired(tx, orgId, periodEndKey(orgId, end));
    // It was canceled, and the event that says so was lost.
    if (external?.cancel_at_period_end) await this.subscriptions.revoked(tx, { orgId, actor: PERIOD_END }, orgId);
    // No period until it is paid; the provider goes on asking for the money, or ends the subscription.
    else await this.repository.save(tx, orgId, { plan_id: plan.id, ...NO_PERIOD });
    this.subscriptions.announce(tx, orgId);
    return { ...none, reason: 'waiting_for_payment', period_start: null, period_end: null, expired };
  }

  private async expired(tx: Tx, orgId: string, key: string): Promise<string> {
    const { balance } = await this.ledger.lock(tx, orgId);
    return (await this.subscriptions.expire(tx, orgId, key)) ? balance : '0';
  }
}

const periodEndKey = (orgId: string, end: Date): string => `expire:${orgId}:${end.toISOString()}`;

const earlier = (a: Date, b: Date): Date => (a < b ? a : b);
